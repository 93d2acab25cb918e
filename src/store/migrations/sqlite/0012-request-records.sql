-- What a request held at most, which application sent it, and what its vendor calls it.

ALTER TABLE usage ADD COLUMN held_nano INTEGER NOT NULL DEFAULT 0 CHECK (held_nano >= 0);
ALTER TABLE usage ADD COLUMN client TEXT;
ALTER TABLE usage ADD COLUMN client_version TEXT;
ALTER TABLE usage ADD COLUMN vendor_request_id TEXT;
