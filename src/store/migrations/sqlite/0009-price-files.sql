-- What each node's configuration file said of prices when it was last read: tells an edit from a file left behind.

CREATE TABLE price_file (
  node TEXT PRIMARY KEY,
  revision INTEGER NOT NULL,
  cards TEXT NOT NULL CHECK (json_valid(cards) AND json_type(cards) = 'object')
) STRICT;
