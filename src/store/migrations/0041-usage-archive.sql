-- The files that usage rows are written to before they are removed, and which process does that.

CREATE TABLE usage_archive (
  -- 2026-08/usage-2026-08-01-0123456789ab.ndjson.gz: the last part from the bytes in it.
  name TEXT PRIMARY KEY,
  -- Of its first and its last request, Unix milliseconds.
  first_at BIGINT NOT NULL,
  last_at BIGINT NOT NULL,
  requests BIGINT NOT NULL,
  -- Sums, in decimal: those of many rows may be past what a number here holds.
  charge_nano TEXT NOT NULL,
  writeoff_nano TEXT NOT NULL,
  bytes BIGINT NOT NULL,
  sha256 TEXT NOT NULL,
  written_at BIGINT NOT NULL,
  -- Since when none of its rows is in the table of usage; until then they are being removed.
  removed_at BIGINT
);

CREATE INDEX usage_archive_open ON usage_archive (written_at) WHERE removed_at IS NULL;

CREATE TABLE usage_archive_turn (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  holder TEXT NOT NULL,
  -- Until then it is nobody else's.
  until BIGINT NOT NULL
);

INSERT INTO usage_archive_turn VALUES (1, '', 0);
