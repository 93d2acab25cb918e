-- How operators dealt with set-aside records. `set_aside` itself is never changed: a record that is named here holds no
-- money any more.

CREATE TABLE set_aside_resolution (
  request_id TEXT PRIMARY KEY,
  -- `settled`: charged after all. `discarded`: never to be charged.
  outcome TEXT NOT NULL CHECK (outcome IN ('settled', 'discarded')),
  actor TEXT NOT NULL CHECK (actor <> ''),
  -- Required where the record was discarded.
  reason TEXT CHECK (outcome = 'settled' OR coalesce(reason, '') <> ''),
  -- Unix milliseconds.
  at BIGINT NOT NULL
);
