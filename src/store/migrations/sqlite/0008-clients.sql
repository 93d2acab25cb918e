-- Who sent a request: where from, what its client calls it, and the trace it is part of.

ALTER TABLE usage ADD COLUMN client_address TEXT;
ALTER TABLE usage ADD COLUMN client_request_id TEXT;
ALTER TABLE usage ADD COLUMN trace_id TEXT;
