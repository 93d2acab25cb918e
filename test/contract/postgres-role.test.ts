// Tests that with the role of deploy/postgres-role.sql a server can do all it must, but cannot change the journal.

import { afterEach, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { backUp } from '../../src/admin/backup.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { program } from '../support/command-line.ts'
import { deposit, finished, fund, hourMs, lessee } from '../support/ledger-scene.ts'
import { keptTotals } from '../support/rollups.ts'
import { startServer } from '../support/server-process.ts'
import { makeDirectory, makeSchema, testDatabaseUrl } from './databases.ts'
import { keyRow, usageRow } from './store.ts'

const file = join(import.meta.dirname, '../../deploy/postgres-role.sql')

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const databaseUrl = testDatabaseUrl
if (databaseUrl !== null) {
  test('openStore, and everything the ledger does, work under the role', async () => {
    const { store } = await underRole(databaseUrl)
    await fund(store, 'ann', 100n)
    const ref = await lessee(store, 'n1', 'ann', 60n)
    expect(await store.journal.post([deposit('ann', 5n, 'more')])).toBe('posted')
    const row = { requestId: 'a', chargeNano: 70n }
    expect(await store.settlements.settle([finished(ref, row, { fromLeaseNano: 50n })])).toEqual({
      settled: 1,
      chargedNano: 70n,
      writtenOffNano: 0n,
    })
    await store.leases.noteHeld(ref, new Map([['ann', 4n]]))
    await store.leases.giveBack(ref, 'ann', 1n)
    await store.leases.recall('ann', { node: 'n2', epoch: 1 })
    expect(await store.leases.recalled(ref)).toEqual(['ann'])
    const entry = { requestId: 'b', account: 'ann', heldNano: 3n, raw: '', reason: 'x', at: 1 }
    await store.settlements.setAside(entry, ref)
    expect(await store.nodes.renew(ref, 0)).toBe(true)
    expect(await store.nodes.sweep()).toEqual([ref])
    await store.nodes.close(await store.nodes.open('n1', hourMs))
    expect(await keptTotals(store)).toHaveLength(1)
    expect(await store.journal.wallet('ann')).toMatchObject({ postedNano: 35n, leasedNano: 3n })
  })

  test('so does everything beside the ledger', async () => {
    const { store } = await underRole(databaseUrl)
    const turn = { holder: 'one', nowMs: 1 }
    expect(await store.archive.take(turn, 2)).toBe(true)
    const sums = { requests: 1, chargeNano: 1n, writeoffNano: 0n, bytes: 1, sha256: 'a' }
    expect(await store.archive.add(turn, { name: 'a', firstAt: 1, lastAt: 1, ...sums })).toBe(true)
    await store.archive.close('a', 2)
    await store.accounts.ensure('ann', 1)
    await store.keys.insert(keyRow())
    expect(await store.keys.disable('key_1', 5)).toBe(true)
    expect(await store.keys.remove('key_1')).toBe(true)
    await store.deployment.rememberCurrency('USD')
    const card = { model: 'm', effectiveFrom: 1, prices: { input: '1' }, origin: 'set' } as const
    const more = { source: 'test', sourceDate: null, actor: null, createdAt: 1 }
    await store.prices.append([{ ...card, ...more }])
    const note = { node: 'n1', revision: 0, cards: {} }
    await store.prices.appendAfter(1, [], note)
    await store.prices.appendAfter(1, [], { ...note, revision: 1 })
    const by = await store.nodes.open('n1', hourMs)
    const begun = { account: 'ann', key: 'k', bodyHash: 'h', requestId: 'a', by, nowMs: 1 }
    await store.idempotency.begin({ ...begun, expiresAt: 9 })
    const idempotency = { account: 'ann', key: 'k', reply: null, keep: true }
    await store.settlements.settle([finished(by, { requestId: 'a' }, { idempotency })])
    await store.idempotency.forget('ann', 'k', 'a')
    await store.idempotency.clean(10)
    const from = by
    const row = {
      account: 'ann',
      id: 'video_1',
      requestId: 'v',
      video: '{}',
      work: '{}',
      bill: '{}',
    }
    const times = { pollAt: 1, createdAt: 1, expiresAt: 2 }
    const whole = { ...row, ...times, heldNano: 0n }
    await store.videos.apply({ kind: 'begin', row: whole, from, idempotency: null }, null)
    await store.videos.apply({ kind: 'claim', nowMs: 5, untilMs: 9, limit: 1 }, by)
    await store.videos.apply({ kind: 'note', ...row, nowMs: 6, pollAt: 7 }, by)
    const usage = usageRow({ requestId: 'v', operation: 'video' })
    const end = { ...row, state: 'completed', nowMs: 8, row: usage, capNano: null } as const
    expect((await store.videos.apply({ kind: 'end', ...end }, null)).state).toBe('changed')
    await store.videos.clean(10)
    const report = await store.audit.run(() => () => 0n)
    expect(report.findings).toEqual([])
  })

  test('a server starts under it, and what its operator does by commands and in the console works', async () => {
    const { url } = await underRole(databaseUrl)
    const env = { DATABASE_URL: url, ENCRYPTION_KEY: randomBytes(32).toString('hex') }
    const server = await startServer(undefined, { env })
    ends.push(async () => {
      await server.kill()
      server.remove()
    })
    const run = async (...words: string[]) => {
      const child = Bun.spawn([program, ...words, '--data', server.dataDir], {
        env: { PATH: Bun.env['PATH'] ?? '', ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      expect([words, await child.exited, await new Response(child.stderr).text()]).toEqual([
        words,
        0,
        expect.not.stringContaining('denied'),
      ])
      return new Response(child.stdout).text()
    }
    await run('key', 'create', '--account', 'bob', '--group', 'default', '--name', 'his')
    await run('account', 'credit', 'bob', '5', '--reason', 'test')
    await run('invite', 'create')
    await run('codes', 'create', '2', '1')
    await run('price', 'set', 'm', 'input=1', 'output=2')

    const link = (await run('admin', 'link')).match(/http:\S+/)?.[0] ?? ''
    const { pathname, search } = new URL(link)
    const entered = await fetch(server.url + pathname + search, { redirect: 'manual' })
    const cookie = (entered.headers.getSetCookie()[0] ?? '').split(';')[0] ?? ''
    const call = async (method: string, path: string, body?: object) => {
      const reply = await fetch(`${server.url}/api/${path}`, {
        method,
        headers: { cookie, origin: server.url, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await reply.text()
      expect({ path, text, ok: reply.ok }).toEqual({ path, text, ok: true })
    }
    await call('GET', 'me')
    await call('PUT', 'me/preferences', { language: 'zh-CN' })
    await call('POST', 'keys', { name: 'mine' })
    await call('POST', 'management-keys', { name: 'script', scopes: ['read'] })
    await call('POST', 'channels', { id: 'c', vendor: 'openai', key: 'sk-1', models: ['m'] })
    await call('POST', 'invitations', {})
    expect(server.stderr).not.toContain('denied')
  }, 60_000)

  const forbidden = [
    'UPDATE transfer SET amount_nano = 1',
    'DELETE FROM transfer',
    'TRUNCATE transfer',
    'UPDATE usage SET charge_nano = 0',
    'UPDATE usage_kept SET only_row = 2',
    'TRUNCATE usage',
    'DELETE FROM set_aside',
    'DELETE FROM set_aside_resolution',
    'DELETE FROM operator_event',
    'UPDATE payment_transaction SET amount_minor = 1',
    'DELETE FROM schema_migration',
    'DELETE FROM ledger_account',
    `UPDATE ledger_account SET kind = 'house'`,
    'DROP TRIGGER transfer_never_changed ON transfer',
    'ALTER TABLE transfer DISABLE TRIGGER ALL',
    'DROP TABLE transfer',
    'SET session_replication_role = replica',
  ]
  test('of usage it removes what is past its time, and no more', async () => {
    const { url, store } = await underRole(databaseUrl)
    const ref = await store.nodes.open('n1', hourMs)
    const refused = { channel: null, attempts: 0, status: 429, at: 5 }
    await store.settlements.settle([
      finished(ref, { requestId: 'a', at: 5 }),
      finished(ref, { ...refused, requestId: 'b' }),
    ])
    expect(await store.retention.pruneRefusals(900_000, 9)).toBe(1)
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    ends.push(() => client.end())
    await expect(client.query('DELETE FROM usage')).rejects.toThrow('append-only')
    expect(await store.retention.prune(900_000, 9)).toBe(1)
  })

  test('a backup can be made as the role', async () => {
    const database = await makeDatabase(databaseUrl)
    await (await openStore({ dataDir: '', databaseUrl: database })).close()
    const url = await makeRole(database)
    const folder = makeDirectory()
    ends.push(async () => folder.remove())
    const file = join(folder.path, 'backup')
    expect(await backUp({ dataDir: '', databaseUrl: url }, { file })).toMatchObject({ ok: true })
  }, 30_000)

  test('nothing is permitted that would change the books', async () => {
    const { url, store } = await underRole(databaseUrl)
    await fund(store, 'ann', 100n)
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    ends.push(() => client.end())
    for (const sql of forbidden) {
      const outcome = await client.query(sql).then(() => 'done', String)
      expect([sql, outcome]).toEqual([
        sql,
        expect.stringMatching(/permission denied|must be owner/),
      ])
    }
    expect((await store.journal.wallet('ann'))?.postedNano).toBe(100n)
  })
}

/** A migrated schema, and a store on it with a separate role made by the file. */
async function underRole(databaseUrl: string): Promise<{ url: string; store: Store }> {
  const schema = await makeSchema(databaseUrl)
  ends.push(() => schema.drop())
  await (await openStore({ dataDir: '/nonexistent', databaseUrl: schema.url })).close()
  const url = await makeRole(schema.url)
  const store = await openStore({ dataDir: '/nonexistent', databaseUrl: url })
  ends.push(() => store.close())
  return { url, store }
}

/** A database of its own: a dump reads all schemas, also those of other tests. */
async function makeDatabase(databaseUrl: string): Promise<string> {
  const name = `role_${randomBytes(8).toString('hex')}`
  const run = async (sql: string) => {
    const client = new pg.Client({ connectionString: databaseUrl })
    await client.connect()
    await client.query(sql)
    await client.end()
  }
  await run(`CREATE DATABASE ${name}`)
  ends.push(() => run(`DROP DATABASE ${name}`))
  const url = new URL(databaseUrl)
  url.pathname = `/${name}`
  return url.href
}

/** Roles belong to the whole server, so each test has a different name for its role. */
async function makeRole(ownerUrl: string): Promise<string> {
  const role = `app_${randomBytes(8).toString('hex')}`
  const password = randomBytes(16).toString('hex')
  const sql = readFileSync(file, 'utf8').replaceAll('tollgate_app', role)
  const owner = new pg.Client({ connectionString: ownerUrl })
  await owner.connect()
  ends.push(() => owner.end())
  await owner.query(sql)
  // It may be run again, as after each migration.
  await owner.query(sql)
  await owner.query(`ALTER ROLE ${role} PASSWORD '${password}'`)
  ends.push(async () => {
    await owner.query(`DROP OWNED BY ${role}`)
    await owner.query(`DROP ROLE ${role}`)
  })
  const url = new URL(ownerUrl)
  url.username = role
  url.password = password
  return url.href
}
