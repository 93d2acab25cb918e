-- What keys may be held to, how they are rotated, when they were last used; and keys that manage instead of calling models.

ALTER TABLE api_key ADD COLUMN denied_models TEXT CHECK (denied_models IS NULL OR denied_models::json IS NOT NULL);
ALTER TABLE api_key ADD COLUMN addresses TEXT CHECK (addresses IS NULL OR addresses::json IS NOT NULL);
ALTER TABLE api_key ADD COLUMN spend_limit_nano BIGINT CHECK (spend_limit_nano > 0);
ALTER TABLE api_key ADD COLUMN spend_period TEXT CHECK (spend_period IN ('day', 'week', 'month', 'never'));
ALTER TABLE api_key ADD COLUMN spend_time_zone TEXT;
ALTER TABLE api_key ADD COLUMN history_mode TEXT CHECK (history_mode IN ('off', 'metadata', 'full', 'sealed'));
-- The secret before the last rotation, and until when it works.
ALTER TABLE api_key ADD COLUMN previous_hash TEXT;
ALTER TABLE api_key ADD COLUMN previous_until BIGINT;
ALTER TABLE api_key ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;

-- Apart from the keys, whose every change makes all servers read them again; also of keys that a file declares.
CREATE TABLE key_use (
  key_id TEXT COLLATE "C" PRIMARY KEY,
  at BIGINT NOT NULL,
  address TEXT,
  client TEXT
);

CREATE TABLE management_key (
  id TEXT COLLATE "C" PRIMARY KEY,
  name TEXT NOT NULL,
  -- NULL: the whole deployment.
  account TEXT COLLATE "C" REFERENCES account (id),
  hash TEXT NOT NULL UNIQUE,
  hint TEXT NOT NULL,
  scopes TEXT NOT NULL CHECK (scopes::json IS NOT NULL),
  created_at BIGINT NOT NULL,
  expires_at BIGINT,
  disabled_at BIGINT,
  used_at BIGINT,
  revision BIGINT NOT NULL DEFAULT 1
);

CREATE INDEX management_key_account ON management_key (account);
