// Tests `tollgate data copy` from SQLite to PostgreSQL: interrupted and resumed, verified, and never usable when
// incomplete.

import { afterAll, expect, test } from 'bun:test'
import { cpSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { adjustBalance } from '../../src/admin/accounts.ts'
import { auditLedger } from '../../src/admin/audit.ts'
import { encryptSecrets } from '../../src/admin/channel-secrets.ts'
import { storedSecretsPurpose } from '../../src/admin/with-stored.ts'
import { encryptionKey } from '../../src/identity/encryption-key.ts'
import { createSecretBox } from '../../src/identity/secret-box.ts'
import { lockFolder } from '../../src/store/draft-folder.ts'
import { openStore } from '../../src/store/open.ts'
import { openPostgres } from '../../src/store/postgres.ts'
import { historyFile, historyFileName } from '../../src/store/sqlite-history.ts'
import type { Store } from '../../src/store/store.ts'
import { adminOf } from '../support/admin.ts'
import { program, runCommand } from '../support/command-line.ts'
import { finished, fund, lessee } from '../support/ledger-scene.ts'
import { isLong, lasts } from '../support/long.ts'
import { makeDirectory, makeSchema, testDatabaseUrl } from './databases.ts'

const directories: { remove(): void }[] = []
const schemas: { drop(): Promise<void> }[] = []
afterAll(async () => {
  for (const directory of directories) directory.remove()
  for (const schema of schemas) await schema.drop()
})

function newFolder(): string {
  const directory = makeDirectory()
  directories.push(directory)
  return directory.path
}

async function newSchema(): Promise<string> {
  const schema = await makeSchema(testDatabaseUrl ?? '')
  schemas.push(schema)
  return schema.url
}

const batchRows = 500
const refused = {
  chargeNano: 0n,
  priceVersion: null,
  status: 429,
  errorCode: 'rate_limit_exceeded',
}

/** Money, requests, texts of every script, a stored channel with a secret, and a message with bytes. */
async function fill(dataDir: string, rows: number, accounts = 3): Promise<void> {
  const store = await openStore({ dataDir, databaseUrl: null })
  await store.deployment.rememberCurrency('USD')
  await store.prices.append([
    {
      model: '*',
      effectiveFrom: 0,
      prices: { request: '0.01' },
      origin: 'file',
      source: 'test',
      sourceDate: null,
      actor: null,
      createdAt: 1,
    },
  ])
  const names = Array.from({ length: accounts }, (_, index) => `account ${index} 你好`)
  for (const name of names) {
    await fund(store, name, 9_007_199_254_740_993n)
    await lessee(store, 'n1', name, 1_000_000_000n)
  }
  const ref = { node: 'n1', epoch: 1 }
  for (let at = 0; at < rows; at += batchRows) {
    const batch = Array.from({ length: Math.min(batchRows, rows - at) }, (_, index) => {
      const request = {
        requestId: `req_${at + index}`,
        at: (at + index) * 1_000,
        account: names[(at + index) % accounts] ?? '',
        modelAsked: `model "${(at + index) % 7}", {\\n}`,
        chargeNano: 10n,
        priceVersion: 1,
        units: { request: 1 },
      }
      const isFree = (at + index) % 10 === 0
      return isFree
        ? finished(ref, { ...request, ...refused })
        : finished(ref, request, { fromLeaseNano: 10n })
    })
    await store.settlements.settle(batch)
  }
  await addSecret(store, dataDir)
  await store.close()
  const history = historyFile(dataDir)
  await history.run(
    `INSERT INTO history_blob (account, id, type, size, content) VALUES ('ann', 'b', 'image/png', 3, ?)`,
    [new Uint8Array([0, 255, 1])],
  )
  await history.close()
}

async function addSecret(store: Store, dataDir: string): Promise<void> {
  const box = createSecretBox(encryptionKey({ encryptionKey: null, dataDir }), storedSecretsPurpose)
  const document = encryptSecrets('made', { vendor: 'openai', key: 'S3CRET' }, box)
  const change = { kind: 'channel', id: 'made', document, changedAt: 1, actor: 'ann' } as const
  await store.configuration.change([change], await store.configuration.revision())
}

async function copy(dataDir: string, url: string, words: string[] = [], env = {}) {
  const ended = await runCommand(
    ['data', 'copy', '--json', '--from', dataDir, '--to', url, ...words],
    dataDir,
    env,
  )
  return { ...ended, made: ended.code === 2 || ended.out === '' ? null : JSON.parse(ended.out) }
}

/** Starts a copy and kills it with -9 when it reports that this table is copied. */
async function killAt(dataDir: string, url: string, said: string): Promise<void> {
  const child = Bun.spawn([program, 'data', 'copy', '--from', dataDir, '--to', url], {
    cwd: dataDir,
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  for await (const chunk of child.stderr.pipeThrough(new TextDecoderStream())) {
    text += chunk
    if (text.includes(said)) break
  }
  child.kill('SIGKILL')
  await child.exited
  expect(text).toContain(said)
}

async function stateOf(databaseUrl: string | null, dataDir: string) {
  const store = await openStore({ dataDir, databaseUrl })
  try {
    const { ok, transfers, usageRows } = await auditLedger({ store })
    return {
      ok,
      transfers,
      usageRows,
      accounts: await store.accounts.all(),
      items: await store.configuration.all(),
      newest: await store.usage.list({ limit: 50 }),
      currency: await store.deployment.currency(),
    }
  } finally {
    await store.close()
  }
}

async function query<Row>(url: string, sql: string): Promise<Row[]> {
  const engine = await openPostgres(url)
  try {
    return await engine.query<Row>(sql, [])
  } finally {
    await engine.close()
  }
}

const onPostgres = test.skipIf(testDatabaseUrl === null)

onPostgres('a copy that is killed goes on, and is in its place whole or not at all', async () => {
  const [dataDir, url] = [newFolder(), await newSchema()]
  await fill(dataDir, 2_300)
  // Nothing is where servers look while the copy is made.
  await killAt(dataDir, url, 'account: 3 rows, verified')
  expect(existsSync(join(dataDir, 'data-copy', 'snapshot', 'state.json'))).toBe(true)
  await killAt(dataDir, url, 'transfer: ')
  const [begun, kept] = [join(dataDir, 'data-copy'), join(dataDir, 'kept')]
  cpSync(begun, kept, { recursive: true })
  const { code, err, made } = await copy(dataDir, url)
  expect([code, err]).toEqual([0, ''])
  expect(made).toMatchObject({ ok: true, usageRows: 2_300, findings: 0, closedSecrets: 0 })
  expect(existsSync(begun)).toBe(false)
  // Killed after the copy was put into its place, and before its snapshot was removed.
  renameSync(kept, begun)
  expect(await copy(dataDir, url)).toMatchObject({ code: 0, made: { ok: true, usageRows: 2_300 } })
  expect(existsSync(begun)).toBe(false)

  expect(await stateOf(url, dataDir)).toEqual(await stateOf(null, dataDir))
  const blob = `SELECT encode(content, 'hex') AS hex FROM history_blob`
  expect(await query<unknown>(url, blob)).toEqual([{ hex: '00ff01' }])
  // Append-only tables are protected again, and series continue from the last number.
  await expect(query(url, `UPDATE usage SET at = 1`)).rejects.toThrow('append-only')
  const store = await openStore({ dataDir, databaseUrl: url })
  const ref = await lessee(store, 'n1', 'account 0 你好', 100n)
  expect(ref.epoch).toBeGreaterThan(1)
  const row = {
    requestId: 'req_new',
    account: 'account 0 你好',
    modelAsked: 'new',
    chargeNano: 10n,
    priceVersion: 1,
    units: { request: 1 },
  }
  await store.settlements.settle([finished(ref, row, { fromLeaseNano: 10n })])
  expect(await auditLedger({ store })).toMatchObject({ ok: true, usageRows: 2_301 })
  await store.close()

  const again = await copy(dataDir, url)
  expect([again.code, again.err]).toEqual([1, expect.stringContaining('holds data already')])
  // The refused one leaves nothing that a copy into another database would continue.
  expect(existsSync(begun)).toBe(false)
  const stages = `SELECT 1 FROM pg_namespace WHERE nspname = current_schema() || '_copy'`
  expect(await query(url, stages)).toEqual([])
})

onPostgres('a deployment that never kept a message is copied too', async () => {
  const [dataDir, url] = [newFolder(), await newSchema()]
  await fill(dataDir, 5)
  for (const name of readdirSync(dataDir))
    if (name.startsWith(historyFileName)) rmSync(join(dataDir, name))
  expect(await copy(dataDir, url)).toMatchObject({ code: 0, made: { ok: true, usageRows: 5 } })
})

onPostgres('two copies of one data directory do not run at once', async () => {
  const [dataDir, url] = [newFolder(), await newSchema()]
  await fill(dataDir, 5)
  const first = lockFolder(join(dataDir, 'data-copy'))
  const second = await copy(dataDir, url)
  expect([second.code, second.err]).toEqual([1, expect.stringContaining('another process')])
  first?.release()
  expect(await copy(dataDir, url)).toMatchObject({ code: 0, made: { ok: true, usageRows: 5 } })
  expect(existsSync(join(dataDir, 'data-copy'))).toBe(false)
})

onPostgres('what has changed since is refused, and begun anew or left out as is said', async () => {
  const [dataDir, url] = [newFolder(), await newSchema()]
  await fill(dataDir, 20)
  await killAt(dataDir, url, 'account: 3 rows, verified')
  const store = await openStore({ dataDir, databaseUrl: null })
  const gift = { account: 'ann', amount: 5n, direction: 'credit', reason: 'a gift' } as const
  await adjustBalance(adminOf(store), { ...gift, createAccount: true })
  await store.close()
  const refused = await copy(dataDir, url)
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('--resume or --restart')])
  const both = await copy(dataDir, url, ['--resume', '--restart'])
  expect(both.code).toBe(2)
  const resumed = await copy(dataDir, url, ['--resume'])
  expect(resumed.made).toMatchObject({ ok: true, wallets: 3 })

  const other = await newSchema()
  await killAt(dataDir, other, 'account: 4 rows, verified')
  const anew = await copy(dataDir, other, ['--restart'], { ENCRYPTION_KEY: 'another' })
  expect(anew.made).toMatchObject({ ok: true, wallets: 4, closedSecrets: 1 })
})

onPostgres('a password with a plus sign is sent as it is', async () => {
  const [dataDir, schemaUrl] = [newFolder(), await newSchema()]
  await fill(dataDir, 10)
  const url = new URL(schemaUrl)
  const role = `${url.searchParams.get('application_name')}_role`
  const database = testDatabaseUrl ?? ''
  await query(database, `CREATE ROLE ${role} LOGIN SUPERUSER PASSWORD 'a+b'`)
  url.username = role
  url.password = 'a+b'
  const { code, err, made } = await copy(dataDir, url.href)
  await query(database, `REASSIGN OWNED BY ${role} TO CURRENT_USER`)
  await query(database, `DROP ROLE ${role}`)
  expect([code, err]).toEqual([0, ''])
  expect(made).toMatchObject({ ok: true, usageRows: 10 })
})

onPostgres(
  'a database with a copy of something else, or with damage in it, is refused',
  async () => {
    const [one, two, url] = [newFolder(), newFolder(), await newSchema()]
    await fill(one, 20)
    await fill(two, 30)
    await killAt(one, url, 'account: 3 rows, verified')
    const refused = await copy(two, url)
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('another copy')])
    // A row that is changed while it is copied.
    const stage = `${new URL(url).searchParams.get('application_name')}_copy`
    await query(testDatabaseUrl ?? '', `UPDATE ${stage}.account SET created_at = 2 WHERE true`)
    const damaged = await copy(one, url)
    expect([damaged.code, damaged.err]).toEqual([1, expect.stringContaining('table account has')])
    const anew = await copy(one, url, ['--restart'])
    expect(anew.made).toMatchObject({ ok: true, usageRows: 20 })
    const nowhere = await copy(two, 'mysql://there')
    expect([nowhere.code, nowhere.err]).toEqual([2, expect.stringContaining('--to')])
  },
)

test.skipIf(testDatabaseUrl === null || !isLong)(
  'many requests, killed four times on the way',
  async () => {
    const [dataDir, url] = [newFolder(), await newSchema()]
    // A million of them take six minutes.
    const rows = Number(Bun.env['TEST_COPY_ROWS'] ?? 30_000)
    await fill(dataDir, rows, 100)
    const begunAt = performance.now()
    for (let round = 0; round < 4; round += 1) {
      const child = Bun.spawn([program, 'data', 'copy', '--from', dataDir, '--to', url], {
        env: { PATH: process.env['PATH'] ?? '' },
        stdio: ['ignore', 'ignore', 'ignore'],
      })
      await lasts(500 + round * 500)
      child.kill('SIGKILL')
      await child.exited
    }
    const killed = (performance.now() - begunAt) / 1_000
    const { code, err, made } = await copy(dataDir, url)
    const whole = (performance.now() - begunAt) / 1_000
    console.log(
      `copied ${made?.rows} rows: ${killed.toFixed(0)} s cut off, ${whole.toFixed(0)} s in all`,
    )
    expect([code, err]).toEqual([0, ''])
    expect(made).toMatchObject({ ok: true, usageRows: rows, findings: 0 })
    const fresh = await newSchema()
    const freshAt = performance.now()
    expect((await copy(dataDir, fresh)).code).toBe(0)
    console.log(`copied in one go: ${((performance.now() - freshAt) / 1_000).toFixed(0)} s`)
  },
  1_800_000,
)
