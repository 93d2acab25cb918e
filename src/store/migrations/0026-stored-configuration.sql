-- Channels, groups and models that are made at run time: every version of each, the newest of which counts.

CREATE TABLE configuration_version (
  kind TEXT NOT NULL CHECK (kind IN ('channel', 'group', 'model')),
  id TEXT NOT NULL,
  -- 1 for the first, then one more with each change, also across a removal.
  revision BIGINT NOT NULL,
  -- As the file's section has it, as JSON, secrets encrypted; NULL: it was removed.
  document TEXT,
  changed_at BIGINT NOT NULL,
  actor TEXT NOT NULL,
  PRIMARY KEY (kind, id, revision)
);

-- Grows with every change: what servers look at, and what changes wait for each other at.
CREATE TABLE configuration_revision (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  value BIGINT NOT NULL
);

INSERT INTO configuration_revision VALUES (1, 0);
