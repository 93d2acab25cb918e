// Target of a copy from SQLite: a separate PostgreSQL schema, moved to the place of the servers' schema when complete.

import { createHash } from 'node:crypto'
import {
  type CopyColumn,
  CopyRefused,
  type CopyRow,
  type CopyTable,
  isBytes,
  isText,
  placeOf,
  quoted,
} from './copy-table.ts'
import type { Engine, Session } from './engine.ts'
import { openPostgres, withConnection } from './postgres.ts'
import type { Store } from './store.ts'
import { createStore } from './tables.ts'

const pageRows = 1_000
/** Tables whose contents differ on SQLite: they are moved into place, but not copied. */
const ownTables = ['schema_migration', 'settlement_count']
/** Comment on the migration table, which tells from which copy the data came. */
const mark = 'made by tollgate data copy'

export interface CopyTarget {
  /** The store over what is copied so far; its audit checks the copy. */
  readonly store: Store
  /** In an order in which rows come after the rows they reference. */
  readonly tables: readonly CopyTable[]
  /** Where the next page of a table begins, and how many rows are copied. */
  progress(table: CopyTable): Promise<CopyProgress>
  /** Adds a page and the progress it makes, both or neither. */
  add(table: CopyTable, rows: readonly CopyRow[], before: CopyProgress): Promise<CopyProgress>
  /** Computed in the same way as the source's digest. */
  digest(table: CopyTable): Promise<{ readonly rows: number; readonly digest: string }>
  /** Moves the copy to where servers look for it, in one transaction. Throws CopyRefused if other data is there. */
  place(): Promise<void>
  close(): Promise<void>
}

export interface CopyProgress {
  readonly rows: number
  readonly after: readonly string[] | null
}

/**
 * Begins or resumes the copy `id`; with `restart`, deletes an unfinished copy first. Null if this copy is already in
 * its place. Throws CopyRefused if the database holds other data, or a connection pooler is in between.
 */
export async function openCopyTarget(
  databaseUrl: string,
  { id, restart }: { readonly id: string; readonly restart: boolean },
): Promise<CopyTarget | null> {
  const schema = await makeStage(databaseUrl, { id, restart })
  if (schema === null) return null
  const stageUrl = inSchema(databaseUrl, schema.stage)
  await refuseElsewhere(stageUrl, schema.stage)
  const engine = await openPostgres(stageUrl)
  try {
    const tables = inOrder(await readTables(engine), await readReferences(engine))
    await begin(engine, tables, id)
    await refuseTaken(engine, schema.target, tables)
    return targetOver(engine, schema, tables, id)
  } catch (error) {
    await engine.close()
    throw error
  }
}

interface Schemas {
  /** The schema that servers use. */
  readonly target: string
  /** The schema in which the copy is made. */
  readonly stage: string
}

/** Uses a separate connection that applies no migration, so that nothing is created in the servers' schema. */
async function makeStage(
  databaseUrl: string,
  { id, restart }: { readonly id: string; readonly restart: boolean },
): Promise<Schemas | null> {
  return withConnection(databaseUrl, async (session) => {
    const [found] = await session.query<{
      readonly target: string | null
      readonly note: string | null
    }>(
      `SELECT current_schema() AS target, obj_description(to_regclass('schema_migration'), 'pg_class') AS note`,
      [],
    )
    const target = found?.target ?? null
    if (target === null) throw new CopyRefused('the database has no schema to copy into')
    if (found?.note === `${mark} ${id}`) return null
    const stage = `${target}_copy`
    if (restart) await session.run(`DROP SCHEMA IF EXISTS ${quoted(stage)} CASCADE`, [])
    await session.run(`CREATE SCHEMA IF NOT EXISTS ${quoted(stage)}`, [])
    return { target, stage }
  })
}

/** A pooler drops the search path given when a connection opens: the copy would be made in the servers' schema. */
async function refuseElsewhere(stageUrl: string, stage: string): Promise<void> {
  const found = await withConnection(stageUrl, (session) =>
    session.query<{ readonly name: string | null }>('SELECT current_schema() AS name', []),
  )
  if (found[0]?.name === stage) return
  throw new CopyRefused(
    'connections lose the schema they are opened with, as through a pooler: name the database itself',
  )
}

/** PostgreSQL uses the last of several values for the same setting. */
function inSchema(databaseUrl: string, schema: string): string {
  const url = new URL(databaseUrl)
  const given = url.searchParams.get('options') ?? ''
  url.searchParams.set('options', `${given} -c jit=off -c search_path=${schema}`.trim())
  // URLSearchParams writes a space as `+`, which the driver does not read back.
  url.search = url.search.replaceAll('+', '%20')
  return url.href
}

/** Deletes rows that migrations have inserted, as the copy has its own. Triggers stay disabled during the copy. */
async function begin(engine: Engine, tables: readonly CopyTable[], id: string): Promise<void> {
  await engine.transaction(async (session) => {
    const [there] = await session.query(`SELECT to_regclass('copy_source') AS found`, [])
    if ((there as { readonly found: string | null }).found !== null) {
      const [source] = await session.query<{ readonly id: string }>(
        'SELECT id FROM copy_source',
        [],
      )
      if (source?.id === id) return
      throw new CopyRefused('another copy into this database was begun')
    }
    await session.run('CREATE TABLE copy_source (id TEXT PRIMARY KEY)', [])
    await session.run('INSERT INTO copy_source VALUES (?)', [id])
    await session.run(
      'CREATE TABLE copy_progress (name TEXT PRIMARY KEY, after TEXT, rows BIGINT NOT NULL)',
      [],
    )
    for (const { name } of tables) {
      await session.run(`ALTER TABLE ${quoted(name)} DISABLE TRIGGER USER`, [])
      await session.run(`DELETE FROM ${quoted(name)}`, [])
      await session.run('INSERT INTO copy_progress VALUES (?, NULL, 0)', [name])
    }
  })
}

const placed = (tables: readonly CopyTable[]): string[] => [
  ...tables.map(({ name }) => name),
  ...ownTables,
]

async function refuseTaken(
  session: Session,
  target: string,
  tables: readonly CopyTable[],
): Promise<void> {
  const names = placed(tables)
  const taken = await session.query<{ readonly name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = ?
     AND tablename IN (${names.map(() => '?').join(', ')}) ORDER BY 1 LIMIT 3`,
    [target, ...names],
  )
  if (taken.length === 0) return
  const shown = taken.map(({ name }) => name).join(', ')
  throw new CopyRefused(`the database holds data already (${shown}): name an empty one`)
}

function targetOver(
  engine: Engine,
  { target, stage }: Schemas,
  tables: readonly CopyTable[],
  id: string,
): CopyTarget {
  return {
    store: createStore(engine),
    tables,
    async progress({ name }) {
      const sql = 'SELECT rows, after FROM copy_progress WHERE name = ?'
      interface Kept {
        readonly rows: number
        readonly after: string | null
      }
      const [kept] = await engine.query<Kept>(sql, [name])
      if (kept === undefined) throw new Error(`The copy knows no table ${name}.`)
      return { rows: kept.rows, after: kept.after === null ? null : JSON.parse(kept.after) }
    },
    add: (table, rows, before) => addPage(engine, table, rows, before),
    digest: (table) => digestTable(engine, table),
    async place() {
      for (const { name } of tables) await engine.run(`ANALYZE ${quoted(name)}`, [])
      await engine.transaction(async (session) => {
        await refuseTaken(session, target, tables)
        await moveInto(session, { target, stage }, tables)
        await session.run(
          `COMMENT ON TABLE ${quoted(target)}.schema_migration IS '${mark} ${id}'`,
          [],
        )
      })
    },
    close: () => engine.close(),
  }
}

async function addPage(
  engine: Engine,
  table: CopyTable,
  rows: readonly CopyRow[],
  before: CopyProgress,
): Promise<CopyProgress> {
  const after = placeOf(table, rows.at(-1) ?? [])
  const total = before.rows + rows.length
  await engine.transaction(async (session) => {
    const moved = await session.run(
      'UPDATE copy_progress SET after = ?, rows = ? WHERE name = ? AND rows = ?',
      [JSON.stringify(after), total, table.name, before.rows],
    )
    if (moved === 0) throw new CopyRefused('another process copies into this database')
    await session.bulk({ sqlite: '', postgres: insertOf(table) }, rows)
  })
  return { rows: total, after }
}

function insertOf({ name, columns }: CopyTable): string {
  const names = columns.map((column) => quoted(column.name)).join(', ')
  const values = columns
    .map((column) =>
      isBytes(column) ? `decode(${quoted(column.name)}, 'hex')` : quoted(column.name),
    )
    .join(', ')
  const arrays = columns
    .map((column, index) => `$${index + 1}::${isBytes(column) ? 'text' : column.type}[]`)
    .join(', ')
  return `INSERT INTO ${quoted(name)} (${names}) OVERRIDING SYSTEM VALUE
    SELECT ${values} FROM unnest(${arrays}) AS page (${names})`
}

async function digestTable(engine: Engine, table: CopyTable) {
  const digest = createHash('sha256')
  let rows = 0
  let after: readonly string[] | null = null
  for (;;) {
    const page: CopyRow[] = (
      await engine.query<Record<string, string>>(digestsOf(table, after !== null), after ?? [])
    ).map((row) => Object.values(row))
    for (const row of page) digest.update(row[0] ?? '')
    rows += page.length
    const last = page.at(-1)
    if (last === undefined) return { rows, digest: digest.digest('hex') }
    after = last.slice(1).map(String)
  }
}

/** Orders by bytes, as SQLite orders and compares text. */
function digestsOf({ name, columns, key }: CopyTable, isNext: boolean): string {
  const order = key.map((column) => `${quoted(column.name)}${isText(column) ? ' COLLATE "C"' : ''}`)
  const after = key.map(({ type }) => `?::${type}`).join(', ')
  const where = isNext ? `WHERE (${order.join(', ')}) > (${after})` : ''
  const text = columns
    .map((column) => {
      const value = isBytes(column)
        ? `encode(${quoted(column.name)}, 'hex')`
        : `${quoted(column.name)}::text`
      return `coalesce(octet_length(${value}) || ':' || ${value}, 'n')`
    })
    .join(' || ')
  const places = key
    .map((column, index) => `${quoted(column.name)}::text AS place${index}`)
    .join(', ')
  return `SELECT encode(sha256(convert_to(${text}, 'UTF8')), 'hex') AS digest, ${places}
    FROM ${quoted(name)} ${where} ORDER BY ${order.join(', ')} LIMIT ${pageRows}`
}

async function moveInto(
  session: Session,
  { target, stage }: Schemas,
  tables: readonly CopyTable[],
): Promise<void> {
  await session.run('DROP TABLE copy_progress', [])
  await session.run('DROP TABLE copy_source', [])
  await session.run(
    'UPDATE settlement_count SET value = (SELECT coalesce(max(number), 0) FROM settlement_log)',
    [],
  )
  for (const name of placed(tables)) {
    await session.run(`ALTER TABLE ${quoted(name)} ENABLE TRIGGER USER`, [])
  }
  const counters = await session.query<{ readonly table: string; readonly column: string }>(
    `SELECT attrelid::regclass::text AS table, attname AS column FROM pg_attribute
     WHERE attidentity <> '' AND attrelid IN (
       SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r')`,
    [],
  )
  for (const { table, column } of counters) {
    await session.query(
      `SELECT setval(pg_get_serial_sequence('${table}', '${column}'), max(${quoted(column)})) FROM ${table}`,
      [],
    )
  }
  const functions = await session.query<{ readonly name: string }>(
    'SELECT oid::regprocedure::text AS name FROM pg_proc WHERE pronamespace = current_schema()::regnamespace',
    [],
  )
  for (const { name } of functions) {
    await session.run(`ALTER FUNCTION ${name} SET SCHEMA ${quoted(target)}`, [])
  }
  for (const name of placed(tables)) {
    await session.run(
      `ALTER TABLE ${quoted(stage)}.${quoted(name)} SET SCHEMA ${quoted(target)}`,
      [],
    )
  }
  // Fails if anything is left in the schema, and then nothing was moved.
  await session.run(`DROP SCHEMA ${quoted(stage)}`, [])
}

async function readTables(session: Session): Promise<CopyTable[]> {
  interface Column extends CopyColumn {
    readonly table: string
    readonly isKey: boolean
  }
  const found = await session.query<Column>(
    `SELECT relname AS table, attname AS name, format_type(atttypid, atttypmod) AS type,
       coalesce(attnum = ANY (indkey::int2[]), false) AS "isKey"
     FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
     LEFT JOIN pg_index ON indrelid = pg_class.oid AND indisprimary
     WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
       AND relname NOT IN ('copy_source', 'copy_progress')
     ORDER BY relname, array_position(indkey::int2[], attnum), attnum`,
    [],
  )
  const byTable = Map.groupBy(found, ({ table }) => table)
  for (const name of ownTables) byTable.delete(name)
  return [...byTable].map(([name, columns]) => {
    const key = columns.filter(({ isKey }) => isKey)
    return { name, columns, key: key.length > 0 ? key : columns }
  })
}

interface Reference {
  readonly from: string
  readonly to: string
}

function readReferences(session: Session): Promise<Reference[]> {
  return session.query<Reference>(
    `SELECT DISTINCT conrelid::regclass::text AS from, confrelid::regclass::text AS to FROM pg_constraint
     WHERE contype = 'f' AND connamespace = current_schema()::regnamespace AND conrelid <> confrelid`,
    [],
  )
}

function inOrder(tables: readonly CopyTable[], references: readonly Reference[]): CopyTable[] {
  const ordered: CopyTable[] = []
  while (ordered.length < tables.length) {
    const left = tables.filter((table) => !ordered.includes(table))
    const waits = ({ name }: CopyTable) =>
      references.some(({ from, to }) => from === name && left.some((table) => table.name === to))
    const next = left.filter((table) => !waits(table))
    if (next.length === 0) throw new Error('Tables reference each other in a circle.')
    ordered.push(...next)
  }
  return ordered
}
