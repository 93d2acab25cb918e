-- How long a node stays open without being renewed, by which a time that was set while a clock was ahead is recognized.

-- Null: not renewed since this column was added.
ALTER TABLE node ADD COLUMN lifetime_ms INTEGER;
