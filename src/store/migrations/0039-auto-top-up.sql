-- Accounts that are topped up by themselves where less is left than they say, each by a payer who agreed to it.

CREATE TABLE auto_top_up (
  account TEXT PRIMARY KEY,
  mode TEXT NOT NULL CHECK (mode IN ('live', 'play')),
  -- The order whose payer agreed.
  agreement TEXT NOT NULL REFERENCES payment_order (id),
  threshold_nano BIGINT NOT NULL CHECK (threshold_nano > 0),
  amount_minor BIGINT NOT NULL CHECK (amount_minor > 0),
  -- Most in a calendar month, in UTC.
  month_minor BIGINT NOT NULL CHECK (month_minor >= amount_minor),
  -- Why it does nothing any more; null: it is on.
  problem TEXT,
  -- The order of the crossing that is under way; while there is one, no other is begun.
  order_id TEXT,
  -- Until then one process has it.
  until BIGINT NOT NULL,
  revision BIGINT NOT NULL
);

CREATE INDEX payment_order_automatic ON payment_order (account, created_at) WHERE method = 'off_session';
