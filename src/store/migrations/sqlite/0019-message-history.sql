-- What accounts want kept of their requests and replies.

CREATE TABLE history_setting (
  account TEXT PRIMARY KEY,
  mode TEXT NOT NULL CHECK (mode IN ('off', 'metadata', 'sealed', 'full')),
  retention_days INTEGER,
  -- Raw X25519, base64url: what sealed bodies are sealed to.
  public_key TEXT,
  revision INTEGER NOT NULL,
  CHECK (mode <> 'sealed' OR public_key IS NOT NULL)
) STRICT;

-- Grows with every change: what a running server polls.
CREATE TABLE history_setting_revision (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  value INTEGER NOT NULL
) STRICT;

INSERT INTO history_setting_revision VALUES (1, 0);
