-- Replies of the Responses format that their callers may come back to.

CREATE TABLE response (
  account TEXT COLLATE "C" NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  previous_id TEXT COLLATE "C",
  state TEXT NOT NULL CHECK (state IN ('running', 'done')),
  node TEXT COLLATE "C",
  epoch BIGINT,
  input TEXT,
  body TEXT,
  size BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (account, id)
);

CREATE INDEX response_expiry ON response (expires_at);

-- Which response an output item belongs to: a later request may name the item alone.
CREATE TABLE response_item (
  account TEXT COLLATE "C" NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  response_id TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (account, id),
  FOREIGN KEY (account, response_id) REFERENCES response (account, id) ON DELETE CASCADE
);

CREATE INDEX response_item_response ON response_item (account, response_id);
