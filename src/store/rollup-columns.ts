// The dimensions and sums of the quarter-hourly usage totals; all tables of totals take their columns from here.

import { tokenPrices } from '../config/prices.ts'
import type { Divided } from './divide.ts'
import {
  cellsOf,
  histogramBounds,
  type RollupCount,
  type RollupDimension,
  type RollupSum,
} from './rollup-table.ts'
import { cleanText } from './text.ts'
import { type UsageRow, usageColumns } from './usage-row.ts'

/**
 * Whether a request was refused before it had a price or a channel. It may name any model and tag, so neither is
 * recorded: clients must not be able to create endless totals by requests that cost nothing.
 */
function isUnknown({ channel, priceVersion, status }: UsageRow): boolean {
  return channel === null && priceVersion === null && status >= 400
}

interface Dimension {
  readonly field: RollupDimension
  /** The column's name. */
  readonly name: string
  readonly of: (row: UsageRow) => string
}

export const dimensions: readonly Dimension[] = [
  { field: 'account', name: 'account', of: ({ account }) => cleanText(account) },
  { field: 'key', name: 'key_id', of: ({ key }) => cleanText(key) },
  { field: 'model', name: 'model', of: (row) => (isUnknown(row) ? '' : cleanText(row.modelAsked)) },
  { field: 'channel', name: 'channel', of: ({ channel }) => cleanText(channel ?? '') },
  { field: 'group', name: 'group_id', of: ({ group }) => cleanText(group) },
  { field: 'operation', name: 'operation', of: ({ operation }) => cleanText(operation) },
  {
    field: 'statusClass',
    name: 'status_class',
    of: ({ status }) => `${Math.floor(status / 100)}xx`,
  },
]

/** What only the totals of tagged requests distinguish. */
export const tagDimension: Dimension = {
  field: 'tag',
  name: 'tag',
  of: (row) => (isUnknown(row) ? '' : cleanText(row.tag ?? '')),
}

interface Sum {
  readonly field: RollupSum
  readonly name: string
  readonly of: (divided: Divided) => number | bigint
}

const fromRow = (field: RollupCount, name: string, of: (row: UsageRow) => number): Sum => ({
  field,
  name,
  of: ({ row }) => of(row),
})

const tokenSums = tokenPrices.map((kind) => {
  const name = usageColumns.find(({ field }) => field === kind)?.name ?? kind
  return fromRow(kind, name, (row) => row[kind])
})

/** How long a stream delivered, in milliseconds; 0 without a stream, which has no meaningful speed. */
function streamingMs({ stream, ttftMs, durationMs }: UsageRow): number {
  return stream && ttftMs !== null ? Math.max(0, Math.round(durationMs) - Math.round(ttftMs)) : 0
}

/** The number of requests must be first. */
const counted: readonly Sum[] = [
  fromRow('requests', 'requests', () => 1),
  { field: 'chargeNano', name: 'charge_nano', of: ({ chargeNano }) => chargeNano },
  ...tokenSums,
  // A reply that broke off after its status was sent has failed too.
  fromRow('errors', 'errors', ({ status, errorCode }) =>
    status >= 400 || errorCode !== null ? 1 : 0,
  ),
  fromRow('cacheHits', 'cache_hits', ({ cachedInput }) => (cachedInput > 0 ? 1 : 0)),
  { field: 'writeoffNano', name: 'writeoff_nano', of: ({ writeoffNano }) => writeoffNano },
  { field: 'vendorCostNano', name: 'vendor_cost_nano', of: ({ row }) => row.vendorCostNano },
  fromRow('durationMs', 'duration_ms', ({ durationMs }) => Math.round(durationMs)),
  fromRow('ttftMs', 'ttft_ms', ({ ttftMs }) => Math.round(ttftMs ?? 0)),
  fromRow('streamedTokens', 'streamed_tokens', (row) =>
    streamingMs(row) > 0 ? row.output + row.reasoning : 0,
  ),
  fromRow('streamingMs', 'streaming_ms', streamingMs),
]

/** Every sum, in the order of the columns. */
export const sums: readonly { readonly field: RollupSum; readonly name: string }[] = [
  ...counted,
  ...cellsOf('ttft').map((cell) => ({ field: cell, name: cell })),
  ...cellsOf('duration').map((cell) => ({ field: cell, name: cell })),
]

const ttftPlace = counted.length
const durationPlace = ttftPlace + histogramBounds.length + 1

/** Sums while requests are added: numbers as long as they are exact, in a tenth of a bigint's time. Null for 0. */
export type RunningSums = (bigint | number | null)[]

/** Adds one request to sums in the order of the columns. */
export function addTo(total: RunningSums, divided: Divided): void {
  counted.forEach(({ of }, place) => {
    const value = of(divided)
    if (value) total[place] = plus(total[place] ?? 0, value)
  })
  const { ttftMs, durationMs } = divided.row
  if (ttftMs !== null) countIn(total, ttftPlace, Math.round(ttftMs))
  countIn(total, durationPlace, Math.round(durationMs))
}

function plus(one: bigint | number, other: bigint | number): bigint | number {
  if (typeof one === 'number' && typeof other === 'number') {
    const sum = one + other
    if (Number.isSafeInteger(sum)) return sum
  }
  return BigInt(one) + BigInt(other)
}

function countIn(total: RunningSums, firstPlace: number, valueMs: number): void {
  const cell = histogramBounds.findIndex((bound) => valueMs < bound)
  const place = firstPlace + (cell < 0 ? histogramBounds.length : cell)
  total[place] = plus(total[place] ?? 0, 1)
}
