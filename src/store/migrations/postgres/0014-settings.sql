-- Settings that were set at run time, and the number that tells servers they changed.

CREATE TABLE setting (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL,
  revision BIGINT NOT NULL,
  actor TEXT,
  changed_at BIGINT NOT NULL
);

CREATE TABLE setting_revision (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  value BIGINT NOT NULL
);

INSERT INTO setting_revision VALUES (1, 0);
