-- Creates the role that servers use, with only the rights they need. It can add rows to the journal, to usage and to
-- the prices, but cannot change them, and can remove only old rows of refused requests.
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
  EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO tollgate_app', current_schema());
END
$$;

-- Append-only.
GRANT INSERT ON transfer, usage, price, set_aside, deployment TO tollgate_app;

GRANT INSERT ON account TO tollgate_app;
GRANT INSERT, UPDATE, DELETE ON api_key TO tollgate_app;
GRANT UPDATE ON api_key_revision TO tollgate_app;
GRANT INSERT ON ledger_account TO tollgate_app;
GRANT UPDATE (debits_posted, credits_posted, debits_pending) ON ledger_account TO tollgate_app;
GRANT INSERT, DELETE ON settlement_log TO tollgate_app;
GRANT UPDATE ON settlement_count TO tollgate_app;
GRANT INSERT, UPDATE, DELETE ON running_watch, running_report, running_stop TO tollgate_app;
GRANT INSERT, UPDATE ON node TO tollgate_app;
GRANT INSERT, UPDATE, DELETE ON lease, key_lease TO tollgate_app;
GRANT INSERT, UPDATE ON outbox_epoch TO tollgate_app;
GRANT INSERT, UPDATE, DELETE ON outbox_gap TO tollgate_app;
-- The database lets usage rows be deleted only if their request was refused, cost nothing and is older than its limit.
GRANT DELETE ON usage TO tollgate_app;
GRANT UPDATE (refusals_since) ON usage_kept TO tollgate_app;
-- Needed if usage.keepDays is set, so that all older rows can be deleted:
-- GRANT UPDATE ON usage_kept TO tollgate_app;
GRANT INSERT, UPDATE ON usage_archive TO tollgate_app;
GRANT UPDATE ON usage_archive_turn TO tollgate_app;
GRANT INSERT, UPDATE, DELETE ON failing_work, usage_export TO tollgate_app;
GRANT INSERT ON usage_series, usage_tagged_series TO tollgate_app;
GRANT INSERT, UPDATE ON usage_quarter, usage_quarter_all, usage_tagged_quarter TO tollgate_app;
GRANT UPDATE ON price_newest TO tollgate_app;
GRANT INSERT, UPDATE ON price_file TO tollgate_app;
GRANT INSERT, UPDATE, DELETE ON idempotency TO tollgate_app;
GRANT INSERT, UPDATE, DELETE ON response, response_item TO tollgate_app;
GRANT INSERT, UPDATE, DELETE ON video TO tollgate_app;

GRANT INSERT ON payment_transaction, payment_event, payment_bonus_claim TO tollgate_app;
GRANT INSERT, UPDATE ON payment_order, payment_bonus, payment_refund TO tollgate_app;
