// What the tables ask of an engine: statements written once, with `?` for each bound value.

/** Bound as they are; text that came from outside is cleaned first. */
export type Value = string | number | null

/** Every method rejects with `RowRefused` where the values, not the engine, are at fault. */
export interface Engine {
  readonly kind: 'sqlite' | 'postgres'
  /** `Row` is the caller's word for what the statement selects; columns are aliased to its names. */
  query<Row>(sql: string, values: readonly Value[]): Promise<Row[]>
  /** Returns how many rows it changed. */
  run(sql: string, values: readonly Value[]): Promise<number>
  /** The hot one, so each engine has its own way of it: all rows or none, known ids passed over. */
  appendUsage(rows: readonly (readonly Value[])[]): Promise<void>
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
