-- When providers of payment were last heard of, and what finds orders that wait.

-- Messages themselves are in payment_event: once each, and of refused ones not all.
CREATE TABLE payment_callback (
  provider TEXT NOT NULL,
  mode TEXT NOT NULL,
  taken_at BIGINT,
  refused_at BIGINT,
  -- Why it was refused.
  problem TEXT,
  PRIMARY KEY (provider, mode)
);

CREATE INDEX payment_order_open ON payment_order (created_at, id) WHERE state IN ('created', 'shown', 'paid');
CREATE INDEX payment_order_credited ON payment_order (provider, mode, credited_at);
