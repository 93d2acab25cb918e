-- Accounts, the keys made in the store, the number that tells a server they changed, and usage.

CREATE TABLE account (
  id TEXT PRIMARY KEY,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE api_key (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  account TEXT NOT NULL REFERENCES account (id),
  group_id TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  hint TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  disabled_at INTEGER,
  models TEXT CHECK (models IS NULL OR json_valid(models)),
  requests_per_minute INTEGER,
  tokens_per_minute INTEGER,
  concurrent_requests INTEGER
) STRICT;

CREATE INDEX api_key_account ON api_key (account);

CREATE TABLE api_key_revision (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  value INTEGER NOT NULL
) STRICT;

INSERT INTO api_key_revision VALUES (1, 0);

CREATE TRIGGER api_key_inserted AFTER INSERT ON api_key BEGIN
  UPDATE api_key_revision SET value = value + 1;
END;

CREATE TRIGGER api_key_updated AFTER UPDATE ON api_key BEGIN
  UPDATE api_key_revision SET value = value + 1;
END;

CREATE TRIGGER api_key_deleted AFTER DELETE ON api_key BEGIN
  UPDATE api_key_revision SET value = value + 1;
END;

-- No reference to account or api_key: a key removed, or declared in the configuration, keeps its history.
CREATE TABLE usage (
  request_id TEXT PRIMARY KEY,
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
  usage_source TEXT NOT NULL CHECK (usage_source IN ('reported', 'counted', 'none')),
  ttft_ms INTEGER,
  duration_ms INTEGER NOT NULL,
  status INTEGER NOT NULL,
  error_code TEXT,
  error_cause TEXT,
  charge_nano INTEGER NOT NULL DEFAULT 0,
  price_version INTEGER
) STRICT;

CREATE INDEX usage_time ON usage (at);
CREATE INDEX usage_account_time ON usage (account, at);
CREATE INDEX usage_key_time ON usage (key_id, at);
