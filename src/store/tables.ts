// The tables of the store, written once over either engine.

import { auditTable } from './audit.ts'
import { readCurrency, readGroups, rememberCurrency, rememberGroups } from './deployment.ts'
import type { Engine } from './engine.ts'
import { hourTable } from './hours.ts'
import { idempotencyTable } from './idempotency.ts'
import { journalTable } from './journal.ts'
import { walletOf } from './ledger.ts'
import { leaseTable, nodeTable } from './nodes.ts'
import { outboxTable } from './outbox-epochs.ts'
import { identityTable, peopleTable } from './people.ts'
import { priceTable } from './prices.ts'
import { responseTable } from './responses.ts'
import { setAside, setAsides } from './set-aside.ts'
import { settle } from './settle.ts'
import { invitationTable, sessionTable, signInTable } from './sign-in.ts'
import type { AccountTable, KeyRow, KeyTable, Store } from './store.ts'
import { cleanText } from './text.ts'
import { usageTable } from './usage.ts'
import { videoTable } from './videos.ts'

export function createStore(engine: Engine): Store {
  return {
    engine: engine.kind,
    keys: keyTable(engine),
    accounts: accountTable(engine),
    people: peopleTable(engine),
    identities: identityTable(engine),
    sessions: sessionTable(engine),
    signIns: signInTable(engine),
    invitations: invitationTable(engine),
    usage: usageTable(engine),
    journal: journalTable(engine),
    nodes: nodeTable(engine),
    leases: leaseTable(engine),
    settlements: {
      settle: (batch) => settle(engine, batch),
      setAside: (entry, from) => engine.transaction((session) => setAside(session, entry, from)),
      setAsides: (limit) => setAsides(engine, limit),
    },
    outboxes: outboxTable(engine),
    hours: hourTable(engine),
    prices: priceTable(engine),
    idempotency: idempotencyTable(engine),
    responses: responseTable(engine),
    videos: videoTable(engine),
    audit: auditTable(engine),
    deployment: {
      currency: () => readCurrency(engine),
      rememberCurrency: (code) => rememberCurrency(engine, code),
      groups: () => readGroups(engine),
      rememberGroups: (names) => rememberGroups(engine, names),
    },
    ping: async () => {
      await engine.query('SELECT 1', [])
    },
    close: () => engine.close(),
  }
}

const insertKey = `INSERT INTO api_key (id, name, account, group_id, hash, hint, created_at, expires_at,
  disabled_at, models, requests_per_minute, tokens_per_minute, concurrent_requests, show_cost)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

const selectKeys = `SELECT id, name, account, group_id AS "group", hash, hint, created_at AS "createdAt",
  expires_at AS "expiresAt", disabled_at AS "disabledAt", models,
  requests_per_minute AS "requestsPerMinute", tokens_per_minute AS "tokensPerMinute",
  concurrent_requests AS "concurrentRequests", show_cost AS "showCost"
  FROM api_key ORDER BY created_at, id`

type KeptKey = Omit<KeyRow, 'models' | 'showCost'> & {
  readonly models: string | null
  readonly showCost: number
}

function keyTable(engine: Engine): KeyTable {
  return {
    async insert(row) {
      await engine.run(insertKey, [
        cleanText(row.id),
        cleanText(row.name),
        cleanText(row.account),
        cleanText(row.group),
        row.hash,
        cleanText(row.hint),
        row.createdAt,
        row.expiresAt,
        row.disabledAt,
        row.models === null ? null : JSON.stringify(row.models.map(cleanText)),
        row.requestsPerMinute,
        row.tokensPerMinute,
        row.concurrentRequests,
        row.showCost ? 1 : 0,
      ])
    },
    async all() {
      const kept = await engine.query<KeptKey>(selectKeys, [])
      return kept.map((row) => ({
        ...row,
        models: parseModels(row.models),
        showCost: row.showCost === 1,
      }))
    },
    async disable(id, at) {
      const sql = 'UPDATE api_key SET disabled_at = coalesce(disabled_at, ?) WHERE id = ?'
      return (await engine.run(sql, [at, cleanText(id)])) > 0
    },
    async remove(id) {
      return (await engine.run('DELETE FROM api_key WHERE id = ?', [cleanText(id)])) > 0
    },
    async revision() {
      const sql = 'SELECT value FROM api_key_revision'
      const [row] = await engine.query<{ readonly value: number }>(sql, [])
      if (row === undefined) throw new Error('The table api_key_revision has lost its row.')
      return row.value
    },
  }
}

/** A CHECK keeps the column JSON; only this room writes it. */
function parseModels(json: string | null): readonly string[] | null {
  return json === null ? null : (JSON.parse(json) as string[])
}

const makeWallet = `INSERT INTO ledger_account (id, kind) VALUES (?, 'wallet')`

function accountTable(engine: Engine): AccountTable {
  return {
    async ensure(id, createdAt) {
      const account = cleanText(id)
      // The common case, at each start, needs no transaction.
      if ((await engine.query('SELECT 1 FROM account WHERE id = ?', [account])).length > 0)
        return false
      return engine.transaction(async (session) => {
        const sql = 'INSERT INTO account (id, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING'
        if ((await session.run(sql, [account, createdAt])) === 0) return false
        await session.run(makeWallet, [walletOf(account)])
        return true
      })
    },
    all() {
      return engine.query('SELECT id, created_at AS "createdAt" FROM account ORDER BY id', [])
    },
    async closed() {
      const sql = 'SELECT id FROM account WHERE suspended_at IS NOT NULL OR deleted_at IS NOT NULL'
      const rows = await engine.query<{ readonly id: string }>(sql, [])
      return rows.map(({ id }) => id)
    },
  }
}
