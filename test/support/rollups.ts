// Reads all quarter-hourly totals, for tests that compare them with rows; and folds all of them.

import { dimensions, sums } from '../../src/store/rollup-columns.ts'
import {
  quarterMs,
  type RollupFilter,
  type RollupRow,
  type RollupSum,
} from '../../src/store/rollup-table.ts'
import type { Store } from '../../src/store/store.ts'

export type KeptTotal = Readonly<Record<string, string | number | bigint>>

interface Reading {
  readonly filter?: RollupFilter
  readonly since?: number
  readonly until?: number
  readonly only?: readonly RollupSum[]
}

const all = sums.map(({ field }) => field)
const fields = dimensions.map(({ field }) => field)

/** In the order of their time and dimensions; sums of 0 are left out. */
export async function keptTotals(store: Store, reading: Reading = {}): Promise<KeptTotal[]> {
  const { filter = {}, since = 0, until = Number.MAX_SAFE_INTEGER, only = all } = reading
  const asked = { filter, by: fields, sums: only, limit: 100_000 }
  const rows: (RollupRow & { readonly at: number })[] = []
  for (const at of await quartersIn(store, filter, since, until)) {
    const found = await store.rollups.read({ ...asked, cuts: [at], until: at + quarterMs })
    rows.push(...found.map((row) => ({ ...row, at })))
  }
  const totals = rows.map((row) => ({
    quarter: row.at,
    ...Object.fromEntries(fields.map((field, place) => [field, row.by[place] ?? ''])),
    ...Object.fromEntries(
      only.flatMap((field, place) => (row.sums[place] ? [[field, row.sums[place]]] : [])),
    ),
  }))
  return totals.sort((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1))
}

/** Folds all quarters that ended before this moment. */
export async function foldAll(store: Store, before: number): Promise<void> {
  while (await store.rollups.fold(before));
}

/** The quarters that are not empty, found by parts of the time. */
async function quartersIn(
  store: Store,
  filter: RollupFilter,
  since: number,
  until: number,
): Promise<number[]> {
  const widthMs = Math.ceil((until - since) / quarterMs / 64) * quarterMs
  const cuts = Array.from({ length: 64 }, (_, part) => since + part * widthMs).filter(
    (cut) => cut < until,
  )
  const asked = { filter, by: [], sums: ['requests' as const], limit: 64 }
  const spans = (await store.rollups.read({ ...asked, cuts, until })).map(({ span }) => span)
  const found = spans.sort((one, other) => one - other).map((span) => cuts[span] ?? since)
  if (widthMs === quarterMs) return found
  const within = found.map((from) =>
    quartersIn(store, filter, from, Math.min(from + widthMs, until)),
  )
  return (await Promise.all(within)).flat()
}

function orderOf(total: KeptTotal): string {
  return [String(total['quarter']).padStart(15, '0'), ...fields.map((field) => total[field])].join(
    '\0',
  )
}
