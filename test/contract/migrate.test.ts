// Tests migrations on both engines: from nothing, again, half-applied, changed, from a newer version, and many at once.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Engine } from '../../src/store/engine.ts'
import { readMigrations } from '../../src/store/migrate.ts'
import { openPostgres } from '../../src/store/postgres.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import { createStore } from '../../src/store/tables.ts'
import { keptTotals } from '../support/rollups.ts'
import { makeDirectory, makeSchema, type TestDirectory, testDatabaseUrl } from './databases.ts'

interface Target {
  /** A directory or a database URL, by which another process finds it. */
  readonly address: string
  open(folder?: string): Promise<Engine>
  remove(): Promise<void>
}

const own = join(import.meta.dirname, '../../src/store/migrations')
/** Its steps, including those that both engines share. */
const stepsOf = (engine: string) => readMigrations(own, join(own, engine))
const present = stepsOf('sqlite').length
const addColumn = 'ALTER TABLE account ADD COLUMN note TEXT;'

test('both engines have the same migrations, by number and name', () => {
  const names = (engine: string) => stepsOf(engine).map(({ name }) => name)
  expect(names('postgres')).toEqual(names('sqlite'))
})

migrationTests('sqlite', async () => {
  const data = makeDirectory()
  return {
    address: data.path,
    open: (folder) => openSqlite(data.path, folder),
    remove: async () => data.remove(),
  }
})

test('a new SQLite database has the schema and rows that its migrations make one by one', async () => {
  const [scratch, atOnce, oneByOne] = [makeDirectory(), makeDirectory(), makeDirectory()]
  const made = await openSqlite(atOnce.path)
  const stepped = await openSqlite(oneByOne.path, folderWith(scratch.path, 'sqlite', []))
  expect(await contentOf(made)).toEqual(await contentOf(stepped))
  await Promise.all([made.close(), stepped.close()])
  for (const directory of [scratch, atOnce, oneByOne]) directory.remove()
})

/** Each table, index and trigger with its SQL, and a table's rows, but for the time at which migrations were applied. */
async function contentOf(engine: Engine): Promise<unknown[]> {
  const objects = await engine.query<{ type: string; name: string; sql: string | null }>(
    'SELECT type, name, sql FROM sqlite_master ORDER BY type, name',
    [],
  )
  return Promise.all(
    objects.map(async (object) => {
      if (object.type !== 'table') return object
      const columns = object.name === 'schema_migration' ? 'version, name, checksum' : '*'
      return { ...object, rows: await engine.query(`SELECT ${columns} FROM "${object.name}"`, []) }
    }),
  )
}

const url = testDatabaseUrl
if (url !== null) {
  migrationTests('postgres', async () => {
    const schema = await makeSchema(url)
    return {
      address: schema.url,
      open: (folder) => openPostgres(schema.url, folder),
      remove: () => schema.drop(),
    }
  })
}

function migrationTests(engine: 'sqlite' | 'postgres', make: () => Promise<Target>): void {
  describe(`migrations on ${engine}`, () => {
    let target: Target
    let scratch: TestDirectory
    let engines: Engine[]
    beforeEach(async () => {
      engines = []
      target = await make()
      scratch = makeDirectory()
    })
    afterEach(async () => {
      await Promise.all(engines.map((each) => each.close()))
      await target.remove()
      scratch.remove()
    })

    const bench: Bench = {
      firstFolder: () => {
        const folder = join(scratch.path, 'first')
        mkdirSync(folder)
        const file = '0001-keys-and-usage.sql'
        copyFileSync(join(own, engine, file), join(folder, file))
        return folder
      },
      folderWith: (...more) => folderWith(scratch.path, engine, more),
      async open(folder) {
        const opened = await target.open(folder)
        engines.push(opened)
        return opened
      },
    }
    growthTests(bench)
    carryTests(bench)
    refusalTests(bench)

    test('eight processes that start at once all come up on one schema', async () => {
      const script = join(import.meta.dirname, 'open-engine.ts')
      const children = Array.from({ length: 8 }, () =>
        Bun.spawn([process.execPath, script, engine, target.address], { stderr: 'pipe' }),
      )
      const ends = await Promise.all(
        children.map(async (child) => ({
          code: await child.exited,
          said: await new Response(child.stderr).text(),
        })),
      )
      expect(ends).toEqual(ends.map(() => ({ code: 0, said: '' })))
      expect(await versions(await bench.open())).toBe(present)
    })
  })
}

interface Bench {
  /** Only the first migration, as the first version had it. */
  firstFolder(): string
  /** The product's own migrations, followed by these. */
  folderWith(...more: string[]): string
  open(folder?: string): Promise<Engine>
}

function folderWith(scratch: string, engine: string, more: readonly string[]): string {
  const folder = join(scratch, String(readdirSync(scratch).length))
  mkdirSync(folder)
  for (const { name, sql } of stepsOf(engine)) writeFileSync(join(folder, `${name}.sql`), sql)
  more.forEach((sql, index) => {
    const number = String(present + 1 + index).padStart(4, '0')
    writeFileSync(join(folder, `${number}-more.sql`), sql)
  })
  return folder
}

async function versions(opened: Engine): Promise<number> {
  return (await opened.query('SELECT version FROM schema_migration', [])).length
}

function growthTests({ folderWith, open }: Bench): void {
  test('are applied once, and data outlives a later one', async () => {
    const first = await open()
    await first.run('INSERT INTO account (id, created_at) VALUES (?, ?)', ['ann', 1])
    const later = folderWith(addColumn)
    const second = await open(later)
    await open(later)
    expect(await versions(second)).toBe(present + 1)
    expect(await second.query('SELECT id, note FROM account', [])).toEqual([
      { id: 'ann', note: null },
    ])
  })

  test('one that fails half-way leaves the data as it was, and the mended one runs', async () => {
    const before = await open()
    const broken = folderWith(addColumn, 'CREATE TABLE extra (id TEXT); SELECT nonsense;')
    await expect(open(broken)).rejects.toThrow(/more failed, nothing was changed: .*nonsense/)
    expect(await versions(before)).toBe(present)
    await expect(before.query('SELECT note FROM account', [])).rejects.toThrow()
    const mended = await open(folderWith(addColumn, 'CREATE TABLE extra (id TEXT);'))
    expect(await versions(mended)).toBe(present + 2)
  })
}

function carryTests({ firstFolder, open }: Bench): void {
  test('usage from before there was money is kept, added up, and can no longer be changed', async () => {
    const first = await open(firstFolder())
    await first.run(`INSERT INTO account (id, created_at) VALUES ('ann', 1), ('bob', 2)`, [])
    const insert = `INSERT INTO usage (request_id, at, account, key_id, key_name, group_id, operation,
      model_asked, channel, attempts, stream, input_tokens, cached_input_tokens, cache_write_tokens,
      output_tokens, reasoning_tokens, usage_source, duration_ms, status)
      VALUES (?, ?, 'ann', 'k', 'laptop', 'default', 'chat', 'm', ?, 1, 1, 10, 3, 0, 20, 5, 'reported', 9, 200)`
    const rows = [
      ['a', 3_600_000, 'main'],
      ['b', 7_199_999, 'main'],
      ['c', 7_200_000, null],
    ] as const
    for (const row of rows) await first.run(insert, row)
    const refused = insert.replace(
      "'m', ?, 1, 1, 10, 3, 0, 20, 5, 'reported', 9, 200",
      "?, NULL, 0, 0, 0, 0, 0, 0, 0, 'none', ?, 404",
    )
    const made = [
      ['d', 3_600_001, 'made-up', 30],
      ['e', 3_600_002, 'made-up', 50],
      ['f', 3_600_003, 'as-well', 70],
    ] as const
    for (const row of made) await first.run(refused, row)
    const store = createStore(await open())
    const list = await store.usage.list({ limit: 9 })
    const asked = list.map(({ requestId, modelAsked }) => `${requestId} ${modelAsked}`)
    expect(asked).toEqual(['c m', 'b m', 'f as-well', 'e made-up', 'd made-up', 'a m'])
    const plain = { multiplierPpm: 1_000_000, chargeNano: 0n, writeoffNano: 0n, units: null }
    expect(list[0]).toMatchObject({ ...plain, channel: null, input: 10, cacheWrite1h: 0 })
    const totals = await keptTotals(store, { only: ['requests', 'input', 'duration_40'] })
    const of = { account: 'ann', key: 'k', model: 'm', group: 'default', operation: 'chat' }
    const one = { ...of, statusClass: '2xx', requests: 1n, input: 10n, duration_40: 1n }
    const unknown = { requests: 3n, duration_40: 1n, channel: '', model: '', statusClass: '4xx' }
    expect(totals).toEqual([
      { ...of, ...unknown, quarter: 3_600_000 },
      { ...one, quarter: 3_600_000, channel: 'main' },
      { ...one, quarter: 6_300_000, channel: 'main' },
      { ...one, quarter: 7_200_000, channel: '' },
    ])
    expect((await store.journal.wallets()).map(({ account }) => account)).toEqual(['ann', 'bob'])
    expect((await store.audit.run(() => () => 0n)).findings).toEqual([])
    await expect(first.run('DELETE FROM usage', [])).rejects.toThrow('append-only')
  })
}

function refusalTests({ folderWith, open }: Bench): void {
  test('a newer schema is refused with a message that says what to do', async () => {
    await open(folderWith(addColumn))
    await expect(open()).rejects.toThrow(
      `written by a newer Tollgate: its schema is ${present + 1}, this version knows ${present}`,
    )
  })

  test('a file changed after it was applied is refused, other line ends are not', async () => {
    const folder = folderWith(addColumn)
    await open(folder)
    const changed = folderWith(`${addColumn}\n-- changed`)
    await expect(open(changed)).rejects.toThrow(/more is not what it was/)
    for (const file of readdirSync(folder)) {
      const path = join(folder, file)
      writeFileSync(path, readFileSync(path, 'utf8').replaceAll('\n', '\r\n'))
    }
    await open(folder)
  })

  test('a gap in the numbers is refused', async () => {
    const folder = folderWith()
    writeFileSync(join(folder, `${String(present + 2).padStart(4, '0')}-late.sql`), addColumn)
    await expect(open(folder)).rejects.toThrow(`not migration number ${present + 1}`)
  })
}
