// Prints a registry's readings for Prometheus: as plain text, or as OpenMetrics with the traces of its values.

import { parseAccept } from 'hono/utils/accept'
import type { Distribution, Exemplar, Reading } from './registry.ts'

interface Exposition {
  readonly contentType: string
  print(readings: readonly Reading[]): string
}

/** Source: prometheus.io, "Exposition formats", text format 0.0.4. */
const plainText: Exposition = {
  contentType: 'text/plain; version=0.0.4; charset=utf-8',
  print: (readings) => readings.map(plain).join(''),
}

/** Source: OpenMetrics 1.0, "Text format". */
const openMetrics: Exposition = {
  contentType: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
  print: (readings) => `${readings.map(open).join('')}# EOF\n`,
}

/** Plain text, unless the client's `accept` names OpenMetrics with at least the same weight. */
export function expositionFor(accept: string | null): Exposition {
  const asked = parseAccept(accept ?? '')
  const weightOf = (name: string) =>
    Math.max(0, ...asked.filter(({ type }) => type.toLowerCase() === name).map(({ q }) => q))
  const weight = weightOf('application/openmetrics-text')
  return weight > 0 && weight >= weightOf('text/plain') ? openMetrics : plainText
}

/** The readings with one more label on every series, before its own. */
export function labelled(readings: readonly Reading[], label: string, value: string): Reading[] {
  return readings.map((reading) => ({
    ...reading,
    labels: [label, ...reading.labels],
    series: reading.series.map((each) => ({ ...each, values: [value, ...each.values] })),
  }))
}

function plain(reading: Reading): string {
  const { name, help, type } = reading
  // In help texts the plain format does not escape quotes.
  const text = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
  return `# HELP ${name} ${text}\n# TYPE ${name} ${type}\n${samples(name, reading, plainBuckets)}`
}

function open(reading: Reading): string {
  const { name, help, type } = reading
  const family = type === 'counter' ? name.replace(/_total$/, '') : name
  const sample = type === 'counter' ? `${family}_total` : name
  const about = `# TYPE ${family} ${type}\n# HELP ${family} ${escaped(help)}\n`
  return about + samples(sample, reading, openBuckets)
}

interface Buckets {
  bound(value: number): string
  behind(exemplar: Exemplar | undefined): string
}

const plainBuckets: Buckets = { bound: number, behind: () => '' }
/** In OpenMetrics a bound is a float, even if it is whole, and times are in seconds. */
const openBuckets: Buckets = {
  bound: (value) => (Number.isInteger(value) ? `${value}.0` : number(value)),
  behind(exemplar) {
    if (exemplar === undefined) return ''
    const { traceId, value, at } = exemplar
    return ` # {trace_id="${traceId}"} ${number(value)} ${(at / 1_000).toFixed(3)}`
  },
}

function samples(name: string, { labels, series }: Reading, buckets: Buckets): string {
  return series
    .map(({ values, value }) => {
      const pairs = printLabels(labels, values)
      return typeof value === 'number'
        ? line(name, pairs, value)
        : printBuckets(name, pairs, value, buckets)
    })
    .join('')
}

function printBuckets(
  name: string,
  labels: string,
  { bounds, counts, sum, exemplars }: Distribution,
  { bound, behind }: Buckets,
): string {
  const before = labels === '' ? '' : `${labels},`
  let total = 0
  let text = ''
  for (const [index, count] of counts.entries()) {
    total += count
    const most = index < bounds.length ? bound(bounds[index] ?? 0) : '+Inf'
    text += line(`${name}_bucket`, `${before}le="${most}"`, total, behind(exemplars[index]))
  }
  return text + line(`${name}_sum`, labels, sum) + line(`${name}_count`, labels, total)
}

/** Prints `a="1",b="2"`, without braces. */
function printLabels(labels: readonly string[], values: readonly string[]): string {
  return labels.map((label, index) => `${label}="${escaped(values[index] ?? '')}"`).join(',')
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

function line(name: string, labels: string, value: number, behind = ''): string {
  const series = labels === '' ? name : `${name}{${labels}}`
  return `${series} ${number(value)}${behind}\n`
}

function number(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (Number.isFinite(value)) return String(value)
  return value > 0 ? '+Inf' : '-Inf'
}
