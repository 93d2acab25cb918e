// Measures each stage of settling on SQLite by switching stages off in turn: the minimum of many rounds in one process.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeBody, encodeBody, encodeRecord } from '../src/ledger/record.ts'
import type { Bulk, Session } from '../src/store/engine.ts'
import type { Settlement } from '../src/store/ledger.ts'
import { checkSettlement } from '../src/store/settlement-check.ts'
import { openSqlite } from '../src/store/sqlite.ts'
import { createStore } from '../src/store/tables.ts'
import { usageValues } from '../src/store/usage-columns.ts'
import { finishedRequest } from '../test/support/finished.ts'
import { fund, lessee } from '../test/support/ledger-scene.ts'

const batch = Number(process.env['BATCH'] ?? 400)
const rounds = Number(process.env['ROUNDS'] ?? 60)
const startMs = 1_795_000_000_000
const accounts = ['acme']
const chargeNano = 258_000n

const node = { node: 'bench', epoch: 1 }
let made = 0

/** A record as a request of the benchmark's first workload leaves it. */
function record(): ReturnType<typeof encodeRecord> {
  made += 1
  const at = startMs + Math.floor(made / 4)
  const requestId = `req_${at.toString(16).padStart(12, '0')}${(made % 65_536).toString(16).padStart(4, '0')}a1b2c3d4e5f6`
  const finished = finishedRequest({
    requestId,
    at,
    account: accounts[made % accounts.length] ?? '',
    multiplierPpm: 1_000_000,
    chargeNano,
    vendorCostNano: chargeNano,
    heldNano: 1_000_000n,
    clientAddress: '127.0.0.1',
    vendorRequestId: 'chatcmpl-0123456789abcdef',
  })
  return encodeRecord('final', node.epoch, chargeNano, finished, made)
}

const bodyOf = (count: number) => encodeBody(Array.from({ length: count }, record))

function read(bodies: readonly string[]): Settlement[] {
  return bodies.flatMap((body) =>
    decodeBody(body, node.node, 1).flatMap((each) =>
      each.kind === 'unreadable' ? [] : [each.settlement],
    ),
  )
}

/** The records of the batch that is being settled, as the outbox has them. */
let batchText = ''

/** Stores these records compressed in one value, the least that storing a batch can take, instead of usage rows. */
function inOneValue(session: Session): Session {
  return {
    ...session,
    async bulk(statement: Bulk, rows) {
      if (!startsWith(statement.sqlite, [usage])) return session.bulk(statement, rows)
      const compressed = Bun.zstdCompressSync(batchText, { level: 1 })
      await session.run('INSERT INTO usage_batch (records) VALUES (?)', [compressed])
      return rows.length
    },
  }
}

/** Statements that start so are not run, and are reported as having changed all their rows. */
const without =
  (starts: readonly string[]) =>
  (session: Session): Session => ({
    ...session,
    bulk: async (statement: Bulk, rows) =>
      startsWith(statement.sqlite, starts) ? rows.length : session.bulk(statement, rows),
    query: async (sql, values) => {
      if (startsWith(sql, starts)) return [{ number: 1 }] as never
      return session.query(sql, values)
    },
  })

function startsWith(sql: string, starts: readonly string[]): boolean {
  return starts.some((start) => sql.trimStart().startsWith(start))
}

interface Variant {
  readonly name: string
  run(bodies: readonly string[]): Promise<void>
}

interface Change {
  readonly name: string
  /** Statements that are run once before. */
  readonly sql?: readonly string[]
  /** What settling sees in place of the database's transaction. */
  readonly inside?: (session: Session) => Session
}

async function settling(dataDir: string, change: Change): Promise<Variant> {
  const { name, sql = [], inside = (session) => session } = change
  const engine = await openSqlite(join(dataDir, name.replaceAll(/\W+/g, '-')))
  const whole = createStore(engine)
  for (const account of accounts) {
    await fund(whole, account, 10n ** 17n)
    await lessee(whole, node.node, account, 10n ** 17n)
  }
  for (const each of sql) await engine.run(each, [])
  const store = createStore({
    ...engine,
    transaction: (work) => engine.transaction((session) => work(inside(session))),
  })
  return {
    name,
    run: async (bodies) => {
      await store.settlements.settle(read(bodies))
    },
  }
}

const usage = 'INSERT INTO usage ('
const journal = 'INSERT INTO transfer'
const totals = ['INSERT INTO usage_quarter', 'INSERT INTO usage_series']

async function main(): Promise<void> {
  const dataDir = mkdtempSync(join(process.env['DIR'] ?? tmpdir(), 'tollgate-bench-'))
  const only = (name: string, run: (bodies: readonly string[]) => void): Variant => ({
    name,
    run: async (bodies) => run(bodies),
  })
  const variants = [
    await settling(dataDir, { name: 'all' }),
    await settling(dataDir, { name: 'without usage rows', inside: without([usage]) }),
    await settling(dataDir, {
      name: 'usage rows in one value',
      sql: ['CREATE TABLE usage_batch (id INTEGER PRIMARY KEY, records BLOB NOT NULL) STRICT'],
      inside: inOneValue,
    }),
    await settling(dataDir, {
      name: 'without index of account',
      sql: ['DROP INDEX usage_account_time'],
    }),
    await settling(dataDir, {
      name: 'without either index',
      sql: ['DROP INDEX usage_account_time', 'DROP INDEX usage_time'],
    }),
    await settling(dataDir, { name: 'without the journal', inside: without([journal]) }),
    await settling(dataDir, { name: 'without totals', inside: without(totals) }),
    await settling(dataDir, {
      name: 'without the log',
      inside: without(['INSERT INTO settlement_log']),
    }),
    await settling(dataDir, {
      name: 'without rows journal totals',
      inside: without([usage, journal, ...totals]),
    }),
    await settling(dataDir, { name: 'without syncs', sql: ['PRAGMA synchronous = OFF'] }),
    only('reading records', (bodies) => void read(bodies)),
    only('reading and checking', (bodies) => read(bodies).forEach(checkSettlement)),
    only('reading, values', (bodies) => {
      for (const { row } of read(bodies)) usageValues(row, row.chargeNano, 0n)
    }),
  ]
  const figures = new Map<string, number[]>()
  for (let round = -10; round < rounds; round += 1) {
    const bodies = Array.from({ length: batch / 4 }, () => bodyOf(4))
    batchText = bodies.join('\n')
    for (const { name, run } of variants) {
      const before = process.cpuUsage()
      await run(bodies)
      const { user, system } = process.cpuUsage(before)
      if (round >= 0) figures.set(name, [...(figures.get(name) ?? []), (user + system) / batch])
    }
  }
  for (const [name, all] of figures) {
    const sorted = all.toSorted((a, b) => a - b)
    const at = (part: number) =>
      (sorted[Math.floor(sorted.length * part)] ?? 0).toFixed(1).padStart(6)
    console.log(`${name.padEnd(32)} ${at(0.1)} ${at(0.25)} ${at(0.5)}`)
  }
  rmSync(dataDir, { recursive: true })
}

await main()
