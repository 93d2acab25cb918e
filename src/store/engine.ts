// The interface between tables and database engines: each statement is written once, with `?` for every bound value.

/** Values are bound as they are, so text from outside must be cleaned first. A bigint beyond int64 is refused. */
export type Value = string | number | bigint | Uint8Array | null

/** One statement for many rows, in the form that is fastest on each engine. */
export interface Bulk {
  /** Run once for each row, whose values are bound to its `?`. */
  readonly sqlite: string
  /** Run once for all rows: `$1`, `$2`, ... are arrays, one per column. */
  readonly postgres: string
}

/** Every method rejects with `RowRefused` if the values, rather than the engine, are the cause. */
export interface Session {
  readonly kind: 'sqlite' | 'postgres'
  /** `Row` is the caller's type for the selected columns, which are aliased to its member names. */
  query<Row>(sql: string, values: readonly Value[]): Promise<Row[]>
  /** Returns the number of changed rows. */
  run(sql: string, values: readonly Value[]): Promise<number>
  /** Returns the total number of changed rows. */
  bulk(statement: Bulk, rows: readonly (readonly Value[])[]): Promise<number>
}

export interface Engine extends Session {
  /**
   * Runs the work in one transaction, committed when the work resolves and rolled back when it rejects. The work must
   * use only the session it receives, and may be run again if the engine requires it (PostgreSQL: a deadlock or a
   * serialization failure). SQLite runs one at a time, and no other connection writes meanwhile.
   */
  transaction<Result>(work: (session: Session) => Promise<Result>): Promise<Result>
  /** Everything the work reads is from one moment, and no statement of it is subject to the time limit. */
  snapshot<Result>(work: (session: Session) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

/** The connection that the migration runner uses. */
export interface MigrationSession {
  readonly kind: 'sqlite' | 'postgres'
  /** One or more statements without values. */
  execute(sql: string): Promise<void>
  query<Row>(sql: string, values: readonly Value[]): Promise<Row[]>
  /** Opens a transaction that excludes all other migration runners. */
  begin(): Promise<void>
}
