-- How far the records of each outbox have come, and which of them never did.

-- An epoch is one start of the outbox's process; its records are numbered from 1.
CREATE TABLE outbox_epoch (
  node TEXT COLLATE "C" NOT NULL,
  epoch BIGINT NOT NULL CHECK (epoch > 0),
  through BIGINT NOT NULL CHECK (through >= 0),
  PRIMARY KEY (node, epoch)
);

CREATE TABLE outbox_gap (
  node TEXT COLLATE "C" NOT NULL,
  epoch BIGINT NOT NULL,
  first BIGINT NOT NULL CHECK (first > 0),
  last BIGINT NOT NULL CHECK (last >= first),
  PRIMARY KEY (node, epoch, first)
);
