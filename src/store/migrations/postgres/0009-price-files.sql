-- What each node's configuration file said of prices when it was last read: tells an edit from a file left behind.

CREATE TABLE price_file (
  node TEXT COLLATE "C" PRIMARY KEY,
  revision BIGINT NOT NULL,
  cards TEXT NOT NULL CHECK (json_typeof(cards::json) = 'object')
);
