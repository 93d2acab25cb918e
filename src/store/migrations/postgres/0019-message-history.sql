-- What accounts want kept of their requests and replies.

CREATE TABLE history_setting (
  account TEXT COLLATE "C" PRIMARY KEY,
  mode TEXT COLLATE "C" NOT NULL CHECK (mode IN ('off', 'metadata', 'sealed', 'full')),
  retention_days INTEGER,
  -- Raw X25519, base64url: what sealed bodies are sealed to.
  public_key TEXT COLLATE "C",
  revision INTEGER NOT NULL,
  CHECK (mode <> 'sealed' OR public_key IS NOT NULL)
);

-- Grows with every change: what a running server polls.
CREATE TABLE history_setting_revision (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  value BIGINT NOT NULL
);

INSERT INTO history_setting_revision VALUES (1, 0);

-- What requests asked and were answered, apart from the money. SQLite keeps these in a file of its own.

CREATE TABLE history_message (
  request_id TEXT COLLATE "C" PRIMARY KEY,
  account TEXT COLLATE "C" NOT NULL,
  key_id TEXT COLLATE "C" NOT NULL,
  key_name TEXT COLLATE "C" NOT NULL,
  model TEXT COLLATE "C" NOT NULL,
  operation TEXT COLLATE "C" NOT NULL,
  format TEXT COLLATE "C" NOT NULL,
  stream INTEGER NOT NULL,
  at BIGINT NOT NULL,
  status INTEGER NOT NULL,
  mode TEXT COLLATE "C" NOT NULL CHECK (mode IN ('metadata', 'sealed', 'full')),
  request_bytes BIGINT NOT NULL,
  reply_bytes BIGINT NOT NULL,
  parameters TEXT COLLATE "C" NOT NULL,
  truncated INTEGER NOT NULL,
  -- What opens a sealed body, for whoever has the secret key: without it nobody can.
  wrapped_key BYTEA,
  -- The document, compressed, and sealed where the mode says so.
  content BYTEA,
  size BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  CHECK ((mode = 'sealed') = (wrapped_key IS NOT NULL)),
  CHECK ((mode = 'metadata') = (content IS NULL))
);

CREATE INDEX history_message_account ON history_message (account, at, request_id);
CREATE INDEX history_message_key ON history_message (key_id, at, request_id);
CREATE INDEX history_message_at ON history_message (at, request_id);
CREATE INDEX history_message_expiry ON history_message (expires_at);

-- Images, sound and files that stood in bodies; an account's own, so that nobody learns what others sent.
CREATE TABLE history_blob (
  account TEXT COLLATE "C" NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  type TEXT COLLATE "C" NOT NULL,
  size BIGINT NOT NULL,
  content BYTEA NOT NULL,
  PRIMARY KEY (account, id)
);

CREATE TABLE history_blob_use (
  request_id TEXT COLLATE "C" NOT NULL REFERENCES history_message (request_id) ON DELETE CASCADE,
  account TEXT COLLATE "C" NOT NULL,
  blob_id TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (request_id, blob_id)
);

CREATE INDEX history_blob_use_blob ON history_blob_use (account, blob_id);

-- Bytes of messages and blobs; whoever writes or deletes takes this row first.
CREATE TABLE history_total (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  bytes BIGINT NOT NULL
);

INSERT INTO history_total VALUES (1, 0);

-- What its owner deleted: what was asked then and is still on its way here is not kept either.
CREATE TABLE history_forgotten (
  account TEXT COLLATE "C" NOT NULL,
  since BIGINT NOT NULL,
  until BIGINT NOT NULL,
  made_at BIGINT NOT NULL
);

CREATE INDEX history_forgotten_account ON history_forgotten (account);
