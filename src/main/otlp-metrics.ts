// Sends a registry's metrics to an OpenTelemetry collector at intervals, in OTLP's JSON form.

import type { Distribution, Exemplar, Reading } from '../telemetry/registry.ts'
import { attributesOf, type Collector } from './otlp-collector.ts'

/** From opentelemetry/proto/metrics/v1/metrics.proto: AGGREGATION_TEMPORALITY_CUMULATIVE. */
const cumulative = 2
/** A senseless interval must not make it send without pause; a timer takes at most the longest. */
const leastIntervalMs = 100
const longestIntervalMs = 2 ** 31 - 1

export type OtlpReading = Reading & {
  readonly unit?: string
}

export class MetricReader {
  readonly #collector: Collector
  readonly #readings: () => readonly OtlpReading[]
  readonly #since = nanoOf(Date.now())
  #sending: Promise<void> | null = null

  constructor(collector: Collector, readings: () => readonly OtlpReading[], intervalMs: number) {
    this.#collector = collector
    this.#readings = readings
    const everyMs = Math.min(longestIntervalMs, Math.max(leastIntervalMs, intervalMs))
    setInterval(() => void this.flush(), everyMs).unref()
  }

  flush(): Promise<void> {
    this.#sending ??= this.#send().finally(() => {
      this.#sending = null
    })
    return this.#sending
  }

  async #send(): Promise<void> {
    const { resource, scope } = this.#collector
    const times = { startTimeUnixNano: this.#since, timeUnixNano: nanoOf(Date.now()) }
    const metrics = this.#readings().flatMap((reading) =>
      reading.series.length === 0 ? [] : metricOf(reading, times),
    )
    await this.#collector.send('metrics', {
      resourceMetrics: [{ resource, scopeMetrics: [{ scope, metrics }] }],
    })
  }
}

function nanoOf(timeMs: number): string {
  return `${timeMs}000000`
}

type Times = { readonly startTimeUnixNano: string; readonly timeUnixNano: string }

function metricOf(reading: OtlpReading, times: Times) {
  const { name, help: description, type, labels, series, unit = '' } = reading
  const dataPoints = series.map(({ values, value }) => ({
    attributes: attributesOf(labels.flatMap((label, at) => pairOf(label, values[at]))),
    ...times,
    ...(typeof value === 'number' ? { asDouble: value } : distributionOf(value)),
  }))
  const about = { name, description, unit }
  if (type === 'gauge') return { ...about, gauge: { dataPoints } }
  const kept = { dataPoints, aggregationTemporality: cumulative }
  return type === 'counter'
    ? { ...about, sum: { ...kept, isMonotonic: true } }
    : { ...about, histogram: kept }
}

/** Leaves empty attributes out. */
function pairOf(label: string, value = ''): readonly (readonly [string, string])[] {
  return value === '' ? [] : [[label, value]]
}

/** OTLP writes 64-bit integers as text in JSON. */
function distributionOf({ bounds, counts, sum, exemplars }: Distribution) {
  const known = exemplars.flatMap((exemplar) => exemplar ?? [])
  return {
    count: String(counts.reduce((all, count) => all + count, 0)),
    sum,
    bucketCounts: counts.map(String),
    explicitBounds: bounds,
    ...(known.length > 0 && { exemplars: known.map(exemplarOf) }),
  }
}

function exemplarOf({ traceId, value, at }: Exemplar) {
  return { timeUnixNano: nanoOf(at), asDouble: value, traceId }
}
