-- Requests that were refused before a vendor was asked, and cost nothing, may be removed sooner than others: those from
-- before refusals_since, a first moment of a quarter of an hour as `since` is.

ALTER TABLE usage_kept ADD COLUMN refusals_since INTEGER NOT NULL DEFAULT 0 CHECK (refusals_since % 900000 = 0);

CREATE INDEX usage_refusals ON usage (at)
  WHERE channel IS NULL AND attempts = 0 AND status >= 400 AND charge_nano = 0 AND writeoff_nano = 0;

DROP TRIGGER usage_never_deleted;

CREATE TRIGGER usage_never_deleted BEFORE DELETE ON usage
WHEN old.at >= (SELECT since FROM usage_kept) AND NOT (
  old.channel IS NULL AND old.attempts = 0 AND old.status >= 400 AND old.charge_nano = 0 AND old.writeoff_nano = 0
  AND old.at < (SELECT refusals_since FROM usage_kept)) BEGIN
  SELECT RAISE(ABORT, 'usage is append-only');
END;
