-- Names of the groups that the servers' configuration declares, so that a key is made for one of them only.

CREATE TABLE known_group (
  name TEXT PRIMARY KEY
);
