// Tests the exposition with a separate strict parser, and compares it with the table of metrics in the docs.

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expositionFor } from './exposition.ts'
import type { MetricSources } from './metrics.ts'
import { createMetrics } from './metrics.ts'
import { createRegistry, type Registry } from './registry.ts'

interface Read {
  readonly type: string
  readonly help: string
  readonly samples: { name: string; labels: Record<string, string>; value: number }[]
}

const printed = (registry: Registry) => expositionFor(null).print(registry.readings())

const unescape = (text: string) => text.replace(/\\(.)/g, (_, c) => (c === 'n' ? '\n' : c))

/** Exposition format 0.0.4: throws on anything that the format does not allow. */
function parse(text: string): Map<string, Read> {
  const families = new Map<string, Read>()
  if (!text.endsWith('\n')) throw new Error('does not end in a line feed')
  let help: [string, string] | null = null
  let current = ''
  const seen = new Set<string>()
  for (const line of text.slice(0, -1).split('\n')) {
    const helped = /^# HELP ([a-zA-Z_:][\w:]*) ((?:[^\\]|\\\\|\\n)*)$/.exec(line)
    const typed = /^# TYPE ([a-zA-Z_:][\w:]*) (counter|gauge|histogram)$/.exec(line)
    const sample =
      /^([a-zA-Z_:][\w:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)+)\})? (NaN|[+-]Inf|[-+.\deE]+)$/.exec(
        line,
      )
    if (helped?.[1] !== undefined) help = [helped[1], unescape(helped[2] ?? '')]
    else if (typed?.[1] !== undefined) {
      current = typed[1]
      if (help?.[0] !== current) throw new Error(`TYPE without HELP: ${line}`)
      if (families.has(current)) throw new Error(`twice: ${current}`)
      families.set(current, { type: typed[2] ?? '', help: help[1], samples: [] })
    } else if (sample?.[1] !== undefined) {
      const family = families.get(current)
      const name = sample[1]
      const suffixes = family?.type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
      if (!suffixes.some((suffix) => name === current + suffix))
        throw new Error(`sample of no family: ${line}`)
      const labels: Record<string, string> = {}
      for (const [, label = '', value = ''] of (sample[2] ?? '').matchAll(
        /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g,
      )) {
        if (Object.hasOwn(labels, label)) throw new Error(`label twice: ${line}`)
        Object.defineProperty(labels, label, { value: unescape(value), enumerable: true })
      }
      const key = line.slice(0, line.lastIndexOf(' '))
      if (seen.has(key)) throw new Error(`series twice: ${line}`)
      seen.add(key)
      const value =
        sample[3] === '+Inf' ? Infinity : sample[3] === '-Inf' ? -Infinity : Number(sample[3])
      family?.samples.push({ name, labels, value })
    } else throw new Error(`not of the format: ${line}`)
  }
  return families
}

const sources: MetricSources = {
  channelStates: () => [
    ['main', 0],
    ['odd "name"\n\\', 3],
  ],
  ledger: () => ({
    unsettled: 7,
    finished: 12,
    accounted: 4,
    missing: 1,
    oldestUnsettledMs: 1_500,
    heldUnits: 0.25,
    leasedUnits: 1.5,
    chargedUnits: 2.75,
    writtenOffUnits: 0,
    setAside: 0,
    open: true,
  }),
  logPending: () => 0,
  logDropped: () => 2,
  loopLagMs: () => 12,
  limitsShared: () => true,
  priceConflicts: () => 0,
  traces: { sent: 0, dropped: 0 },
  offloading: { archiveFailingSince: null, exports: [] },
  history: { reading: { queueBytes: 0, dropped: 0, diskBytes: 0 } },
}
const create = () => createMetrics({ version: '0.1.0', runtime: 'bun', sources })

test('every metric is in the docs, and the docs name no other', () => {
  const page = readFileSync(join(import.meta.dir, '../../docs/metrics.md'), 'utf8')
  const listed = [...page.matchAll(/^\| `([a-z_]+)(?:\{([a-z, ]+)\})?` \| (\w+) \|/gm)]
  const metrics = create()
  expect(listed.map((row) => row[1] ?? '').sort()).toEqual([...metrics.registry.names].sort())
  const families = parse(printed(metrics.registry))
  for (const [, name = '', , type] of listed)
    expect([name, families.get(name)?.type]).toEqual([name, type])
})

test('what is counted is what is printed', () => {
  const metrics = create()
  metrics.httpRequests.with('/v1/chat/completions', 'POST', '200').inc()
  metrics.httpRequests.with('/v1/chat/completions', 'POST', '200').inc(2)
  metrics.httpRequests.with('/v1/chat/completions', 'POST', '200').inc(-5)
  const inFlight = metrics.requestsInFlight.with('/v1/models')
  inFlight.add(3)
  inFlight.add(-1)
  for (const value of [0.01, 0.3, 700])
    metrics.timeToFirstToken.with('openai', 'gpt').observe(value)
  const read = parse(printed(metrics.registry))
  expect(read.get('tollgate_http_requests_total')?.samples).toEqual([
    {
      name: 'tollgate_http_requests_total',
      labels: { route: '/v1/chat/completions', method: 'POST', code: '200' },
      value: 3,
    },
  ])
  expect(read.get('tollgate_requests_in_flight')?.samples[0]?.value).toBe(2)
  const first = read.get('tollgate_time_to_first_token_seconds')?.samples ?? []
  const bucket = (le: string) => first.find((each) => each.labels.le === le)?.value
  expect([
    bucket('0.005'),
    bucket('0.01'),
    bucket('0.25'),
    bucket('0.5'),
    bucket('600'),
    bucket('+Inf'),
  ]).toEqual([0, 1, 1, 2, 2, 3])
  expect(first.at(-1)).toMatchObject({
    name: 'tollgate_time_to_first_token_seconds_count',
    value: 3,
  })
  expect(first.at(-2)?.value).toBeCloseTo(700.31)
  expect(read.get('tollgate_channel_state')?.samples.map((each) => each.labels.channel)).toEqual([
    'main',
    'odd "name"\n\\',
  ])
  expect(read.get('tollgate_event_loop_lag_seconds')?.samples[0]?.value).toBe(0.012)
  expect(read.get('process_resident_memory_bytes')?.samples[0]?.value).toBeGreaterThan(1e6)
  const started = read.get('process_start_time_seconds')?.samples[0]?.value ?? 0
  expect(Math.abs(started - (Date.now() / 1_000 - process.uptime()))).toBeLessThan(1)
})

test('any label value and any help comes back as it went in', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 20 }),
      fc.string(),
      (values, help) => {
        const registry = createRegistry()
        const family = registry.counter({ name: 'x_total', help, labels: ['a'] })
        for (const [index, value] of values.entries()) family.with(value).inc(index + 1)
        const read = parse(printed(registry)).get('x_total')
        expect(read?.help).toBe(help)
        expect(read?.samples.map((each) => [each.labels.a, each.value])).toEqual(
          values.map((value, index) => [value, index + 1]),
        )
      },
    ),
  )
})

test('buckets are cumulative and end in the count', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: -1, max: 12, noNaN: true })), (values) => {
      const registry = createRegistry()
      const histogram = registry.histogram({ name: 'h', help: 'h' }, [1, 2, 5, 10]).with()
      for (const value of values) histogram.observe(value)
      histogram.observe(Number.NaN)
      const samples = parse(printed(registry)).get('h')?.samples ?? []
      for (const { labels, value } of samples.filter((each) => each.labels.le !== undefined)) {
        const bound = labels.le === '+Inf' ? Infinity : Number(labels.le)
        expect(value).toBe(values.filter((each) => each <= bound).length)
      }
      expect(samples.at(-1)?.value).toBe(values.length)
    }),
  )
})

test('labels without end are counted together', () => {
  const registry = createRegistry()
  const family = registry.counter({
    name: 'x_total',
    help: 'x',
    labels: ['model', 'kind'],
    maxChildren: 10,
  })
  for (let n = 0; n < 1_000; n += 1) family.with(`m${n}`, 'input').inc()
  family.with('m3', 'input').inc()
  const samples = parse(printed(registry)).get('x_total')?.samples ?? []
  expect(samples.length).toBe(11)
  expect(samples.find((each) => each.labels.model === 'other')).toMatchObject({
    labels: { kind: 'other' },
    value: 990,
  })
  expect(samples.find((each) => each.labels.model === 'm3')?.value).toBe(2)
})

test('mistakes in a definition are refused at once', () => {
  const registry = createRegistry()
  registry.gauge({ name: 'a', help: '' })
  expect(() => registry.counter({ name: 'a', help: '' })).toThrow('twice')
  expect(() => registry.gauge({ name: 'a-b', help: '' })).toThrow('bad metric name')
  expect(() => registry.gauge({ name: 'b', help: '', labels: ['__x'] })).toThrow('bad label')
  expect(() => registry.histogram({ name: 'c', help: '' }, [2, 1])).toThrow('ascend')
  expect(() => registry.gauge({ name: 'd', help: '', labels: ['x'] }).with()).toThrow('1 labels')
})
