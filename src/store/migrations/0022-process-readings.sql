-- What each process says of how it does, beside what runs in it; null while no operator looks.

ALTER TABLE running_report ADD COLUMN reading TEXT;
