-- Of credited orders alone: SQLite took it for other questions about a provider's orders, and read all of them.

DROP INDEX payment_order_credited;

CREATE INDEX payment_order_credited ON payment_order (provider, mode, credited_at) WHERE credited_at IS NOT NULL;
