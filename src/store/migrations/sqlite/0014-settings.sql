-- Settings that were set at run time, and the number that tells servers they changed.

CREATE TABLE setting (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL CHECK (json_valid(value)),
  revision INTEGER NOT NULL,
  actor TEXT,
  changed_at INTEGER NOT NULL
) STRICT;

CREATE TABLE setting_revision (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  value INTEGER NOT NULL
) STRICT;

INSERT INTO setting_revision VALUES (1, 0);
