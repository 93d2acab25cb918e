-- Notices are also sent by mail; and how often an account, or an address, may ask for something, on whichever process.

ALTER TABLE alert_notice ADD COLUMN mail_due_at BIGINT;
ALTER TABLE alert_notice ADD COLUMN mail_attempts BIGINT NOT NULL DEFAULT 0;
ALTER TABLE alert_notice ADD COLUMN mail_failure TEXT;

CREATE INDEX alert_notice_mail_due ON alert_notice (mail_due_at) WHERE mail_due_at IS NOT NULL;

-- What orders tell their customers is looked for by these.
CREATE INDEX payment_order_flagged ON payment_order (credited_at) WHERE flag IS NOT NULL;
CREATE INDEX payment_refund_ended ON payment_refund (ended_at) WHERE state = 'done';

CREATE TABLE pace (
  -- What is asked for, and who asks.
  subject TEXT PRIMARY KEY,
  -- When all that was used is free again, by the database's clock.
  free_at BIGINT NOT NULL
);

CREATE INDEX pace_free_at ON pace (free_at);
