// Tests metrics as an OpenTelemetry collector gets them: requests by the conventions' names, old and new, and
// Tollgate's own.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eventually } from '../support/clients.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { goodStream, startUpstream, type Upstream } from '../support/upstream.ts'

interface Point {
  readonly attributes: readonly { key: string; value: { stringValue: string } }[]
  readonly asDouble?: number
  readonly count?: string
  readonly sum?: number
  readonly bucketCounts?: readonly string[]
  readonly explicitBounds?: readonly number[]
  readonly exemplars?: readonly { traceId: string; asDouble: number }[]
}
type Points = { readonly dataPoints: readonly Point[]; readonly isMonotonic?: boolean }
interface Metric {
  readonly name: string
  readonly unit: string
  readonly sum?: Points
  readonly gauge?: Points
  readonly histogram?: Points
}
interface Message {
  readonly resourceMetrics: readonly {
    readonly resource: { readonly attributes: Point['attributes'] }
    readonly scopeMetrics: readonly { readonly metrics: readonly Metric[] }[]
  }[]
}

let upstream: Upstream
const asked: { readonly path: string; readonly text: string }[] = []
let status = 200
const collector = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    asked.push({ path: new URL(request.url).pathname, text: await request.text() })
    return Response.json({}, { status })
  },
})

beforeAll(async () => {
  upstream = await startUpstream()
  upstream.on('stream', goodStream('Hello', ' there'))
})
afterAll(async () => {
  await upstream.close()
  await collector.stop(true)
})

function started(env: Readonly<Record<string, string>>): Promise<Gateway> {
  asked.length = 0
  const channel = { vendor: 'mistral', baseUrl: upstream.url, key: 'sk-vendor-0123456789' }
  return startGateway({
    env: { OTEL_METRIC_EXPORT_INTERVAL: '100', ...env },
    config: {
      telemetry: { otlp: { endpoint: `http://127.0.0.1:${collector.port}` } },
      channels: [{ id: 'one', ...channel, models: ['stream'] }],
    },
  })
}

async function call(gateway: Gateway) {
  const messages = [{ role: 'user', content: 'a private prompt' }]
  const reply = await gateway.post('/v1/chat/completions', {
    model: 'stream',
    stream: true,
    messages,
  })
  await reply.text()
  return gateway.row(reply.headers.get('x-request-id') ?? '')
}

function newest(): ReadonlyMap<string, Metric> {
  const last = asked.filter(({ path }) => path === '/v1/metrics').at(-1)
  if (last === undefined) return new Map()
  const { resourceMetrics } = JSON.parse(last.text) as Message
  const all = resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((s) => s.metrics))
  return new Map(all.map((metric) => [metric.name, metric]))
}

function named(name: string): Promise<Metric> {
  return eventually(() => newest().get(name))
}

const attributes = ({ attributes }: Pick<Point, 'attributes'>) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue]))

test('a request is in the histograms that are widely read, with its trace, beside our own metrics', async () => {
  const gateway = await started({
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=a%20test,service.namespace=models,odd',
  })
  try {
    const row = await call(gateway)
    const { unit, histogram } = await named('gen_ai.client.operation.duration')
    const [point] = histogram?.dataPoints ?? []
    expect(unit).toBe('s')
    expect(attributes(point as Point)).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'mistral_ai',
      'gen_ai.system': 'mistral_ai',
      'gen_ai.request.model': 'stream',
      'gen_ai.response.model': row.modelServed ?? '',
    })
    expect(point?.count).toBe('1')
    expect(point?.bucketCounts).toHaveLength((point?.explicitBounds?.length ?? 0) + 1)
    expect(point?.bucketCounts?.filter((count) => count === '1')).toHaveLength(1)
    expect(point?.exemplars?.[0]?.traceId).toBe(row.requestId.slice(4).padEnd(32, '0'))
    expect(point?.exemplars?.[0]?.asDouble).toBe(point?.sum)
    const used = (await named('gen_ai.client.token.usage')).histogram?.dataPoints ?? []
    expect(used.map((each) => [attributes(each)['gen_ai.token.type'], each.sum])).toEqual([
      ['input', row.input],
      ['output', row.output],
    ])
    expect((await named('gen_ai.server.request.duration')).histogram?.dataPoints).toHaveLength(1)
    const requests = (await named('tollgate_http_requests_total')).sum
    expect(requests?.isMonotonic).toBeTrue()
    expect(requests?.dataPoints.map(({ asDouble }) => asDouble)).toEqual([1])
    expect((await named('tollgate_admission_open')).gauge?.dataPoints[0]?.asDouble).toBe(1)
    const { resourceMetrics } = JSON.parse(asked.at(-1)?.text ?? '') as Message
    expect(attributes(resourceMetrics[0]?.resource as Point)).toMatchObject({
      'service.name': 'tollgate',
      'deployment.environment.name': 'a test',
      'service.namespace': 'models',
    })
    expect(asked.map(({ text }) => text).join('')).not.toContain('private prompt')
  } finally {
    await gateway.stop()
  }
})

test('/metrics has the trace of the last request of a bucket for who reads OpenMetrics', async () => {
  const gateway = await started({})
  try {
    const row = await call(gateway)
    const read = async (accept: string) => {
      const reply = await fetch(`${gateway.url}/metrics`, { headers: { accept } })
      return { type: reply.headers.get('content-type'), text: await reply.text() }
    }
    const open = await read('application/openmetrics-text;version=1.0.0;q=0.5,*/*;q=0.1')
    expect(open.type).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8')
    expect(open.text).toEndWith('\n# EOF\n')
    const traced = open.text.split('\n').filter((line) => line.includes(' # {'))
    const traceId = row.requestId.slice(4).padEnd(32, '0')
    const families = traced.map((line) => line.slice(0, line.indexOf('_bucket{')))
    expect(families.toSorted()).toEqual([
      'tollgate_http_request_duration_seconds',
      'tollgate_time_to_first_token_seconds',
      'tollgate_upstream_duration_seconds',
    ])
    for (const line of traced) expect(line).toContain(` # {trace_id="${traceId}"} 0.`)
    const plain = await read('text/plain')
    expect(plain.type).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(plain.text).not.toContain(traceId)
  } finally {
    await gateway.stop()
  }
})

test('the newest names are there where they are asked for, and traces may be off', async () => {
  const gateway = await started({
    OTEL_SEMCONV_STABILITY_OPT_IN: 'http, gen_ai_latest_experimental',
    OTEL_TRACES_EXPORTER: 'none',
  })
  try {
    const row = await call(gateway)
    const [point] = (await named('gen_ai.client.inference.duration')).histogram?.dataPoints ?? []
    expect(point?.count).toBe('1')
    expect(point?.exemplars).toBeUndefined()
    const output = (await named('gen_ai.client.inference.usage.output_tokens')).sum?.dataPoints
    expect(
      output?.map((each) => [attributes(each)['gen_ai.token.modality'], each.asDouble]),
    ).toEqual([['text', row.output]])
    expect(newest().has('gen_ai.client.operation.duration')).toBeFalse()
    expect(asked.filter(({ path }) => path === '/v1/traces')).toEqual([])
  } finally {
    await gateway.stop()
  }
})

test('what a collector does not take is told once, and the last state is sent as the server stops', async () => {
  status = 503
  const gateway = await started({ OTEL_METRIC_EXPORT_INTERVAL: '3600000' })
  try {
    await call(gateway)
    expect(asked.filter(({ path }) => path === '/v1/metrics')).toEqual([])
  } finally {
    expect(await gateway.stop()).toBe(0)
  }
  status = 200
  const [point] = newest().get('gen_ai.server.request.duration')?.histogram?.dataPoints ?? []
  expect(point?.count).toBe('1')
  expect(gateway.stderr).toContain('did not take metrics')
})

test('without an exporter of metrics none are sent', async () => {
  const gateway = await started({ OTEL_METRICS_EXPORTER: 'none' })
  try {
    await call(gateway)
    await eventually(() => asked.find(({ path }) => path === '/v1/traces'))
  } finally {
    await gateway.stop()
  }
  expect(asked.filter(({ path }) => path === '/v1/metrics')).toEqual([])
})
