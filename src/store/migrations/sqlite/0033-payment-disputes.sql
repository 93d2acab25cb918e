-- What payers dispute with their banks, as the providers tell of it.

CREATE TABLE payment_dispute (
  provider TEXT NOT NULL,
  -- The provider's own.
  id TEXT NOT NULL,
  order_id TEXT NOT NULL REFERENCES payment_order (id),
  transaction_id TEXT NOT NULL,
  -- In the smallest unit of the order's currency.
  amount_minor INTEGER NOT NULL CHECK (amount_minor > 0),
  reason TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'won', 'lost')),
  -- Of a lost one, what its account had spent: the operator bears it.
  loss_nano INTEGER NOT NULL CHECK (loss_nano >= 0),
  at INTEGER NOT NULL,
  ended_at INTEGER,
  PRIMARY KEY (provider, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX payment_dispute_order ON payment_dispute (order_id);
