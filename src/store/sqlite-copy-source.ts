// Source of a copy to PostgreSQL: a snapshot of the SQLite files, read table by table in pages.

import { Database, type SQLQueryBindings } from 'bun:sqlite'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  type CopyColumn,
  type CopyRow,
  type CopyTable,
  isBytes,
  isText,
  placeOf,
  quoted,
} from './copy-table.ts'
import { databaseFile } from './sqlite.ts'
import { naming } from './sqlite-file.ts'
import { historyFileName } from './sqlite-history.ts'

const pageRows = 1_000
const pageCharacters = 4 << 20

export interface CopySource {
  /** Throws if the table is missing or has other columns: no data may be left behind. */
  check(table: CopyTable): void
  /** Rows after a place, in the order of their key; empty at the end. */
  page(table: CopyTable, after: readonly string[] | null): CopyRow[]
  /** Digest over all rows, in order. */
  digest(table: CopyTable): { readonly rows: number; readonly digest: string }
  close(): void
}

/** The folder contains the ledger's file, and that of message history if there is one. */
export function openCopySource(folder: string): CopySource {
  const path = join(folder, databaseFile)
  return naming(path, () =>
    sourceOver(new Database(path, { readwrite: true, create: false }), folder),
  )
}

function sourceOver(database: Database, folder: string): CopySource {
  const history = join(folder, historyFileName)
  if (existsSync(history)) database.run('ATTACH ? AS history', [history])

  function page(table: CopyTable, after: readonly string[] | null): CopyRow[] {
    const rows: CopyRow[] = []
    let characters = 0
    const values: SQLQueryBindings[] = [...(after ?? [])]
    for (const row of database.prepare(selectOf(table, after !== null)).iterate(...values)) {
      const texts = Object.values(row as Record<string, string | null>)
      rows.push(texts)
      characters += texts.reduce((sum, text) => sum + (text?.length ?? 0), 0)
      if (rows.length === pageRows || characters >= pageCharacters) break
    }
    return rows
  }

  return {
    check({ name, columns }) {
      const there = database
        .query('SELECT name FROM pragma_table_info(?)')
        .all(name) as CopyColumn[]
      const names = (of: readonly { readonly name: string }[]) =>
        of
          .map((each) => each.name)
          .sort()
          .join()
      if (names(there) === names(columns)) return
      throw new Error(`The table ${name} is not the same on both engines.`)
    },
    page,
    digest(table) {
      const digest = createHash('sha256')
      let rows = 0
      for (let some = page(table, null); some.length > 0; ) {
        for (const row of some) digest.update(digestOf(row))
        rows += some.length
        some = page(table, placeOf(table, some.at(-1) ?? []))
      }
      return { rows, digest: digest.digest('hex') }
    },
    close: () => database.close(),
  }
}

/** Must equal the digest that postgres-copy-target.ts computes in SQL. */
function digestOf(row: CopyRow): string {
  const text = row.map((value) => (value === null ? 'n' : `${Buffer.byteLength(value)}:${value}`))
  return createHash('sha256').update(text.join('')).digest('hex')
}

function selectOf({ name, columns, key }: CopyTable, isNext: boolean): string {
  // Qualified with the table, because the result has a column of the same name that is text.
  const order = key.map((column) => `source.${quoted(column.name)}`).join(', ')
  const after = key.map((column) => (isText(column) ? '?' : 'CAST(? AS INTEGER)')).join(', ')
  const where = isNext ? `WHERE (${order}) > (${after})` : ''
  const values = columns.map((column) => `${textOf(column)} AS ${quoted(column.name)}`).join(', ')
  return `SELECT ${values} FROM ${quoted(name)} AS source ${where} ORDER BY ${order}`
}

/** As text, exact for integers beyond 2^53; NULL stays NULL. */
function textOf(column: CopyColumn): string {
  const name = quoted(column.name)
  if (isBytes(column)) return `CASE WHEN ${name} IS NOT NULL THEN lower(hex(${name})) END`
  return isText(column) ? name : `CAST(${name} AS TEXT)`
}
