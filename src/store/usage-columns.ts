// The SQL of usage rows, generated from their column table, and the conversion between rows and values.

import { among } from './among.ts'
import type { Bulk, Value } from './engine.ts'
import { cleanTextOrNull } from './text.ts'
import {
  columnValues,
  placesOf,
  type UsageColumn,
  type UsageRow,
  usageColumns,
} from './usage-row.ts'

const columns = [...usageColumns, { name: 'posting', kind: 'textOrNull' } as const]
const names = columns.map(({ name }) => name).join(', ')

function typeOf({ kind }: Pick<UsageColumn, 'kind'>): 'text' | 'bigint' {
  return kind === 'text' || kind === 'textOrNull' || kind === 'json' ? 'text' : 'bigint'
}

/** Ignores known ids. One array per column keeps PostgreSQL's statement the same for any number of rows. */
export const insertUsage: Bulk = {
  sqlite: `INSERT INTO usage (${names}) VALUES (${columns.map(() => '?').join(', ')})
    ON CONFLICT DO NOTHING`,
  postgres: `INSERT INTO usage (${names})
    SELECT * FROM unnest(${columns.map((column, index) => `$${index + 1}::${typeOf(column)}[]`).join(', ')})
    ON CONFLICT DO NOTHING`,
}

/** Every column under its field's name, as in `KeptUsage`. Amounts as text, because a number would lose digits. */
const columnsAsFields = usageColumns
  .map(({ name, field, kind }) =>
    kind === 'money' ? `CAST(${name} AS TEXT) AS "${field}"` : `${name} AS "${field}"`,
  )
  .join(', ')

/** The same from another source that has the columns of `usage`. */
export const selectUsageOf = (source: string): string => `SELECT ${columnsAsFields} FROM ${source}`

export const selectUsage = selectUsageOf('usage')

/** With further columns. */
export const selectUsageWith = (more: string): string =>
  `SELECT ${columnsAsFields}, ${more} FROM usage`

/** The condition for a list of ids, given as JSON. */
export const amongIds = among('request_id')

/**
 * Values in the order of the columns. The amounts are given separately, because settling divides the charge; so is
 * `posting`, the request whose journal entry this row shares.
 */
export function usageValues(
  row: UsageRow,
  chargeNano: bigint,
  writeoffNano: bigint,
  posting: string | null = null,
): Value[] {
  const values: unknown[] = columnValues(row)
  for (const at of texts) values[at] = cleanTextOrNull(values[at] as string | null)
  for (const at of times) if (values[at] !== null) values[at] = Math.round(values[at] as number)
  for (const at of flags) values[at] = values[at] === true ? 1 : 0
  for (const at of jsons) if (values[at] !== null) values[at] = JSON.stringify(values[at])
  values[chargePlace] = chargeNano
  values[writeoffPlace] = writeoffNano
  values.push(posting)
  return values as Value[]
}

const texts = placesOf('text', 'textOrNull')
/** Rounded, because clocks give fractions of a millisecond. */
const times = placesOf('time', 'timeOrNull')
const flags = placesOf('flag')
const jsons = placesOf('json')
const chargePlace = usageColumns.findIndex(({ field }) => field === 'chargeNano')
const writeoffPlace = usageColumns.findIndex(({ field }) => field === 'writeoffNano')

/** A row as the engines return it. */
export type KeptUsage = Readonly<Record<keyof UsageRow, string | number | null>>

const converted = usageColumns.filter(({ kind }) => /^(flag|money|json)$/.test(kind))

export function usageRowOf(kept: KeptUsage): UsageRow {
  const row: Record<string, unknown> = { ...kept }
  for (const { field, kind } of converted) {
    const value = kept[field]
    if (kind === 'flag') row[field] = value === 1
    else if (kind === 'money') row[field] = BigInt(String(value))
    else row[field] = value === null ? null : JSON.parse(String(value))
  }
  return row as UsageRow
}
