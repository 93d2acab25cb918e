-- Videos that are made, or were: each with the money set aside for it until it ends.

CREATE TABLE video (
  account TEXT COLLATE "C" NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  -- The request that began it: its usage has this id.
  request_id TEXT COLLATE "C" NOT NULL UNIQUE,
  state TEXT NOT NULL CHECK (state IN ('running', 'completed', 'failed')),
  -- What its account is shown.
  video TEXT NOT NULL,
  -- Where it is made, and what it will cost.
  work TEXT NOT NULL,
  bill TEXT NOT NULL,
  -- Part of what its wallet has pending.
  held_nano BIGINT NOT NULL CHECK (held_nano >= 0),
  polls BIGINT NOT NULL DEFAULT 0,
  poll_at BIGINT NOT NULL,
  polled_at BIGINT,
  -- Who asks the vendor at present, and until when nobody else may; by the clocks of the nodes.
  node TEXT COLLATE "C",
  epoch BIGINT,
  claimed_until BIGINT,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (account, id),
  CHECK (state = 'running' OR held_nano = 0)
);

CREATE INDEX video_due ON video (poll_at) WHERE state = 'running';
CREATE INDEX video_list ON video (account, created_at, id);
CREATE INDEX video_expiry ON video (expires_at) WHERE state <> 'running';
