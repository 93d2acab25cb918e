// What tests may use of postgres.mjs.

/** As `pg_ctl stop` has them: smart, fast, immediate; and kill -9. */
export type StopSignal = 'TERM' | 'INT' | 'QUIT' | 'KILL'

export interface PostgresServer {
  /** Of its superuser. */
  readonly url: string
  /** Ends it; its folder stays until `stop`. */
  end(signal: StopSignal): Promise<void>
  /** Starts it again, on the same port; resolves when it takes connections. */
  start(): Promise<void>
  /** Makes a streaming standby of it, on a port of its own. */
  standby(): Promise<PostgresServer>
  /** A standby becomes a primary. Throws where it is none. */
  promote(): void
  /** Ends it where it runs, and removes it. */
  stop(): Promise<void>
}

export function startPostgres(): Promise<PostgresServer>

/** PgBouncer before a server: it takes the settings that connections are opened with, search paths too, and drops them. */
export function startPooler(
  server: Pick<PostgresServer, 'url'>,
  mode: 'session' | 'transaction',
): Promise<{ readonly url: string; stop(): Promise<void> }>
