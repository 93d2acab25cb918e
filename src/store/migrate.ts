// Migrates a database to this version's schema, by SQL files that are each applied once, all or none.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sourcePath } from '../installation.ts'
import { DataError } from './data-error.ts'
import type { MigrationSession } from './engine.ts'

interface Step {
  readonly version: number
  readonly name: string
  readonly sql: string
}

interface Migration extends Step {
  readonly checksum: string
}

interface Applied {
  readonly version: number
  readonly name: string
  readonly checksum: string
}

const ledger = `CREATE TABLE IF NOT EXISTS schema_migration (
  version INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at TEXT NOT NULL)`

const ledgerExists = {
  sqlite: `SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_migration'`,
  postgres: `SELECT 1 WHERE to_regclass('schema_migration') IS NOT NULL`,
}

/**
 * Applies missing migrations, in one transaction that excludes other processes. Throws, leaving the database as it was,
 * if a file fails, an applied file has changed since, or the schema is newer than this version. `folder` holds
 * `0001-name.sql`, `0002-...`; by default this module's own, where migrations for both engines are beside the folders
 * of each engine.
 */
export async function migrate(session: MigrationSession, folder?: string): Promise<void> {
  const known = await knownMigrations(session, folder)
  // Most databases are up to date, and need no lock.
  if ((await missingAnywhere(session, known)).length === 0) return
  await session.begin()
  try {
    const isNew = folder === undefined && (await isNewSqlite(session))
    await session.execute(ledger)
    if (isNew) await createAtOnce(session, known)
    for (const migration of await missing(session, known)) await apply(session, migration)
    await session.execute('COMMIT')
  } catch (error) {
    await session.execute('ROLLBACK')
    throw error
  }
}

type Reader = Pick<MigrationSession, 'kind' | 'query'>

/** The names of the migrations that `migrate` would apply, in order; changes nothing. Throws where `migrate` would. */
export async function waitingMigrations(reader: Reader): Promise<readonly string[]> {
  const known = await knownMigrations(reader)
  return (await missingAnywhere(reader, known)).map(({ name }) => name)
}

function knownMigrations({ kind }: Reader, folder?: string): Promise<Migration[]> {
  const own = sourcePath('store/migrations')
  const steps = folder ? readMigrations(folder) : readMigrations(own, join(own, kind))
  return Promise.all(steps.map(async (step) => ({ ...step, checksum: await checksumOf(step) })))
}

/** Uses the global `crypto`, because Node's module costs a thread 5 MB more memory. */
async function checksumOf({ sql }: Step): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(sql))
  return Buffer.from(hash).toString('hex')
}

/** Works also for a database that has no schema yet. */
async function missingAnywhere(reader: Reader, known: Migration[]): Promise<Migration[]> {
  const exists = (await reader.query(ledgerExists[reader.kind], [])).length > 0
  return exists ? missing(reader, known) : known
}

/** Reads the migrations of all folders together; throws if their numbers are not 1, 2, 3, ... without a gap. */
export function readMigrations(...folders: readonly string[]): Step[] {
  const files = folders
    .flatMap((folder) => readdirSync(folder).map((file) => ({ file, folder })))
    .filter(({ file }) => file.endsWith('.sql'))
    .sort((one, other) => (one.file < other.file ? -1 : 1))
  return files.map(({ file, folder }, index) => {
    const version = Number(/^(\d{4})-[a-z0-9-]+\.sql$/.exec(file)?.[1])
    if (version !== index + 1) throw new Error(`${file}: not migration number ${index + 1}`)
    return { version, name: file.slice(0, -'.sql'.length), sql: readSql(join(folder, file)) }
  })
}

/** A checkout may have changed the line endings, and with them the checksum. */
function readSql(path: string): string {
  return readFileSync(path, 'utf8').replaceAll('\r\n', '\n')
}

async function isNewSqlite({ kind, query }: MigrationSession): Promise<boolean> {
  return kind === 'sqlite' && (await query('SELECT 1 FROM sqlite_master LIMIT 1', [])).length === 0
}

/** Creates what the first migrations make together, in a fifth of their time; its first line says how many those are. */
async function createAtOnce(session: MigrationSession, known: Migration[]): Promise<void> {
  const sql = readSql(sourcePath('store/sqlite-schema.sql'))
  const count = Number(/^-- .* of (\d+) migrations/.exec(sql)?.[1])
  await session.execute(sql)
  for (const migration of known.slice(0, count)) await record(session, migration)
}

async function missing(session: Reader, known: Migration[]): Promise<Migration[]> {
  const applied = await session.query<Applied>(
    'SELECT version, name, checksum FROM schema_migration ORDER BY version',
    [],
  )
  const newest = applied.at(-1)?.version ?? 0
  if (newest > known.length) {
    throw new DataError(
      `The data was written by a newer Tollgate: its schema is ${newest}, this version knows ${known.length}. Start the newer version, or restore a backup made before it.`,
    )
  }
  for (const { version, name, checksum } of applied) {
    if (known[version - 1]?.checksum !== checksum) {
      throw new DataError(
        `Migration ${name} is not what it was when it was applied to this data; its file must not be changed.`,
      )
    }
  }
  return known.slice(newest)
}

async function apply(session: MigrationSession, migration: Migration): Promise<void> {
  try {
    await session.execute(migration.sql)
    await record(session, migration)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new DataError(`Migration ${migration.name} failed, nothing was changed: ${reason}`, {
      cause: error,
    })
  }
}

async function record(session: MigrationSession, migration: Migration): Promise<void> {
  const { version, name, checksum } = migration
  await session.query(
    'INSERT INTO schema_migration (version, name, checksum, applied_at) VALUES (?, ?, ?, ?)',
    [version, name, checksum, new Date().toISOString()],
  )
}
