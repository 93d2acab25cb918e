// SQLite, embedded: the default engine, one file in the data directory.

import { type Database, SQLiteError } from 'bun:sqlite'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { maxNano } from '../money.ts'
import type { Engine, MigrationSession, Session, Value } from './engine.ts'
import { migrate, waitingMigrations } from './migrate.ts'
import { isBusy, isDamage, makeDataDir, naming, openFile, unusable } from './sqlite-file.ts'
import { RowRefused } from './store.ts'

/** The store's file; a data directory without it holds no data. */
export const databaseFile = 'tollgate.db'

/**
 * Opens, or makes, the database in this directory and brings it to the present schema.
 * Calls are synchronous underneath: settling 500 rows holds the thread for some milliseconds, and a commit for a sync of the
 * disk. Where another connection has the lock that a call needs, the call waits up to 5 s, and the thread goes on meanwhile.
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
    naming(path, () => prepareDatabase(database))
    await migrate(migrationSession(database), migrationFolder)
    // From here on other connections are waited for by turns of the event loop, not by this thread standing still.
    database.run('PRAGMA busy_timeout = 0')
    return engineOver(database)
  } catch (error) {
    database.close()
    throw isDamage(error) ? unusable(path, error) : error
  }
}

/** What the opening of this directory's database would apply; the database is there. */
export async function waitingInSqlite(dataDir: string): Promise<readonly string[]> {
  const database = openFile(join(dataDir, databaseFile))
  try {
    return await waitingMigrations(migrationSession(database))
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
      await patiently(async () => database.run(begin))
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

const longestWaitMs = 5_000
const retryMs = 10

/** Does what another connection's lock refuses again, for a while: a statement that was refused has changed nothing. */
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
