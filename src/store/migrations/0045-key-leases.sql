-- Parts of keys' spend limits that nodes have leased, so that all nodes together keep to a limit.

CREATE TABLE key_lease (
  key_id TEXT NOT NULL,
  node TEXT NOT NULL,
  -- What the key's requests on this node hold, have spent without being settled, or may still hold.
  amount_nano BIGINT NOT NULL,
  -- Unix milliseconds: when another node lacked part of it; null: none does.
  recalled_at BIGINT,
  PRIMARY KEY (key_id, node)
);

CREATE INDEX key_lease_node ON key_lease (node);
