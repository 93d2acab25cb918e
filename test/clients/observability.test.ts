// Tests what operators see of clients' requests: health, metrics, ids that agree, and logs without secrets.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { hostname } from 'node:os'
import { formatUnits } from '../../src/money.ts'
import { authorized, eventually } from '../support/clients.ts'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'
import { parsePrometheus } from '../support/prometheus.ts'
import {
  chatReply,
  goodStream,
  hang,
  json,
  startUpstream,
  type Upstream,
} from '../support/upstream.ts'

const soundUsage = {
  prompt_tokens: 10,
  completion_tokens: 9,
  total_tokens: 19,
  prompt_tokens_details: { audio_tokens: 3 },
  completion_tokens_details: { audio_tokens: 4 },
}
let upstream: Upstream
let gateway: Gateway
const vendorKey = 'sk-vendor-key-0123456789abcdef'
const prompt = 'a very private prompt about xylophones'
const models = ['whole', 'stream', 'broken', 'stuck', 'long', 'sound']

beforeAll(async () => {
  upstream = await startUpstream()
  upstream.on('stream', goodStream('Hello', ' there'))
  upstream.on('stuck', [hang])
  upstream.on('long', goodStream(...Array.from({ length: 40 }, () => 'x'.repeat(1_000)), 'end'))
  upstream.on('sound', [json(200, chatReply('Hello', { usage: soundUsage }))])
  upstream.on('broken', [
    json(500, { error: { message: `failed with key ${vendorKey} on ${'x'.repeat(10)}` } }),
  ])
  gateway = await startGateway({
    env: { LOG_LEVEL: 'info' },
    config: {
      server: { metricsToken: 'metrics-token-0123456789' },
      channels: [{ id: 'main', vendor: 'openai', baseUrl: upstream.url, key: vendorKey, models }],
      accounts: { poor: {}, small: { credit: '0.003' } },
      keys: [
        { name: 'test', secret: testKey },
        { name: 'poor', account: 'poor', secret: 'sk-poor-0123456789' },
        { name: 'small', account: 'small', secret: 'sk-small-0123456789' },
        { name: 'narrow', secret: 'sk-narrow-0123456789', limits: { requestsPerMinute: 1 } },
      ],
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})

function body(model: string, stream = false) {
  return { model, stream, messages: [{ role: 'user', content: prompt }] }
}

function lines(): Record<string, unknown>[] {
  return gateway.stderr
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

async function value(name: string, labels: Record<string, string> = {}): Promise<number> {
  const samples = parsePrometheus(await gateway.metrics())
  return samples
    .filter(
      (sample) =>
        sample.name === name &&
        Object.entries(labels).every(([label, wanted]) => sample.labels[label] === wanted),
    )
    .reduce((sum, sample) => sum + sample.value, 0)
}

describe('health', () => {
  test.each(['/healthz', '/readyz', '/health'])('%s', async (path) => {
    const reply = await fetch(gateway.url + path)
    expect(reply.status).toBe(200)
    expect(reply.headers.get('content-type')).toBe('application/json')
    expect(await reply.json()).toMatchObject({ status: 'ok' })
    const head = await fetch(gateway.url + path, { method: 'HEAD' })
    expect(head.status).toBe(200)
    expect((await fetch(gateway.url + path, { method: 'POST' })).status).toBe(405)
  })
})

describe('metrics', () => {
  test('tokens of sound have kinds of their own', async () => {
    expect((await gateway.post('/v1/chat/completions', body('sound'))).status).toBe(200)
    const kinds = { input: 7, audio_input: 3, output: 5, audio_output: 4 }
    for (const [kind, tokens] of Object.entries(kinds))
      expect(await value('tollgate_tokens_total', { model: 'sound', kind })).toBe(tokens)
  })

  test('a stream that the gateway ends for want of money counts as its own', async () => {
    const reply = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-small-0123456789', 'content-type': 'application/json' },
      body: JSON.stringify(body('long', true)),
    })
    expect(await reply.text()).toContain('insufficient_quota')
    await eventually(
      async () =>
        (await value('tollgate_stream_aborts_total', { by: 'gateway' })) === 1 || undefined,
    )
    expect(await value('tollgate_stream_aborts_total', { by: 'upstream' })).toBe(0)
  })

  test('for this machine or the token, nobody else', async () => {
    const from = { 'x-forwarded-for': '203.0.113.7' }
    const get = (headers: Record<string, string>) => fetch(`${gateway.url}/metrics`, { headers })
    expect((await get({})).headers.get('content-type')).toStartWith('text/plain; version=0.0.4')
    expect((await get(from)).status).toBe(401)
    expect((await get({ ...from, ...authorized() })).status).toBe(401)
    const token = { authorization: 'Bearer metrics-token-0123456789' }
    expect((await get({ ...from, ...token })).status).toBe(200)
    expect((await get({ ...from, authorization: `${token.authorization}x` })).status).toBe(401)
    const lower = token.authorization.replace('Bearer', 'bearer')
    expect((await get({ ...from, authorization: lower })).status).toBe(200)
  })

  test('counters move by what happened', async () => {
    const route = { route: '/chat/completions' }
    const before = {
      ok: await value('tollgate_http_requests_total', { ...route, code: '200' }),
      failed: await value('tollgate_http_requests_total', { ...route, code: '500' }),
      attempts: await value('tollgate_upstream_attempts_total', { outcome: 'ok' }),
      input: await value('tollgate_tokens_total', { kind: 'input' }),
      output: await value('tollgate_tokens_total', { kind: 'output' }),
      first: await value('tollgate_time_to_first_token_seconds_count'),
      charged: await value('tollgate_charged_units_total'),
      vendorCost: await value('tollgate_vendor_cost_units_total'),
    }
    await (await gateway.post('/v1/chat/completions', body('whole'))).text()
    await (await gateway.post('/v1/chat/completions', body('stream', true))).text()
    await (await gateway.post('/v1/chat/completions', body('broken'))).text()
    expect(await value('tollgate_http_requests_total', { ...route, code: '200' })).toBe(
      before.ok + 2,
    )
    expect(await value('tollgate_http_requests_total', { ...route, code: '500' })).toBe(
      before.failed + 1,
    )
    expect(await value('tollgate_upstream_attempts_total', { outcome: 'ok' })).toBe(
      before.attempts + 2,
    )
    expect(
      await value('tollgate_upstream_attempts_total', { outcome: 'vendor_error' }),
    ).toBeGreaterThan(0)
    expect(await value('tollgate_tokens_total', { kind: 'input' })).toBe(before.input + 14)
    expect(await value('tollgate_tokens_total', { kind: 'output' })).toBe(before.output + 10)
    expect(await value('tollgate_time_to_first_token_seconds_count')).toBeGreaterThan(before.first)
    // 14 tokens of the prompts at 1, 10 of the replies at 2, per million.
    expect(await value('tollgate_vendor_cost_units_total')).toBeCloseTo(
      before.vendorCost + 0.000034,
      9,
    )
    await eventually(async () =>
      (await value('tollgate_charged_units_total')) > before.charged ? true : undefined,
    )
    expect(await value('tollgate_leased_units')).toBeGreaterThan(0)
  })

  test('requests under way are shown, and none when all are done', async () => {
    const leave = new AbortController()
    const before = upstream.requests.length
    const running = gateway.post('/v1/chat/completions', body('stuck'), { signal: leave.signal })
    await upstream.arrived(before + 1)
    expect(await value('tollgate_requests_in_flight')).toBe(1)
    leave.abort()
    await Promise.allSettled([running])
    await eventually(async () =>
      (await value('tollgate_requests_in_flight')) === 0 ? true : undefined,
    )
  })

  test('refusals by a limit are counted', async () => {
    const call = () =>
      gateway.post('/v1/chat/completions', body('whole'), {
        headers: { authorization: 'Bearer sk-narrow-0123456789' },
      })
    await call()
    expect((await call()).status).toBe(429)
    expect(await value('tollgate_rate_limited_total', { scope: 'key', kind: 'requests' })).toBe(1)
  })

  test('refusals for want of credit are counted', async () => {
    const headers = { authorization: 'Bearer sk-poor-0123456789' }
    const reply = await gateway.post('/v1/chat/completions', body('whole'), { headers })
    expect([reply.status, (await reply.json()).error.code]).toEqual([429, 'insufficient_quota'])
    expect(await value('tollgate_balance_rejections_total')).toBe(1)
  })

  test('no label holds a key, an account or a prompt', async () => {
    const text = await gateway.metrics()
    for (const secret of [testKey, vendorKey, 'xylophone', '0123456789']) {
      expect(text).not.toContain(secret)
    }
  })
})

describe('a request', () => {
  test.each([
    ['whole', false, 200],
    ['stream', true, 200],
    ['broken', false, 500],
    ['no-such-model', false, 404],
  ] as const)(
    '%s has one id: in its reply, its record and its log line',
    async (model, stream, status) => {
      const reply = await gateway.post('/v1/chat/completions', body(model, stream))
      await reply.text()
      expect(reply.status).toBe(status)
      const id = reply.headers.get('x-request-id') ?? ''
      const row = await gateway.row(id)
      expect(row).toMatchObject({
        requestId: id,
        status,
        modelAsked: model,
        keyName: 'test',
        stream,
      })
      const line = await eventually(() =>
        lines().find((each) => each['request_id'] === id && each['msg'] === 'request'),
      )
      expect(line['status']).toBe(status)
      expect(line['model']).toBe(model)
      expect(line['node']).toBe(hostname())
      expect([line['group'], line['vendor']]).toEqual([row.group, row.vendor])
      expect(line['cost']).toBe(formatUnits(row.chargeNano))
      expect(Number(reply.headers.get('openai-processing-ms'))).toBeGreaterThanOrEqual(0)
      expect(reply.headers.get('openai-processing-ms')).toMatch(/^\d+$/)
    },
  )

  test('server-timing splits the time between the gateway and the vendor', async () => {
    const reply = await gateway.post('/v1/chat/completions', body('whole'))
    const timing = reply.headers.get('server-timing') ?? ''
    const [, ours, theirs] = /^gateway;dur=([\d.]+), vendor;dur=([\d.]+)$/.exec(timing) ?? []
    expect(Number(ours)).toBeLessThan(50)
    expect(Number(theirs)).toBeGreaterThan(0)
  })

  test('nobody but the record: nothing of the vendor reaches the client', async () => {
    const reply = await gateway.post('/v1/chat/completions', body('broken'))
    const text = (await reply.text()) + JSON.stringify([...reply.headers])
    expect(text).not.toContain(vendorKey)
    expect(text).not.toContain('127.0.0.1')
  })
})

test('the log holds no key and no prompt, and every line is JSON', async () => {
  const wrong = 'sk-wrong-0123456789abcdefghij'
  await gateway.post('/v1/chat/completions', body('whole'), {
    headers: { authorization: `Bearer ${wrong}` },
  })
  await gateway.post('/v1/chat/completions', '{"model":"whole","messages":"xylophones"}')
  const reply = await gateway.post('/v1/chat/completions', body('broken'))
  const id = reply.headers.get('x-request-id')
  await eventually(() =>
    lines().find((line) => line['request_id'] === id && line['msg'] === 'request'),
  )
  for (const secret of [testKey, vendorKey, wrong, 'xylophone']) {
    expect(gateway.stderr).not.toContain(secret)
  }
  expect(
    lines().every((line) => typeof line['ts'] === 'string' && typeof line['level'] === 'string'),
  ).toBeTrue()
})
