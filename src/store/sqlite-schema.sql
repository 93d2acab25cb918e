-- The tables, rows, indexes and triggers of 50 migrations together; `npm run schema` writes this file.
CREATE TABLE account (
  id TEXT PRIMARY KEY,
  created_at INTEGER NOT NULL
, name TEXT NOT NULL DEFAULT '', email TEXT, email_verified INTEGER NOT NULL DEFAULT 0, role TEXT NOT NULL DEFAULT 'user' CHECK (role IN ('user', 'admin', 'auditor')), key_groups TEXT CHECK (key_groups IS NULL OR json_valid(key_groups)), suspended_at INTEGER, deleted_at INTEGER, revision INTEGER NOT NULL DEFAULT 1) STRICT;
CREATE TABLE api_key (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  account TEXT NOT NULL REFERENCES account (id),
  group_id TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  hint TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  disabled_at INTEGER,
  models TEXT CHECK (models IS NULL OR json_valid(models)),
  requests_per_minute INTEGER,
  tokens_per_minute INTEGER,
  concurrent_requests INTEGER
, show_cost INTEGER NOT NULL DEFAULT 0 CHECK (show_cost IN (0, 1)), denied_models TEXT CHECK (denied_models IS NULL OR json_valid(denied_models)), addresses TEXT CHECK (addresses IS NULL OR json_valid(addresses)), spend_limit_nano INTEGER CHECK (spend_limit_nano > 0), spend_period TEXT CHECK (spend_period IN ('day', 'week', 'month', 'never')), spend_time_zone TEXT, history_mode TEXT CHECK (history_mode IN ('off', 'metadata', 'full', 'sealed')), previous_hash TEXT, previous_until INTEGER, revision INTEGER NOT NULL DEFAULT 1, secret_start TEXT) STRICT;
CREATE TABLE api_key_revision (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  value INTEGER NOT NULL
) STRICT;
INSERT INTO "api_key_revision" VALUES (1, 0);
CREATE TABLE ledger_account (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('wallet', 'house')),
  debits_posted INTEGER NOT NULL DEFAULT 0 CHECK (debits_posted >= 0),
  credits_posted INTEGER NOT NULL DEFAULT 0 CHECK (credits_posted >= 0),
  -- What nodes lease and set-aside rows pin.
  debits_pending INTEGER NOT NULL DEFAULT 0 CHECK (debits_pending >= 0),
  CONSTRAINT wallet_is_never_overdrawn
    CHECK (kind <> 'wallet' OR credits_posted - debits_posted - debits_pending >= 0)
) STRICT, WITHOUT ROWID;
INSERT INTO "ledger_account" VALUES ('adjust:admin', 'house', 0, 0, 0);
INSERT INTO "ledger_account" VALUES ('clearing:alipay', 'house', 0, 0, 0);
INSERT INTO "ledger_account" VALUES ('clearing:play', 'house', 0, 0, 0);
INSERT INTO "ledger_account" VALUES ('clearing:stripe', 'house', 0, 0, 0);
INSERT INTO "ledger_account" VALUES ('clearing:wechatpay', 'house', 0, 0, 0);
INSERT INTO "ledger_account" VALUES ('expense:promo', 'house', 0, 0, 0);
INSERT INTO "ledger_account" VALUES ('expense:writeoff', 'house', 0, 0, 0);
INSERT INTO "ledger_account" VALUES ('revenue:usage', 'house', 0, 0, 0);
CREATE TABLE transfer (
  -- CODE:REFERENCE
  id TEXT PRIMARY KEY,
  code TEXT NOT NULL,
  debit TEXT NOT NULL,
  credit TEXT NOT NULL,
  amount_nano INTEGER NOT NULL CHECK (amount_nano > 0),
  actor TEXT,
  reason TEXT,
  at INTEGER NOT NULL,
  CHECK (substr(id, 1, length(code) + 1) = code || ':'),
  CHECK (debit <> credit),
  CHECK (code <> 'adjust' OR (coalesce(actor, '') <> '' AND coalesce(reason, '') <> ''))
) STRICT, WITHOUT ROWID;
CREATE TABLE node (
  id TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL CHECK (epoch > 0),
  state TEXT NOT NULL CHECK (state IN ('open', 'closed')),
  -- By this database's clock.
  expires_at INTEGER NOT NULL
, lifetime_ms INTEGER) STRICT, WITHOUT ROWID;
CREATE TABLE lease (
  node TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  account TEXT NOT NULL,
  amount_nano INTEGER NOT NULL CHECK (amount_nano > 0),
  held_nano INTEGER NOT NULL DEFAULT 0 CHECK (held_nano BETWEEN 0 AND amount_nano),
  recalled_at INTEGER,
  PRIMARY KEY (node, epoch, account)
) STRICT, WITHOUT ROWID;
CREATE TABLE set_aside (
  request_id TEXT PRIMARY KEY,
  account TEXT NOT NULL,
  held_nano INTEGER NOT NULL CHECK (held_nano >= 0),
  node TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  raw TEXT NOT NULL,
  reason TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE TABLE price (
  version INTEGER PRIMARY KEY,
  model TEXT NOT NULL,
  effective_from INTEGER NOT NULL,
  prices TEXT NOT NULL CHECK (json_valid(prices) AND json_type(prices) = 'object'),
  origin TEXT NOT NULL CHECK (origin IN ('file', 'shipped', 'set', 'import')),
  source TEXT NOT NULL,
  source_date TEXT,
  actor TEXT,
  created_at INTEGER NOT NULL
) STRICT;
CREATE TABLE price_newest (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  version INTEGER NOT NULL
) STRICT;
INSERT INTO "price_newest" VALUES (1, 0);
CREATE TABLE idempotency (
  account TEXT NOT NULL,
  key TEXT NOT NULL,
  body_hash TEXT NOT NULL,
  request_id TEXT NOT NULL,
  node TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('running', 'done')),
  expires_at INTEGER NOT NULL,
  reply_status INTEGER,
  reply_content_type TEXT,
  reply_body TEXT,
  PRIMARY KEY (account, key),
  CHECK ((reply_status IS NULL) = (reply_body IS NULL)),
  CHECK ((reply_status IS NULL) = (reply_content_type IS NULL)),
  CHECK (state = 'done' OR reply_status IS NULL)
) STRICT;
CREATE TABLE deployment (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  currency TEXT NOT NULL
, address TEXT) STRICT;
CREATE TABLE response (
  account TEXT NOT NULL,
  id TEXT NOT NULL,
  previous_id TEXT,
  state TEXT NOT NULL CHECK (state IN ('running', 'done')),
  node TEXT,
  epoch INTEGER,
  input TEXT,
  body TEXT,
  size INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (account, id)
) STRICT;
CREATE TABLE response_item (
  account TEXT NOT NULL,
  id TEXT NOT NULL,
  response_id TEXT NOT NULL,
  PRIMARY KEY (account, id),
  FOREIGN KEY (account, response_id) REFERENCES response (account, id) ON DELETE CASCADE
) STRICT;
CREATE TABLE video (
  account TEXT NOT NULL,
  id TEXT NOT NULL,
  -- The request that began it: its usage has this id.
  request_id TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL CHECK (state IN ('running', 'completed', 'failed')),
  -- What its account is shown.
  video TEXT NOT NULL CHECK (json_valid(video)),
  -- Where it is made, and what it will cost.
  work TEXT NOT NULL CHECK (json_valid(work)),
  bill TEXT NOT NULL CHECK (json_valid(bill)),
  -- Part of what its wallet has pending.
  held_nano INTEGER NOT NULL CHECK (held_nano >= 0),
  polls INTEGER NOT NULL DEFAULT 0,
  poll_at INTEGER NOT NULL,
  polled_at INTEGER,
  -- Who asks the vendor at present, and until when nobody else may; by the clocks of the nodes.
  node TEXT,
  epoch INTEGER,
  claimed_until INTEGER,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (account, id),
  CHECK (state = 'running' OR held_nano = 0)
) STRICT;
CREATE TABLE known_group (
  name TEXT PRIMARY KEY
) STRICT;
CREATE TABLE price_file (
  node TEXT PRIMARY KEY,
  revision INTEGER NOT NULL,
  cards TEXT NOT NULL CHECK (json_valid(cards) AND json_type(cards) = 'object')
) STRICT;
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
CREATE TABLE identity (
  id TEXT PRIMARY KEY,
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  account TEXT NOT NULL REFERENCES account (id),
  -- As its provider calls it.
  name TEXT NOT NULL,
  email TEXT,
  email_verified INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  used_at INTEGER NOT NULL,
  UNIQUE (issuer, subject)
) STRICT;
CREATE TABLE session (
  id TEXT PRIMARY KEY,
  -- SHA-256 of what the cookie holds, hex.
  hash TEXT NOT NULL UNIQUE,
  account TEXT NOT NULL REFERENCES account (id),
  created_at INTEGER NOT NULL,
  used_at INTEGER NOT NULL,
  address TEXT,
  client TEXT
) STRICT;
CREATE TABLE sign_in_state (
  id TEXT PRIMARY KEY,
  identifier TEXT NOT NULL UNIQUE,
  value TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE TABLE sign_in_link (
  -- SHA-256 of the link's token, hex.
  hash TEXT PRIMARY KEY,
  account TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT;
CREATE TABLE invitation (
  id TEXT PRIMARY KEY,
  -- SHA-256 of the code, hex.
  hash TEXT NOT NULL UNIQUE,
  note TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('user', 'admin', 'auditor')),
  key_groups TEXT CHECK (key_groups IS NULL OR json_valid(key_groups)),
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  revoked_at INTEGER,
  used_at INTEGER,
  used_by TEXT
) STRICT;
CREATE TABLE key_use (
  key_id TEXT PRIMARY KEY,
  at INTEGER NOT NULL,
  address TEXT,
  client TEXT
) STRICT, WITHOUT ROWID;
CREATE TABLE management_key (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  -- NULL: the whole deployment.
  account TEXT REFERENCES account (id),
  hash TEXT NOT NULL UNIQUE,
  hint TEXT NOT NULL,
  scopes TEXT NOT NULL CHECK (json_valid(scopes)),
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  disabled_at INTEGER,
  used_at INTEGER,
  revision INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE TABLE setting (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL CHECK (json_valid(value)),
  revision INTEGER NOT NULL,
  actor TEXT,
  changed_at INTEGER NOT NULL
) STRICT;
CREATE TABLE setting_revision (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  value INTEGER NOT NULL
) STRICT;
INSERT INTO "setting_revision" VALUES (1, 0);
CREATE TABLE control_reply (
  principal TEXT NOT NULL,
  key TEXT NOT NULL,
  -- SHA-256 of the route, its address and its body, hex.
  request_hash TEXT NOT NULL,
  -- NULL while the first request runs.
  status INTEGER,
  -- Encrypted: a reply may hold a secret that is shown once.
  body TEXT,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (principal, key)
);
CREATE TABLE operator_event (
  id TEXT PRIMARY KEY,
  at BIGINT NOT NULL,
  actor TEXT NOT NULL,
  role TEXT NOT NULL,
  action TEXT NOT NULL,
  -- What it was done to: the values of the address, as JSON.
  target TEXT NOT NULL,
  -- What was asked for, as JSON, without secrets.
  detail TEXT NOT NULL,
  address TEXT
, changes TEXT);
CREATE TABLE usage_series (
  id INTEGER PRIMARY KEY,
  account TEXT NOT NULL,
  key_id TEXT NOT NULL,
  model TEXT NOT NULL,
  channel TEXT NOT NULL,
  group_id TEXT NOT NULL,
  operation TEXT NOT NULL,
  status_class TEXT NOT NULL,
  UNIQUE (account, key_id, model, channel, group_id, operation, status_class)
) STRICT;
CREATE TABLE usage_quarter (
  series INTEGER NOT NULL,
  -- First moment of the quarter, Unix milliseconds.
  quarter INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  charge_nano INTEGER CHECK (charge_nano >= 0),
  input_tokens INTEGER,
  cached_input_tokens INTEGER,
  cache_write_tokens INTEGER,
  cache_write_1h_tokens INTEGER,
  output_tokens INTEGER,
  reasoning_tokens INTEGER,
  audio_input_tokens INTEGER,
  audio_output_tokens INTEGER,
  image_input_tokens INTEGER,
  image_output_tokens INTEGER,
  errors INTEGER,
  cache_hits INTEGER,
  writeoff_nano INTEGER CHECK (writeoff_nano >= 0),
  vendor_cost_nano INTEGER CHECK (vendor_cost_nano >= 0),
  duration_ms INTEGER,
  ttft_ms INTEGER,
  streamed_tokens INTEGER,
  streaming_ms INTEGER,
  -- Requests by how long they took, in milliseconds: below the number, and not below the one before it.
  ttft_40 INTEGER, ttft_63 INTEGER, ttft_100 INTEGER, ttft_160 INTEGER, ttft_250 INTEGER, ttft_400 INTEGER,
  ttft_630 INTEGER, ttft_1000 INTEGER, ttft_1600 INTEGER, ttft_2500 INTEGER, ttft_4000 INTEGER,
  ttft_6300 INTEGER, ttft_10000 INTEGER, ttft_16000 INTEGER, ttft_25000 INTEGER, ttft_40000 INTEGER,
  ttft_63000 INTEGER, ttft_100000 INTEGER, ttft_160000 INTEGER, ttft_250000 INTEGER, ttft_more INTEGER,
  duration_40 INTEGER, duration_63 INTEGER, duration_100 INTEGER, duration_160 INTEGER, duration_250 INTEGER,
  duration_400 INTEGER, duration_630 INTEGER, duration_1000 INTEGER, duration_1600 INTEGER,
  duration_2500 INTEGER, duration_4000 INTEGER, duration_6300 INTEGER, duration_10000 INTEGER,
  duration_16000 INTEGER, duration_25000 INTEGER, duration_40000 INTEGER, duration_63000 INTEGER,
  duration_100000 INTEGER, duration_160000 INTEGER, duration_250000 INTEGER, duration_more INTEGER,
  PRIMARY KEY (series, quarter)
) STRICT, WITHOUT ROWID;
CREATE TABLE usage_quarter_all (
  series INTEGER NOT NULL,
  -- First moment of the quarter, Unix milliseconds.
  quarter INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  charge_nano INTEGER CHECK (charge_nano >= 0),
  input_tokens INTEGER,
  cached_input_tokens INTEGER,
  cache_write_tokens INTEGER,
  cache_write_1h_tokens INTEGER,
  output_tokens INTEGER,
  reasoning_tokens INTEGER,
  audio_input_tokens INTEGER,
  audio_output_tokens INTEGER,
  image_input_tokens INTEGER,
  image_output_tokens INTEGER,
  errors INTEGER,
  cache_hits INTEGER,
  writeoff_nano INTEGER CHECK (writeoff_nano >= 0),
  vendor_cost_nano INTEGER CHECK (vendor_cost_nano >= 0),
  duration_ms INTEGER,
  ttft_ms INTEGER,
  streamed_tokens INTEGER,
  streaming_ms INTEGER,
  -- Requests by how long they took, in milliseconds: below the number, and not below the one before it.
  ttft_40 INTEGER, ttft_63 INTEGER, ttft_100 INTEGER, ttft_160 INTEGER, ttft_250 INTEGER, ttft_400 INTEGER,
  ttft_630 INTEGER, ttft_1000 INTEGER, ttft_1600 INTEGER, ttft_2500 INTEGER, ttft_4000 INTEGER,
  ttft_6300 INTEGER, ttft_10000 INTEGER, ttft_16000 INTEGER, ttft_25000 INTEGER, ttft_40000 INTEGER,
  ttft_63000 INTEGER, ttft_100000 INTEGER, ttft_160000 INTEGER, ttft_250000 INTEGER, ttft_more INTEGER,
  duration_40 INTEGER, duration_63 INTEGER, duration_100 INTEGER, duration_160 INTEGER, duration_250 INTEGER,
  duration_400 INTEGER, duration_630 INTEGER, duration_1000 INTEGER, duration_1600 INTEGER,
  duration_2500 INTEGER, duration_4000 INTEGER, duration_6300 INTEGER, duration_10000 INTEGER,
  duration_16000 INTEGER, duration_25000 INTEGER, duration_40000 INTEGER, duration_63000 INTEGER,
  duration_100000 INTEGER, duration_160000 INTEGER, duration_250000 INTEGER, duration_more INTEGER,
  PRIMARY KEY (series, quarter)
) STRICT, WITHOUT ROWID;
CREATE TABLE settlement_log (
  number INTEGER PRIMARY KEY,
  -- A JSON array of request ids.
  ids TEXT NOT NULL
, settled_at INTEGER NOT NULL DEFAULT 0, first_at INTEGER NOT NULL DEFAULT 0, requests INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE history_setting (
  account TEXT PRIMARY KEY,
  mode TEXT NOT NULL CHECK (mode IN ('off', 'metadata', 'sealed', 'full')),
  retention_days INTEGER,
  -- Raw X25519, base64url: what sealed bodies are sealed to.
  public_key TEXT,
  revision INTEGER NOT NULL,
  CHECK (mode <> 'sealed' OR public_key IS NOT NULL)
) STRICT;
CREATE TABLE history_setting_revision (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  value INTEGER NOT NULL
) STRICT;
INSERT INTO "history_setting_revision" VALUES (1, 0);
CREATE TABLE usage_kept (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  -- First moment of a quarter of an hour, Unix milliseconds.
  since INTEGER NOT NULL CHECK (since % 900000 = 0)
, refusals_since INTEGER NOT NULL DEFAULT 0 CHECK (refusals_since % 900000 = 0)) STRICT;
INSERT INTO "usage_kept" VALUES (1, 0, 0);
CREATE TABLE running_watch (
  -- '': every account.
  account TEXT PRIMARY KEY,
  until INTEGER NOT NULL
) STRICT;
CREATE TABLE running_report (
  process TEXT PRIMARY KEY,
  at INTEGER NOT NULL,
  requests TEXT NOT NULL
, reading TEXT) STRICT;
CREATE TABLE running_stop (
  request_id TEXT PRIMARY KEY,
  -- Null: an operator stops it, whoever's it is.
  account TEXT,
  until INTEGER NOT NULL
) STRICT;
CREATE TABLE arrival_report (
  process TEXT PRIMARY KEY,
  at INTEGER NOT NULL,
  arrivals TEXT NOT NULL
) STRICT;
CREATE TABLE usage_facet (
  id INTEGER PRIMARY KEY,
  dimension TEXT NOT NULL,
  account TEXT NOT NULL,
  value TEXT NOT NULL,
  UNIQUE (dimension, account, value)
) STRICT;
CREATE TABLE usage_hour (
  facet INTEGER NOT NULL,
  -- First moment of the hour, UTC, Unix milliseconds.
  hour INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  charge_nano INTEGER CHECK (charge_nano >= 0),
  input_tokens INTEGER,
  cached_input_tokens INTEGER,
  cache_write_tokens INTEGER,
  cache_write_1h_tokens INTEGER,
  output_tokens INTEGER,
  reasoning_tokens INTEGER,
  audio_input_tokens INTEGER,
  audio_output_tokens INTEGER,
  image_input_tokens INTEGER,
  image_output_tokens INTEGER,
  errors INTEGER,
  cache_hits INTEGER,
  writeoff_nano INTEGER CHECK (writeoff_nano >= 0),
  vendor_cost_nano INTEGER CHECK (vendor_cost_nano >= 0),
  duration_ms INTEGER,
  ttft_ms INTEGER,
  streamed_tokens INTEGER,
  streaming_ms INTEGER,
  -- Requests by how long they took, in milliseconds: below the number, and not below the one before it.
  ttft_40 INTEGER, ttft_63 INTEGER, ttft_100 INTEGER, ttft_160 INTEGER, ttft_250 INTEGER, ttft_400 INTEGER,
  ttft_630 INTEGER, ttft_1000 INTEGER, ttft_1600 INTEGER, ttft_2500 INTEGER, ttft_4000 INTEGER,
  ttft_6300 INTEGER, ttft_10000 INTEGER, ttft_16000 INTEGER, ttft_25000 INTEGER, ttft_40000 INTEGER,
  ttft_63000 INTEGER, ttft_100000 INTEGER, ttft_160000 INTEGER, ttft_250000 INTEGER, ttft_more INTEGER,
  duration_40 INTEGER, duration_63 INTEGER, duration_100 INTEGER, duration_160 INTEGER, duration_250 INTEGER,
  duration_400 INTEGER, duration_630 INTEGER, duration_1000 INTEGER, duration_1600 INTEGER,
  duration_2500 INTEGER, duration_4000 INTEGER, duration_6300 INTEGER, duration_10000 INTEGER,
  duration_16000 INTEGER, duration_25000 INTEGER, duration_40000 INTEGER, duration_63000 INTEGER,
  duration_100000 INTEGER, duration_160000 INTEGER, duration_250000 INTEGER, duration_more INTEGER,
  PRIMARY KEY (facet, hour)
) STRICT, WITHOUT ROWID;
CREATE TABLE usage_day (
  facet INTEGER NOT NULL,
  -- First moment of the day, UTC, Unix milliseconds.
  day INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  charge_nano INTEGER CHECK (charge_nano >= 0),
  input_tokens INTEGER,
  cached_input_tokens INTEGER,
  cache_write_tokens INTEGER,
  cache_write_1h_tokens INTEGER,
  output_tokens INTEGER,
  reasoning_tokens INTEGER,
  audio_input_tokens INTEGER,
  audio_output_tokens INTEGER,
  image_input_tokens INTEGER,
  image_output_tokens INTEGER,
  errors INTEGER,
  cache_hits INTEGER,
  writeoff_nano INTEGER CHECK (writeoff_nano >= 0),
  vendor_cost_nano INTEGER CHECK (vendor_cost_nano >= 0),
  duration_ms INTEGER,
  ttft_ms INTEGER,
  streamed_tokens INTEGER,
  streaming_ms INTEGER,
  -- Requests by how long they took, in milliseconds: below the number, and not below the one before it.
  ttft_40 INTEGER, ttft_63 INTEGER, ttft_100 INTEGER, ttft_160 INTEGER, ttft_250 INTEGER, ttft_400 INTEGER,
  ttft_630 INTEGER, ttft_1000 INTEGER, ttft_1600 INTEGER, ttft_2500 INTEGER, ttft_4000 INTEGER,
  ttft_6300 INTEGER, ttft_10000 INTEGER, ttft_16000 INTEGER, ttft_25000 INTEGER, ttft_40000 INTEGER,
  ttft_63000 INTEGER, ttft_100000 INTEGER, ttft_160000 INTEGER, ttft_250000 INTEGER, ttft_more INTEGER,
  duration_40 INTEGER, duration_63 INTEGER, duration_100 INTEGER, duration_160 INTEGER, duration_250 INTEGER,
  duration_400 INTEGER, duration_630 INTEGER, duration_1000 INTEGER, duration_1600 INTEGER,
  duration_2500 INTEGER, duration_4000 INTEGER, duration_6300 INTEGER, duration_10000 INTEGER,
  duration_16000 INTEGER, duration_25000 INTEGER, duration_40000 INTEGER, duration_63000 INTEGER,
  duration_100000 INTEGER, duration_160000 INTEGER, duration_250000 INTEGER, duration_more INTEGER,
  PRIMARY KEY (facet, day)
) STRICT, WITHOUT ROWID;
CREATE TABLE usage_folded (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  until INTEGER NOT NULL CHECK (until % 900000 = 0)
, series INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "usage_folded" VALUES (1, 0, 0);
CREATE TABLE preference (
  account TEXT PRIMARY KEY,
  document TEXT NOT NULL,
  revision BIGINT NOT NULL
);
CREATE TABLE configuration_version (
  kind TEXT NOT NULL CHECK (kind IN ('channel', 'group', 'model')),
  id TEXT NOT NULL,
  -- 1 for the first, then one more with each change, also across a removal.
  revision BIGINT NOT NULL,
  -- As the file's section has it, as JSON, secrets encrypted; NULL: it was removed.
  document TEXT,
  changed_at BIGINT NOT NULL,
  actor TEXT NOT NULL,
  PRIMARY KEY (kind, id, revision)
);
CREATE TABLE configuration_revision (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  value BIGINT NOT NULL
);
INSERT INTO "configuration_revision" VALUES (1, 0);
CREATE TABLE usage_facet_quarter (
  facet INTEGER NOT NULL,
  -- First moment of the quarter, UTC, Unix milliseconds.
  quarter INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  charge_nano INTEGER CHECK (charge_nano >= 0),
  input_tokens INTEGER,
  cached_input_tokens INTEGER,
  cache_write_tokens INTEGER,
  cache_write_1h_tokens INTEGER,
  output_tokens INTEGER,
  reasoning_tokens INTEGER,
  audio_input_tokens INTEGER,
  audio_output_tokens INTEGER,
  image_input_tokens INTEGER,
  image_output_tokens INTEGER,
  errors INTEGER,
  cache_hits INTEGER,
  writeoff_nano INTEGER CHECK (writeoff_nano >= 0),
  vendor_cost_nano INTEGER CHECK (vendor_cost_nano >= 0),
  duration_ms INTEGER,
  ttft_ms INTEGER,
  streamed_tokens INTEGER,
  streaming_ms INTEGER,
  -- Requests by how long they took, in milliseconds: below the number, and not below the one before it.
  ttft_40 INTEGER, ttft_63 INTEGER, ttft_100 INTEGER, ttft_160 INTEGER, ttft_250 INTEGER, ttft_400 INTEGER,
  ttft_630 INTEGER, ttft_1000 INTEGER, ttft_1600 INTEGER, ttft_2500 INTEGER, ttft_4000 INTEGER,
  ttft_6300 INTEGER, ttft_10000 INTEGER, ttft_16000 INTEGER, ttft_25000 INTEGER, ttft_40000 INTEGER,
  ttft_63000 INTEGER, ttft_100000 INTEGER, ttft_160000 INTEGER, ttft_250000 INTEGER, ttft_more INTEGER,
  duration_40 INTEGER, duration_63 INTEGER, duration_100 INTEGER, duration_160 INTEGER, duration_250 INTEGER,
  duration_400 INTEGER, duration_630 INTEGER, duration_1000 INTEGER, duration_1600 INTEGER,
  duration_2500 INTEGER, duration_4000 INTEGER, duration_6300 INTEGER, duration_10000 INTEGER,
  duration_16000 INTEGER, duration_25000 INTEGER, duration_40000 INTEGER, duration_63000 INTEGER,
  duration_100000 INTEGER, duration_160000 INTEGER, duration_250000 INTEGER, duration_more INTEGER,
  PRIMARY KEY (facet, quarter)
) STRICT, WITHOUT ROWID;
CREATE TABLE alert_setting (
  account TEXT PRIMARY KEY,
  -- The rules, as JSON.
  document TEXT NOT NULL,
  -- What posts to the account's webhook are signed with, encrypted.
  secret TEXT,
  revision BIGINT NOT NULL
);
CREATE TABLE alert_raised (
  account TEXT NOT NULL,
  rule TEXT NOT NULL,
  -- The key, the day, or '' where the rule has but one subject.
  subject TEXT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (account, rule, subject)
);
CREATE TABLE alert_notice (
  id TEXT PRIMARY KEY,
  account TEXT NOT NULL,
  at BIGINT NOT NULL,
  document TEXT NOT NULL,
  read_at BIGINT,
  -- When it is to be posted to the account's webhook; null: not, or no more.
  due_at BIGINT,
  attempts BIGINT NOT NULL,
  failure TEXT
, mail_due_at BIGINT, mail_attempts BIGINT NOT NULL DEFAULT 0, mail_failure TEXT);
CREATE TABLE alert_turn (
  only_row BIGINT PRIMARY KEY CHECK (only_row = 1),
  until BIGINT NOT NULL
);
INSERT INTO "alert_turn" VALUES (1, 0);
CREATE TABLE payment_order (
  -- What the provider knows it by (out_trade_no).
  id TEXT PRIMARY KEY,
  account TEXT NOT NULL REFERENCES account (id),
  -- Who ordered, as the journal names people.
  person TEXT NOT NULL,
  provider TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('play', 'live')),
  method TEXT NOT NULL,
  -- In the smallest unit of the provider's currency.
  amount_minor INTEGER NOT NULL CHECK (amount_minor > 0),
  currency TEXT NOT NULL,
  -- The rate at the time of the order.
  nano_per_minor INTEGER NOT NULL CHECK (nano_per_minor > 0),
  credit_nano INTEGER NOT NULL CHECK (credit_nano > 0),
  -- Offered, where nobody has had it before.
  bonus_nano INTEGER NOT NULL CHECK (bonus_nano >= 0),
  state TEXT NOT NULL CHECK (state IN ('created', 'shown', 'paid', 'credited', 'part_refunded', 'refunded', 'expired',
    'closed', 'disputed')),
  -- What an operator should look at; null: nothing.
  flag TEXT,
  -- The caller's name for its attempt: pressed twice, it is one order.
  attempt TEXT NOT NULL,
  -- What the customer pays by, as JSON.
  instructions TEXT CHECK (instructions IS NULL OR json_valid(instructions)),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  shown_at INTEGER,
  credited_at INTEGER,
  -- Expired or closed.
  ended_at INTEGER,
  -- When its provider is to be asked next; null: no more.
  query_at INTEGER,
  queries INTEGER NOT NULL DEFAULT 0,
  revision INTEGER NOT NULL DEFAULT 1,
  UNIQUE (account, attempt)
) STRICT, WITHOUT ROWID;
CREATE TABLE payment_transaction (
  provider TEXT NOT NULL,
  -- The provider's own.
  id TEXT NOT NULL,
  -- As the provider names it; of no order of ours where nothing was credited.
  order_id TEXT NOT NULL,
  -- null: not credited.
  account TEXT,
  mode TEXT NOT NULL,
  amount_minor INTEGER NOT NULL CHECK (amount_minor > 0),
  currency TEXT NOT NULL,
  credit_nano INTEGER NOT NULL CHECK (credit_nano >= 0),
  payer_hash TEXT,
  outcome TEXT NOT NULL,
  paid_at INTEGER NOT NULL,
  at INTEGER NOT NULL,
  -- The entry of the journal; null: not credited.
  transfer TEXT UNIQUE,
  CHECK ((transfer IS NULL) = (account IS NULL) AND (transfer IS NULL) = (credit_nano = 0)),
  PRIMARY KEY (provider, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE payment_event (
  provider TEXT NOT NULL,
  -- SHA-256 of the bytes, hex.
  sha256 TEXT NOT NULL,
  -- Why it was refused; '': it was not.
  problem TEXT NOT NULL,
  -- The provider's name for it, where it could be read.
  event_id TEXT,
  order_id TEXT,
  raw BLOB NOT NULL,
  headers TEXT NOT NULL CHECK (json_valid(headers)),
  at INTEGER NOT NULL,
  PRIMARY KEY (provider, sha256, problem)
) STRICT, WITHOUT ROWID;
CREATE TABLE payment_bonus_claim (
  mode TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('account', 'payer')),
  subject TEXT NOT NULL,
  order_id TEXT NOT NULL,
  PRIMARY KEY (mode, kind, subject)
) STRICT, WITHOUT ROWID;
CREATE TABLE payment_bonus (
  order_id TEXT PRIMARY KEY,
  account TEXT NOT NULL,
  amount_nano INTEGER NOT NULL CHECK (amount_nano > 0),
  -- Taken back by refunds, and expired.
  taken_nano INTEGER NOT NULL DEFAULT 0 CHECK (taken_nano BETWEEN 0 AND amount_nano),
  -- What had left the wallet before it, and has since without being spent.
  debits_nano INTEGER NOT NULL,
  at INTEGER NOT NULL,
  expires_at INTEGER,
  expired_at INTEGER
, spent_nano INTEGER NOT NULL DEFAULT 0 CHECK (spent_nano BETWEEN 0 AND amount_nano)) STRICT, WITHOUT ROWID;
CREATE TABLE payment_refund (
  -- What the provider knows it by: repeated, it is one refund.
  id TEXT PRIMARY KEY,
  order_id TEXT NOT NULL REFERENCES payment_order (id),
  account TEXT NOT NULL,
  provider TEXT NOT NULL,
  transaction_id TEXT NOT NULL,
  amount_minor INTEGER NOT NULL CHECK (amount_minor > 0),
  amount_nano INTEGER NOT NULL CHECK (amount_nano > 0),
  clawback_nano INTEGER NOT NULL CHECK (clawback_nano >= 0),
  state TEXT NOT NULL CHECK (state IN ('pending', 'done', 'failed')),
  actor TEXT NOT NULL,
  reason TEXT NOT NULL,
  -- What the provider said last where it is not done.
  failure TEXT,
  at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE "usage" (
  request_id TEXT NOT NULL PRIMARY KEY,
  at INTEGER NOT NULL,
  account TEXT NOT NULL,
  key_id TEXT NOT NULL,
  key_name TEXT NOT NULL,
  group_id TEXT NOT NULL,
  operation TEXT NOT NULL,
  model_asked TEXT NOT NULL,
  model_served TEXT,
  channel TEXT,
  vendor TEXT,
  attempts INTEGER NOT NULL,
  stream INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  cached_input_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,
  cache_write_1h_tokens INTEGER NOT NULL,
  audio_input_tokens INTEGER NOT NULL,
  audio_output_tokens INTEGER NOT NULL,
  image_input_tokens INTEGER NOT NULL,
  image_output_tokens INTEGER NOT NULL,
  units TEXT CHECK (units IS NULL OR json_valid(units)),
  usage_source TEXT NOT NULL CHECK (usage_source = 'reported' OR usage_source = 'drained'
    OR usage_source = 'counted' OR usage_source = 'none'),
  price_version INTEGER,
  multiplier_ppm INTEGER NOT NULL CHECK (multiplier_ppm >= 0),
  charge_nano INTEGER NOT NULL CHECK (charge_nano >= 0),
  writeoff_nano INTEGER NOT NULL CHECK (writeoff_nano >= 0),
  vendor_cost_nano INTEGER NOT NULL CHECK (vendor_cost_nano >= 0),
  ttft_ms INTEGER,
  duration_ms INTEGER NOT NULL,
  status INTEGER NOT NULL,
  error_code TEXT,
  error_cause TEXT,
  failed_attempts TEXT CHECK (failed_attempts IS NULL OR json_valid(failed_attempts)),
  client_address TEXT,
  client_request_id TEXT,
  trace_id TEXT,
  held_nano INTEGER NOT NULL DEFAULT 0 CHECK (held_nano >= 0),
  client TEXT,
  client_version TEXT,
  vendor_request_id TEXT
, posting TEXT, tag TEXT) STRICT;
CREATE TABLE payment_dispute (
  provider TEXT NOT NULL,
  -- The provider's own.
  id TEXT NOT NULL,
  order_id TEXT NOT NULL REFERENCES payment_order (id),
  transaction_id TEXT NOT NULL,
  -- In the smallest unit of the order's currency.
  amount_minor INTEGER NOT NULL CHECK (amount_minor > 0),
  reason TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'won', 'lost')),
  -- Of a lost one, what its account had spent: the operator bears it.
  loss_nano INTEGER NOT NULL CHECK (loss_nano >= 0),
  at INTEGER NOT NULL,
  ended_at INTEGER,
  PRIMARY KEY (provider, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE redemption_batch (
  id TEXT PRIMARY KEY,
  note TEXT NOT NULL,
  -- What each of its codes is worth.
  amount_nano INTEGER NOT NULL CHECK (amount_nano > 0),
  codes INTEGER NOT NULL CHECK (codes > 0),
  actor TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  -- From then on nobody redeems what is left of it.
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE redemption_code (
  -- SHA-256 of the code, hex.
  hash TEXT PRIMARY KEY,
  batch_id TEXT NOT NULL REFERENCES redemption_batch (id),
  -- Who has redeemed it; null: nobody so far.
  account TEXT,
  redeemed_at INTEGER,
  CHECK ((account IS NULL) = (redeemed_at IS NULL))
) STRICT, WITHOUT ROWID;
CREATE TABLE payment_callback (
  provider TEXT NOT NULL,
  mode TEXT NOT NULL,
  taken_at BIGINT,
  refused_at BIGINT,
  -- Why it was refused.
  problem TEXT,
  PRIMARY KEY (provider, mode)
);
CREATE TABLE pace (
  -- What is asked for, and who asks.
  subject TEXT PRIMARY KEY,
  -- When all that was used is free again, by the database's clock.
  free_at BIGINT NOT NULL
);
CREATE TABLE payment_bill (
  provider TEXT NOT NULL,
  -- As the provider's bill is named: 2026-11-23.
  day TEXT NOT NULL,
  -- Until then no other process tries.
  until BIGINT NOT NULL,
  compared_at BIGINT,
  differences BIGINT,
  PRIMARY KEY (provider, day)
);
CREATE TABLE auto_top_up (
  account TEXT PRIMARY KEY,
  mode TEXT NOT NULL CHECK (mode IN ('live', 'play')),
  -- The order whose payer agreed.
  agreement TEXT NOT NULL REFERENCES payment_order (id),
  threshold_nano BIGINT NOT NULL CHECK (threshold_nano > 0),
  amount_minor BIGINT NOT NULL CHECK (amount_minor > 0),
  -- Most in a calendar month, in UTC.
  month_minor BIGINT NOT NULL CHECK (month_minor >= amount_minor),
  -- Why it does nothing any more; null: it is on.
  problem TEXT,
  -- The order of the crossing that is under way; while there is one, no other is begun.
  order_id TEXT,
  -- Until then one process has it.
  until BIGINT NOT NULL,
  revision BIGINT NOT NULL
);
CREATE TABLE usage_archive (
  -- 2026-08/usage-2026-08-01-0123456789ab.ndjson.gz: the last part from the bytes in it.
  name TEXT PRIMARY KEY,
  -- Of its first and its last request, Unix milliseconds.
  first_at BIGINT NOT NULL,
  last_at BIGINT NOT NULL,
  requests BIGINT NOT NULL,
  -- Sums, in decimal: those of many rows may be past what a number here holds.
  charge_nano TEXT NOT NULL,
  writeoff_nano TEXT NOT NULL,
  bytes BIGINT NOT NULL,
  sha256 TEXT NOT NULL,
  written_at BIGINT NOT NULL,
  -- Since when none of its rows is in the table of usage; until then they are being removed.
  removed_at BIGINT
);
CREATE TABLE usage_archive_turn (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  holder TEXT NOT NULL,
  -- Until then it is nobody else's.
  until BIGINT NOT NULL
);
INSERT INTO "usage_archive_turn" VALUES (1, '', 0);
CREATE TABLE failing_work (
  -- archive, export
  work TEXT NOT NULL,
  -- Which of several; '' where there is one.
  subject TEXT NOT NULL,
  failure TEXT NOT NULL,
  -- Unix milliseconds: of its first failure in a row, and of its last.
  since BIGINT NOT NULL,
  last_at BIGINT NOT NULL,
  PRIMARY KEY (work, subject)
);
CREATE TABLE usage_export (
  -- clickhouse, s3
  destination TEXT PRIMARY KEY,
  -- Unix milliseconds: after a restart by its operator it is another.
  began_at INTEGER NOT NULL,
  -- All batches of the settlement log up to it were taken.
  number INTEGER NOT NULL,
  -- 1: rows that were there before are sent first.
  scanning INTEGER NOT NULL,
  -- JSON: behind the last row that was taken; and the same of what is being sent.
  place TEXT NOT NULL,
  planned TEXT,
  -- Until then what was not taken stays, Unix milliseconds.
  held_until INTEGER NOT NULL,
  -- Whose turn it is, and until when.
  holder TEXT NOT NULL,
  until INTEGER NOT NULL,
  -- Rows that were taken, some of them more than once, and when the last were.
  rows_taken INTEGER NOT NULL,
  taken_at INTEGER
) STRICT;
CREATE TABLE key_lease (
  key_id TEXT NOT NULL,
  node TEXT NOT NULL,
  -- What the key's requests on this node hold, have spent without being settled, or may still hold.
  amount_nano BIGINT NOT NULL,
  -- Unix milliseconds: when another node lacked part of it; null: none does.
  recalled_at BIGINT,
  PRIMARY KEY (key_id, node)
);
CREATE TABLE usage_tagged_series (
  id INTEGER PRIMARY KEY,
  account TEXT NOT NULL,
  key_id TEXT NOT NULL,
  model TEXT NOT NULL,
  channel TEXT NOT NULL,
  group_id TEXT NOT NULL,
  operation TEXT NOT NULL,
  status_class TEXT NOT NULL,
  tag TEXT NOT NULL,
  UNIQUE (account, key_id, model, channel, group_id, operation, status_class, tag)
) STRICT;
CREATE TABLE usage_tagged_quarter (
  series INTEGER NOT NULL,
  -- First moment of the quarter, Unix milliseconds.
  quarter INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  charge_nano INTEGER CHECK (charge_nano >= 0),
  input_tokens INTEGER,
  cached_input_tokens INTEGER,
  cache_write_tokens INTEGER,
  cache_write_1h_tokens INTEGER,
  output_tokens INTEGER,
  reasoning_tokens INTEGER,
  audio_input_tokens INTEGER,
  audio_output_tokens INTEGER,
  image_input_tokens INTEGER,
  image_output_tokens INTEGER,
  errors INTEGER,
  cache_hits INTEGER,
  writeoff_nano INTEGER CHECK (writeoff_nano >= 0),
  vendor_cost_nano INTEGER CHECK (vendor_cost_nano >= 0),
  duration_ms INTEGER,
  ttft_ms INTEGER,
  streamed_tokens INTEGER,
  streaming_ms INTEGER,
  -- Requests by how long they took, in milliseconds: below the number, and not below the one before it.
  ttft_40 INTEGER, ttft_63 INTEGER, ttft_100 INTEGER, ttft_160 INTEGER, ttft_250 INTEGER, ttft_400 INTEGER,
  ttft_630 INTEGER, ttft_1000 INTEGER, ttft_1600 INTEGER, ttft_2500 INTEGER, ttft_4000 INTEGER,
  ttft_6300 INTEGER, ttft_10000 INTEGER, ttft_16000 INTEGER, ttft_25000 INTEGER, ttft_40000 INTEGER,
  ttft_63000 INTEGER, ttft_100000 INTEGER, ttft_160000 INTEGER, ttft_250000 INTEGER, ttft_more INTEGER,
  duration_40 INTEGER, duration_63 INTEGER, duration_100 INTEGER, duration_160 INTEGER, duration_250 INTEGER,
  duration_400 INTEGER, duration_630 INTEGER, duration_1000 INTEGER, duration_1600 INTEGER,
  duration_2500 INTEGER, duration_4000 INTEGER, duration_6300 INTEGER, duration_10000 INTEGER,
  duration_16000 INTEGER, duration_25000 INTEGER, duration_40000 INTEGER, duration_63000 INTEGER,
  duration_100000 INTEGER, duration_160000 INTEGER, duration_250000 INTEGER, duration_more INTEGER,
  PRIMARY KEY (series, quarter)
) STRICT, WITHOUT ROWID;
CREATE TABLE set_aside_resolution (
  request_id TEXT PRIMARY KEY,
  -- `settled`: charged after all. `discarded`: never to be charged.
  outcome TEXT NOT NULL CHECK (outcome IN ('settled', 'discarded')),
  actor TEXT NOT NULL CHECK (actor <> ''),
  -- Required where the record was discarded.
  reason TEXT CHECK (outcome = 'settled' OR coalesce(reason, '') <> ''),
  -- Unix milliseconds.
  at BIGINT NOT NULL
);
CREATE INDEX api_key_account ON api_key (account);
CREATE INDEX transfer_debit ON transfer (debit, at) WHERE code NOT IN ('usage', 'writeoff');
CREATE INDEX transfer_credit ON transfer (credit, at) WHERE code NOT IN ('usage', 'writeoff');
CREATE INDEX lease_account ON lease (account);
CREATE INDEX lease_recalled ON lease (node, epoch) WHERE recalled_at IS NOT NULL;
CREATE INDEX set_aside_account ON set_aside (account);
CREATE INDEX idempotency_expiry ON idempotency (expires_at);
CREATE INDEX idempotency_running ON idempotency (node, epoch) WHERE state = 'running';
CREATE INDEX response_expiry ON response (expires_at);
CREATE INDEX response_item_response ON response_item (account, response_id);
CREATE INDEX video_due ON video (poll_at) WHERE state = 'running';
CREATE INDEX video_list ON video (account, created_at, id);
CREATE INDEX video_expiry ON video (expires_at) WHERE state <> 'running';
CREATE INDEX account_time ON account (created_at, id);
CREATE INDEX account_admin ON account (id) WHERE role = 'admin';
CREATE INDEX account_closed ON account (id) WHERE suspended_at IS NOT NULL OR deleted_at IS NOT NULL;
CREATE INDEX identity_account ON identity (account);
CREATE INDEX session_account ON session (account);
CREATE INDEX session_use ON session (used_at);
CREATE INDEX sign_in_state_expiry ON sign_in_state (expires_at);
CREATE INDEX invitation_time ON invitation (created_at, id);
CREATE INDEX management_key_account ON management_key (account);
CREATE INDEX control_reply_expiry ON control_reply (expires_at);
CREATE INDEX operator_event_time ON operator_event (at, id);
CREATE INDEX usage_quarter_time ON usage_quarter (quarter);
CREATE INDEX usage_quarter_all_time ON usage_quarter_all (quarter);
CREATE INDEX alert_notice_account ON alert_notice (account, at, id);
CREATE INDEX alert_notice_due ON alert_notice (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX payment_order_account ON payment_order (account, created_at, id);
CREATE INDEX payment_order_time ON payment_order (created_at, id);
CREATE INDEX payment_order_query ON payment_order (query_at) WHERE query_at IS NOT NULL;
CREATE INDEX payment_transaction_order ON payment_transaction (order_id);
CREATE INDEX payment_transaction_account ON payment_transaction (account, at);
CREATE INDEX payment_event_order ON payment_event (order_id) WHERE order_id IS NOT NULL;
CREATE INDEX payment_event_time ON payment_event (provider, at);
CREATE INDEX payment_bonus_account ON payment_bonus (account);
CREATE INDEX payment_bonus_expiry ON payment_bonus (expires_at) WHERE expires_at IS NOT NULL AND expired_at IS NULL;
CREATE INDEX payment_refund_order ON payment_refund (order_id);
CREATE INDEX payment_refund_account ON payment_refund (account);
CREATE INDEX payment_refund_pending ON payment_refund (at) WHERE state = 'pending';
CREATE INDEX usage_time ON usage (at);
CREATE INDEX usage_account_time ON usage (account, at);
CREATE INDEX payment_dispute_order ON payment_dispute (order_id);
CREATE INDEX redemption_batch_time ON redemption_batch (created_at, id);
CREATE INDEX redemption_code_batch ON redemption_code (batch_id);
CREATE INDEX payment_order_open ON payment_order (created_at, id) WHERE state IN ('created', 'shown', 'paid');
CREATE INDEX alert_notice_mail_due ON alert_notice (mail_due_at) WHERE mail_due_at IS NOT NULL;
CREATE INDEX payment_order_flagged ON payment_order (credited_at) WHERE flag IS NOT NULL;
CREATE INDEX payment_refund_ended ON payment_refund (ended_at) WHERE state = 'done';
CREATE INDEX pace_free_at ON pace (free_at);
CREATE INDEX payment_order_automatic ON payment_order (account, created_at) WHERE method = 'off_session';
CREATE INDEX payment_order_credited ON payment_order (provider, mode, credited_at) WHERE credited_at IS NOT NULL;
CREATE INDEX usage_archive_open ON usage_archive (written_at) WHERE removed_at IS NULL;
CREATE INDEX usage_refusals ON usage (at)
  WHERE channel IS NULL AND attempts = 0 AND status >= 400 AND charge_nano = 0 AND writeoff_nano = 0;
CREATE INDEX key_lease_node ON key_lease (node);
CREATE INDEX usage_tagged_quarter_time ON usage_tagged_quarter (quarter);
CREATE TRIGGER api_key_inserted AFTER INSERT ON api_key BEGIN
  UPDATE api_key_revision SET value = value + 1;
END;
CREATE TRIGGER api_key_updated AFTER UPDATE ON api_key BEGIN
  UPDATE api_key_revision SET value = value + 1;
END;
CREATE TRIGGER api_key_deleted AFTER DELETE ON api_key BEGIN
  UPDATE api_key_revision SET value = value + 1;
END;
CREATE TRIGGER transfer_never_updated BEFORE UPDATE ON transfer BEGIN
  SELECT RAISE(ABORT, 'transfer is append-only');
END;
CREATE TRIGGER transfer_never_deleted BEFORE DELETE ON transfer BEGIN
  SELECT RAISE(ABORT, 'transfer is append-only');
END;
CREATE TRIGGER price_never_updated BEFORE UPDATE ON price BEGIN
  SELECT raise(ABORT, 'price is append-only');
END;
CREATE TRIGGER price_never_deleted BEFORE DELETE ON price BEGIN
  SELECT raise(ABORT, 'price is append-only');
END;
CREATE TRIGGER account_opened_or_closed AFTER UPDATE OF suspended_at, deleted_at ON account BEGIN
  UPDATE api_key_revision SET value = value + 1;
END;
CREATE TRIGGER payment_transaction_never_updated BEFORE UPDATE ON payment_transaction BEGIN
  SELECT RAISE(ABORT, 'payment_transaction is append-only');
END;
CREATE TRIGGER payment_transaction_never_deleted BEFORE DELETE ON payment_transaction BEGIN
  SELECT RAISE(ABORT, 'payment_transaction is append-only');
END;
CREATE TRIGGER payment_event_never_updated BEFORE UPDATE ON payment_event BEGIN
  SELECT RAISE(ABORT, 'payment_event is append-only');
END;
CREATE TRIGGER payment_event_never_deleted BEFORE DELETE ON payment_event BEGIN
  SELECT RAISE(ABORT, 'payment_event is append-only');
END;
CREATE TRIGGER payment_bonus_claim_never_updated BEFORE UPDATE ON payment_bonus_claim BEGIN
  SELECT RAISE(ABORT, 'payment_bonus_claim is append-only');
END;
CREATE TRIGGER payment_bonus_claim_never_deleted BEFORE DELETE ON payment_bonus_claim BEGIN
  SELECT RAISE(ABORT, 'payment_bonus_claim is append-only');
END;
CREATE TRIGGER usage_never_updated BEFORE UPDATE ON usage BEGIN
  SELECT RAISE(ABORT, 'usage is append-only');
END;
CREATE TRIGGER usage_never_deleted BEFORE DELETE ON usage
WHEN old.at >= (SELECT since FROM usage_kept) AND NOT (
  old.channel IS NULL AND old.attempts = 0 AND old.status >= 400 AND old.charge_nano = 0 AND old.writeoff_nano = 0
  AND old.at < (SELECT refusals_since FROM usage_kept)) BEGIN
  SELECT RAISE(ABORT, 'usage is append-only');
END;
