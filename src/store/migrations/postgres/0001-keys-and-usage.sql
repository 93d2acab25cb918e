-- Accounts, the keys made in the store, the number that tells a server they changed, and usage.
-- COLLATE "C": names sort by their bytes, as SQLite does it.

CREATE TABLE account (
  id TEXT COLLATE "C" PRIMARY KEY,
  created_at BIGINT NOT NULL
);

CREATE TABLE api_key (
  id TEXT COLLATE "C" PRIMARY KEY,
  name TEXT NOT NULL,
  account TEXT COLLATE "C" NOT NULL REFERENCES account (id),
  group_id TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  hint TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT,
  disabled_at BIGINT,
  models TEXT CHECK (models IS NULL OR models::json IS NOT NULL),
  requests_per_minute BIGINT,
  tokens_per_minute BIGINT,
  concurrent_requests BIGINT
);

CREATE INDEX api_key_account ON api_key (account);

CREATE TABLE api_key_revision (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  value BIGINT NOT NULL
);

INSERT INTO api_key_revision VALUES (1, 0);

CREATE FUNCTION api_key_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE api_key_revision SET value = value + 1;
  RETURN NULL;
END
$$;

CREATE TRIGGER api_key_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON api_key
  FOR EACH STATEMENT EXECUTE FUNCTION api_key_changed();

-- No reference to account or api_key: a key removed, or declared in the configuration, keeps its history.
CREATE TABLE usage (
  request_id TEXT COLLATE "C" PRIMARY KEY,
  at BIGINT NOT NULL,
  account TEXT COLLATE "C" NOT NULL,
  key_id TEXT COLLATE "C" NOT NULL,
  key_name TEXT NOT NULL,
  group_id TEXT NOT NULL,
  operation TEXT NOT NULL,
  model_asked TEXT NOT NULL,
  model_served TEXT,
  channel TEXT,
  vendor TEXT,
  attempts INTEGER NOT NULL,
  stream INTEGER NOT NULL,
  input_tokens BIGINT NOT NULL,
  cached_input_tokens BIGINT NOT NULL,
  cache_write_tokens BIGINT NOT NULL,
  output_tokens BIGINT NOT NULL,
  reasoning_tokens BIGINT NOT NULL,
  usage_source TEXT NOT NULL CHECK (usage_source IN ('reported', 'counted', 'none')),
  ttft_ms BIGINT,
  duration_ms BIGINT NOT NULL,
  status INTEGER NOT NULL,
  error_code TEXT,
  error_cause TEXT,
  charge_nano BIGINT NOT NULL DEFAULT 0,
  price_version BIGINT
);

CREATE INDEX usage_time ON usage (at);
CREATE INDEX usage_account_time ON usage (account, at);
CREATE INDEX usage_key_time ON usage (key_id, at);
