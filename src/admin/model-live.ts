// How models did over the last day, for all accounts together: time to first token, speed and success rate. Figures of
// fewer than 30 requests are not shown.

import { cellsOf, histogramBounds, type RollupReader } from '../store/rollup-table.ts'

export interface Live {
  /** Number of requests with a first token: the sample of `ttft` and `speed`, shown even when it is small. */
  readonly begun: number
  /** Number of requests behind `success`, shown even when it is small. */
  readonly tried: number
  /** Milliseconds to the first token; `sample`: number of requests. */
  readonly ttft: { readonly p50Ms: number; readonly p95Ms: number; readonly sample: number } | null
  /** Speed of streams from the first token on; `sample`: number of requests with a first token. */
  readonly speed: { readonly tokensPerSecond: number; readonly sample: number } | null
  /** Success rate of requests whose outcome the gateway or a vendor decides; client errors (4xx) are left out. */
  readonly success: { readonly percent: number; readonly sample: number } | null
}

const dayMs = 86_400_000
const leastSample = 30
const mostRows = 100_000

const cells = cellsOf('ttft')

/** Figures for each model name that clients ask for. */
export async function readLive(
  rollups: RollupReader,
  nowMs: number,
): Promise<ReadonlyMap<string, Live>> {
  const rows = await rollups.read({
    cuts: [nowMs - dayMs],
    until: nowMs,
    filter: {},
    by: ['model', 'statusClass'],
    sums: ['requests', 'errors', 'streamedTokens', 'streamingMs', ...cells],
    limit: mostRows,
  })
  const byModel = new Map<string, Map<string, readonly number[]>>()
  for (const { by, sums } of rows) {
    const [model = '', statusClass = ''] = by
    const classes = byModel.get(model) ?? new Map<string, readonly number[]>()
    byModel.set(model, classes.set(statusClass, sums.map(Number)))
  }
  return new Map([...byModel].map(([model, classes]) => [model, liveOf(classes)]))
}

function liveOf(classes: ReadonlyMap<string, readonly number[]>): Live {
  const requestsOf = (statusClass: string) => classes.get(statusClass)?.[0] ?? 0
  const brokenOff = classes.get('2xx')?.[1] ?? 0
  const total = [...classes.values()].reduce((sum, each) =>
    sum.map((it, at) => it + (each[at] ?? 0)),
  )
  const [, , tokens = 0, streamingMs = 0, ...counts] = total
  const begun = counts.reduce((sum, count) => sum + count, 0)
  const tried = requestsOf('2xx') + requestsOf('5xx')
  return {
    begun,
    tried,
    ttft: shown(begun, {
      p50Ms: percentile(counts, 0.5),
      p95Ms: percentile(counts, 0.95),
      sample: begun,
    }),
    speed: shown(streamingMs > 0 ? begun : 0, {
      tokensPerSecond: Math.round((tokens / streamingMs) * 10_000) / 10,
      sample: begun,
    }),
    success: shown(tried, {
      percent: Math.round(((requestsOf('2xx') - brokenOff) / tried) * 10_000) / 100,
      sample: tried,
    }),
  }
}

function shown<Reading>(sample: number, reading: Reading): Reading | null {
  return sample < leastSample ? null : reading
}

/** Milliseconds, interpolated within a histogram cell; at most the last bound. */
function percentile(counts: readonly number[], share: number): number {
  const all = counts.reduce((sum, count) => sum + count, 0)
  let left = all * share
  for (const [cell, count] of counts.entries()) {
    const [from = 0, to = from] = [histogramBounds[cell - 1], histogramBounds[cell]]
    if (left <= count) return Math.round(from + (to - from) * (count === 0 ? 0 : left / count))
    left -= count
  }
  return histogramBounds.at(-1) ?? 0
}
