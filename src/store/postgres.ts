// The PostgreSQL engine, for deployments of more than one machine; loaded only if a database URL is given.

import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { DataError } from './data-error.ts'
import type { Engine, MigrationSession, Session, Value } from './engine.ts'
import { migrate, waitingMigrations } from './migrate.ts'
import { RowRefused } from './store.ts'

const int8 = 20
const connections = 4
const defaultPort = 5432
const longTimeoutMs = 3_600_000
/**
 * A process that hangs, or a machine that loses its network, between two statements keeps rows locked that all others
 * need: after this time the database ends its transaction, and the others go on.
 */
const idleTransactionTimeoutMs = 5_000
/** An arbitrary number, the same in every version: whoever holds this lock may migrate. */
const migrationLock = 7_465_017

/** Deadlock and serialization failure: the same work may succeed when it is run again. */
const retryable = ['40P01', '40001']
const mostAttempts = 10

type Connected = Parameters<pg.Client['connect']>[0]

/** pg leaves a connection open on which it cannot sign in, and the server closes it only after a minute. */
class Client extends pg.Client {
  override connect(): Promise<pg.Client>
  override connect(done: Connected): void
  override connect(done?: Connected): Promise<pg.Client> | undefined {
    if (done === undefined) return super.connect()
    super.connect((error: Error | null) => {
      if (error) void this.end()
      done(error as never, this)
    })
    return undefined
  }
}

/**
 * Connects, and migrates the database to this version's schema. If the database cannot be reached, throws an error
 * whose message names the host and never the password.
 */
export async function openPostgres(databaseUrl: string, migrationFolder?: string): Promise<Engine> {
  const pool = new pg.Pool({
    Client,
    connectionString: databaseUrl,
    application_name: 'tollgate',
    max: connections,
    keepAlive: true,
    // JIT compilation of a statement takes longer than our longest statement.
    options: '-c jit=off',
    connectionTimeoutMillis: 5_000,
    query_timeout: 10_000,
    statement_timeout: 10_000,
    idle_in_transaction_session_timeout: idleTransactionTimeoutMs,
    types: { getTypeParser: typeParser },
  })
  // A broken idle connection is replaced by the next query, which reports any error.
  pool.on('error', () => undefined)
  // The same for one that breaks between two statements of a transaction: an unhandled error would end the thread.
  pool.on('connect', (client) => client.on('error', () => undefined))
  try {
    await expectTimeout(pool, databaseUrl)
    await migrateOver(pool, databaseUrl, migrationFolder)
    return engineOver(pool)
  } catch (error) {
    await pool.end()
    throw error
  }
}

/**
 * A pooler may ignore the settings that a connection is opened with. Throws if the database would let a transaction
 * stay open forever.
 */
async function expectTimeout(pool: pg.Pool, databaseUrl: string): Promise<void> {
  const client = await connect(pool, databaseUrl)
  try {
    const sql = `SELECT setting, current_user AS role FROM pg_settings
      WHERE name = 'idle_in_transaction_session_timeout'`
    const { rows } = await client.query<{ readonly setting: string; readonly role: string }>(sql)
    const [found] = rows
    if (found === undefined || found.setting !== '0') return
    throw new DataError(
      `PostgreSQL at ${describeUrl(databaseUrl)} does not end transactions that stand idle: a pooler drops the ` +
        'setting idle_in_transaction_session_timeout. Give it to the role: ' +
        `ALTER ROLE ${found.role} SET idle_in_transaction_session_timeout = '5s'`,
    )
  } finally {
    client.release()
  }
}

/** Migrations that opening this database would apply. Throws as `openPostgres` does. */
export function waitingInPostgres(databaseUrl: string): Promise<readonly string[]> {
  return withClient(databaseUrl, (client) => waitingMigrations(migrationSession(client)))
}

/** Whether this database has ever been used by a server. */
export function holdsData(databaseUrl: string): Promise<boolean> {
  return withConnection(databaseUrl, async (session) => {
    const sql = `SELECT to_regclass('schema_migration')::text AS name`
    const [found] = await session.query<{ readonly name: string | null }>(sql, [])
    return found?.name != null
  })
}

/** Does the work on a connection to the database as it is, without migrating it. */
export function withConnection<Result>(
  databaseUrl: string,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  return withClient(databaseUrl, (client) =>
    work(sessionOver((sql, values) => client.query(sql, values))),
  )
}

async function withClient<Result>(
  databaseUrl: string,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const pool = new pg.Pool({
    Client,
    connectionString: databaseUrl,
    application_name: 'tollgate',
    connectionTimeoutMillis: 5_000,
    query_timeout: 10_000,
  })
  try {
    const client = await connect(pool, databaseUrl)
    try {
      return await work(client)
    } finally {
      client.release()
    }
  } finally {
    await pool.end()
  }
}

async function connect(pool: pg.Pool, databaseUrl: string): Promise<pg.PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    const place = describeUrl(databaseUrl)
    throw new DataError(`Cannot connect to PostgreSQL at ${place}: ${tell(error)}`, {
      cause: error,
    })
  }
}

/** A migration that waits for a lock stops every request that comes after it for that table. */
const migrationLockTimeoutMs = 2_000
const migrationRetryMs = 5_000

/** While another transaction reads a table for long, as a dump or an audit does, the migration is tried again. */
async function migrateOver(pool: pg.Pool, databaseUrl: string, folder?: string): Promise<void> {
  const client = await connect(pool, databaseUrl)
  try {
    for (;;) {
      const isDone = await migrate(migrationSession(client), folder).then(
        () => true,
        (error: unknown) => {
          if (!isLocked(error)) throw error
          return false
        },
      )
      if (isDone) break
      process.stderr.write(
        'A migration of the database waits: another program, such as a backup or an audit, reads its tables.\n',
      )
      await delay(migrationRetryMs)
    }
    client.release()
  } catch (error) {
    client.release(true)
    throw error
  }
}

/** Whether a migration failed because it did not get a lock (PostgreSQL, Appendix A: lock_not_available). */
function isLocked(error: unknown): boolean {
  const cause = error instanceof DataError ? error.cause : error
  return cause instanceof pg.DatabaseError && cause.code === '55P03'
}

function migrationSession(client: pg.PoolClient): MigrationSession {
  return {
    kind: 'postgres',
    async execute(sql) {
      const query = { text: sql, query_timeout: longTimeoutMs }
      await client.query(query)
    },
    async query<Row>(sql: string, values: readonly Value[]) {
      return (await client.query(numbered(sql), [...values])).rows as Row[]
    },
    async begin() {
      await client.query('BEGIN')
      // Waiting for another process that migrates, or changing a large table, may take long.
      await client.query('SET LOCAL statement_timeout = 0')
      await client.query('SET LOCAL idle_in_transaction_session_timeout = 0')
      await this.execute(`SELECT pg_advisory_xact_lock(${migrationLock})`)
      await client.query(`SET LOCAL lock_timeout = ${migrationLockTimeoutMs}`)
    },
  }
}

function engineOver(pool: pg.Pool): Engine {
  return {
    ...sessionOver((sql, values) => pool.query(sql, values)),
    async transaction(work) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await inTransaction(pool, ['BEGIN'], {}, work)
        } catch (error) {
          if (attempt === mostAttempts || !mayPass(error)) throw error
        }
      }
    },
    snapshot: (work) => inTransaction(pool, beginSnapshot, { query_timeout: longTimeoutMs }, work),
    close: () => pool.end(),
  }
}

const beginSnapshot = [
  'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
  'SET LOCAL statement_timeout = 0',
  'SET LOCAL idle_in_transaction_session_timeout = 0',
]

async function inTransaction<Result>(
  pool: pg.Pool,
  begin: readonly string[],
  limits: { readonly query_timeout?: number },
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect()
  try {
    for (const statement of begin) await client.query(statement)
    const send: Send = (text, values) => client.query({ text, values, ...limits })
    const result = await work(sessionOver(send))
    const { command } = await client.query('COMMIT')
    if (command !== 'COMMIT') throw new Error('A transaction that had failed was to be committed.')
    client.release()
    return result
  } catch (error) {
    // If even the rollback fails, the connection is not used again.
    const broken = await client.query('ROLLBACK').then(
      () => false,
      () => true,
    )
    client.release(broken || isReadOnly(error))
    throw error
  }
}

/**
 * The server behind the connection was demoted, and may keep its connections: a new one reaches its successor
 * (PostgreSQL, Appendix A: read_only_sql_transaction).
 */
function isReadOnly(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '25006'
}

function mayPass(error: unknown): boolean {
  return error instanceof pg.DatabaseError && retryable.includes(error.code ?? '')
}

type Send = (sql: string, values: unknown[]) => Promise<pg.QueryResult>

function sessionOver(send: Send): Session {
  const refusing = async (sql: string, values: unknown[]) => {
    try {
      return await send(sql, values)
    } catch (error) {
      throw asRefusal(error)
    }
  }
  return {
    kind: 'postgres',
    async query<Row>(sql: string, values: readonly Value[]) {
      return (await refusing(numbered(sql), [...values])).rows as Row[]
    },
    async run(sql, values) {
      return (await refusing(numbered(sql), [...values])).rowCount ?? 0
    },
    async bulk({ postgres }, rows) {
      const [first] = rows
      if (first === undefined) return 0
      const columns = first.map((_, index) => rows.map((row) => row[index] ?? null))
      return (await refusing(postgres, columns)).rowCount ?? 0
    },
  }
}

const numberedStatements = new Map<string, string>()
/** Filters produce ever new statements, so the cache is limited. */
const mostNumbered = 1_000

/** Replaces each `?` by PostgreSQL's numbered placeholder; our statements have no other question mark. */
function numbered(sql: string): string {
  let statement = numberedStatements.get(sql)
  if (statement === undefined) {
    if (numberedStatements.size >= mostNumbered) numberedStatements.clear()
    let count = 0
    statement = sql.replaceAll('?', () => `$${++count}`)
    numberedStatements.set(sql, statement)
  }
  return statement
}

/** SQLSTATE classes caused by the values: data exception, integrity violation, program limit. */
const refusals = ['22', '23', '54']

function asRefusal(error: unknown): unknown {
  const isRefusal =
    error instanceof pg.DatabaseError && refusals.includes(error.code?.slice(0, 2) ?? '')
  return isRefusal ? new RowRefused(error.message, { cause: error }) : error
}

/** int8 arrives as text: times and token counts become numbers, and a value beyond 2^53 throws, never is rounded. */
function typeParser(oid: number, format?: 'text' | 'binary'): (text: string) => unknown {
  return oid === int8 && format !== 'binary' ? wholeNumber : pg.types.getTypeParser(oid, 'text')
}

function wholeNumber(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is past what a number can hold`)
  return value
}

/** Host, port and database, which an operator needs to see, without user and password. */
function describeUrl(databaseUrl: string): string {
  const { hostname, port, pathname, searchParams } = new URL(databaseUrl)
  const host = searchParams.get('host') ?? (hostname || 'localhost')
  return `${host}:${port || defaultPort}${pathname}`
}

/** A host with several addresses fails with an AggregateError, which has no message of its own. */
function tell(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(tell).join('; ')
  return error instanceof Error ? error.message : String(error)
}
