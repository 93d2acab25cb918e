-- Totals of usage by hours and by days, for one dimension at a time, of each account and of all accounts together: what
-- quarters of an hour add up to, so that long times need not be added up from them.

-- What they are totals of: of one account, or of all together (''), everything ('') or one value of one dimension.
CREATE TABLE usage_facet (
  id INTEGER PRIMARY KEY,
  dimension TEXT NOT NULL,
  account TEXT NOT NULL,
  value TEXT NOT NULL,
  UNIQUE (dimension, account, value)
) STRICT;

CREATE TABLE usage_hour (
  facet INTEGER NOT NULL,
  -- First moment of the hour, UTC, Unix milliseconds.
  hour INTEGER NOT NULL,
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
  PRIMARY KEY (facet, hour)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage_day (
  facet INTEGER NOT NULL,
  -- First moment of the day, UTC, Unix milliseconds.
  day INTEGER NOT NULL,
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
  PRIMARY KEY (facet, day)
) STRICT, WITHOUT ROWID;

-- Quarters that began before this moment are in the totals by hours and by days, all others are not.
CREATE TABLE usage_folded (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  until INTEGER NOT NULL CHECK (until % 900000 = 0)
) STRICT;

INSERT INTO usage_folded VALUES (1, 0);
