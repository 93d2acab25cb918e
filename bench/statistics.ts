// Measures statistics and lists of requests over many usage rows: `bun bench/statistics.ts [ROWS] [DIR]`. A given
// directory is kept, and measured again as it is. DATABASE_URL names a PostgreSQL, empty or filled by this before.

import { Database } from 'bun:sqlite'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { readBreakdown } from '../src/admin/breakdown.ts'
import { listChoices } from '../src/admin/choices.ts'
import { readOverview } from '../src/admin/overview.ts'
import { checkInput } from '../src/admin/schema.ts'
import { readStatistics } from '../src/admin/statistics.ts'
import type { AdminContext } from '../src/admin/use-case.ts'
import { openStore } from '../src/store/open.ts'
import type { Store } from '../src/store/store.ts'
import type { UsageFilter } from '../src/store/usage-filter.ts'

const days = 90
const dayMs = 86_400_000
const startMs = Date.parse('2026-08-01T00:00:00Z')
const nowMs = startMs + days * dayMs
const rounds = 20
const accounts = 200
/** Rows per statement, so that many rows need no transaction of that size. */
const partRows = 1_000_000
/** PostgreSQL runs a statement on one core. */
const connections = 2

/** A share of 10,007 that is the same on both engines; `cubed` makes a few values common and most of them rare. */
const share = (factor: number) => `((i * ${factor}) % 10007)`
const cubed = (factor: number, of: number) =>
  `(${share(factor)} * ${share(factor)} / 10007 * ${share(factor)} / 10007 * ${of} / 10007)`

const account = cubed(7919, accounts)
const model = cubed(3571, 20)
const latency = `(100 + ${share(1231)} * ${share(1231)} / 10007)`

/** The columns that may not be null, and those that are counted; all derived from the row's number `i`. */
const columns: Readonly<Record<string, string>> = {
  request_id: `'req_' || (1000000000000 + i)`,
  at: `${startMs} + i * STEP / 1000`,
  account: `'account-' || ${account}`,
  key_id: `'key-' || ${account} || '-' || (i * 31 % 3)`,
  key_name: `'bench'`,
  group_id: `'group-' || (${account} % 3)`,
  operation: `CASE WHEN ${model} < 17 THEN 'chat' ELSE 'embeddings' END`,
  model_asked: `'model-' || ${model}`,
  model_served: `'model-' || ${model}`,
  channel: `'channel-' || ${model} || '-' || (i * 13 % 2)`,
  vendor: `'openai'`,
  attempts: '1',
  stream: 'i % 2',
  input_tokens: `200 + ${share(929)}`,
  cached_input_tokens: 'CASE WHEN i % 3 = 0 THEN 500 ELSE 0 END',
  cache_write_tokens: '0',
  output_tokens: `20 + i * 17 % 900`,
  reasoning_tokens: '0',
  cache_write_1h_tokens: '0',
  audio_input_tokens: '0',
  audio_output_tokens: '0',
  image_input_tokens: '0',
  image_output_tokens: '0',
  usage_source: `'reported'`,
  multiplier_ppm: '1000000',
  charge_nano: `100000 + ${share(929)} * 100`,
  writeoff_nano: '0',
  vendor_cost_nano: `90000 + ${share(929)} * 90`,
  ttft_ms: `${latency} / 4`,
  duration_ms: latency,
  status: 'CASE WHEN i % 50 = 0 THEN 500 WHEN i % 97 = 0 THEN 429 ELSE 200 END',
}

type Engine = Store['engine']

/** One statement for each part of the rows. */
function insertsOf(rows: number, engine: Engine): string[] {
  const step = Math.floor((days * dayMs * 1_000) / rows)
  const values = Object.values(columns).map((value) => value.replace('STEP', String(step)))
  return Array.from({ length: Math.ceil(rows / partRows) }, (_, part) => {
    const [first, last] = [part * partRows, Math.min(rows, (part + 1) * partRows) - 1]
    const source =
      engine === 'sqlite'
        ? `(WITH RECURSIVE n (i) AS (SELECT ${first} UNION ALL SELECT i + 1 FROM n WHERE i < ${last}) SELECT i FROM n)`
        : `generate_series(${first}::bigint, ${last}) AS n (i)`
    return `INSERT INTO usage (${Object.keys(columns).join(', ')}) SELECT ${values.join(', ')} FROM ${source}`
  })
}

/** Totals of rows that are there already, as the migration makes them. */
function totalsOf(engine: Engine): string[] {
  const folder = join(import.meta.dirname, '../src/store/migrations', engine)
  const sql = readFileSync(join(folder, '0016-usage-quarters.sql'), 'utf8')
  return sql.split(/;\n/).filter((statement) => statement.trim().startsWith('INSERT INTO'))
}

type Run = (sql: string) => Promise<readonly Record<string, unknown>[]>

/** Indexes are made when the rows are there, which is faster. `run` is asked for all parts of the rows at once. */
async function seed(rows: number, engine: Engine, run: Run): Promise<void> {
  const indexes = await run(
    engine === 'sqlite'
      ? `SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'usage' AND sql IS NOT NULL`
      : `SELECT indexname AS name, indexdef AS sql FROM pg_indexes WHERE tablename = 'usage'
          AND schemaname = current_schema() AND indexname <> 'usage_pkey'`,
  )
  for (const { name } of indexes) await run(`DROP INDEX ${name}`)
  await Promise.all(insertsOf(rows, engine).map(run))
  for (const { sql } of indexes) await run(String(sql))
  for (const statement of totalsOf(engine)) await run(statement)
  if (engine === 'postgres') await run('VACUUM ANALYZE')
}

async function seedSqlite(path: string, rows: number): Promise<void> {
  const database = new Database(path)
  database.run('PRAGMA synchronous = OFF')
  database.run('PRAGMA cache_size = -500000')
  await seed(rows, 'sqlite', async (sql) =>
    sql.startsWith('SELECT')
      ? (database.query(sql).all() as Record<string, unknown>[])
      : (database.run(sql), []),
  )
  database.run('PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
}

async function seedPostgres(url: string, rows: number): Promise<void> {
  const pool = new pg.Pool({ connectionString: url, max: connections })
  await seed(rows, 'postgres', async (sql) => (await pool.query(sql)).rows ?? [])
  await pool.end()
}

type Work = (round: number) => Promise<unknown>

async function measure(name: string, goalMs: number, work: Work): Promise<void> {
  const times: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const began = performance.now()
    try {
      await work(round)
    } catch (error) {
      // PostgreSQL ends a statement after 10 s.
      console.log(`| ${name} | - | - | ${goalMs} | failed: ${String(error)} |`)
      return
    }
    times.push(performance.now() - began)
  }
  times.sort((one, other) => one - other)
  const at = (part: number) => (times[Math.ceil(part * times.length) - 1] ?? 0).toFixed(1)
  const verdict = Number(at(0.95)) <= goalMs ? 'met' : 'not met'
  console.log(`| ${name} | ${at(0.5)} | ${at(0.95)} | ${goalMs} | ${verdict} |`)
}

/** An account that is neither the largest nor idle, another one each round. */
const usual = (round: number) => `account-${60 + round}`

async function measureStatistics(context: AdminContext): Promise<void> {
  const zone = 'Asia/Kolkata'
  const series = (name: string, given: (round: number) => Record<string, unknown>) =>
    measure(name, 200, (round) =>
      readStatistics(context, checkInput('readStatistics', { timeZone: zone, ...given(round) })),
    )
  const table = (name: string, given: (round: number) => Record<string, unknown>) =>
    measure(name, 200, (round) =>
      readBreakdown(context, checkInput('readBreakdown', { timeZone: zone, ...given(round) })),
    )
  await series('spend of an account by model, 30 days by day', (round) => ({
    since: '30d',
    by: 'model',
    account: usual(round),
  }))
  await series('spend of the largest account by model, 30 days by day', () => ({
    since: '30d',
    by: 'model',
    account: 'account-0',
  }))
  await series('p95 TTFT of the largest account, 90 days by week', () => ({
    since: '90d',
    metric: 'ttftP95',
    interval: 'week',
    account: 'account-0',
  }))
  await series('tokens of the largest account by key and model, 7 days by hour', () => ({
    since: '7d',
    metric: 'tokens',
    interval: 'hour',
    by: 'key,model',
    account: 'account-0',
  }))
  await table('breakdown of the largest account by model, 30 days', () => ({
    since: '30d',
    by: 'model',
    account: 'account-0',
  }))
  await series('spend of all by model, 7 days by hour', () => ({
    since: '7d',
    interval: 'hour',
    by: 'model',
  }))
  await series('spend of all by model, 30 days by day', () => ({ since: '30d', by: 'model' }))
  await series('p95 latency of all by channel, 30 days by day', () => ({
    since: '30d',
    metric: 'latencyP95',
    by: 'channel',
  }))
  await series('requests of all by class of status, 90 days by day', () => ({
    since: '90d',
    metric: 'requests',
    by: 'statusClass',
  }))
  await table('breakdown of all by model, 30 days', () => ({ since: '30d', by: 'model' }))
  await table('breakdown of all by account, 24 hours', () => ({ since: '24h', by: 'account' }))
  await table('breakdown of all by account, 7 days', () => ({ since: '7d', by: 'account' }))
  await table('breakdown of all by account, 30 days', () => ({ since: '30d', by: 'account' }))
  const overview = (account: string | undefined) =>
    readOverview(context, { timeZone: zone, ...(account !== undefined && { account }) })
  await measure('overview of an account', 200, (round) => overview(usual(round)))
  await measure('overview of the largest account', 200, () => overview('account-0'))
  await measure('overview of all', 200, () => overview(undefined))
  await measure('choices of all', 200, () => listChoices(context, {}))
}

async function measureLists({ usage }: Store): Promise<void> {
  const list = (name: string, filter: (round: number) => Omit<UsageFilter, 'limit'>) =>
    measure(name, 150, (round) => usage.page({ ...filter(round), limit: 50 }))
  const before = { at: nowMs - 40 * dayMs, requestId: 'req_1' }
  await list('newest 50 requests of all', () => ({}))
  await list('50 requests of all, far back', () => ({ before }))
  await list('of an account', (round) => ({ account: usual(round) }))
  await list('of the largest account, far back', () => ({ account: 'account-0', before }))
  await list('of one key', (round) => ({ account: usual(round), key: `key-${60 + round}-1` }))
  await list('of a rare model', () => ({ model: 'model-19' }))
  await list('of an account and a rare model', (round) => ({
    account: usual(round),
    model: 'model-19',
  }))
  await list('of an account and a model it never used', (round) => ({
    account: usual(round),
    model: 'nothing',
  }))
  await list('of a status', () => ({ status: 429 }))
  await list('of an account and a status', (round) => ({ account: usual(round), status: 429 }))
  await list('of one day', () => ({ since: nowMs - 30 * dayMs, until: nowMs - 29 * dayMs }))
}

const [rowsText = '10000000', given] = process.argv.slice(2)
const databaseUrl = process.env['DATABASE_URL'] ?? null
const dataDir = given ?? mkdtempSync(join(tmpdir(), 'tollgate-statistics-'))
const settings = { dataDir, databaseUrl }
try {
  const empty = await openStore(settings)
  const isEmpty = (await empty.usage.list({ limit: 1 })).length === 0
  for (let each = 0; each < accounts; each += 1) await empty.accounts.ensure(`account-${each}`, 1)
  await empty.close()
  const began = performance.now()
  if (isEmpty && databaseUrl === null)
    await seedSqlite(join(dataDir, 'tollgate.db'), Number(rowsText))
  if (isEmpty && databaseUrl !== null) await seedPostgres(databaseUrl, Number(rowsText))
  const seconds = (since: number) => ((performance.now() - since) / 1_000).toFixed(0)
  if (isEmpty) console.log(`${rowsText} rows in ${seconds(began)} s`)
  const store = await openStore(settings)
  const folding = performance.now()
  let hours = 0
  while (await store.rollups.fold(nowMs)) hours += 1
  if (hours > 0) console.log(`${hours} hours folded in ${seconds(folding)} s`)
  const context = { store, actor: 'bench', nowMs, currency: async () => 'USD' }
  console.log(
    `${store.engine}: ms, of ${rounds} each\n\n| | p50 | p95 | goal | |\n|---|--:|--:|--:|---|`,
  )
  await measureStatistics(context)
  await measureLists(store)
  await store.close()
} finally {
  if (given === undefined) rmSync(dataDir, { recursive: true, force: true })
}
