-- Message history of SQLite, in a file of its own: what requests asked and were answered, apart from the money.

CREATE TABLE history_message (
  request_id TEXT PRIMARY KEY,
  account TEXT NOT NULL,
  key_id TEXT NOT NULL,
  key_name TEXT NOT NULL,
  model TEXT NOT NULL,
  operation TEXT NOT NULL,
  format TEXT NOT NULL,
  stream INTEGER NOT NULL,
  at INTEGER NOT NULL,
  status INTEGER NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('metadata', 'sealed', 'full')),
  request_bytes INTEGER NOT NULL,
  reply_bytes INTEGER NOT NULL,
  parameters TEXT NOT NULL,
  truncated INTEGER NOT NULL,
  -- What opens a sealed body, for whoever has the secret key: without it nobody can.
  wrapped_key BLOB,
  -- The document, compressed, and sealed where the mode says so.
  content BLOB,
  size INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  CHECK ((mode = 'sealed') = (wrapped_key IS NOT NULL)),
  CHECK ((mode = 'metadata') = (content IS NULL))
) STRICT;

CREATE INDEX history_message_account ON history_message (account, at, request_id);
CREATE INDEX history_message_key ON history_message (key_id, at, request_id);
CREATE INDEX history_message_at ON history_message (at, request_id);
CREATE INDEX history_message_expiry ON history_message (expires_at);

-- Images, sound and files that stood in bodies; an account's own, so that nobody learns what others sent.
CREATE TABLE history_blob (
  account TEXT NOT NULL,
  id TEXT NOT NULL,
  type TEXT NOT NULL,
  size INTEGER NOT NULL,
  content BLOB NOT NULL,
  PRIMARY KEY (account, id)
) STRICT;

CREATE TABLE history_blob_use (
  request_id TEXT NOT NULL REFERENCES history_message (request_id) ON DELETE CASCADE,
  account TEXT NOT NULL,
  blob_id TEXT NOT NULL,
  PRIMARY KEY (request_id, blob_id)
) STRICT;

CREATE INDEX history_blob_use_blob ON history_blob_use (account, blob_id);

-- Bytes of messages and blobs; whoever writes or deletes takes this row first.
CREATE TABLE history_total (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  bytes INTEGER NOT NULL
) STRICT;

INSERT INTO history_total VALUES (1, 0);

-- What its owner deleted: what was asked then and is still on its way here is not kept either.
CREATE TABLE history_forgotten (
  account TEXT NOT NULL,
  since INTEGER NOT NULL,
  until INTEGER NOT NULL,
  made_at INTEGER NOT NULL
) STRICT;

CREATE INDEX history_forgotten_account ON history_forgotten (account);
