-- Running requests across processes: who looks, what each process said, what is to be stopped. All of it passes.

CREATE TABLE running_watch (
  -- '': every account.
  account TEXT COLLATE "C" PRIMARY KEY,
  until BIGINT NOT NULL
);

CREATE TABLE running_report (
  process TEXT COLLATE "C" PRIMARY KEY,
  at BIGINT NOT NULL,
  requests TEXT NOT NULL
);

CREATE TABLE running_stop (
  request_id TEXT COLLATE "C" PRIMARY KEY,
  -- Null: an operator stops it, whoever's it is.
  account TEXT COLLATE "C",
  until BIGINT NOT NULL
);
