-- Totals of usage by quarters of an hour, for every account, key, model, channel, group, operation and class of status,
-- in place of the hourly ones.

-- What totals are told apart by. Neither account nor key: all accounts together.
CREATE TABLE usage_series (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account TEXT COLLATE "C" NOT NULL,
  key_id TEXT COLLATE "C" NOT NULL,
  model TEXT COLLATE "C" NOT NULL,
  channel TEXT COLLATE "C" NOT NULL,
  group_id TEXT COLLATE "C" NOT NULL,
  operation TEXT COLLATE "C" NOT NULL,
  status_class TEXT COLLATE "C" NOT NULL,
  UNIQUE (account, key_id, model, channel, group_id, operation, status_class)
);

-- Null in place of 0, which takes no room. No reference to usage_series, which settling writes first: a check of each row costs time.
CREATE TABLE usage_quarter (
  series BIGINT NOT NULL,
  -- First moment of the quarter, Unix milliseconds.
  quarter BIGINT NOT NULL,
  requests BIGINT NOT NULL,
  charge_nano BIGINT CHECK (charge_nano >= 0),
  input_tokens BIGINT,
  cached_input_tokens BIGINT,
  cache_write_tokens BIGINT,
  cache_write_1h_tokens BIGINT,
  output_tokens BIGINT,
  reasoning_tokens BIGINT,
  audio_input_tokens BIGINT,
  audio_output_tokens BIGINT,
  image_input_tokens BIGINT,
  image_output_tokens BIGINT,
  errors BIGINT,
  cache_hits BIGINT,
  writeoff_nano BIGINT CHECK (writeoff_nano >= 0),
  vendor_cost_nano BIGINT CHECK (vendor_cost_nano >= 0),
  duration_ms BIGINT,
  ttft_ms BIGINT,
  streamed_tokens BIGINT,
  streaming_ms BIGINT,
  -- Requests by how long they took, in milliseconds: below the number, and not below the one before it.
  ttft_40 BIGINT, ttft_63 BIGINT, ttft_100 BIGINT, ttft_160 BIGINT, ttft_250 BIGINT, ttft_400 BIGINT,
  ttft_630 BIGINT, ttft_1000 BIGINT, ttft_1600 BIGINT, ttft_2500 BIGINT, ttft_4000 BIGINT, ttft_6300 BIGINT,
  ttft_10000 BIGINT, ttft_16000 BIGINT, ttft_25000 BIGINT, ttft_40000 BIGINT, ttft_63000 BIGINT,
  ttft_100000 BIGINT, ttft_160000 BIGINT, ttft_250000 BIGINT, ttft_more BIGINT,
  duration_40 BIGINT, duration_63 BIGINT, duration_100 BIGINT, duration_160 BIGINT, duration_250 BIGINT,
  duration_400 BIGINT, duration_630 BIGINT, duration_1000 BIGINT, duration_1600 BIGINT, duration_2500 BIGINT,
  duration_4000 BIGINT, duration_6300 BIGINT, duration_10000 BIGINT, duration_16000 BIGINT,
  duration_25000 BIGINT, duration_40000 BIGINT, duration_63000 BIGINT, duration_100000 BIGINT,
  duration_160000 BIGINT, duration_250000 BIGINT, duration_more BIGINT,
  PRIMARY KEY (series, quarter)
) WITH (fillfactor = 70);

-- The audit reads a quarter at a time.
CREATE INDEX usage_quarter_time ON usage_quarter (quarter);

-- The same of all accounts together.
CREATE TABLE usage_quarter_all (
  series BIGINT NOT NULL,
  -- First moment of the quarter, Unix milliseconds.
  quarter BIGINT NOT NULL,
  requests BIGINT NOT NULL,
  charge_nano BIGINT CHECK (charge_nano >= 0),
  input_tokens BIGINT,
  cached_input_tokens BIGINT,
  cache_write_tokens BIGINT,
  cache_write_1h_tokens BIGINT,
  output_tokens BIGINT,
  reasoning_tokens BIGINT,
  audio_input_tokens BIGINT,
  audio_output_tokens BIGINT,
  image_input_tokens BIGINT,
  image_output_tokens BIGINT,
  errors BIGINT,
  cache_hits BIGINT,
  writeoff_nano BIGINT CHECK (writeoff_nano >= 0),
  vendor_cost_nano BIGINT CHECK (vendor_cost_nano >= 0),
  duration_ms BIGINT,
  ttft_ms BIGINT,
  streamed_tokens BIGINT,
  streaming_ms BIGINT,
  -- Requests by how long they took, in milliseconds: below the number, and not below the one before it.
  ttft_40 BIGINT, ttft_63 BIGINT, ttft_100 BIGINT, ttft_160 BIGINT, ttft_250 BIGINT, ttft_400 BIGINT,
  ttft_630 BIGINT, ttft_1000 BIGINT, ttft_1600 BIGINT, ttft_2500 BIGINT, ttft_4000 BIGINT, ttft_6300 BIGINT,
  ttft_10000 BIGINT, ttft_16000 BIGINT, ttft_25000 BIGINT, ttft_40000 BIGINT, ttft_63000 BIGINT,
  ttft_100000 BIGINT, ttft_160000 BIGINT, ttft_250000 BIGINT, ttft_more BIGINT,
  duration_40 BIGINT, duration_63 BIGINT, duration_100 BIGINT, duration_160 BIGINT, duration_250 BIGINT,
  duration_400 BIGINT, duration_630 BIGINT, duration_1000 BIGINT, duration_1600 BIGINT, duration_2500 BIGINT,
  duration_4000 BIGINT, duration_6300 BIGINT, duration_10000 BIGINT, duration_16000 BIGINT,
  duration_25000 BIGINT, duration_40000 BIGINT, duration_63000 BIGINT, duration_100000 BIGINT,
  duration_160000 BIGINT, duration_250000 BIGINT, duration_more BIGINT,
  PRIMARY KEY (series, quarter)
) WITH (fillfactor = 70);

-- The audit reads a quarter at a time.
CREATE INDEX usage_quarter_all_time ON usage_quarter_all (quarter);

INSERT INTO usage_series (account, key_id, model, channel, group_id, operation, status_class)
  SELECT DISTINCT account, key_id, model_asked, coalesce(channel, ''), group_id, operation, (status / 100) || 'xx'
  FROM usage;

INSERT INTO usage_series (account, key_id, model, channel, group_id, operation, status_class)
  SELECT DISTINCT '', '', model, channel, group_id, operation, status_class FROM usage_series;

INSERT INTO usage_quarter
  SELECT usage_series.id, at / 900000 * 900000, count(*),
    nullif(sum(charge_nano), 0),
    nullif(sum(input_tokens), 0),
    nullif(sum(cached_input_tokens), 0),
    nullif(sum(cache_write_tokens), 0),
    nullif(sum(cache_write_1h_tokens), 0),
    nullif(sum(output_tokens), 0),
    nullif(sum(reasoning_tokens), 0),
    nullif(sum(audio_input_tokens), 0),
    nullif(sum(audio_output_tokens), 0),
    nullif(sum(image_input_tokens), 0),
    nullif(sum(image_output_tokens), 0),
    nullif(sum(CASE WHEN status >= 400 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN cached_input_tokens > 0 THEN 1 ELSE 0 END), 0),
    nullif(sum(writeoff_nano), 0),
    nullif(sum(vendor_cost_nano), 0),
    nullif(sum(duration_ms), 0),
    nullif(sum(ttft_ms), 0),
    nullif(sum(CASE WHEN stream = 1 AND ttft_ms IS NOT NULL AND duration_ms > ttft_ms THEN output_tokens + reasoning_tokens ELSE 0 END), 0),
    nullif(sum(CASE WHEN stream = 1 AND ttft_ms IS NOT NULL AND duration_ms > ttft_ms THEN duration_ms - ttft_ms ELSE 0 END), 0),
    nullif(sum(CASE WHEN ttft_ms < 40 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN ttft_ms >= 40 AND ttft_ms < 63 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN ttft_ms >= 63 AND ttft_ms < 100 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN ttft_ms >= 100 AND ttft_ms < 160 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN ttft_ms >= 160 AND ttft_ms < 250 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN ttft_ms >= 250 AND ttft_ms < 400 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN ttft_ms >= 400 AND ttft_ms < 630 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN ttft_ms >= 630 AND ttft_ms < 1000 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN ttft_ms >= 1000 AND ttft_ms < 1600 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN ttft_ms >= 1600 AND ttft_ms < 2500 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN ttft_ms >= 2500 AND ttft_ms < 4000 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN ttft_ms >= 4000 AND ttft_ms < 6300 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN ttft_ms >= 6300 AND ttft_ms < 10000 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN ttft_ms >= 10000 AND ttft_ms < 16000 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN ttft_ms >= 16000 AND ttft_ms < 25000 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN ttft_ms >= 25000 AND ttft_ms < 40000 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN ttft_ms >= 40000 AND ttft_ms < 63000 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN ttft_ms >= 63000 AND ttft_ms < 100000 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN ttft_ms >= 100000 AND ttft_ms < 160000 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN ttft_ms >= 160000 AND ttft_ms < 250000 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN ttft_ms >= 250000 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN duration_ms < 40 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN duration_ms >= 40 AND duration_ms < 63 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN duration_ms >= 63 AND duration_ms < 100 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN duration_ms >= 100 AND duration_ms < 160 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN duration_ms >= 160 AND duration_ms < 250 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN duration_ms >= 250 AND duration_ms < 400 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN duration_ms >= 400 AND duration_ms < 630 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN duration_ms >= 630 AND duration_ms < 1000 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN duration_ms >= 1000 AND duration_ms < 1600 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN duration_ms >= 1600 AND duration_ms < 2500 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN duration_ms >= 2500 AND duration_ms < 4000 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN duration_ms >= 4000 AND duration_ms < 6300 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN duration_ms >= 6300 AND duration_ms < 10000 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN duration_ms >= 10000 AND duration_ms < 16000 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN duration_ms >= 16000 AND duration_ms < 25000 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN duration_ms >= 25000 AND duration_ms < 40000 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN duration_ms >= 40000 AND duration_ms < 63000 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN duration_ms >= 63000 AND duration_ms < 100000 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN duration_ms >= 100000 AND duration_ms < 160000 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN duration_ms >= 160000 AND duration_ms < 250000 THEN 1 ELSE 0 END), 0),
    nullif(sum(CASE WHEN duration_ms >= 250000 THEN 1 ELSE 0 END), 0)
  FROM usage JOIN usage_series
    ON usage_series.account = usage.account AND usage_series.key_id = usage.key_id
    AND usage_series.model = usage.model_asked AND usage_series.channel = coalesce(usage.channel, '')
    AND usage_series.group_id = usage.group_id AND usage_series.operation = usage.operation
    AND usage_series.status_class = (usage.status / 100) || 'xx'
  GROUP BY 1, 2;

INSERT INTO usage_quarter_all
  SELECT every.id, quarter, sum(requests),
    sum(charge_nano), sum(input_tokens), sum(cached_input_tokens), sum(cache_write_tokens),
    sum(cache_write_1h_tokens), sum(output_tokens), sum(reasoning_tokens), sum(audio_input_tokens),
    sum(audio_output_tokens), sum(image_input_tokens), sum(image_output_tokens), sum(errors),
    sum(cache_hits), sum(writeoff_nano), sum(vendor_cost_nano), sum(duration_ms), sum(ttft_ms),
    sum(streamed_tokens), sum(streaming_ms), sum(ttft_40), sum(ttft_63), sum(ttft_100), sum(ttft_160),
    sum(ttft_250), sum(ttft_400), sum(ttft_630), sum(ttft_1000), sum(ttft_1600), sum(ttft_2500),
    sum(ttft_4000), sum(ttft_6300), sum(ttft_10000), sum(ttft_16000), sum(ttft_25000), sum(ttft_40000),
    sum(ttft_63000), sum(ttft_100000), sum(ttft_160000), sum(ttft_250000), sum(ttft_more), sum(duration_40),
    sum(duration_63), sum(duration_100), sum(duration_160), sum(duration_250), sum(duration_400),
    sum(duration_630), sum(duration_1000), sum(duration_1600), sum(duration_2500), sum(duration_4000),
    sum(duration_6300), sum(duration_10000), sum(duration_16000), sum(duration_25000), sum(duration_40000),
    sum(duration_63000), sum(duration_100000), sum(duration_160000), sum(duration_250000), sum(duration_more)
  FROM usage_quarter JOIN usage_series AS own ON own.id = usage_quarter.series
  JOIN usage_series AS every ON every.account = '' AND every.key_id = ''
    AND every.model = own.model
    AND every.channel = own.channel
    AND every.group_id = own.group_id
    AND every.operation = own.operation
    AND every.status_class = own.status_class
  GROUP BY 1, 2;

DROP TABLE usage_hour;
