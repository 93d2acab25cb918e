-- What keys may be held to, how they are rotated, when they were last used; and keys that manage instead of calling models.

ALTER TABLE api_key ADD COLUMN denied_models TEXT CHECK (denied_models IS NULL OR json_valid(denied_models));
ALTER TABLE api_key ADD COLUMN addresses TEXT CHECK (addresses IS NULL OR json_valid(addresses));
ALTER TABLE api_key ADD COLUMN spend_limit_nano INTEGER CHECK (spend_limit_nano > 0);
ALTER TABLE api_key ADD COLUMN spend_period TEXT CHECK (spend_period IN ('day', 'week', 'month', 'never'));
ALTER TABLE api_key ADD COLUMN spend_time_zone TEXT;
ALTER TABLE api_key ADD COLUMN history_mode TEXT CHECK (history_mode IN ('off', 'metadata', 'full', 'sealed'));
-- The secret before the last rotation, and until when it works.
ALTER TABLE api_key ADD COLUMN previous_hash TEXT;
ALTER TABLE api_key ADD COLUMN previous_until INTEGER;
ALTER TABLE api_key ADD COLUMN revision INTEGER NOT NULL DEFAULT 1;

-- Apart from the keys, whose every change makes all servers read them again; also of keys that a file declares.
CREATE TABLE key_use (
  key_id TEXT PRIMARY KEY,
  at INTEGER NOT NULL,
  address TEXT,
  client TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE management_key (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  -- NULL: the whole deployment.
  account TEXT REFERENCES account (id),
  hash TEXT NOT NULL UNIQUE,
  hint TEXT NOT NULL,
  scopes TEXT NOT NULL CHECK (json_valid(scopes)),
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  disabled_at INTEGER,
  used_at INTEGER,
  revision INTEGER NOT NULL DEFAULT 1
) STRICT;

CREATE INDEX management_key_account ON management_key (account);
