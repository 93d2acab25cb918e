-- Codes that are worth credit: made in batches, kept as hashes, each used once.

CREATE TABLE redemption_batch (
  id TEXT COLLATE "C" PRIMARY KEY,
  note TEXT NOT NULL,
  -- What each of its codes is worth.
  amount_nano BIGINT NOT NULL CHECK (amount_nano > 0),
  codes BIGINT NOT NULL CHECK (codes > 0),
  actor TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT,
  -- From then on nobody redeems what is left of it.
  revoked_at BIGINT
);

CREATE INDEX redemption_batch_time ON redemption_batch (created_at, id);

CREATE TABLE redemption_code (
  -- SHA-256 of the code, hex.
  hash TEXT COLLATE "C" PRIMARY KEY,
  batch_id TEXT COLLATE "C" NOT NULL REFERENCES redemption_batch (id),
  -- Who has redeemed it; null: nobody so far.
  account TEXT COLLATE "C",
  redeemed_at BIGINT,
  CHECK ((account IS NULL) = (redeemed_at IS NULL))
);

CREATE INDEX redemption_code_batch ON redemption_code (batch_id);
