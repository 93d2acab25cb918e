-- How a person likes the console, as JSON.

CREATE TABLE preference (
  account TEXT PRIMARY KEY,
  document TEXT NOT NULL,
  revision BIGINT NOT NULL
);
