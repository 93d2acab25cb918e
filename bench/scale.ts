// Measures the cost of a request on each database engine and simulates leases on many nodes: `npm run bench -- scale`.

import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { startServer } from '../test/support/server-process.ts'
import { type LeaseFigures, type LeaseScenario, simulateLeases } from './lease-simulation.ts'
import { cpuUs, guardProcess, rssMb, untilQuiet } from './processes.ts'

const requests = 60_000
const connections = 32

/** The traffic of one account, and what share of a million requests a second such accounts make together. */
interface Kind {
  readonly name: string
  readonly requestsPerSecond: number
  readonly seconds: number
  /** How long the account's balance would last. */
  readonly lastsSeconds: number
  readonly share: number
}

const totalPerSecond = 1_000_000
const allNodes = 1_000
const kinds: readonly Kind[] = [
  { name: 'large', requestsPerSecond: 10_000, seconds: 20, lastsSeconds: 86_400, share: 0.2 },
  { name: 'middle', requestsPerSecond: 100, seconds: 120, lastsSeconds: 86_400, share: 0.5 },
  { name: 'small', requestsPerSecond: 0.1, seconds: 6_000, lastsSeconds: 864_000, share: 0.3 },
  { name: 'running out', requestsPerSecond: 100, seconds: 90, lastsSeconds: 60, share: 0 },
]
const spreads = [1, 8, allNodes]
/** A hold of 0.02 and a charge of 0.002 of the currency, over 2 s. */
const ordinary = { holdNano: 20_000_000n, chargeNano: 2_000_000n, requestMs: 2_000 }

function scenarioOf(kind: Kind, nodes: number): LeaseScenario {
  const { requestsPerSecond, seconds, lastsSeconds } = kind
  const balanceNano = BigInt(Math.round(requestsPerSecond * lastsSeconds)) * ordinary.chargeNano
  return { ...ordinary, nodes, requestsPerSecond, seconds, balanceNano }
}

function row(kind: Kind, nodes: number, figures: LeaseFigures): string {
  const { grants, returns, recalls, settlements, waited, refusedWrongly } = figures
  const perSecond = (count: number) => (count / kind.seconds).toPrecision(3)
  const part = (count: number) => `${((100 * count) / figures.requests).toFixed(1)} %`
  const writes = grants + returns + recalls + settlements
  const accounts = (totalPerSecond * kind.share) / kind.requestsPerSecond
  const cells = [
    kind.name,
    nodes,
    part(waited),
    `${figures.waitP99Ms.toFixed(1)} ms`,
    part(refusedWrongly),
    `${(100 * figures.idleShare).toFixed(2)} %`,
    perSecond(grants),
    perSecond(recalls),
    perSecond(writes),
    kind.share === 0 ? '-' : Math.round((writes / kind.seconds) * accounts).toLocaleString('en'),
  ]
  return `| ${cells.join(' | ')} |`
}

async function printLeases(): Promise<void> {
  console.log(
    '| account | nodes | waited for the ledger | wait, p99 | refused though it had money | idle in leases | grants/s | recalls/s | writes of its wallet/s | writes/s of all such accounts |',
  )
  console.log(`|---|${'--:|'.repeat(9)}`)
  for (const kind of kinds)
    for (const nodes of spreads)
      console.log(row(kind, nodes, await simulateLeases(scenarioOf(kind, nodes))))
}

/** Calls the built-in vendor in a closed loop. */
async function load(url: string, key: string, count: number): Promise<void> {
  const body = JSON.stringify({
    model: 'sandbox/chat',
    messages: [{ role: 'user', content: 'Hello' }],
  })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  let left = count
  const loop = async () => {
    while (left-- > 0) {
      const reply = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
      await reply.arrayBuffer()
      if (reply.status !== 200) throw new Error(`a request was answered with ${reply.status}`)
    }
  }
  await Promise.all(Array.from({ length: connections }, loop))
}

/** null: on SQLite. */
async function cost(databaseUrl: string | null): Promise<string> {
  const server = await startServer(undefined, {
    env: { LOG_LEVEL: 'warn', ...(databaseUrl !== null && { DATABASE_URL: databaseUrl }) },
  })
  try {
    const key = /sk-tg-\w+/.exec(server.stdout)?.[0] ?? ''
    const database = () => (databaseUrl === null ? 0 : cpuUs(postmaster(databaseUrl)))
    const bytes = () =>
      databaseUrl === null
        ? statSync(join(server.dataDir, 'tollgate.db')).size
        : Number(ask(databaseUrl, 'SELECT pg_database_size(current_database())'))
    await load(server.url, key, 10_000)
    await untilQuiet(server.pid)
    const before = { own: cpuUs(server.pid), database: database(), bytes: bytes() }
    await load(server.url, key, requests)
    await untilQuiet(server.pid)
    const each = (after: number, from: number) => ((after - from) / requests).toFixed(0)
    const databaseCell = databaseUrl === null ? '-' : each(database(), before.database)
    return `| ${databaseUrl === null ? 'SQLite' : 'PostgreSQL'} | ${each(cpuUs(server.pid), before.own)} | ${databaseCell} | ${each(bytes(), before.bytes)} | ${rssMb(server.pid).toFixed(0)} |`
  } finally {
    await server.kill()
    server.remove()
  }
}

function ask(url: string, sql: string): string {
  return execFileSync('psql', [url, '-Atc', sql], { encoding: 'utf8' }).trim()
}

function postmaster(url: string): number {
  return Number(ask(url, "SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)"))
}

guardProcess()
console.log(
  '| ledger on | CPU of the gateway, us/request | CPU of the database, us/request | bytes kept/request | memory, MB |',
)
console.log('|---|--:|--:|--:|--:|')
for (const databaseUrl of [null, Bun.env['DATABASE_URL'] ?? null])
  console.log(await cost(databaseUrl))
console.log()
await printLeases()
