-- From which moment on every usage row is kept: those from before it may be removed.

CREATE TABLE usage_kept (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  -- First moment of a quarter of an hour, Unix milliseconds.
  since INTEGER NOT NULL CHECK (since % 900000 = 0)
) STRICT;

INSERT INTO usage_kept VALUES (1, 0);

DROP TRIGGER usage_never_deleted;

CREATE TRIGGER usage_never_deleted BEFORE DELETE ON usage
WHEN old.at >= (SELECT since FROM usage_kept) BEGIN
  SELECT RAISE(ABORT, 'usage is append-only');
END;
