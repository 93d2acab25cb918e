// Tests other programs on the files of a running server: its locks hold, and after a kill -9 nothing is missing.

import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../support/clients.ts'
import { type Deployment, deploy, expectBalances, expectCleanAudit } from '../support/deployment.ts'
import { locksOn } from '../support/locks.ts'
import { repetitions } from '../support/long.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { expectCharged, ready, type Seen, startLoad } from './gateway-load.ts'
import type { OtherTask } from './other-program.ts'

const credits = { acme: '1000', bell: '1000' }
const creditNano = 1_000_000_000_000n
const clients = 12
const workerCounts = [1, 3]

/** The processes that serve: the server, or those it has started. */
function serving({ pid }: ServerProcess, workers: number): number[] {
  if (workers === 1) return [pid]
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return children.trim().split(' ').map(Number)
}

function expectLocks(server: ServerProcess, workers: number): void {
  const { dataDir } = server
  const processes = serving(server, workers)
  expect(processes).toHaveLength(workers)
  const locks = (file: string, pid: number) => locksOn(join(dataDir, file), pid)
  expect(locks('server.lock', server.pid)).toContain('WRITE')
  for (const pid of processes) {
    expect(locks('tollgate.db', pid)).toContain('READ')
    expect(locks('tollgate.db-shm', pid)).toContain('READ')
  }
  const slots = processes.map((_, slot) => slot)
  const holders = slots.map((slot) => {
    const holds = (pid: number) => locks(`outbox-${slot}.db`, pid).includes('WRITE')
    const holder = processes.find(holds)
    for (const half of ['a', 'b']) {
      for (const end of ['.db', '.db-shm']) {
        expect(locks(`outbox-${slot}-${half}${end}`, holder ?? 0)).toContain('READ')
      }
    }
    return holder
  })
  expect(holders.sort()).toEqual([...processes].sort())
}

/** The list of locks is read in pieces while others change; a lock that was really lost stays missing. */
async function expectLocksHold(server: ServerProcess, workers: number): Promise<void> {
  let missing: unknown
  const hold = () => {
    try {
      expectLocks(server, workers)
      return true
    } catch (error) {
      missing = error
      return undefined
    }
  }
  await eventually(hold, 5_000).catch(() => {
    throw missing
  })
}

type Other = 'backup' | OtherTask['does']

/** Resolves when the other program has ended. */
async function runOther(does: Other, dataDir: string, copies: string): Promise<void> {
  const sqlite = Bun.which('sqlite3')
  if (does === 'backup' && sqlite !== null) {
    await ended([sqlite, join(dataDir, 'tollgate.db'), `.backup ${copies}`])
    return
  }
  const outboxes = readdirSync(dataDir).filter((name) => /^outbox-\d+-[ab]\.db$/.test(name))
  const task: OtherTask = {
    does: does === 'backup' ? 'vacuum' : does,
    files: (does === 'vacuum' ? ['tollgate.db'] : ['tollgate.db', ...outboxes]).map((name) =>
      join(dataDir, name),
    ),
    copies,
    forMs: does === 'lock' ? 1_500 : 300,
  }
  // Locked for seconds: the ledger alone, and then each half for as long as an append may wait.
  const script = join(import.meta.dirname, 'other-program.ts')
  if (does !== 'lock') return ended([process.execPath, script, JSON.stringify(task)])
  const [ledger = '', ...halves] = task.files
  await ended([process.execPath, script, JSON.stringify({ ...task, files: [ledger] })])
  await ended([process.execPath, script, JSON.stringify({ ...task, files: halves, forMs: 200 })])
}

async function ended(command: string[]): Promise<void> {
  const child = Bun.spawn(command, { stdio: ['ignore', 'pipe', 'pipe'] })
  const [errors, code] = await Promise.all([new Response(child.stderr).text(), child.exited])
  expect({ code, errors }).toEqual({ code: 0, errors: '' })
}

/**
 * One run of the server: under load another program opens and closes the files, a credit is given, and then kill -9.
 */
async function live(
  deployment: Deployment,
  workers: number,
  does: Other,
): Promise<readonly Seen[]> {
  const server = await deployment.start({ workers })
  await ready(server)
  await expectLocksHold(server, workers)
  const load = startLoad([server.url], Object.keys(credits), clients)
  const copies = join(deployment.dataDir(), '..', `copy-${workers}-${does}`)
  await runOther(does, deployment.dataDir(), copies)
  await deployment.command('account', 'credit', 'acme', '1', '--reason', 'while it runs')
  await expectLocksHold(server, workers)
  for (const file of ['tollgate.db-wal', 'tollgate.db-shm']) {
    expect(existsSync(join(deployment.dataDir(), file))).toBe(true)
  }
  const answered = load.seen.length
  await eventually(() => load.seen.length >= answered + clients || undefined, 30_000)
  await server.kill()
  await load.stop()
  return load.seen
}

test.each(workerCounts)(
  'with %d serving processes, no other program on the files loses a charge, a credit or a lock',
  async (workers) => {
    const others: readonly Other[] = repetitions(workers === 1, true)
      ? ['read', 'backup', 'vacuum', 'lock']
      : ['lock']
    // This test's own connection would keep the write-ahead log for the server.
    const deployment = await deploy({ databaseUrl: null, credits, apart: true })
    try {
      const seen: Seen[] = []
      for (const does of others) seen.push(...(await live(deployment, workers, does)))
      const last = await deployment.start()
      await ready(last)
      last.signal('SIGTERM')
      expect(await last.exited).toBe(0)
      await deployment.openBooks()
      const given = creditNano + 1_000_000_000n * BigInt(others.length)
      const rows = await expectBalances(deployment, { acme: given, bell: creditNano })
      expect(expectCharged(seen, rows)).toBeGreaterThan(clients * others.length)
      await expectCleanAudit(deployment)
    } finally {
      await deployment.remove()
    }
  },
  300_000,
)
