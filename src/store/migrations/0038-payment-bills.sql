-- Which process of the deployment holds a provider's bill of a day against what was booked, and what came of it.

CREATE TABLE payment_bill (
  provider TEXT NOT NULL,
  -- As the provider's bill is named: 2026-11-23.
  day TEXT NOT NULL,
  -- Until then no other process tries.
  until BIGINT NOT NULL,
  compared_at BIGINT,
  differences BIGINT,
  PRIMARY KEY (provider, day)
);
