// A table to be copied from SQLite to PostgreSQL: its columns, and its rows as text that both engines write alike.

export interface CopyColumn {
  readonly name: string
  /** The type in PostgreSQL. */
  readonly type: string
}

export interface CopyTable {
  readonly name: string
  readonly columns: readonly CopyColumn[]
  /** The columns that identify rows, and by which rows are sorted. */
  readonly key: readonly CopyColumn[]
}

/** The database is in a state that forbids the copy; the message says which. */
export class CopyRefused extends Error {
  override readonly name = 'CopyRefused'
}

/** Values as text, in the order of the columns; bytes in hex. */
export type CopyRow = readonly (string | null)[]

export const isBytes = ({ type }: CopyColumn): boolean => type === 'bytea'
export const isText = ({ type }: CopyColumn): boolean => type === 'text'

export const quoted = (name: string): string => `"${name}"`

/** The values of a row's key, after which the next page begins. */
export function placeOf({ columns, key }: CopyTable, row: CopyRow): string[] {
  return key.map((column) => {
    const value = row[columns.indexOf(column)]
    if (value == null) throw new Error(`A row without ${column.name} cannot be copied in order.`)
    return value
  })
}
