// Every quarter-hourly total there is, for tests that hold them against rows.

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
  const rows: RollupRow[] = []
  for (let from = since; ; ) {
    // Where the next quarter is that has anything.
    const [next] = await store.rollups.read({ ...asked, cuts: [from], until, by: [], limit: 1 })
    if (next === undefined) break
    from = next.at + quarterMs
    rows.push(...(await store.rollups.read({ ...asked, cuts: [next.at], until: from })))
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

function orderOf(total: KeptTotal): string {
  return [String(total['quarter']).padStart(15, '0'), ...fields.map((field) => total[field])].join(
    '\0',
  )
}
