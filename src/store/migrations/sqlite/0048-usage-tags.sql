-- A label that the client gives a request, and totals of the requests that have one. They are apart from usage_quarter,
-- which counts these requests too, because servers of earlier versions write that table without a tag.

ALTER TABLE usage ADD COLUMN tag TEXT;

CREATE TABLE usage_tagged_series (
  id INTEGER PRIMARY KEY,
  account TEXT NOT NULL,
  key_id TEXT NOT NULL,
  model TEXT NOT NULL,
  channel TEXT NOT NULL,
  group_id TEXT NOT NULL,
  operation TEXT NOT NULL,
  status_class TEXT NOT NULL,
  tag TEXT NOT NULL,
  UNIQUE (account, key_id, model, channel, group_id, operation, status_class, tag)
) STRICT;

CREATE TABLE usage_tagged_quarter (
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
CREATE INDEX usage_tagged_quarter_time ON usage_tagged_quarter (quarter);
