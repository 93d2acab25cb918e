-- People: what an account is beside its money, how it signs in, its sessions, and how it is let in.

ALTER TABLE account ADD COLUMN name TEXT NOT NULL DEFAULT '';
ALTER TABLE account ADD COLUMN email TEXT;
ALTER TABLE account ADD COLUMN email_verified INTEGER NOT NULL DEFAULT 0;
ALTER TABLE account ADD COLUMN role TEXT NOT NULL DEFAULT 'user' CHECK (role IN ('user', 'admin', 'auditor'));
-- Groups it may make keys for; NULL: all.
ALTER TABLE account ADD COLUMN key_groups TEXT CHECK (key_groups IS NULL OR key_groups::json IS NOT NULL);
ALTER TABLE account ADD COLUMN suspended_at BIGINT;
ALTER TABLE account ADD COLUMN deleted_at BIGINT;
ALTER TABLE account ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;

CREATE INDEX account_time ON account (created_at, id);
CREATE INDEX account_admin ON account (id) WHERE role = 'admin';
CREATE INDEX account_closed ON account (id) WHERE suspended_at IS NOT NULL OR deleted_at IS NOT NULL;

-- A server watches this number, and then reads whose keys no longer count.
CREATE TRIGGER account_opened_or_closed AFTER UPDATE OF suspended_at, deleted_at ON account
  FOR EACH STATEMENT EXECUTE FUNCTION api_key_changed();

CREATE TABLE identity (
  id TEXT COLLATE "C" PRIMARY KEY,
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  account TEXT COLLATE "C" NOT NULL REFERENCES account (id),
  -- As its provider calls it.
  name TEXT NOT NULL,
  email TEXT,
  email_verified INTEGER NOT NULL,
  created_at BIGINT NOT NULL,
  used_at BIGINT NOT NULL,
  UNIQUE (issuer, subject)
);

CREATE INDEX identity_account ON identity (account);

CREATE TABLE session (
  id TEXT COLLATE "C" PRIMARY KEY,
  -- SHA-256 of what the cookie holds, hex.
  hash TEXT NOT NULL UNIQUE,
  account TEXT COLLATE "C" NOT NULL REFERENCES account (id),
  created_at BIGINT NOT NULL,
  used_at BIGINT NOT NULL,
  address TEXT,
  client TEXT
);

CREATE INDEX session_account ON session (account);
CREATE INDEX session_use ON session (used_at);

-- What a sign-in that is under way at a provider must come back with.
CREATE TABLE sign_in_state (
  id TEXT COLLATE "C" PRIMARY KEY,
  identifier TEXT NOT NULL UNIQUE,
  value TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);

CREATE INDEX sign_in_state_expiry ON sign_in_state (expires_at);

CREATE TABLE sign_in_link (
  -- SHA-256 of the link's token, hex.
  hash TEXT PRIMARY KEY,
  account TEXT COLLATE "C" NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  used_at BIGINT
);

CREATE TABLE invitation (
  id TEXT COLLATE "C" PRIMARY KEY,
  -- SHA-256 of the code, hex.
  hash TEXT NOT NULL UNIQUE,
  note TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('user', 'admin', 'auditor')),
  key_groups TEXT CHECK (key_groups IS NULL OR key_groups::json IS NOT NULL),
  created_by TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  revoked_at BIGINT,
  used_at BIGINT,
  used_by TEXT
);

CREATE INDEX invitation_time ON invitation (created_at, id);
