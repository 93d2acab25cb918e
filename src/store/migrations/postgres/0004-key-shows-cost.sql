-- A key may ask that every reply carries what it cost.

ALTER TABLE api_key ADD COLUMN show_cost INTEGER NOT NULL DEFAULT 0 CHECK (show_cost IN (0, 1));
