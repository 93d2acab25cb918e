-- A label that the client gives a request, and totals of the requests that have one. They are apart from usage_quarter,
-- which counts these requests too, because servers of earlier versions write that table without a tag.

ALTER TABLE usage ADD COLUMN tag TEXT;

CREATE TABLE usage_tagged_series (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account TEXT COLLATE "C" NOT NULL,
  key_id TEXT COLLATE "C" NOT NULL,
  model TEXT COLLATE "C" NOT NULL,
  channel TEXT COLLATE "C" NOT NULL,
  group_id TEXT COLLATE "C" NOT NULL,
  operation TEXT COLLATE "C" NOT NULL,
  status_class TEXT COLLATE "C" NOT NULL,
  tag TEXT COLLATE "C" NOT NULL,
  UNIQUE (account, key_id, model, channel, group_id, operation, status_class, tag)
);

CREATE TABLE usage_tagged_quarter (
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
CREATE INDEX usage_tagged_quarter_time ON usage_tagged_quarter (quarter);
