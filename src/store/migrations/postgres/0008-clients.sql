-- Who sent a request: where from, what its client calls it, and the trace it is part of.

ALTER TABLE usage ADD COLUMN client_address text;
ALTER TABLE usage ADD COLUMN client_request_id text;
ALTER TABLE usage ADD COLUMN trace_id text;
