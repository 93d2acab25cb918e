-- The address that browsers reach the servers by, as the last one that started knows it.

ALTER TABLE deployment ADD COLUMN address TEXT;
