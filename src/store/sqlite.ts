// SQLite, embedded: the default engine, one file in the data directory, and the files that are locks.

import { Database, SQLiteError } from 'bun:sqlite'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type { Engine, MigrationSession, Value } from './engine.ts'
import { migrate } from './migrate.ts'
import { RowRefused } from './store.ts'
import { usageColumnNames, usageColumns } from './usage-columns.ts'

/** The store's file; a data directory without it holds no data. */
export const databaseFile = 'tollgate.db'

const appendUsageSql = `INSERT INTO usage (${usageColumnNames})
  VALUES (${usageColumns.map(() => '?').join(', ')}) ON CONFLICT DO NOTHING`

/**
 * Opens, or makes, the database in this directory and brings it to the present schema.
 * Calls are synchronous underneath: an append of 500 rows holds the thread for some milliseconds.
 */
export async function openSqlite(dataDir: string, migrationFolder?: string): Promise<Engine> {
  makeDataDir(dataDir)
  const database = openFile(join(dataDir, databaseFile))
  try {
    prepareDatabase(database)
    await migrate(migrationSession(database), migrationFolder)
    return engineOver(database)
  } catch (error) {
    database.close()
    throw error
  }
}

/** Makes the directory for its owner alone; one that is there keeps its mode. */
export function makeDataDir(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
}

/** Opens an SQLite file, made for its owner alone where it is missing. */
export function openFile(path: string): Database {
  // SQLite gives its side files (-wal, -shm, -journal) the mode of the main one.
  closeSync(openSync(path, 'a', 0o600))
  return new Database(path, { readwrite: true, create: false })
}

/** Another connection holds a lock that is needed now. */
export function isBusy(error: unknown): boolean {
  return error instanceof SQLiteError && (error.code ?? '').startsWith('SQLITE_BUSY')
}

function prepareDatabase(database: Database): void {
  database.run('PRAGMA busy_timeout = 5000')
  database.run('PRAGMA journal_mode = WAL')
  database.run('PRAGMA synchronous = NORMAL')
  database.run('PRAGMA foreign_keys = ON')
  database.run('PRAGMA trusted_schema = OFF')
}

function migrationSession(database: Database): MigrationSession {
  return {
    kind: 'sqlite',
    async execute(sql) {
      database.run(sql)
    },
    async query<Row>(sql: string, values: readonly Value[]) {
      return database.prepare(sql).all(...values) as Row[]
    },
    async begin() {
      database.run('BEGIN IMMEDIATE')
    },
  }
}

function engineOver(database: Database): Engine {
  const insertUsage = database.prepare(appendUsageSql)
  const appendAll = database.transaction((rows: readonly (readonly Value[])[]) => {
    for (const row of rows) insertUsage.run(...row)
  })
  return {
    kind: 'sqlite',
    async query<Row>(sql: string, values: readonly Value[]) {
      return refusing(() => database.query(sql).all(...values) as Row[])
    },
    async run(sql, values) {
      return refusing(() => database.query(sql).run(...values).changes)
    },
    // One prepared row after another in a transaction is as fast as a statement of many rows.
    async appendUsage(rows) {
      refusing(() => appendAll.immediate(rows))
    },
    async close() {
      database.close()
    },
  }
}

const refusals = ['SQLITE_CONSTRAINT', 'SQLITE_MISMATCH', 'SQLITE_TOOBIG', 'SQLITE_RANGE']

/** Turns what SQLite says against the values into `RowRefused`. */
function refusing<Result>(work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    const code = error instanceof SQLiteError ? (error.code ?? '') : ''
    // A value that cannot be bound at all is a TypeError.
    if (error instanceof TypeError || refusals.some((refusal) => code.startsWith(refusal))) {
      throw new RowRefused(error instanceof Error ? error.message : code, { cause: error })
    }
    throw error
  }
}
