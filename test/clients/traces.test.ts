// Tests traces as a collector gets them: one span for each request and attempt, joined to the client's trace, without
// delaying requests.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eventually } from '../support/clients.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { parsePrometheus } from '../support/prometheus.ts'
import { goodStream, json, startUpstream, type Upstream } from '../support/upstream.ts'

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly { readonly key: string; readonly value: object }[]
  readonly status: { readonly code: number }
}

const spans: Span[] = []
const asked: { readonly path: string; readonly header: string | null }[] = []
const texts: string[] = []
let collectorStatus = 200
const collector = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const text = await request.text()
    asked.push({ path: new URL(request.url).pathname, header: request.headers.get('x-collector') })
    texts.push(text)
    const { resourceSpans } = JSON.parse(text) as {
      resourceSpans: { scopeSpans: { spans: Span[] }[] }[]
    }
    if (collectorStatus === 200)
      spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((s) => s.spans)))
    return Response.json({}, { status: collectorStatus })
  },
})

let upstream: Upstream
let gateway: Gateway
const prompt = 'a private prompt about xylophones'

beforeAll(async () => {
  upstream = await startUpstream()
  upstream.on('stream', goodStream('Hello', ' there'))
  upstream.on('second', [json(500, { error: { message: 'no' } })], goodStream('Hello'))
  const channel = { vendor: 'openai', baseUrl: upstream.url, key: 'sk-vendor-0123456789' }
  const models = ['stream', 'second', 'whole']
  gateway = await startGateway({
    env: {
      LOG_LEVEL: 'info',
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_EXPORTER_OTLP_HEADERS: 'X-Collector=a%20key',
    },
    config: {
      telemetry: { otlp: { endpoint: `http://127.0.0.1:${collector.port}/` } },
      channels: [
        { id: 'one', ...channel, models },
        { id: 'two', ...channel, models },
      ],
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.close()
  await collector.stop(true)
})

async function call(model: string, headers: Readonly<Record<string, string>> = {}) {
  const messages = [{ role: 'user', content: prompt }]
  const body = { model, stream: true, messages }
  const reply = await gateway.post('/v1/chat/completions', body, { headers })
  await reply.text()
  return gateway.row(reply.headers.get('x-request-id') ?? '')
}

function of(traceId: string, count: number): Promise<readonly Span[]> {
  return eventually(() => {
    const found = spans.filter((span) => span.traceId === traceId)
    return found.length >= count ? found : undefined
  })
}

function attributes(span: Span | undefined): Record<string, unknown> {
  const pairs = (span?.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]])
  return Object.fromEntries(pairs) as Record<string, unknown>
}

test("a request goes on with its client's trace, and has a span for the attempt below it", async () => {
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  const row = await call('stream', { traceparent: `00-${traceId}-00f067aa0ba902b7-01` })
  const [request, attempt, ...more] = await of(traceId, 2)
  expect(more).toEqual([])
  expect(request).toMatchObject({
    parentSpanId: '00f067aa0ba902b7',
    name: 'chat stream',
    kind: 2,
    startTimeUnixNano: `${row.at}000000`,
    endTimeUnixNano: `${row.at + row.durationMs}000000`,
    status: { code: 0 },
  })
  expect(request?.spanId).toMatch(/^[0-9a-f]{16}$/)
  expect(attempt).toMatchObject({ parentSpanId: request?.spanId ?? '', kind: 3 })
  expect(attributes(request)).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.system': 'openai',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'stream',
    'gen_ai.usage.input_tokens': String(row.input),
    'gen_ai.usage.output_tokens': String(row.output),
    'gen_ai.response.finish_reasons': { values: [{ stringValue: 'stop' }] },
    'http.response.status_code': '200',
    'tollgate.request_id': row.requestId,
    'tollgate.group': row.group,
    'tollgate.channel': row.channel,
  })
  expect(asked[0]).toEqual({ path: '/v1/traces', header: 'a key' })
})

test('each failed attempt has a span, and a request without a trace is named after its id', async () => {
  const row = await call('second')
  const traceId = row.requestId.slice(4).padEnd(32, '0')
  const [request, failed, last] = await of(traceId, 3)
  expect(traceId).toMatch(/^[0-9a-f]{32}$/)
  expect(request?.parentSpanId).toBeUndefined()
  expect(attributes(failed)).toMatchObject({
    'error.type': 'vendor_error',
    'http.response.status_code': '500',
    'tollgate.then': 'next_channel',
  })
  expect([failed?.status.code, last?.status.code]).toEqual([2, 0])
  expect(BigInt(last?.startTimeUnixNano ?? 0)).toBeGreaterThanOrEqual(
    BigInt(failed?.startTimeUnixNano ?? 0),
  )
  await gateway.logged(`"trace_id":"${traceId}"`)
})

test('what a client does not sample has no spans, and no message is ever told', async () => {
  const unsampled = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'
  await call('stream', { traceparent: `00-${unsampled}-00f067aa0ba902b7-00` })
  const row = await call('stream')
  await of(row.requestId.slice(4).padEnd(32, '0'), 2)
  expect(texts.join('')).not.toContain(unsampled)
  expect(texts.join('')).not.toContain('xylophones')
  expect(texts.join('')).not.toContain('Hello')
})

test('a collector that refuses costs its spans alone: they are counted, and requests are served', async () => {
  const value = async (name: string) =>
    parsePrometheus(await gateway.metrics()).find((sample) => sample.name === name)?.value ?? 0
  expect(await value('tollgate_traces_sent_total')).toBeGreaterThan(0)
  const before = await value('tollgate_traces_dropped_total')
  collectorStatus = 503
  expect((await call('stream')).status).toBe(200)
  await eventually(async () =>
    (await value('tollgate_traces_dropped_total')) === before + 1 ? true : undefined,
  )
  await gateway.logged('it answered 503')
})

test('what waits is sent as the server stops', async () => {
  collectorStatus = 200
  const row = await call('stream')
  expect(await gateway.stop()).toBe(0)
  expect(spans.filter(({ traceId }) => traceId === `${row.requestId.slice(4)}0000`)).toHaveLength(2)
})
