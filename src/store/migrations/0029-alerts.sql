-- What accounts want to be warned of, what is the case of it now, and what they were told.

CREATE TABLE alert_setting (
  account TEXT PRIMARY KEY,
  -- The rules, as JSON.
  document TEXT NOT NULL,
  -- What posts to the account's webhook are signed with, encrypted.
  secret TEXT,
  revision BIGINT NOT NULL
);

-- Told once, until it is no longer the case.
CREATE TABLE alert_raised (
  account TEXT NOT NULL,
  rule TEXT NOT NULL,
  -- The key, the day, or '' where the rule has but one subject.
  subject TEXT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (account, rule, subject)
);

CREATE TABLE alert_notice (
  id TEXT PRIMARY KEY,
  account TEXT NOT NULL,
  at BIGINT NOT NULL,
  document TEXT NOT NULL,
  read_at BIGINT,
  -- When it is to be posted to the account's webhook; null: not, or no more.
  due_at BIGINT,
  attempts BIGINT NOT NULL,
  failure TEXT
);

CREATE INDEX alert_notice_account ON alert_notice (account, at, id);
CREATE INDEX alert_notice_due ON alert_notice (due_at) WHERE due_at IS NOT NULL;

-- Until when one process looks after alerts.
CREATE TABLE alert_turn (
  only_row BIGINT PRIMARY KEY CHECK (only_row = 1),
  until BIGINT NOT NULL
);

INSERT INTO alert_turn VALUES (1, 0);
