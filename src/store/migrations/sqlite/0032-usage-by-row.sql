-- What inserting a usage row costs: SQLite makes the list of an IN with more than two values anew for each row it checks, so
-- the same condition is written out; and rows as long as these are appended for less where they are not kept by their key,
-- whose text then is in one index and not in three. Both are changed by making the table again.

CREATE TABLE usage_again (
  request_id TEXT NOT NULL PRIMARY KEY,
  at INTEGER NOT NULL,
  account TEXT NOT NULL,
  key_id TEXT NOT NULL,
  key_name TEXT NOT NULL,
  group_id TEXT NOT NULL,
  operation TEXT NOT NULL,
  model_asked TEXT NOT NULL,
  model_served TEXT,
  channel TEXT,
  vendor TEXT,
  attempts INTEGER NOT NULL,
  stream INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  cached_input_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,
  cache_write_1h_tokens INTEGER NOT NULL,
  audio_input_tokens INTEGER NOT NULL,
  audio_output_tokens INTEGER NOT NULL,
  image_input_tokens INTEGER NOT NULL,
  image_output_tokens INTEGER NOT NULL,
  units TEXT CHECK (units IS NULL OR json_valid(units)),
  usage_source TEXT NOT NULL CHECK (usage_source = 'reported' OR usage_source = 'drained'
    OR usage_source = 'counted' OR usage_source = 'none'),
  price_version INTEGER,
  multiplier_ppm INTEGER NOT NULL CHECK (multiplier_ppm >= 0),
  charge_nano INTEGER NOT NULL CHECK (charge_nano >= 0),
  writeoff_nano INTEGER NOT NULL CHECK (writeoff_nano >= 0),
  vendor_cost_nano INTEGER NOT NULL CHECK (vendor_cost_nano >= 0),
  ttft_ms INTEGER,
  duration_ms INTEGER NOT NULL,
  status INTEGER NOT NULL,
  error_code TEXT,
  error_cause TEXT,
  failed_attempts TEXT CHECK (failed_attempts IS NULL OR json_valid(failed_attempts)),
  client_address TEXT,
  client_request_id TEXT,
  trace_id TEXT,
  held_nano INTEGER NOT NULL DEFAULT 0 CHECK (held_nano >= 0),
  client TEXT,
  client_version TEXT,
  vendor_request_id TEXT
) STRICT;

INSERT INTO usage_again
  SELECT request_id, at, account, key_id, key_name, group_id, operation, model_asked, model_served, channel,
    vendor, attempts, stream, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens,
    reasoning_tokens, cache_write_1h_tokens, audio_input_tokens, audio_output_tokens, image_input_tokens,
    image_output_tokens, units, usage_source, price_version, multiplier_ppm, charge_nano, writeoff_nano,
    vendor_cost_nano, ttft_ms, duration_ms, status, error_code, error_cause, failed_attempts,
    client_address, client_request_id, trace_id, held_nano, client, client_version, vendor_request_id
  FROM usage ORDER BY request_id;

DROP TABLE usage;
ALTER TABLE usage_again RENAME TO usage;

CREATE INDEX usage_time ON usage (at);
CREATE INDEX usage_account_time ON usage (account, at);

CREATE TRIGGER usage_never_updated BEFORE UPDATE ON usage BEGIN
  SELECT RAISE(ABORT, 'usage is append-only');
END;

CREATE TRIGGER usage_never_deleted BEFORE DELETE ON usage
WHEN old.at >= (SELECT since FROM usage_kept) BEGIN
  SELECT RAISE(ABORT, 'usage is append-only');
END;
