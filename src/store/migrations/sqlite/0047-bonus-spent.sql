-- What was spent of a bonus that is spent last: the wallet held less than its rest when other money came in.

ALTER TABLE payment_bonus ADD COLUMN spent_nano INTEGER NOT NULL DEFAULT 0 CHECK (spent_nano BETWEEN 0 AND amount_nano);
