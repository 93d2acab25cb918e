// The queries that totals of usage answer, and the sums and dimensions they have.

import type { TokenKind } from '../config/prices.ts'

export const quarterMs = 900_000
export const hourMs = 4 * quarterMs

/** The first moment of the quarter-hour that contains a time. */
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
  | 'tag'

/**
 * Upper bounds of the histograms' cells, in milliseconds: a value is in the first cell whose bound is greater; the last
 * cell has no bound. Five per decade (Renard's R5), so that a percentile interpolated within a cell is seldom wrong by
 * more than a tenth.
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

/** Cells of a histogram are named by their bounds: `ttft_40`. */
export type RollupSum = RollupCount | `${Histogram}_${number}` | `${Histogram}_more`

/** The sums of a histogram's cells, from the first to the last. */
export function cellsOf(histogram: Histogram): readonly RollupSum[] {
  return [
    ...histogramBounds.map((bound): RollupSum => `${histogram}_${bound}`),
    `${histogram}_more`,
  ]
}

export type RollupFilter = { readonly [Dimension in RollupDimension]?: readonly string[] }

export interface RollupQuery {
  /** Where each span begins, Unix milliseconds, ascending; it ends where the next begins. */
  readonly cuts: readonly number[]
  /** Where the last span ends: it includes quarter-hours that begin before. */
  readonly until: number
  /** Only these values of a dimension. */
  readonly filter: RollupFilter
  readonly by: readonly RollupDimension[]
  readonly sums: readonly RollupSum[]
  /** The most rows; if there are more, sums of the returned ones may be incomplete. */
  readonly limit: number
}

export interface RollupRow {
  /** Number of the span, counted from 0. */
  readonly span: number
  /** Values in the order of the query's `by`; '' if a request had none. */
  readonly by: readonly string[]
  readonly sums: readonly bigint[]
}

/** Sorts by the sum of `plus`, less `minus`, divided by `over`; all of them must be in the query's `sums`. */
export interface RollupOrder {
  readonly plus: readonly RollupSum[]
  readonly minus?: RollupSum
  readonly over?: RollupSum
  readonly descending: boolean
}

/** The first groups of one span, which includes quarter-hours that begin in [since, until). */
export interface RollupTopQuery {
  readonly since: number
  readonly until: number
  readonly filter: RollupFilter
  readonly by: readonly RollupDimension[]
  /** At least one, and all that `order` names. */
  readonly sums: readonly RollupSum[]
  readonly order: RollupOrder
  /** At most so many rows. */
  readonly limit: number
}

export interface RollupTop {
  /** In the requested order; equal groups by name. */
  readonly rows: readonly Omit<RollupRow, 'span'>[]
  /** Number of groups, including those that are not in `rows`. */
  readonly groups: number
  /** The sums of all groups. */
  readonly total: readonly bigint[]
}

export interface RollupReader {
  /** From one snapshot, in no particular order. */
  read(query: RollupQuery): Promise<readonly RollupRow[]>
  /** Sorted and summed by the database, from one snapshot. */
  top(query: RollupTopQuery): Promise<RollupTop>
  /** Every value that a dimension has had, sorted; for one account or for all. At most `limit`. */
  values(
    dimension: RollupDimension,
    account: string | null,
    limit: number,
  ): Promise<readonly string[]>
}

export interface RollupStore extends RollupReader {
  /**
   * Adds some series of the oldest quarter-hour that ended before this moment (Unix milliseconds) to the totals by hour
   * and day, so that long periods are read quickly; results stay the same. Returns false if there were none.
   */
  fold(before: number): Promise<boolean>
}
