-- From which moment on every usage row is kept: those from before it may be removed.

CREATE TABLE usage_kept (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  -- First moment of a quarter of an hour, Unix milliseconds.
  since BIGINT NOT NULL CHECK (since % 900000 = 0)
);

INSERT INTO usage_kept VALUES (1, 0);

DROP TRIGGER usage_never_changed ON usage;

CREATE TRIGGER usage_never_changed BEFORE UPDATE OR TRUNCATE ON usage
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE FUNCTION refuse_removal_of_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.at >= (SELECT since FROM usage_kept) THEN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN OLD;
END
$$;

CREATE TRIGGER usage_never_removed BEFORE DELETE ON usage
  FOR EACH ROW EXECUTE FUNCTION refuse_removal_of_kept();
