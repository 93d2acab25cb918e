-- Usage rows that leave to a warehouse, in the order of settlement: how far each has come, and what a batch is made of.

-- Unix milliseconds: when it was settled, and when the first of its requests began. 0 where an older version wrote it.
ALTER TABLE settlement_log ADD COLUMN settled_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE settlement_log ADD COLUMN first_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE settlement_log ADD COLUMN requests BIGINT NOT NULL DEFAULT 0;

CREATE TABLE usage_export (
  -- clickhouse, s3
  destination TEXT PRIMARY KEY,
  -- Unix milliseconds: after a restart by its operator it is another.
  began_at BIGINT NOT NULL,
  -- All batches of the settlement log up to it were taken.
  number BIGINT NOT NULL,
  -- 1: rows that were there before are sent first.
  scanning INTEGER NOT NULL,
  -- JSON: behind the last row that was taken; and the same of what is being sent.
  place TEXT NOT NULL,
  planned TEXT,
  -- Until then what was not taken stays, Unix milliseconds.
  held_until BIGINT NOT NULL,
  -- Whose turn it is, and until when.
  holder TEXT NOT NULL,
  until BIGINT NOT NULL,
  -- Rows that were taken, some of them more than once, and when the last were.
  rows_taken BIGINT NOT NULL,
  taken_at BIGINT
);
