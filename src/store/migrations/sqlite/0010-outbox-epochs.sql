-- How far the records of each outbox have come, and which of them never did.

-- An epoch is one start of the outbox's process; its records are numbered from 1.
CREATE TABLE outbox_epoch (
  node TEXT NOT NULL,
  epoch INTEGER NOT NULL CHECK (epoch > 0),
  through INTEGER NOT NULL CHECK (through >= 0),
  PRIMARY KEY (node, epoch)
) STRICT, WITHOUT ROWID;

CREATE TABLE outbox_gap (
  node TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  first INTEGER NOT NULL CHECK (first > 0),
  last INTEGER NOT NULL CHECK (last >= first),
  PRIMARY KEY (node, epoch, first)
) STRICT, WITHOUT ROWID;
