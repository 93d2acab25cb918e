// Tests backup beside a running server, and restoring: the complete state of one moment, with the records of outboxes
// settled in it.

import { Database } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory } from '../contract/databases.ts'
import { eventually } from '../support/clients.ts'
import { runCommand } from '../support/command-line.ts'
import { chat, costNano, type Deployment, deploy } from '../support/deployment.ts'
import { expectCharged, ready, type Seen, startLoad } from './gateway-load.ts'

const small = makeDirectory()
const mounted =
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', small.path]).status === 0
if (!mounted) console.log('left out: a full disk, which needs a file system that may be mounted')

function remount(how: string): void {
  const { status } = spawnSync('mount', ['-o', `remount,${how}`, small.path])
  if (status !== 0) throw new Error(`cannot be mounted with ${how}`)
}

afterAll(() => {
  if (mounted) spawnSync('umount', ['-l', small.path])
  small.remove()
})

const credits = { acme: '1000', bell: '1000' }
const config = { ledger: { settleMs: 4_000 } }

async function run(deployment: Deployment, dataDir: string, ...words: string[]) {
  return runCommand([...words, '--data', dataDir], deployment.dataDir())
}

async function auditOf(deployment: Deployment, dataDir: string) {
  const { code, out, err } = await run(deployment, dataDir, 'audit', '--json')
  const { ok, findings, setAside } = JSON.parse(out)
  return { code, err, ok, findings, setAside }
}

const clean = { code: 0, err: '', ok: true, findings: [], setAside: 0 }

async function rowsOf(deployment: Deployment, dataDir: string) {
  const { out } = await run(deployment, dataDir, 'usage', '--json', '--limit', '1000000')
  const rows = JSON.parse(out) as Record<'requestId' | 'chargeNano' | 'writeoffNano', string>[]
  return new Map(
    rows.map(({ requestId, chargeNano, writeoffNano }) => [
      requestId,
      BigInt(chargeNano) + BigInt(writeoffNano),
    ]),
  )
}

test.each([1, 2])(
  'with %d serving processes under load, a backup has all that was answered before it, and restores to a clean audit',
  async (workers) => {
    const deployment = await deploy({ databaseUrl: null, credits, config, apart: true })
    try {
      const server = await deployment.start({ workers })
      await ready(server)
      const load = startLoad([server.url], Object.keys(credits), 12)
      await eventually(() => load.seen.length >= 60 || undefined, 30_000)
      const before: Seen[] = [...load.seen]
      const file = join(deployment.dataDir(), '..', 'copy.backup')
      const made = await run(deployment, deployment.dataDir(), 'backup', file, '--json')
      expect([made.code, made.err]).toEqual([0, ''])
      expect(JSON.parse(made.out).settled).toBeGreaterThan(0)
      expect(statSync(file).mode & 0o777).toBe(0o600)
      await server.kill()
      await load.stop()

      const restored = join(deployment.dataDir(), '..', 'restored')
      const back = await run(deployment, restored, 'restore', file)
      expect([back.code, back.err]).toEqual([0, ''])
      expect(await auditOf(deployment, restored)).toEqual(clean)
      const rows = await rowsOf(deployment, restored)
      const due = before.filter(
        ({ whole, status, dueNano }) => whole && status === 200 && dueNano !== null,
      )
      expect(due.length).toBeGreaterThan(10)
      for (const { requestId, dueNano } of due) {
        expect([requestId, rows.get(requestId)]).toEqual([requestId, dueNano ?? undefined])
      }
      // A server continues from it, and no temporary file or folder is left.
      expect(readdirSync(restored).sort()).toEqual(['server.lock', 'server.pid', 'tollgate.db'])
      expect(readdirSync(join(file, '..')).filter((name) => name.startsWith('copy'))).toEqual([
        'copy.backup',
      ])
      await deployment.openBooks()
      expect(expectCharged([], [])).toBe(0)
    } finally {
      await deployment.remove()
    }
  },
  120_000,
)

test('a server goes on from what was restored; a restore says what it will not do', async () => {
  const deployment = await deploy({ databaseUrl: null, credits, apart: true })
  const dataDir = deployment.dataDir()
  const file = join(dataDir, '..', 'copy.backup')
  try {
    const model = { model: 'sandbox/chat+tokens=3' }
    const server = await deployment.start()
    await ready(server)
    const first = await chat(server.url, 'acme', model)
    expect((await run(deployment, dataDir, 'backup', file)).code).toBe(0)
    const again = await run(deployment, dataDir, 'backup', file)
    expect([again.code, again.err]).toEqual([
      1,
      `tollgate: ${file} is there already: name a new file\n`,
    ])
    const lost = await chat(server.url, 'acme', model)
    const runs = await run(deployment, dataDir, 'restore', file, '--force')
    expect(runs.code).toBe(1)
    expect(runs.err).toContain(`(pid ${server.pid}) has the data`)
    expect(runs.err).toEndWith('Stop it first, or name another directory with --data.\n')
    await server.kill()
    const onFile = await run(deployment, file, 'restore', file)
    expect([onFile.code, onFile.err]).toEqual([
      1,
      `tollgate: Cannot use the data directory ${file}: it is a file, not a folder. Name another with --data.\n`,
    ])

    const full = await run(deployment, dataDir, 'restore', file)
    expect([full.code, full.err]).toEqual([
      1,
      `tollgate: there is data in ${dataDir} already: name another directory, or say --force\n`,
    ])
    const spoilt = join(dataDir, '..', 'spoilt')
    const bytes = readFileSync(file)
    writeFileSync(spoilt, bytes.fill(7, 8_192, 8_192 + 4_096))
    const damaged = await run(deployment, dataDir, 'restore', spoilt, '--force')
    expect(damaged.code).toBe(1)
    expect(damaged.err).toMatch(/^tollgate: .*(damaged|malformed).*\n$/)
    writeFileSync(spoilt, 'no database')
    expect((await run(deployment, dataDir, 'restore', spoilt, '--force')).err).toContain(spoilt)
    expect((await rowsOf(deployment, dataDir)).has(first.requestId)).toBe(true)

    const forced = await run(deployment, dataDir, 'restore', file, '--force', '--json')
    expect([forced.code, forced.err]).toEqual([0, ''])
    const { aside } = JSON.parse(forced.out)
    expect(existsSync(join(aside, 'tollgate.db'))).toBe(true)
    const next = await deployment.start()
    await ready(next)
    const last = await chat(next.url, 'acme', model)
    next.signal('SIGTERM')
    expect(await next.exited).toBe(0)
    const rows = await rowsOf(deployment, dataDir)
    expect([...rows.keys()].sort()).toEqual([first.requestId, last.requestId].sort())
    expect(rows.has(lost.requestId)).toBe(false)
    expect(rows.get(last.requestId)).toBe(costNano(6, 3))
    expect(await auditOf(deployment, dataDir)).toEqual(clean)
  } finally {
    await deployment.remove()
  }
}, 60_000)

describe.skipIf(!mounted)('where the place has no room', () => {
  test('a backup names it and leaves nothing there, full or read-only', async () => {
    const deployment = await deploy({ databaseUrl: null, credits })
    const dataDir = deployment.dataDir()
    const file = join(small.path, 'copy.backup')
    try {
      remount('size=64k')
      const full = await run(deployment, dataDir, 'backup', file)
      expect(full.code).toBe(1)
      expect(full.err).toMatch(/^tollgate: Cannot use .*copy\.backup.*: .*full.*\n$/)
      expect(readdirSync(small.path)).toEqual([])
      remount('ro')
      const readOnly = await run(deployment, dataDir, 'backup', file)
      expect(readOnly.code).toBe(1)
      expect(readOnly.err).toMatch(/^tollgate: Cannot use .*copy\.backup.*: EROFS.*mkdir.*\n$/)
    } finally {
      remount('rw,size=8m')
      await deployment.remove()
    }
  })

  test('a forced restore leaves the data as it was', async () => {
    const deployment = await deploy({ databaseUrl: null, credits, apart: true })
    const dataDir = join(small.path, 'data')
    const file = join(deployment.dataDir(), '..', 'copy.backup')
    try {
      const server = await deployment.start()
      await ready(server)
      await server.kill()
      expect((await run(deployment, deployment.dataDir(), 'backup', file)).code).toBe(0)
      expect((await run(deployment, dataDir, 'restore', file)).code).toBe(0)
      const before = readFileSync(join(dataDir, 'tollgate.db'))
      // Room for the data, the copy that is checked, and a part of the one that replaces it.
      remount(`size=${Math.floor(before.length * 2.6)}`)
      const forced = await run(deployment, dataDir, 'restore', file, '--force')
      expect(forced.code).toBe(1)
      expect(forced.err).toMatch(/^tollgate: Cannot use .*restore-.*: .*full.*\n$/)
      expect(readdirSync(dataDir).sort()).toEqual(['server.lock', 'server.pid', 'tollgate.db'])
      expect(readFileSync(join(dataDir, 'tollgate.db')).equals(before)).toBe(true)
    } finally {
      remount('size=8m')
      await deployment.remove()
    }
  })
})

test('a backup may lie in the data directory, but not under a name of its files', async () => {
  const deployment = await deploy({ databaseUrl: null, credits, apart: true })
  const dataDir = deployment.dataDir()
  try {
    const server = await deployment.start()
    await ready(server)
    await server.kill()
    for (const name of ['outbox-7-a.db', 'outbox-7.mark', 'tollgate.db-journal']) {
      const file = join(dataDir, name)
      const refused = await run(deployment, dataDir, 'backup', file)
      expect([refused.code, refused.err]).toEqual([
        1,
        `tollgate: ${file} is a name of the server's own files: name another file\n`,
      ])
      expect(existsSync(file)).toBe(false)
    }
    const file = join(dataDir, 'tollgate.db.backup')
    expect((await run(deployment, dataDir, 'backup', file)).code).toBe(0)
    expect((await run(deployment, dataDir, 'restore', file, '--force')).code).toBe(0)
    expect(existsSync(file)).toBe(true)
    expect(await auditOf(deployment, dataDir)).toEqual(clean)
  } finally {
    await deployment.remove()
  }
})

test('the audit tells what SQLite finds wrong with its file', async () => {
  const deployment = await deploy({ databaseUrl: null, credits, apart: true })
  const dataDir = deployment.dataDir()
  try {
    const server = await deployment.start()
    await ready(server)
    server.signal('SIGTERM')
    expect(await server.exited).toBe(0)
    const path = join(dataDir, 'tollgate.db')
    const database = new Database(path)
    const index = `SELECT rootpage AS page FROM sqlite_master WHERE name = 'usage_quarter_time'`
    const { page } = database.query(index).get() as { readonly page: number }
    database.close()
    const bytes = readFileSync(path)
    writeFileSync(path, bytes.fill(7, (page - 1) * 4_096, page * 4_096))
    const { code, findings } = await auditOf(deployment, dataDir)
    expect(code).toBe(1)
    expect(findings.length).toBeGreaterThan(0)
    for (const { kind } of findings) expect(kind).toBe('integrity')
  } finally {
    await deployment.remove()
  }
})
