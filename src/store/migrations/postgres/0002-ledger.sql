-- The ledger: accounts, the journal, nodes and their leases, what cannot be settled, usage with its money, hourly totals.
-- Half-empty pages for the rows that change all the time: an update then stays on its page and touches no index.

CREATE TABLE ledger_account (
  id TEXT COLLATE "C" PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('wallet', 'house')),
  debits_posted BIGINT NOT NULL DEFAULT 0 CHECK (debits_posted >= 0),
  credits_posted BIGINT NOT NULL DEFAULT 0 CHECK (credits_posted >= 0),
  -- What nodes lease and set-aside rows pin.
  debits_pending BIGINT NOT NULL DEFAULT 0 CHECK (debits_pending >= 0),
  CONSTRAINT wallet_is_never_overdrawn
    CHECK (kind <> 'wallet' OR credits_posted - debits_posted - debits_pending >= 0)
) WITH (fillfactor = 50);

INSERT INTO ledger_account (id, kind) VALUES
  ('revenue:usage', 'house'), ('expense:promo', 'house'), ('expense:writeoff', 'house'), ('adjust:admin', 'house');

INSERT INTO ledger_account (id, kind) SELECT 'wallet:' || id, 'wallet' FROM account;

-- No reference to ledger_account: each entry moves the counters of both sides in its own transaction, which ends where one is missing.
CREATE TABLE transfer (
  -- CODE:REFERENCE
  id TEXT COLLATE "C" PRIMARY KEY,
  code TEXT NOT NULL,
  debit TEXT COLLATE "C" NOT NULL,
  credit TEXT COLLATE "C" NOT NULL,
  amount_nano BIGINT NOT NULL CHECK (amount_nano > 0),
  actor TEXT,
  reason TEXT,
  at BIGINT NOT NULL,
  CHECK (substr(id, 1, length(code) + 1) = code || ':'),
  CHECK (debit <> credit),
  CHECK (code <> 'adjust' OR (coalesce(actor, '') <> '' AND coalesce(reason, '') <> ''))
);

-- Usage is listed by way of the usage rows, so that the journal's hot entries need no index.
CREATE INDEX transfer_debit ON transfer (debit, at) WHERE code NOT IN ('usage', 'writeoff');
CREATE INDEX transfer_credit ON transfer (credit, at) WHERE code NOT IN ('usage', 'writeoff');

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;

CREATE TRIGGER transfer_never_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON transfer
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TABLE node (
  id TEXT COLLATE "C" PRIMARY KEY,
  epoch BIGINT NOT NULL CHECK (epoch > 0),
  state TEXT NOT NULL CHECK (state IN ('open', 'closed')),
  -- By this database's clock.
  expires_at BIGINT NOT NULL
) WITH (fillfactor = 50);

-- A lease that has nothing left has no row.
CREATE TABLE lease (
  node TEXT COLLATE "C" NOT NULL,
  epoch BIGINT NOT NULL,
  account TEXT COLLATE "C" NOT NULL,
  amount_nano BIGINT NOT NULL CHECK (amount_nano > 0),
  held_nano BIGINT NOT NULL DEFAULT 0 CHECK (held_nano BETWEEN 0 AND amount_nano),
  recalled_at BIGINT,
  PRIMARY KEY (node, epoch, account)
) WITH (fillfactor = 50);

CREATE INDEX lease_account ON lease (account);
CREATE INDEX lease_recalled ON lease (node, epoch) WHERE recalled_at IS NOT NULL;

CREATE TABLE set_aside (
  request_id TEXT COLLATE "C" PRIMARY KEY,
  account TEXT COLLATE "C" NOT NULL,
  held_nano BIGINT NOT NULL CHECK (held_nano >= 0),
  node TEXT COLLATE "C" NOT NULL,
  epoch BIGINT NOT NULL,
  raw TEXT NOT NULL,
  reason TEXT NOT NULL,
  at BIGINT NOT NULL
);

CREATE INDEX set_aside_account ON set_aside (account);

ALTER TABLE usage
  ADD cache_write_1h_tokens BIGINT NOT NULL DEFAULT 0,
  ADD audio_input_tokens BIGINT NOT NULL DEFAULT 0,
  ADD audio_output_tokens BIGINT NOT NULL DEFAULT 0,
  ADD image_input_tokens BIGINT NOT NULL DEFAULT 0,
  ADD image_output_tokens BIGINT NOT NULL DEFAULT 0,
  ADD units TEXT CHECK (units IS NULL OR units::json IS NOT NULL),
  ADD multiplier_ppm BIGINT NOT NULL DEFAULT 1000000 CHECK (multiplier_ppm >= 0),
  ADD CHECK (charge_nano >= 0),
  ADD writeoff_nano BIGINT NOT NULL DEFAULT 0 CHECK (writeoff_nano >= 0),
  ADD vendor_cost_nano BIGINT NOT NULL DEFAULT 0 CHECK (vendor_cost_nano >= 0),
  ADD failed_attempts TEXT CHECK (failed_attempts IS NULL OR failed_attempts::json IS NOT NULL),
  DROP CONSTRAINT usage_usage_source_check,
  ADD CHECK (usage_source IN ('reported', 'drained', 'counted', 'none'));

-- Whatever is written says what it means: the defaults were for the rows that were there.
ALTER TABLE usage
  ALTER cache_write_1h_tokens DROP DEFAULT,
  ALTER audio_input_tokens DROP DEFAULT,
  ALTER audio_output_tokens DROP DEFAULT,
  ALTER image_input_tokens DROP DEFAULT,
  ALTER image_output_tokens DROP DEFAULT,
  ALTER multiplier_ppm DROP DEFAULT,
  ALTER charge_nano DROP DEFAULT,
  ALTER writeoff_nano DROP DEFAULT,
  ALTER vendor_cost_nano DROP DEFAULT;

-- Found by account and time, and then by key: an index of keys would cost a third of settling.
DROP INDEX usage_key_time;

CREATE TRIGGER usage_never_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON usage
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TABLE usage_hour (
  -- First moment of the hour, Unix milliseconds; first in the key, so that what is written now lies together.
  hour BIGINT NOT NULL,
  account TEXT COLLATE "C" NOT NULL,
  key_id TEXT COLLATE "C" NOT NULL,
  model TEXT COLLATE "C" NOT NULL,
  channel TEXT COLLATE "C" NOT NULL,
  group_id TEXT COLLATE "C" NOT NULL,
  status INTEGER NOT NULL,
  requests BIGINT NOT NULL,
  input_tokens BIGINT NOT NULL,
  output_tokens BIGINT NOT NULL,
  charge_nano BIGINT NOT NULL CHECK (charge_nano >= 0),
  writeoff_nano BIGINT NOT NULL CHECK (writeoff_nano >= 0),
  vendor_cost_nano BIGINT NOT NULL CHECK (vendor_cost_nano >= 0),
  PRIMARY KEY (hour, account, key_id, model, channel, group_id, status)
) WITH (fillfactor = 50);

CREATE INDEX usage_hour_account ON usage_hour (account, hour);

INSERT INTO usage_hour
  SELECT at / 3600000 * 3600000, account, key_id, model_asked, coalesce(channel, ''), group_id, status,
    count(*), sum(input_tokens), sum(output_tokens), sum(charge_nano), sum(writeoff_nano), sum(vendor_cost_nano)
  FROM usage GROUP BY 1, 2, 3, 4, 5, 6, 7;
