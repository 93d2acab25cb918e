-- Requests of an account that are settled together may share one entry of the journal: the request under whose id it stands,
-- of that one too. NULL: it has an entry of its own, or cost nothing.

ALTER TABLE usage ADD COLUMN posting TEXT;
