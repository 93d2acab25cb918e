-- The ledger: accounts, the journal, nodes and their leases, what cannot be settled, usage with its money, hourly totals.

CREATE TABLE ledger_account (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('wallet', 'house')),
  debits_posted INTEGER NOT NULL DEFAULT 0 CHECK (debits_posted >= 0),
  credits_posted INTEGER NOT NULL DEFAULT 0 CHECK (credits_posted >= 0),
  -- What nodes lease and set-aside rows pin.
  debits_pending INTEGER NOT NULL DEFAULT 0 CHECK (debits_pending >= 0),
  CONSTRAINT wallet_is_never_overdrawn
    CHECK (kind <> 'wallet' OR credits_posted - debits_posted - debits_pending >= 0)
) STRICT, WITHOUT ROWID;

INSERT INTO ledger_account (id, kind) VALUES
  ('revenue:usage', 'house'), ('expense:promo', 'house'), ('expense:writeoff', 'house'), ('adjust:admin', 'house');

INSERT INTO ledger_account (id, kind) SELECT 'wallet:' || id, 'wallet' FROM account;

-- No reference to ledger_account: each entry moves the counters of both sides in its own transaction, which ends where one is missing.
CREATE TABLE transfer (
  -- CODE:REFERENCE
  id TEXT PRIMARY KEY,
  code TEXT NOT NULL,
  debit TEXT NOT NULL,
  credit TEXT NOT NULL,
  amount_nano INTEGER NOT NULL CHECK (amount_nano > 0),
  actor TEXT,
  reason TEXT,
  at INTEGER NOT NULL,
  CHECK (substr(id, 1, length(code) + 1) = code || ':'),
  CHECK (debit <> credit),
  CHECK (code <> 'adjust' OR (coalesce(actor, '') <> '' AND coalesce(reason, '') <> ''))
) STRICT, WITHOUT ROWID;

-- Usage is listed by way of the usage rows, so that the journal's hot entries need no index.
CREATE INDEX transfer_debit ON transfer (debit, at) WHERE code NOT IN ('usage', 'writeoff');
CREATE INDEX transfer_credit ON transfer (credit, at) WHERE code NOT IN ('usage', 'writeoff');

CREATE TRIGGER transfer_never_updated BEFORE UPDATE ON transfer BEGIN
  SELECT RAISE(ABORT, 'transfer is append-only');
END;

CREATE TRIGGER transfer_never_deleted BEFORE DELETE ON transfer BEGIN
  SELECT RAISE(ABORT, 'transfer is append-only');
END;

CREATE TABLE node (
  id TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL CHECK (epoch > 0),
  state TEXT NOT NULL CHECK (state IN ('open', 'closed')),
  -- By this database's clock.
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A lease that has nothing left has no row.
CREATE TABLE lease (
  node TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  account TEXT NOT NULL,
  amount_nano INTEGER NOT NULL CHECK (amount_nano > 0),
  held_nano INTEGER NOT NULL DEFAULT 0 CHECK (held_nano BETWEEN 0 AND amount_nano),
  recalled_at INTEGER,
  PRIMARY KEY (node, epoch, account)
) STRICT, WITHOUT ROWID;

CREATE INDEX lease_account ON lease (account);
CREATE INDEX lease_recalled ON lease (node, epoch) WHERE recalled_at IS NOT NULL;

CREATE TABLE set_aside (
  request_id TEXT PRIMARY KEY,
  account TEXT NOT NULL,
  held_nano INTEGER NOT NULL CHECK (held_nano >= 0),
  node TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  raw TEXT NOT NULL,
  reason TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;

CREATE INDEX set_aside_account ON set_aside (account);

CREATE TABLE usage_with_money (
  request_id TEXT PRIMARY KEY,
  at INTEGER NOT NULL,
  account TEXT NOT NULL,
  key_id TEXT NOT NULL,
  key_name TEXT NOT NULL,
  group_id TEXT NOT NULL,
  operation TEXT NOT NULL,
  model_asked TEXT NOT NULL,
  model_served TEXT,
  channel TEXT,
  vendor TEXT,
  attempts INTEGER NOT NULL,
  stream INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  cached_input_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,
  cache_write_1h_tokens INTEGER NOT NULL,
  audio_input_tokens INTEGER NOT NULL,
  audio_output_tokens INTEGER NOT NULL,
  image_input_tokens INTEGER NOT NULL,
  image_output_tokens INTEGER NOT NULL,
  units TEXT CHECK (units IS NULL OR json_valid(units)),
  usage_source TEXT NOT NULL CHECK (usage_source IN ('reported', 'drained', 'counted', 'none')),
  price_version INTEGER,
  multiplier_ppm INTEGER NOT NULL CHECK (multiplier_ppm >= 0),
  charge_nano INTEGER NOT NULL CHECK (charge_nano >= 0),
  writeoff_nano INTEGER NOT NULL CHECK (writeoff_nano >= 0),
  vendor_cost_nano INTEGER NOT NULL CHECK (vendor_cost_nano >= 0),
  ttft_ms INTEGER,
  duration_ms INTEGER NOT NULL,
  status INTEGER NOT NULL,
  error_code TEXT,
  error_cause TEXT,
  failed_attempts TEXT CHECK (failed_attempts IS NULL OR json_valid(failed_attempts))
) STRICT, WITHOUT ROWID;

INSERT INTO usage_with_money
  SELECT request_id, at, account, key_id, key_name, group_id, operation, model_asked, model_served, channel, vendor,
    attempts, stream, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens,
    0, 0, 0, 0, 0, NULL, usage_source, price_version, 1000000, charge_nano, 0, 0,
    ttft_ms, duration_ms, status, error_code, error_cause, NULL
  FROM usage;

DROP TABLE usage;
ALTER TABLE usage_with_money RENAME TO usage;

-- Found by account and time, and then by key: an index of keys would cost a third of settling.
CREATE INDEX usage_time ON usage (at);
CREATE INDEX usage_account_time ON usage (account, at);

CREATE TRIGGER usage_never_updated BEFORE UPDATE ON usage BEGIN
  SELECT RAISE(ABORT, 'usage is append-only');
END;

CREATE TRIGGER usage_never_deleted BEFORE DELETE ON usage BEGIN
  SELECT RAISE(ABORT, 'usage is append-only');
END;

CREATE TABLE usage_hour (
  -- First moment of the hour, Unix milliseconds; first in the key, so that what is written now lies together.
  hour INTEGER NOT NULL,
  account TEXT NOT NULL,
  key_id TEXT NOT NULL,
  model TEXT NOT NULL,
  channel TEXT NOT NULL,
  group_id TEXT NOT NULL,
  status INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  charge_nano INTEGER NOT NULL CHECK (charge_nano >= 0),
  writeoff_nano INTEGER NOT NULL CHECK (writeoff_nano >= 0),
  vendor_cost_nano INTEGER NOT NULL CHECK (vendor_cost_nano >= 0),
  PRIMARY KEY (hour, account, key_id, model, channel, group_id, status)
) STRICT, WITHOUT ROWID;

CREATE INDEX usage_hour_account ON usage_hour (account, hour);

INSERT INTO usage_hour
  SELECT at / 3600000 * 3600000, account, key_id, model_asked, coalesce(channel, ''), group_id, status,
    count(*), sum(input_tokens), sum(output_tokens), sum(charge_nano), sum(writeoff_nano), sum(vendor_cost_nano)
  FROM usage GROUP BY 1, 2, 3, 4, 5, 6, 7;
