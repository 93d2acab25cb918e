-- Cards of prices, the keys of requests that must not run twice, and what the deployment itself is.

CREATE TABLE price (
  version BIGINT PRIMARY KEY,
  model TEXT COLLATE "C" NOT NULL,
  effective_from BIGINT NOT NULL,
  prices TEXT NOT NULL CHECK (json_typeof(prices::json) = 'object'),
  origin TEXT NOT NULL CHECK (origin IN ('file', 'shipped', 'set', 'import')),
  source TEXT NOT NULL,
  source_date TEXT,
  actor TEXT,
  created_at BIGINT NOT NULL
);

CREATE TRIGGER price_never_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON price
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Who appends prices holds this row until the commit, so that versions become visible in their order.
CREATE TABLE price_newest (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  version BIGINT NOT NULL
);

INSERT INTO price_newest VALUES (1, 0);

CREATE TABLE idempotency (
  account TEXT COLLATE "C" NOT NULL,
  key TEXT COLLATE "C" NOT NULL,
  body_hash TEXT NOT NULL,
  request_id TEXT COLLATE "C" NOT NULL,
  node TEXT COLLATE "C" NOT NULL,
  epoch BIGINT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('running', 'done')),
  expires_at BIGINT NOT NULL,
  reply_status INTEGER,
  reply_content_type TEXT,
  reply_body TEXT,
  PRIMARY KEY (account, key),
  CHECK ((reply_status IS NULL) = (reply_body IS NULL)),
  CHECK ((reply_status IS NULL) = (reply_content_type IS NULL)),
  CHECK (state = 'done' OR reply_status IS NULL)
);

CREATE INDEX idempotency_expiry ON idempotency (expires_at);

CREATE INDEX idempotency_running ON idempotency (node, epoch) WHERE state = 'running';

-- The currency every amount is in: written at the first start, and for good.
CREATE TABLE deployment (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  currency TEXT NOT NULL
);
