// Prices as figures over time: the value at the end of each bucket, from before the first change to after the last.

import type { Shape } from '../../api/client.ts'
import type { Bucket } from '../../charts/series.ts'
import { sizeOf } from '../../ui/price-size.ts'

export type PriceChange = Shape<'PriceChange'>

interface PricesOverTime {
  readonly buckets: readonly Bucket[]
  /** The first part of the newest card's price names: `token`, `image`, ... */
  readonly unit: string
  /** The number of units to which the values apply. */
  readonly size: 1 | 1_000_000
  /** By price name, without tiers; at most six. Nano-units; null if there is no such price. */
  readonly lines: readonly { readonly name: string; readonly values: readonly (number | null)[] }[]
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** The maximum number between the first change and the last. */
const mostBuckets = 80
/** On both sides, so that the first and the last change are seen as steps. */
const margin = 4
const mostLines = 6

/** `changes` newest first, at least one. */
export function pricesOverTime(changes: readonly PriceChange[], nowMs: number): PricesOverTime {
  const moments = [...changes.map(({ from }) => Date.parse(from)), nowMs]
  const first = Math.min(...moments)
  const span = Math.max(...moments) - first
  const base = span <= mostBuckets * hourMs ? hourMs : dayMs
  const stepMs = base * Math.max(1, Math.ceil(span / (mostBuckets * base)))
  const start = Math.floor(first / stepMs) * stepMs - margin * stepMs
  const count = Math.ceil(span / stepMs) + 2 * margin + 1
  const buckets = Array.from({ length: count }, (_, place) => ({
    start: new Date(start + place * stepMs).toISOString(),
    end: new Date(start + (place + 1) * stepMs).toISOString(),
  }))
  const all = changes.flatMap(({ lines }) => lines)
  const unit = all[0]?.unit ?? ''
  const shown = all.filter((line) => line.unit === unit && line.above === 0)
  const size = sizeOf(unit, ...shown.map(({ priceNano }) => priceNano))
  const cards = buckets.map(({ end }) =>
    changes.find(({ from }) => Date.parse(from) < Date.parse(end)),
  )
  const names = [...new Set(shown.map(({ name }) => name))].slice(0, mostLines)
  const lines = names.map((name) => ({
    name,
    values: cards.map((card) => {
      const line = card?.lines.find((each) => each.name === name)
      return line === undefined
        ? null
        : Number((BigInt(line.priceNano) * BigInt(size)) / 1_000_000n)
    }),
  }))
  return { buckets, unit, size, lines }
}
