// What can be asked of the totals of usage, and what they are made of.

import type { TokenKind } from '../config/prices.ts'

export const quarterMs = 900_000
export const hourMs = 4 * quarterMs

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
  /** At most so many rows; where there are more, those that are given may lack parts. */
  readonly limit: number
}

export interface RollupRow {
  /** Which span, counted from 0. */
  readonly span: number
  /** In the order asked for. '' where a request had none. */
  readonly by: readonly string[]
  readonly sums: readonly bigint[]
}

/** Of the sums asked for: those of `plus` together, less `minus`, divided by `over`. */
export interface RollupOrder {
  readonly plus: readonly RollupSum[]
  readonly minus?: RollupSum
  readonly over?: RollupSum
  readonly descending: boolean
}

/** One span, and the first groups of it. Quarters that begin in [since, until) are in it. */
export interface RollupTopQuery {
  readonly since: number
  readonly until: number
  readonly filter: RollupFilter
  readonly by: readonly RollupDimension[]
  /** At least one; those of the order among them. */
  readonly sums: readonly RollupSum[]
  readonly order: RollupOrder
  /** At most so many rows. */
  readonly limit: number
}

export interface RollupTop {
  /** In their order; what is equal in the order of its names. */
  readonly rows: readonly Omit<RollupRow, 'span'>[]
  /** So many there are. */
  readonly groups: number
  /** The sums of all groups. */
  readonly total: readonly bigint[]
}

export interface RollupReader {
  /** Of one moment. In no order. */
  read(query: RollupQuery): Promise<readonly RollupRow[]>
  /** Sorted and added up by the database. Of one moment. */
  top(query: RollupTopQuery): Promise<RollupTop>
  /** What a dimension has ever been, sorted; of one account or of all. At most `limit`. */
  values(
    dimension: RollupDimension,
    account: string | null,
    limit: number,
  ): Promise<readonly string[]>
}

export interface RollupStore extends RollupReader {
  /**
   * Adds quarters that were over before this moment (Unix milliseconds) to the totals by hours and by days, those of one
   * hour at most, so that long times are read quickly; what is read is the same before and after. Returns false where
   * there was none.
   */
  fold(before: number): Promise<boolean>
}
