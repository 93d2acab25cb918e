-- Payments: orders, what providers say was paid, what they sent word for word, first bonuses and refunds.

INSERT INTO ledger_account (id, kind) VALUES
  ('clearing:alipay', 'house'), ('clearing:wechatpay', 'house'), ('clearing:stripe', 'house'), ('clearing:play', 'house');

CREATE TABLE payment_order (
  -- What the provider knows it by (out_trade_no).
  id TEXT COLLATE "C" PRIMARY KEY,
  account TEXT COLLATE "C" NOT NULL REFERENCES account (id),
  -- Who ordered, as the journal names people.
  person TEXT NOT NULL,
  provider TEXT COLLATE "C" NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('play', 'live')),
  method TEXT NOT NULL,
  -- In the smallest unit of the provider's currency.
  amount_minor BIGINT NOT NULL CHECK (amount_minor > 0),
  currency TEXT NOT NULL,
  -- The rate at the time of the order.
  nano_per_minor BIGINT NOT NULL CHECK (nano_per_minor > 0),
  credit_nano BIGINT NOT NULL CHECK (credit_nano > 0),
  -- Offered, where nobody has had it before.
  bonus_nano BIGINT NOT NULL CHECK (bonus_nano >= 0),
  state TEXT NOT NULL CHECK (state IN ('created', 'shown', 'paid', 'credited', 'part_refunded', 'refunded', 'expired',
    'closed', 'disputed')),
  -- What an operator should look at; null: nothing.
  flag TEXT,
  -- The caller's name for its attempt: pressed twice, it is one order.
  attempt TEXT NOT NULL,
  -- What the customer pays by, as JSON.
  instructions TEXT CHECK (instructions IS NULL OR instructions::json IS NOT NULL),
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  shown_at BIGINT,
  credited_at BIGINT,
  -- Expired or closed.
  ended_at BIGINT,
  -- When its provider is to be asked next; null: no more.
  query_at BIGINT,
  queries BIGINT NOT NULL DEFAULT 0,
  revision BIGINT NOT NULL DEFAULT 1,
  UNIQUE (account, attempt)
);

CREATE INDEX payment_order_account ON payment_order (account, created_at, id);
CREATE INDEX payment_order_time ON payment_order (created_at, id);
CREATE INDEX payment_order_query ON payment_order (query_at) WHERE query_at IS NOT NULL;

CREATE TABLE payment_transaction (
  provider TEXT COLLATE "C" NOT NULL,
  -- The provider's own.
  id TEXT COLLATE "C" NOT NULL,
  -- As the provider names it; of no order of ours where nothing was credited.
  order_id TEXT COLLATE "C" NOT NULL,
  -- null: not credited.
  account TEXT COLLATE "C",
  mode TEXT NOT NULL,
  amount_minor BIGINT NOT NULL CHECK (amount_minor > 0),
  currency TEXT NOT NULL,
  credit_nano BIGINT NOT NULL CHECK (credit_nano >= 0),
  payer_hash TEXT,
  outcome TEXT NOT NULL,
  paid_at BIGINT NOT NULL,
  at BIGINT NOT NULL,
  -- The entry of the journal; null: not credited.
  transfer TEXT UNIQUE,
  CHECK ((transfer IS NULL) = (account IS NULL) AND (transfer IS NULL) = (credit_nano = 0)),
  PRIMARY KEY (provider, id)
);

CREATE INDEX payment_transaction_order ON payment_transaction (order_id);
CREATE INDEX payment_transaction_account ON payment_transaction (account, at);

CREATE TABLE payment_event (
  provider TEXT COLLATE "C" NOT NULL,
  -- SHA-256 of the bytes, hex.
  sha256 TEXT COLLATE "C" NOT NULL,
  -- Why it was refused; '': it was not.
  problem TEXT NOT NULL,
  -- The provider's name for it, where it could be read.
  event_id TEXT,
  order_id TEXT COLLATE "C",
  raw BYTEA NOT NULL,
  headers TEXT NOT NULL CHECK (headers::json IS NOT NULL),
  at BIGINT NOT NULL,
  PRIMARY KEY (provider, sha256, problem)
);

CREATE INDEX payment_event_order ON payment_event (order_id) WHERE order_id IS NOT NULL;
CREATE INDEX payment_event_time ON payment_event (provider, at);

-- Who has had a first bonus, for ever: an account, and whoever paid.
CREATE TABLE payment_bonus_claim (
  mode TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('account', 'payer')),
  subject TEXT COLLATE "C" NOT NULL,
  order_id TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (mode, kind, subject)
);

CREATE TABLE payment_bonus (
  order_id TEXT COLLATE "C" PRIMARY KEY,
  account TEXT COLLATE "C" NOT NULL,
  amount_nano BIGINT NOT NULL CHECK (amount_nano > 0),
  -- Taken back by refunds, and expired.
  taken_nano BIGINT NOT NULL DEFAULT 0 CHECK (taken_nano BETWEEN 0 AND amount_nano),
  -- What had left the wallet before it, and has since without being spent.
  debits_nano BIGINT NOT NULL,
  at BIGINT NOT NULL,
  expires_at BIGINT,
  expired_at BIGINT
);

CREATE INDEX payment_bonus_account ON payment_bonus (account);
CREATE INDEX payment_bonus_expiry ON payment_bonus (expires_at) WHERE expires_at IS NOT NULL AND expired_at IS NULL;

CREATE TABLE payment_refund (
  -- What the provider knows it by: repeated, it is one refund.
  id TEXT COLLATE "C" PRIMARY KEY,
  order_id TEXT COLLATE "C" NOT NULL REFERENCES payment_order (id),
  account TEXT COLLATE "C" NOT NULL,
  provider TEXT COLLATE "C" NOT NULL,
  transaction_id TEXT NOT NULL,
  amount_minor BIGINT NOT NULL CHECK (amount_minor > 0),
  amount_nano BIGINT NOT NULL CHECK (amount_nano > 0),
  clawback_nano BIGINT NOT NULL CHECK (clawback_nano >= 0),
  state TEXT NOT NULL CHECK (state IN ('pending', 'done', 'failed')),
  actor TEXT NOT NULL,
  reason TEXT NOT NULL,
  -- What the provider said last where it is not done.
  failure TEXT,
  at BIGINT NOT NULL,
  ended_at BIGINT
);

CREATE INDEX payment_refund_order ON payment_refund (order_id);
CREATE INDEX payment_refund_account ON payment_refund (account);
CREATE INDEX payment_refund_pending ON payment_refund (at) WHERE state = 'pending';

CREATE TRIGGER payment_transaction_never_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON payment_transaction
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER payment_event_never_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON payment_event
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER payment_bonus_claim_never_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON payment_bonus_claim
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
