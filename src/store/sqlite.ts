// SQLite, embedded: the default engine, one file in the data directory, and the files that are locks.

import { Database, SQLiteError } from 'bun:sqlite'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { maxNano } from '../money.ts'
import type { Engine, MigrationSession, Session, Value } from './engine.ts'
import { migrate } from './migrate.ts'
import { RowRefused } from './store.ts'

/** The store's file; a data directory without it holds no data. */
export const databaseFile = 'tollgate.db'

/**
 * Opens, or makes, the database in this directory and brings it to the present schema.
 * Calls are synchronous underneath: settling 500 rows holds the thread for some milliseconds, and a commit for a sync of the disk.
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
  database.run('PRAGMA synchronous = FULL')
  database.run('PRAGMA foreign_keys = ON')
  database.run('PRAGMA trusted_schema = OFF')
  // So that REPLACE cannot remove a row past the trigger that forbids it.
  database.run('PRAGMA recursive_triggers = ON')
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
  const session = sessionOver(database)
  const turns = createTurns()
  const inTransaction = <Result>(
    begin: string,
    work: (session: Session) => Promise<Result>,
  ): Promise<Result> =>
    turns.take(async () => {
      database.run(begin)
      try {
        const result = await work(session)
        database.run('COMMIT')
        return result
      } catch (error) {
        // Some failures, a full disk for one, have undone it already.
        if (database.inTransaction) database.run('ROLLBACK')
        throw error
      }
    })
  return {
    kind: 'sqlite',
    // Outside a transaction, and so never in the middle of one: the connection is the same.
    query: (sql, values) => turns.take(() => session.query(sql, values)),
    run: (sql, values) => turns.take(() => session.run(sql, values)),
    bulk: (statement, rows) =>
      inTransaction('BEGIN IMMEDIATE', (inside) => inside.bulk(statement, rows)),
    transaction: (work) => inTransaction('BEGIN IMMEDIATE', work),
    snapshot: (work) => inTransaction('BEGIN', work),
    async close() {
      database.close()
    },
  }
}

function sessionOver(database: Database): Session {
  return {
    kind: 'sqlite',
    async query<Row>(sql: string, values: readonly Value[]) {
      return refusing(() => database.query(sql).all(...bindable(values)) as Row[])
    },
    async run(sql, values) {
      return refusing(() => database.query(sql).run(...bindable(values)).changes)
    },
    // One prepared row after another in a transaction is as fast as a statement of many rows.
    async bulk({ sqlite }, rows) {
      const prepared = database.query(sqlite)
      return refusing(() => {
        let changes = 0
        for (const row of rows) changes += prepared.run(...bindable(row)).changes
        return changes
      })
    },
  }
}

/** Work on the one connection, each piece after the one before it. */
function createTurns() {
  let last: Promise<unknown> | null = null
  return {
    take<Result>(work: () => Promise<Result>): Promise<Result> {
      const result = last === null ? work() : last.then(work, work)
      last = result
      const ended = () => {
        if (last === result) last = null
      }
      result.then(ended, ended)
      return result
    },
  }
}

/** The driver wraps a bigint past int64 around without a word. */
function bindable(values: readonly Value[]): Value[] {
  for (const value of values) {
    if (typeof value === 'bigint' && (value > maxNano || value < -maxNano)) {
      throw new RowRefused(`${value} is past what the database can hold`)
    }
  }
  return values as Value[]
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
