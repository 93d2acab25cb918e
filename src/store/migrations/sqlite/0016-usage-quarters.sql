-- Totals of usage by quarters of an hour, for every account, key, model, channel, group, operation and class of status,
-- in place of the hourly ones.

-- What totals are told apart by. Neither account nor key: all accounts together.
CREATE TABLE usage_series (
  id INTEGER PRIMARY KEY,
  account TEXT NOT NULL,
  key_id TEXT NOT NULL,
  model TEXT NOT NULL,
  channel TEXT NOT NULL,
  group_id TEXT NOT NULL,
  operation TEXT NOT NULL,
  status_class TEXT NOT NULL,
  UNIQUE (account, key_id, model, channel, group_id, operation, status_class)
) STRICT;

-- Null in place of 0, which takes no room. No reference to usage_series, which settling writes first: a check of each row costs time.
CREATE TABLE usage_quarter (
  series INTEGER NOT NULL,
  -- First moment of the quarter, Unix milliseconds.
  quarter INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  charge_nano INTEGER CHECK (charge_nano >= 0),
  input_tokens INTEGER,
  cached_input_tokens INTEGER,
  cache_write_tokens INTEGER,
  cache_write_1h_tokens INTEGER,
  output_tokens INTEGER,
  reasoning_tokens INTEGER,
  audio_input_tokens INTEGER,
  audio_output_tokens INTEGER,
  image_input_tokens INTEGER,
  image_output_tokens INTEGER,
  errors INTEGER,
  cache_hits INTEGER,
  writeoff_nano INTEGER CHECK (writeoff_nano >= 0),
  vendor_cost_nano INTEGER CHECK (vendor_cost_nano >= 0),
  duration_ms INTEGER,
  ttft_ms INTEGER,
  streamed_tokens INTEGER,
  streaming_ms INTEGER,
  -- Requests by how long they took, in milliseconds: below the number, and not below the one before it.
  ttft_40 INTEGER, ttft_63 INTEGER, ttft_100 INTEGER, ttft_160 INTEGER, ttft_250 INTEGER, ttft_400 INTEGER,
  ttft_630 INTEGER, ttft_1000 INTEGER, ttft_1600 INTEGER, ttft_2500 INTEGER, ttft_4000 INTEGER,
  ttft_6300 INTEGER, ttft_10000 INTEGER, ttft_16000 INTEGER, ttft_25000 INTEGER, ttft_40000 INTEGER,
  ttft_63000 INTEGER, ttft_100000 INTEGER, ttft_160000 INTEGER, ttft_250000 INTEGER, ttft_more INTEGER,
  duration_40 INTEGER, duration_63 INTEGER, duration_100 INTEGER, duration_160 INTEGER, duration_250 INTEGER,
  duration_400 INTEGER, duration_630 INTEGER, duration_1000 INTEGER, duration_1600 INTEGER,
  duration_2500 INTEGER, duration_4000 INTEGER, duration_6300 INTEGER, duration_10000 INTEGER,
  duration_16000 INTEGER, duration_25000 INTEGER, duration_40000 INTEGER, duration_63000 INTEGER,
  duration_100000 INTEGER, duration_160000 INTEGER, duration_250000 INTEGER, duration_more INTEGER,
  PRIMARY KEY (series, quarter)
) STRICT, WITHOUT ROWID;

-- The audit reads a quarter at a time.
CREATE INDEX usage_quarter_time ON usage_quarter (quarter);

-- The same of all accounts together.
CREATE TABLE usage_quarter_all (
  series INTEGER NOT NULL,
  -- First moment of the quarter, Unix milliseconds.
  quarter INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  charge_nano INTEGER CHECK (charge_nano >= 0),
  input_tokens INTEGER,
  cached_input_tokens INTEGER,
  cache_write_tokens INTEGER,
  cache_write_1h_tokens INTEGER,
  output_tokens INTEGER,
  reasoning_tokens INTEGER,
  audio_input_tokens INTEGER,
  audio_output_tokens INTEGER,
  image_input_tokens INTEGER,
  image_output_tokens INTEGER,
  errors INTEGER,
  cache_hits INTEGER,
  writeoff_nano INTEGER CHECK (writeoff_nano >= 0),
  vendor_cost_nano INTEGER CHECK (vendor_cost_nano >= 0),
  duration_ms INTEGER,
  ttft_ms INTEGER,
  streamed_tokens INTEGER,
  streaming_ms INTEGER,
  -- Requests by how long they took, in milliseconds: below the number, and not below the one before it.
  ttft_40 INTEGER, ttft_63 INTEGER, ttft_100 INTEGER, ttft_160 INTEGER, ttft_250 INTEGER, ttft_400 INTEGER,
  ttft_630 INTEGER, ttft_1000 INTEGER, ttft_1600 INTEGER, ttft_2500 INTEGER, ttft_4000 INTEGER,
  ttft_6300 INTEGER, ttft_10000 INTEGER, ttft_16000 INTEGER, ttft_25000 INTEGER, ttft_40000 INTEGER,
  ttft_63000 INTEGER, ttft_100000 INTEGER, ttft_160000 INTEGER, ttft_250000 INTEGER, ttft_more INTEGER,
  duration_40 INTEGER, duration_63 INTEGER, duration_100 INTEGER, duration_160 INTEGER, duration_250 INTEGER,
  duration_400 INTEGER, duration_630 INTEGER, duration_1000 INTEGER, duration_1600 INTEGER,
  duration_2500 INTEGER, duration_4000 INTEGER, duration_6300 INTEGER, duration_10000 INTEGER,
  duration_16000 INTEGER, duration_25000 INTEGER, duration_40000 INTEGER, duration_63000 INTEGER,
  duration_100000 INTEGER, duration_160000 INTEGER, duration_250000 INTEGER, duration_more INTEGER,
  PRIMARY KEY (series, quarter)
) STRICT, WITHOUT ROWID;

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
