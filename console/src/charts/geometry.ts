// Calculates the positions of a chart's parts, without a page.

import type { Series } from './series.ts'

/** The scale of values: from 0 up to `top`, with a grid line at each of `ticks`. */
export interface Scale {
  readonly top: number
  readonly ticks: readonly number[]
}

const niceSteps = [1, 2, 2.5, 5, 10]
const mostLines = 4

/** Up to four lines above 0 at round values; `isWhole`: if fractions have no meaning. */
export function scaleOf(largest: number, isWhole: boolean): Scale {
  if (!(largest > 0)) return { top: 1, ticks: [] }
  const least = largest / mostLines
  const power = 10 ** Math.floor(Math.log10(least))
  const steps = niceSteps.map((factor) => factor * power)
  const usable = steps.filter((step) => !isWhole || Number.isInteger(step))
  const step = usable.find((step) => step >= least * (1 - 1e-9)) ?? 1
  const lines = Math.ceil((largest / step) * (1 - 1e-9))
  const ticks = Array.from({ length: lines }, (_, index) => step * (index + 1))
  return { top: step * lines, ticks }
}

/** Start and end of a part of a stacked bar; null if the series has no figure. */
export type Layer = readonly (readonly [from: number, to: number] | null)[]

/** One layer for each series, each on top of those before it. */
export function stack(series: readonly Series[]): readonly Layer[] {
  const reached: number[] = []
  return series.map(({ values }) =>
    values.map((value, bucket) => {
      if (value === null) return null
      const from = reached[bucket] ?? 0
      reached[bucket] = from + value
      return [from, from + value] as const
    }),
  )
}

/** The sum of all series of a bucket; null if none has a figure. */
export function sumAt(series: readonly Series[], bucket: number): number | null {
  const values = series.flatMap(({ values }) => values[bucket] ?? [])
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0)
}

/** The largest value that must fit. */
export function largestOf(
  kind: 'bars' | 'lines',
  series: readonly Series[],
  previous: readonly (number | null)[] = [],
): number {
  const count = Math.max(0, ...series.map(({ values }) => values.length))
  const own =
    kind === 'bars'
      ? Array.from({ length: count }, (_, bucket) => sumAt(series, bucket) ?? 0)
      : series.flatMap(({ values }) => values.map((value) => value ?? 0))
  return [...own, ...previous.map((value) => value ?? 0)].reduce(
    (most, value) => Math.max(most, value),
    0,
  )
}

/** Stretches without a gap: indices from (inclusive) and to (exclusive). */
export function runs(values: readonly (number | null)[]): readonly (readonly [number, number])[] {
  const found: [number, number][] = []
  values.forEach((value, index) => {
    const last = found.at(-1)
    if (value === null) return
    if (last !== undefined && last[1] === index) last[1] = index + 1
    else found.push([index, index + 1])
  })
  return found
}

/** The bucket under a pointer; null outside all of them. */
export function bucketAt(x: number, width: number, count: number): number | null {
  if (count === 0 || x < 0 || x > width) return null
  return Math.min(count - 1, Math.floor((x / width) * count))
}

/** The series whose part of a stacked bar contains a value; for lines, the nearest. */
export function seriesAt(
  kind: 'bars' | 'lines',
  series: readonly Series[],
  bucket: number,
  value: number,
): string | undefined {
  if (kind === 'bars') {
    const layers = stack(series)
    return series.find((_, index) => {
      const part = layers[index]?.[bucket]
      return part !== null && part !== undefined && value >= part[0] && value < part[1]
    })?.id
  }
  const distances = series.flatMap(({ id, values }) => {
    const own = values[bucket]
    return own === null || own === undefined ? [] : [{ id, distance: Math.abs(own - value) }]
  })
  return distances.sort((one, other) => one.distance - other.distance)[0]?.id
}

/** Series that have a figure in a bucket, the largest first. */
export function sortedAt(
  series: readonly Series[],
  bucket: number,
): readonly { readonly series: Series; readonly value: number }[] {
  return series
    .flatMap((series) => {
      const value = series.values[bucket]
      return value === null || value === undefined ? [] : [{ series, value }]
    })
    .sort((one, other) => other.value - one.value)
}

export interface Frame {
  readonly width: number
  readonly height: number
  readonly scale: Scale
  readonly count: number
}

export function xOf({ width, count }: Frame, bucket: number): number {
  return (width / count) * bucket
}

export function yOf({ height, scale }: Frame, value: number): number {
  return height - (value / scale.top) * height
}

/** The outline of a layer's bars; a value above 0 is at least one pixel high. */
export function barsPath(frame: Frame, layer: Layer, only?: number): string {
  const slot = frame.width / frame.count
  const gap = slot > 60 ? slot * 0.3 : slot > 8 ? 2 : slot > 3 ? 1 : 0
  const width = Math.min(120, slot - gap)
  return layer
    .map((part, bucket) => {
      if (part === null || part[1] <= part[0] || (only !== undefined && bucket !== only)) return ''
      const x = xOf(frame, bucket) + (slot - width) / 2
      const bottom = yOf(frame, part[0])
      const top = Math.min(yOf(frame, part[1]), bottom - 1)
      return `M${round(x)} ${round(bottom)}V${round(top)}h${round(width)}V${round(bottom)}z`
    })
    .join('')
}

/** A line through the middles of buckets, broken at gaps; `dotPath` draws the figures alone between them. */
export function linePath(frame: Frame, values: readonly (number | null)[]): string {
  return stretches(frame, values)
    .map((points) => (points.length === 1 ? '' : `M${points.join('L')}`))
    .join('')
}

/** A point for each figure alone between gaps, for a thick stroke with round ends. */
export function dotPath(frame: Frame, values: readonly (number | null)[]): string {
  return stretches(frame, values)
    .map((points) => (points.length === 1 ? `M${points[0]}h0.01` : ''))
    .join('')
}

function stretches(frame: Frame, values: readonly (number | null)[]): readonly string[][] {
  const middle = frame.width / frame.count / 2
  return runs(values).map(([from, to]) =>
    values.slice(from, to).map((value, index) => {
      const x = xOf(frame, from + index) + middle
      return `${round(x)} ${round(yOf(frame, value ?? 0))}`
    }),
  )
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
