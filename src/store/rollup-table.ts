// What can be asked of the quarter-hourly totals, and what they are made of.

import type { TokenKind } from '../config/prices.ts'

export const quarterMs = 900_000

/** The first moment of its quarter of an hour. */
export function quarterOf(at: number): number {
  return Math.floor(Math.round(at) / quarterMs) * quarterMs
}

export type RollupDimension =
  | 'account'
  | 'key'
  | 'model'
  | 'channel'
  | 'group'
  | 'operation'
  | 'statusClass'

/**
 * Upper bounds of the histograms' cells, in milliseconds: a value is in the first cell whose bound is above it, and in
 * the last, which has no bound, where none is. Five to a decade (Renard's R5), so that a percentile that is
 * interpolated within a cell is seldom off by more than a tenth.
 */
export const histogramBounds: readonly number[] = [
  40, 63, 100, 160, 250, 400, 630, 1_000, 1_600, 2_500, 4_000, 6_300, 10_000, 16_000, 25_000,
  40_000, 63_000, 100_000, 160_000, 250_000,
]

type Histogram = 'ttft' | 'duration'

export type RollupCount =
  | 'requests'
  | 'chargeNano'
  | TokenKind
  | 'errors'
  | 'cacheHits'
  | 'writeoffNano'
  | 'vendorCostNano'
  | 'durationMs'
  | 'ttftMs'
  | 'streamedTokens'
  | 'streamingMs'

/** The cells of a histogram are named by their bounds: `ttft_40`. */
export type RollupSum = RollupCount | `${Histogram}_${number}` | `${Histogram}_more`

/** The sums that make up a histogram, from its first cell to its last. */
export function cellsOf(histogram: Histogram): readonly RollupSum[] {
  return [
    ...histogramBounds.map((bound): RollupSum => `${histogram}_${bound}`),
    `${histogram}_more`,
  ]
}

export type RollupFilter = { readonly [Dimension in RollupDimension]?: readonly string[] }

export interface RollupQuery {
  /** Unix milliseconds, ascending: where each span of the time begins, which ends where the next begins. */
  readonly cuts: readonly number[]
  /** Where the last one ends: quarters that begin before it are in it. */
  readonly until: number
  /** Only these values of a dimension. */
  readonly filter: RollupFilter
  readonly by: readonly RollupDimension[]
  readonly sums: readonly RollupSum[]
  /** At most so many rows. */
  readonly limit: number
}

export interface RollupRow {
  /** Which span, counted from 0. */
  readonly span: number
  /** The first quarter in it that has anything. */
  readonly at: number
  /** In the order asked for. '' where a request had none. */
  readonly by: readonly string[]
  readonly sums: readonly bigint[]
}

export interface RollupReader {
  /** One statement, so that all of it is of one moment. In no order. */
  read(query: RollupQuery): Promise<readonly RollupRow[]>
  /** What a dimension has ever been, sorted; of one account or of all. At most `limit`. */
  values(
    dimension: RollupDimension,
    account: string | null,
    limit: number,
  ): Promise<readonly string[]>
}
