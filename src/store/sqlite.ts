// The embedded SQLite engine, which is the default: one file in the data directory.

import { type Database, SQLiteError } from 'bun:sqlite'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { maxNano } from '../money.ts'
import type { Engine, MigrationSession, Session, Value } from './engine.ts'
import { migrate, waitingMigrations } from './migrate.ts'
import { isBusy, makeDataDir, named, naming, openFile } from './sqlite-file.ts'
import { RowRefused } from './store.ts'

/** The store's file; without it, a data directory holds no data. */
export const databaseFile = 'tollgate.db'

/**
 * Opens or creates this directory's database and migrates it to this version's schema.
 * Calls are synchronous inside: settling 500 rows blocks the thread for some milliseconds, and a commit for a disk
 * sync. If another connection has a lock that a call needs, the call waits up to 5 s without blocking the thread.
 */
export async function openSqlite(
  dataDir: string,
  migrationFolder?: string,
  file = databaseFile,
): Promise<Engine> {
  makeDataDir(dataDir)
  const path = join(dataDir, file)
  const database = openFile(path)
  try {
    // SQLite does not wait where two connections change a new file to WAL at once: each holds what the other needs.
    await patiently(async () => naming(path, () => prepareDatabase(database)))
    await migrate(migrationSession(database), migrationFolder)
    // From here on, waiting for locks of other connections must not block the thread.
    database.run('PRAGMA busy_timeout = 0')
    return engineOver(database)
  } catch (error) {
    database.close()
    throw named(path, error)
  }
}

/** Migrations that opening this directory's database would apply; the database must exist. */
export async function waitingInSqlite(dataDir: string): Promise<readonly string[]> {
  const path = join(dataDir, databaseFile)
  const database = openFile(path)
  try {
    return await patiently(() => waitingMigrations(migrationSession(database)))
  } catch (error) {
    throw named(path, error)
  } finally {
    database.close()
  }
}

function prepareDatabase(database: Database): void {
  database.run('PRAGMA busy_timeout = 5000')
  database.run('PRAGMA journal_mode = WAL')
  database.run('PRAGMA synchronous = FULL')
  database.run('PRAGMA foreign_keys = ON')
  database.run('PRAGMA trusted_schema = OFF')
  // Without this, REPLACE could delete a row without firing the trigger that forbids it.
  database.run('PRAGMA recursive_triggers = ON')
}

function migrationSession(database: Database): MigrationSession {
  return {
    kind: 'sqlite',
    async execute(sql) {
      // Some failures, such as a full disk, have rolled back already.
      if (sql === 'ROLLBACK' && !database.inTransaction) return
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
      await patiently(async () => database.run(begin))
      try {
        const result = await work(session)
        database.run('COMMIT')
        return result
      } catch (error) {
        // Some failures, such as a full disk, have rolled back already.
        if (database.inTransaction) database.run('ROLLBACK')
        throw error
      }
    })
  return {
    kind: 'sqlite',
    // Queued after transactions, never inside one, because the connection is the same.
    query: (sql, values) => turns.take(() => patiently(() => session.query(sql, values))),
    run: (sql, values) => turns.take(() => patiently(() => session.run(sql, values))),
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
    // Running one prepared statement per row in a transaction is as fast as one statement with many rows.
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

const longestWaitMs = 5_000
const retryMs = 10

/** Retries work that another connection's lock prevents, for up to 5 s: a refused statement has changed nothing. */
async function patiently<Result>(work: () => Promise<Result>): Promise<Result> {
  const sinceMs = performance.now()
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isBusy(error) || performance.now() - sinceMs > longestWaitMs) throw error
    }
    await delay(retryMs)
  }
}

/** Runs work on the single connection, one piece after another. */
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

/** The driver silently wraps a bigint beyond int64. */
function bindable(values: readonly Value[]): Value[] {
  for (const value of values) {
    if (typeof value === 'bigint' && (value > maxNano || value < -maxNano)) {
      throw new RowRefused(`${value} is past what the database can hold`)
    }
  }
  return values as Value[]
}

const refusals = ['SQLITE_CONSTRAINT', 'SQLITE_MISMATCH', 'SQLITE_TOOBIG', 'SQLITE_RANGE']

/** Converts SQLite errors caused by the values into `RowRefused`. */
function refusing<Result>(work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    const code = error instanceof SQLiteError ? (error.code ?? '') : ''
    // A value that cannot be bound at all causes a TypeError.
    if (error instanceof TypeError || refusals.some((refusal) => code.startsWith(refusal))) {
      throw new RowRefused(error instanceof Error ? error.message : code, { cause: error })
    }
    throw error
  }
}
