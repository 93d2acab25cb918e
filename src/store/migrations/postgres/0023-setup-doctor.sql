-- What keys begin with, so that a damaged one is recognised; and what each process says of requests that came with mistakes.

ALTER TABLE api_key ADD COLUMN secret_start TEXT COLLATE "C";

CREATE TABLE arrival_report (
  process TEXT COLLATE "C" PRIMARY KEY,
  at BIGINT NOT NULL,
  arrivals TEXT NOT NULL
);
