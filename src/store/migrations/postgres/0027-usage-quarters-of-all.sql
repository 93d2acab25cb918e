-- Totals of all accounts together by quarters of an hour, for one dimension at a time, beside those by hours and by days:
-- clocks that are half an hour off cut hours in two.

CREATE TABLE usage_facet_quarter (
  facet BIGINT NOT NULL,
  -- First moment of the quarter, UTC, Unix milliseconds.
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
  PRIMARY KEY (facet, quarter)
) WITH (fillfactor = 70);

-- All of them are folded anew.
DELETE FROM usage_hour;
DELETE FROM usage_day;
UPDATE usage_folded SET until = 0;
