-- Requests that were refused before a vendor was asked, and cost nothing, may be removed sooner than others: those from
-- before refusals_since, a first moment of a quarter of an hour as `since` is.

ALTER TABLE usage_kept ADD COLUMN refusals_since BIGINT NOT NULL DEFAULT 0 CHECK (refusals_since % 900000 = 0);

CREATE INDEX usage_refusals ON usage (at)
  WHERE channel IS NULL AND attempts = 0 AND status >= 400 AND charge_nano = 0 AND writeoff_nano = 0;

CREATE OR REPLACE FUNCTION refuse_removal_of_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.at >= (SELECT since FROM usage_kept) AND NOT (
    OLD.channel IS NULL AND OLD.attempts = 0 AND OLD.status >= 400 AND OLD.charge_nano = 0 AND OLD.writeoff_nano = 0
    AND OLD.at < (SELECT refusals_since FROM usage_kept)) THEN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN OLD;
END
$$;
