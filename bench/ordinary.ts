// Makes a data directory like that of a medium-sized company after 90 days, for viewing and measuring the console:
// `bun bench/ordinary.ts DIR [ROWS]`. One account, eight keys, twelve models; busy by day, quiet at night and on Sundays.
// It has usage and totals only: nothing is posted in the journal, so an audit of it finds differences.

import { Database } from 'bun:sqlite'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createKey } from '../src/admin/keys.ts'
import { checkInput } from '../src/admin/schema.ts'
import type { AdminContext } from '../src/admin/use-case.ts'
import { house, walletOf } from '../src/store/ledger.ts'
import { openStore } from '../src/store/open.ts'
import { databaseFile } from '../src/store/sqlite.ts'

const account = 'acme'
const hourMs = 3_600_000
const days = 90

/** Name, share of the requests, and nano-units for a token in and out. */
const models = [
  ['gpt-4o-mini', 24, 150, 600],
  ['gpt-4o', 16, 2_500, 10_000],
  ['gpt-4.1', 11, 2_000, 8_000],
  ['gpt-4.1-mini', 10, 400, 1_600],
  ['claude-sonnet-4-5', 12, 3_000, 15_000],
  ['claude-haiku-4-5', 8, 1_000, 5_000],
  ['claude-opus-4-1', 2, 15_000, 75_000],
  ['gemini-2.5-flash', 7, 300, 2_500],
  ['gemini-2.5-pro', 4, 1_250, 10_000],
  ['deepseek-chat', 3, 280, 420],
  ['o4-mini', 2, 1_100, 4_400],
  ['mistral-large-latest', 1, 2_000, 6_000],
] as const

const keys = [
  ['production', 38],
  ['support-bot', 20],
  ['search', 14],
  ['batch-nightly', 10],
  ['staging', 7],
  ['data-science', 6],
  ['ci', 4],
  ['laptop-mia', 1],
] as const

const busy = [2, 2, 1, 1, 1, 2, 4, 9, 18, 27, 31, 30, 25, 28, 32, 30, 26, 20, 13, 9, 7, 5, 4, 3]
const ofWeek = [0.25, 1, 1.1, 1.12, 1.08, 0.95, 0.3]

/** Number of requests in each hour until now; each day has a few more than the one before. */
function hoursOf(rows: number, endMs: number): [number, number][] {
  const weights = Array.from({ length: days * 24 }, (_, hour): [number, number] => {
    const at = endMs - (days * 24 - hour) * hourMs
    const day = ofWeek[new Date(at).getUTCDay()] ?? 1
    const noise = 0.85 + (((hour * 7_919) % 101) / 101) * 0.3
    const growth = 1 + hour / (days * 24)
    return [at, (busy[new Date(at).getUTCHours()] ?? 1) * day * noise * growth]
  })
  const whole = weights.reduce((sum, [, weight]) => sum + weight, 0)
  return weights.map(([at, weight]) => [at, Math.round((weight / whole) * rows)])
}

/** A number below `of` that is always the same for a row and differs between rows. */
const pick = (salt: number, of: number) =>
  `((h.rowid * 7919 + n.i * 104729 + ${salt * 611_953}) % 1000003 * 48271 % 2147483647 % ${of})`

/** The value in whose share of 100 the row falls. */
function chosen(salt: number, shares: readonly (readonly [string, number])[]): string {
  let sum = 0
  const cases = shares.map(([value, share]) => {
    sum += share
    return `WHEN ${pick(salt, 100)} < ${sum} THEN ${value}`
  })
  return `CASE ${cases.join(' ')} ELSE ${shares[0]?.[0]} END`
}

function insertRows(keyIds: readonly string[]): string {
  const model = chosen(
    1,
    models.map(([name, share]) => [`'${name}'`, share]),
  )
  const place = chosen(
    2,
    keys.map(([, share], index) => [String(index), share]),
  )
  const by = (values: readonly string[]) =>
    `CASE k ${values.map((value, index) => `WHEN ${index} THEN '${value}'`).join(' ')} END`
  const rate = (column: 2 | 3) =>
    `CASE m ${models.map((each) => `WHEN '${each[0]}' THEN ${each[column]}`).join(' ')} END`
  const charge = `CASE WHEN s = 200 THEN (input - cached) * ${rate(2)} + cached * ${rate(2)} / 4 + output * ${rate(3)} ELSE 0 END`
  return `INSERT INTO usage (request_id, at, account, key_id, key_name, group_id, operation, model_asked,
      model_served, channel, vendor, attempts, stream, input_tokens, cached_input_tokens, cache_write_tokens,
      output_tokens, reasoning_tokens, cache_write_1h_tokens, audio_input_tokens, audio_output_tokens,
      image_input_tokens, image_output_tokens, usage_source, multiplier_ppm, charge_nano, writeoff_nano,
      vendor_cost_nano, ttft_ms, duration_ms, status, error_code)
    SELECT 'req_' || printf('%08x%012x', h.rowid, i), at, '${account}', ${by(keyIds)}, ${by(keys.map(([name]) => name))},
      'default', 'chat', m, m, channel, vendor, 1, stream, input, cached, 0, output, 0, 0, 0, 0, 0, 0,
      'reported', 1000000, ${charge}, 0, ${charge}, CASE WHEN s = 200 THEN 150 + ms / 8 END,
      CASE WHEN s = 200 THEN 300 + ms ELSE 40 + ms / 50 END, s,
      CASE s WHEN 429 THEN 'rate_limit_exceeded' WHEN 500 THEN 'server_error' END
    FROM (SELECT h.rowid, n.i, h.at + ${pick(3, hourMs)} AS at, ${model} AS m, ${place} AS k,
      CASE WHEN ${pick(4, 1000)} < 9 THEN 429 WHEN ${pick(4, 1000)} < 14 THEN 500 ELSE 200 END AS s,
      CASE WHEN ${pick(5, 10)} < 8 THEN 'main' ELSE 'spare' END AS channel, 'openai' AS vendor,
      ${pick(6, 10)} < 7 AS stream, 400 + ${pick(7, 3000)} AS input,
      CASE WHEN ${pick(8, 100)} < 35 THEN 256 + ${pick(9, 100)} ELSE 0 END AS cached,
      30 + ${pick(10, 30)} * ${pick(11, 30)} AS output,
      ${pick(12, 100)} * ${pick(13, 100)} + ${pick(14, 900)} AS ms
      FROM temp.hour AS h JOIN temp.n ON n.i < h.rows) AS h`
}

function seed(path: string, rows: number, keyIds: readonly string[]): void {
  const database = new Database(path)
  database.run('PRAGMA synchronous = OFF')
  database.run('PRAGMA cache_size = -500000')
  const hours = hoursOf(rows, Math.floor(Date.now() / hourMs) * hourMs)
  database.run('CREATE TEMP TABLE hour (at INTEGER, rows INTEGER)')
  const insert = database.query('INSERT INTO temp.hour VALUES (?, ?)')
  for (const hour of hours) insert.run(...hour)
  const most = Math.max(...hours.map(([, count]) => count))
  database.run(`CREATE TEMP TABLE n AS WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL
    SELECT i + 1 FROM n WHERE i < ${most}) SELECT i FROM n`)
  database.run(insertRows(keyIds))
  const migrations = join(import.meta.dirname, '../src/store/migrations/sqlite')
  const totals = readFileSync(join(migrations, '0016-usage-quarters.sql'), 'utf8')
  for (const statement of totals.split(/;\n/)) {
    if (statement.trim().startsWith('INSERT INTO')) database.run(statement)
  }
  database.run('PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
}

const [dataDir, rowsText = '5000000'] = process.argv.slice(2)
if (dataDir === undefined) throw new Error('Say which directory to make.')
const settings = { dataDir, databaseUrl: null }
const store = await openStore(settings)
const nowMs = Date.now()
const context: AdminContext = { store, actor: 'bench', nowMs, currency: async () => 'USD' }
await store.accounts.ensure(account, nowMs - days * 24 * hourMs)
await store.journal.post([
  {
    id: `opening:${account}`,
    code: 'opening',
    debit: house.adjust,
    credit: walletOf(account),
    amountNano: 25_000_000_000_000n,
    actor: null,
    reason: null,
    at: nowMs,
  },
])
await store.deployment.rememberGroups(['default'])
const keyIds: string[] = []
for (const [name] of keys) {
  const key = await createKey(context, checkInput('createKey', { account, group: 'default', name }))
  keyIds.push(key.id)
}
seed(join(dataDir, databaseFile), Number(rowsText), keyIds)
while (await store.rollups.fold(nowMs - hourMs));
await store.close()
console.log(`${rowsText} requests of ${account} in ${dataDir}`)
