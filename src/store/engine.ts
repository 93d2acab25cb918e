// What the tables ask of an engine: statements written once, with `?` for each bound value.

/** Bound as they are; text that came from outside is cleaned first. A bigint past int64 is refused. */
export type Value = string | number | bigint | Uint8Array | null

/** One statement for many rows, as each engine takes it best. */
export interface Bulk {
  /** Run once for each row, whose values stand for its `?`. */
  readonly sqlite: string
  /** Run once for all rows: `$1`, `$2`, ... are arrays, one for each column. */
  readonly postgres: string
}

/** Every method rejects with `RowRefused` where the values, not the engine, are at fault. */
export interface Session {
  readonly kind: 'sqlite' | 'postgres'
  /** `Row` is the caller's type of what the statement selects; columns are aliased to its names. */
  query<Row>(sql: string, values: readonly Value[]): Promise<Row[]>
  /** Returns how many rows it changed. */
  run(sql: string, values: readonly Value[]): Promise<number>
  /** Returns how many rows it changed in all. */
  bulk(statement: Bulk, rows: readonly (readonly Value[])[]): Promise<number>
}

export interface Engine extends Session {
  /**
   * Runs the work in one transaction that is committed when it resolves and undone when it rejects. The work uses the
   * session it is given and nothing else of the engine, and may be run again where the engine asks for it (PostgreSQL:
   * a deadlock or a failure to serialize). On SQLite one runs at a time, and no other connection writes meanwhile.
   */
  transaction<Result>(work: (session: Session) => Promise<Result>): Promise<Result>
  /** Everything the work reads is of one moment, and no statement of it is cut off by a time limit. */
  snapshot<Result>(work: (session: Session) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

/** How the migration runner speaks to an engine, on one connection. */
export interface MigrationSession {
  readonly kind: 'sqlite' | 'postgres'
  /** One or more statements without values. */
  execute(sql: string): Promise<void>
  query<Row>(sql: string, values: readonly Value[]): Promise<Row[]>
  /** Opens a transaction that no other runner can be in at the same time. */
  begin(): Promise<void>
}
