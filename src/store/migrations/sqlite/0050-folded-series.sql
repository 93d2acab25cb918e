-- How far the quarter-hour that begins at `until` is folded: its series up to this one are.

ALTER TABLE usage_folded ADD COLUMN series INTEGER NOT NULL DEFAULT 0;
