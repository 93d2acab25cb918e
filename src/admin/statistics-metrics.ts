// Defines the metrics: the totals that each figure is computed from, and how.

import { tokenPrices } from '../config/prices.ts'
import { cellsOf, histogramBounds, type RollupSum } from '../store/rollup-table.ts'

/** Sums by name; sums that were not read are 0. */
export interface Sums {
  get(name: RollupSum): bigint
}

interface Metric<Value extends bigint | number | null = bigint | number | null> {
  readonly unit: 'nano' | 'requests' | 'tokens' | 'ratio' | 'ms' | 'tokens/s'
  readonly sums: readonly RollupSum[]
  /** A bigint for money; null where there was nothing to measure. */
  of(sums: Sums): Value
}

const count = (unit: Metric['unit'], ...sums: readonly RollupSum[]): Metric<number> => ({
  unit,
  sums,
  of: (found) => sums.reduce((sum, name) => sum + Number(found.get(name)), 0),
})

/** `part` divided by `whole`, times `scale`. */
const ratio = (
  unit: Metric['unit'],
  part: RollupSum,
  whole: RollupSum,
  scale = 1,
): Metric<number | null> => ({
  unit,
  sums: [part, whole],
  of: (found) => {
    const [over, under] = [Number(found.get(part)), Number(found.get(whole))]
    return under === 0 ? null : (over / under) * scale
  },
})

const percentile = (histogram: 'ttft' | 'duration', share: number): Metric<number | null> => {
  const cells = cellsOf(histogram)
  const of = (found: Sums) =>
    percentileOf(
      cells.map((cell) => Number(found.get(cell))),
      share,
    )
  return { unit: 'ms', sums: cells, of }
}

export const metrics = {
  spend: { unit: 'nano', sums: ['chargeNano'], of: (found) => found.get('chargeNano') },
  requests: count('requests', 'requests'),
  tokens: count('tokens', ...tokenPrices),
  errors: count('requests', 'errors'),
  errorRate: ratio('ratio', 'errors', 'requests'),
  cacheRate: ratio('ratio', 'cacheHits', 'requests'),
  ttftP50: percentile('ttft', 0.5),
  ttftP95: percentile('ttft', 0.95),
  latencyP50: percentile('duration', 0.5),
  latencyP95: percentile('duration', 0.95),
  throughput: ratio('tokens/s', 'streamedTokens', 'streamingMs', 1_000),
} as const satisfies Readonly<Record<string, Metric>>

export type MetricName = keyof typeof metrics

export const metricNames = Object.keys(metrics) as readonly MetricName[]

/**
 * Milliseconds below which this share of the requests lies, interpolated within the histogram cell; null where there
 * are no requests. In the last cell, which is open, its lower bound.
 */
export function percentileOf(cells: readonly number[], share: number): number | null {
  const all = cells.reduce((sum, cell) => sum + cell, 0)
  if (all === 0) return null
  let rank = share * all
  for (const [place, cell] of cells.entries()) {
    if (cell === 0 || rank > cell) {
      rank -= cell
      continue
    }
    const low = histogramBounds[place - 1] ?? 0
    const high = histogramBounds[place] ?? low
    // Bounds grow by a factor, so values within a cell are taken as evenly spread on a logarithmic scale; the first
    // cell begins at 0.
    return Math.round(low === 0 ? (high * rank) / cell : low * (high / low) ** (rank / cell))
  }
  return histogramBounds.at(-1) ?? null
}
