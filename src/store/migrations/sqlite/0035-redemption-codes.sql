-- Codes that are worth credit: made in batches, kept as hashes, each used once.

CREATE TABLE redemption_batch (
  id TEXT PRIMARY KEY,
  note TEXT NOT NULL,
  -- What each of its codes is worth.
  amount_nano INTEGER NOT NULL CHECK (amount_nano > 0),
  codes INTEGER NOT NULL CHECK (codes > 0),
  actor TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  -- From then on nobody redeems what is left of it.
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX redemption_batch_time ON redemption_batch (created_at, id);

CREATE TABLE redemption_code (
  -- SHA-256 of the code, hex.
  hash TEXT PRIMARY KEY,
  batch_id TEXT NOT NULL REFERENCES redemption_batch (id),
  -- Who has redeemed it; null: nobody so far.
  account TEXT,
  redeemed_at INTEGER,
  CHECK ((account IS NULL) = (redeemed_at IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX redemption_code_batch ON redemption_code (batch_id);
