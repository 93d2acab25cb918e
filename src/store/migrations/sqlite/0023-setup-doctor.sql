-- What keys begin with, so that a damaged one is recognised; and what each process says of requests that came with mistakes.

ALTER TABLE api_key ADD COLUMN secret_start TEXT;

CREATE TABLE arrival_report (
  process TEXT PRIMARY KEY,
  at INTEGER NOT NULL,
  arrivals TEXT NOT NULL
) STRICT;
