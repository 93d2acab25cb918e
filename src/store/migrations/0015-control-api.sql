-- Replies of the control API kept for repeats of a request, and what operators did.

CREATE TABLE control_reply (
  principal TEXT NOT NULL,
  key TEXT NOT NULL,
  -- SHA-256 of the route, its address and its body, hex.
  request_hash TEXT NOT NULL,
  -- NULL while the first request runs.
  status INTEGER,
  -- Encrypted: a reply may hold a secret that is shown once.
  body TEXT,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (principal, key)
);

CREATE INDEX control_reply_expiry ON control_reply (expires_at);

CREATE TABLE operator_event (
  id TEXT PRIMARY KEY,
  at BIGINT NOT NULL,
  actor TEXT NOT NULL,
  role TEXT NOT NULL,
  action TEXT NOT NULL,
  -- What it was done to: the values of the address, as JSON.
  target TEXT NOT NULL,
  -- What was asked for, as JSON, without secrets.
  detail TEXT NOT NULL,
  address TEXT
);

CREATE INDEX operator_event_time ON operator_event (at, id);
