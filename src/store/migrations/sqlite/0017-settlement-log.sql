-- The last batches of settled requests, in the order of their commits.

CREATE TABLE settlement_log (
  number INTEGER PRIMARY KEY,
  -- A JSON array of request ids.
  ids TEXT NOT NULL
) STRICT;
