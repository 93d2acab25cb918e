-- Replies of the Responses format that their callers may come back to.

CREATE TABLE response (
  account TEXT NOT NULL,
  id TEXT NOT NULL,
  previous_id TEXT,
  state TEXT NOT NULL CHECK (state IN ('running', 'done')),
  node TEXT,
  epoch INTEGER,
  input TEXT,
  body TEXT,
  size INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (account, id)
) STRICT;

CREATE INDEX response_expiry ON response (expires_at);

-- Which response an output item belongs to: a later request may name the item alone.
CREATE TABLE response_item (
  account TEXT NOT NULL,
  id TEXT NOT NULL,
  response_id TEXT NOT NULL,
  PRIMARY KEY (account, id),
  FOREIGN KEY (account, response_id) REFERENCES response (account, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX response_item_response ON response_item (account, response_id);
