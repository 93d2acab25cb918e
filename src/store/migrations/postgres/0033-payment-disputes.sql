-- What payers dispute with their banks, as the providers tell of it.

CREATE TABLE payment_dispute (
  provider TEXT COLLATE "C" NOT NULL,
  -- The provider's own.
  id TEXT COLLATE "C" NOT NULL,
  order_id TEXT COLLATE "C" NOT NULL REFERENCES payment_order (id),
  transaction_id TEXT COLLATE "C" NOT NULL,
  -- In the smallest unit of the order's currency.
  amount_minor BIGINT NOT NULL CHECK (amount_minor > 0),
  reason TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'won', 'lost')),
  -- Of a lost one, what its account had spent: the operator bears it.
  loss_nano BIGINT NOT NULL CHECK (loss_nano >= 0),
  at BIGINT NOT NULL,
  ended_at BIGINT,
  PRIMARY KEY (provider, id)
);

CREATE INDEX payment_dispute_order ON payment_dispute (order_id);
