-- Running requests across processes: who looks, what each process said, what is to be stopped. All of it passes.

CREATE TABLE running_watch (
  -- '': every account.
  account TEXT PRIMARY KEY,
  until INTEGER NOT NULL
) STRICT;

CREATE TABLE running_report (
  process TEXT PRIMARY KEY,
  at INTEGER NOT NULL,
  requests TEXT NOT NULL
) STRICT;

CREATE TABLE running_stop (
  request_id TEXT PRIMARY KEY,
  -- Null: an operator stops it, whoever's it is.
  account TEXT,
  until INTEGER NOT NULL
) STRICT;
