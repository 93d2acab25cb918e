-- Videos that are made, or were: each with the money set aside for it until it ends.

CREATE TABLE video (
  account TEXT NOT NULL,
  id TEXT NOT NULL,
  -- The request that began it: its usage has this id.
  request_id TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL CHECK (state IN ('running', 'completed', 'failed')),
  -- What its account is shown.
  video TEXT NOT NULL CHECK (json_valid(video)),
  -- Where it is made, and what it will cost.
  work TEXT NOT NULL CHECK (json_valid(work)),
  bill TEXT NOT NULL CHECK (json_valid(bill)),
  -- Part of what its wallet has pending.
  held_nano INTEGER NOT NULL CHECK (held_nano >= 0),
  polls INTEGER NOT NULL DEFAULT 0,
  poll_at INTEGER NOT NULL,
  polled_at INTEGER,
  -- Who asks the vendor at present, and until when nobody else may; by the clocks of the nodes.
  node TEXT,
  epoch INTEGER,
  claimed_until INTEGER,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (account, id),
  CHECK (state = 'running' OR held_nano = 0)
) STRICT;

CREATE INDEX video_due ON video (poll_at) WHERE state = 'running';
CREATE INDEX video_list ON video (account, created_at, id);
CREATE INDEX video_expiry ON video (expires_at) WHERE state <> 'running';
