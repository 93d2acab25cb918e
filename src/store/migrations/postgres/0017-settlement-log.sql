-- The last batches of settled requests, in the order of their commits.

CREATE TABLE settlement_log (
  number BIGINT PRIMARY KEY,
  -- A JSON array of request ids.
  ids TEXT NOT NULL
);

-- Locked until each settlement's commit, so that numbers become visible in their order.
CREATE TABLE settlement_count (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  value BIGINT NOT NULL
);

INSERT INTO settlement_count VALUES (1, 0);
