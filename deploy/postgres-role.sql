-- Creates the role that servers use. It can read and write every table, but can only add rows to the journal, to usage,
-- to the prices, to payments and to the audit log: it can neither change nor remove them, except usage rows that are
-- past their retention.
--
-- Run it as the owner of the tables, in the database and schema they are in, after each migration; it may be run again.
-- Then give the role its password and start the servers with it:
--
--   psql "$OWNER_URL" -f deploy/postgres-role.sql
--   psql "$OWNER_URL" -c "ALTER ROLE tollgate_app PASSWORD '...'"
--
-- A newer version migrates as the owner first: DATABASE_URL="$OWNER_URL" tollgate migrate

DO $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'tollgate_app') THEN
    CREATE ROLE tollgate_app LOGIN;
  END IF;
  EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA %I FROM tollgate_app', current_schema());
  EXECUTE format('GRANT USAGE ON SCHEMA %I TO tollgate_app', current_schema());
  EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %I TO tollgate_app', current_schema());
  -- A backup reads them.
  EXECUTE format('GRANT SELECT ON ALL SEQUENCES IN SCHEMA %I TO tollgate_app', current_schema());
END
$$;

-- Append-only.
REVOKE UPDATE, DELETE ON transfer, usage, price, set_aside, set_aside_resolution, operator_event, usage_series,
  usage_tagged_series, payment_transaction, payment_event, payment_bonus_claim FROM tollgate_app;
REVOKE DELETE ON account, ledger_account, node, outbox_epoch, deployment, price_file, price_newest, settlement_count,
  usage_kept, usage_quarter, usage_quarter_all, usage_tagged_quarter, usage_archive, usage_archive_turn,
  payment_order, payment_bonus, payment_refund, payment_dispute FROM tollgate_app;
REVOKE INSERT, UPDATE, DELETE ON schema_migration FROM tollgate_app;

-- Of these only some columns change.
REVOKE UPDATE ON ledger_account, usage_kept FROM tollgate_app;
GRANT UPDATE (debits_posted, credits_posted, debits_pending) ON ledger_account TO tollgate_app;
-- Retention moves these; the database lets usage rows be deleted only from before them.
GRANT UPDATE (since, refusals_since) ON usage_kept TO tollgate_app;
GRANT DELETE ON usage TO tollgate_app;
