-- What a change did: the members that differ, before and after it, as JSON. NULL where that is not known.

ALTER TABLE operator_event ADD COLUMN changes TEXT;
