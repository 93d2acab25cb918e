// The tables of the store, written once over either engine.

import type { Engine, Value } from './engine.ts'
import type {
  AccountTable,
  KeyRow,
  KeyTable,
  Store,
  UsageFilter,
  UsageRow,
  UsageTable,
} from './store.ts'
import { cleanText } from './text.ts'
import { usageColumns, usageValues } from './usage-columns.ts'

export function createStore(engine: Engine): Store {
  return {
    engine: engine.kind,
    keys: keyTable(engine),
    accounts: accountTable(engine),
    usage: usageTable(engine),
    ping: async () => {
      await engine.query('SELECT 1', [])
    },
    close: () => engine.close(),
  }
}

const insertKey = `INSERT INTO api_key (id, name, account, group_id, hash, hint, created_at, expires_at,
  disabled_at, models, requests_per_minute, tokens_per_minute, concurrent_requests)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

const selectKeys = `SELECT id, name, account, group_id AS "group", hash, hint, created_at AS "createdAt",
  expires_at AS "expiresAt", disabled_at AS "disabledAt", models,
  requests_per_minute AS "requestsPerMinute", tokens_per_minute AS "tokensPerMinute",
  concurrent_requests AS "concurrentRequests"
  FROM api_key ORDER BY created_at, id`

type KeptKey = Omit<KeyRow, 'models'> & { readonly models: string | null }

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
      ])
    },
    async all() {
      const kept = await engine.query<KeptKey>(selectKeys, [])
      return kept.map((row) => ({ ...row, models: parseModels(row.models) }))
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

function accountTable(engine: Engine): AccountTable {
  return {
    async ensure(id, createdAt) {
      const sql = 'INSERT INTO account (id, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING'
      return (await engine.run(sql, [cleanText(id), createdAt])) > 0
    },
    all() {
      return engine.query('SELECT id, created_at AS "createdAt" FROM account ORDER BY id', [])
    },
  }
}

const selectUsage = `SELECT ${usageColumns.map(({ name, field }) => `${name} AS "${field}"`).join(', ')} FROM usage`

type KeptUsage = Omit<UsageRow, 'stream'> & { stream: number | boolean }

function usageTable(engine: Engine): UsageTable {
  return {
    async append(rows) {
      if (rows.length > 0) await engine.appendUsage(rows.map(usageValues))
    },
    async list(filter) {
      const { where, values } = usageConditions(filter)
      const kept = await engine.query<KeptUsage>(
        `${selectUsage}${where} ORDER BY at DESC, request_id DESC LIMIT ?`,
        [...values, filter.limit],
      )
      // In place: a page may be long, and nobody else has seen these objects.
      for (const row of kept) row.stream = row.stream === 1
      return kept as UsageRow[]
    },
  }
}

function usageConditions(filter: UsageFilter): { where: string; values: Value[] } {
  const conditions: string[] = []
  const values: Value[] = []
  const add = (condition: string, ...bound: Value[]) => {
    conditions.push(condition)
    values.push(...bound)
  }
  if (filter.account !== undefined) add('account = ?', cleanText(filter.account))
  if (filter.key !== undefined) add('key_id = ?', cleanText(filter.key))
  if (filter.model !== undefined) add('model_asked = ?', cleanText(filter.model))
  if (filter.since !== undefined) add('at >= ?', filter.since)
  if (filter.before !== undefined) {
    // The first condition is implied by the second, and is the one an index on `at` can use.
    const { at, requestId } = filter.before
    add('at <= ? AND (at, request_id) < (?, ?)', at, at, cleanText(requestId))
  }
  return { where: conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`, values }
}
