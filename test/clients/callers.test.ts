// Tests what is known of a request's sender: it is kept in its record and the log, and never used as an id of the
// gateway.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { authorized } from '../support/clients.ts'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'
import { postJson } from '../support/requests.ts'
import { chatReply, json, startUpstream, type Upstream } from '../support/upstream.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`
const limitedKey = 'sk-limited-0123456789abcdef'
const chat = '/v1/chat/completions'
const body = (model: string) => ({ model, messages: [{ role: 'user', content: 'Hello' }] })

let upstream: Upstream
let gateway: Gateway

beforeAll(async () => {
  upstream = await startUpstream()
  for (const model of ['quiet', 'told', 'translated'])
    upstream.on(model, [json(200, chatReply('well'))])
  const channel = (model: string, more: object = {}) => ({
    id: model,
    vendor: 'openai',
    baseUrl: upstream.url,
    key: 'sk-up',
    models: [model],
    ...more,
  })
  gateway = await startGateway({
    env: { LOG_LEVEL: 'info' },
    config: {
      server: { trustedProxies: ['127.0.0.0/8'] },
      channels: [
        channel('quiet'),
        channel('told', { passTrace: true }),
        channel('translated', { passTrace: true, dialect: 'openai-chat' }),
      ],
      keys: [
        { name: 'test', secret: testKey },
        { name: 'limited', secret: limitedKey, limits: { requestsPerMinute: 1 } },
      ],
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})

function ask(model: string, headers: Record<string, string>, key = testKey): Promise<Response> {
  return postJson(gateway.url + chat, body(model), { ...authorized(key), ...headers })
}

interface Line {
  readonly [name: string]: unknown
}

/** The log's lines with this text about a request. */
async function linesOf(requestId: string): Promise<readonly Line[]> {
  await gateway.logged(requestId)
  const lines = gateway.stderr.split('\n').filter((line) => line.includes(requestId))
  return lines.map((line) => JSON.parse(line) as Line)
}

describe('a record', () => {
  test("has the address, the client's own id and the trace; the reply gives the id back beside ours", async () => {
    const reply = await ask('quiet', {
      'x-forwarded-for': '6.6.6.6, 198.51.100.7',
      'x-request-id': 'order-17',
      traceparent,
    })
    const requestId = reply.headers.get('x-request-id') ?? ''
    expect(requestId).toMatch(/^req_[0-9a-f]{28}$/)
    expect(reply.headers.get('x-client-request-id')).toBe('order-17')
    const known = { clientAddress: '198.51.100.7', clientRequestId: 'order-17', traceId }
    expect(await gateway.row(requestId)).toMatchObject(known)
    const mine = await fetch(`${gateway.url}/api/me/usage/${requestId}`, { headers: authorized() })
    expect(await mine.json()).toMatchObject(known)
    const [line] = await linesOf(requestId)
    expect(line).toMatchObject({
      msg: 'request',
      client_address: '198.51.100.7',
      client_request_id: 'order-17',
      trace_id: traceId,
    })
  })

  test('of a request that says nothing has its address alone', async () => {
    const reply = await ask('quiet', {})
    const requestId = reply.headers.get('x-request-id') ?? ''
    expect(reply.headers.has('x-client-request-id')).toBeFalse()
    const row = await gateway.row(requestId)
    expect(row).toMatchObject({ clientAddress: '127.0.0.1', clientRequestId: null, traceId: null })
    const [line] = await linesOf(requestId)
    expect(line).not.toHaveProperty('client_request_id')
  })

  test("is never another's: a client that repeats an id, of its own or of the gateway, is charged for each", async () => {
    const first = await ask('quiet', {})
    const taken = first.headers.get('x-request-id') ?? ''
    const forged = await Promise.all([1, 2, 3].map(() => ask('quiet', { 'x-request-id': taken })))
    const ids = forged.map(({ headers }) => headers.get('x-request-id') ?? '')
    expect(new Set([taken, ...ids]).size).toBe(4)
    for (const id of ids) {
      const { chargeNano, clientRequestId } = await gateway.row(id)
      expect([clientRequestId, chargeNano > 0n]).toEqual([taken, true])
    }
    expect((await gateway.row(taken)).clientRequestId).toBeNull()
  })

  test("of a client's id that could be more than an id there is none, and the log stays JSON", async () => {
    for (const odd of ['"},{"a":"b" c', 'x'.repeat(600)]) {
      const reply = await ask('quiet', { 'x-request-id': odd })
      expect(reply.status).toBe(200)
      expect(reply.headers.has('x-client-request-id')).toBeFalse()
    }
    const reply = await ask('quiet', { 'x-request-id': '"}\\u0000{"sk-proj-abcdefghijkl":1}' })
    const [line] = await linesOf(reply.headers.get('x-request-id') ?? '')
    expect(line?.['client_request_id']).toBe('"}\\u0000{"[redacted]":1}')
  })

  test('of a request refused by a limit names its model', async () => {
    await ask('quiet', {}, limitedKey)
    const reply = await ask('quiet', {}, limitedKey)
    expect(reply.status).toBe(429)
    const requestId = reply.headers.get('x-request-id') ?? ''
    const row = await gateway.row(requestId)
    expect(row).toMatchObject({ modelAsked: 'quiet', status: 429, clientAddress: '127.0.0.1' })
    const [line] = await linesOf(requestId)
    expect(line).toMatchObject({ model: 'quiet', status: 429 })
  })

  test('of one that is no JSON has none, and is refused by the limit all the same', async () => {
    const reply = await postJson(gateway.url + chat, '{"model":', authorized(limitedKey))
    expect(reply.status).toBe(429)
    const row = await gateway.row(reply.headers.get('x-request-id') ?? '')
    expect(row).toMatchObject({ modelAsked: '', errorCode: 'rate_limit_exceeded' })
  })
})

test('a vendor is told the trace where its channel says so, on both paths, and else nowhere', async () => {
  const tracestate = 'rojo=00f067aa0ba902b7, congo=t61rcWkgMzE'
  const traceOf = async (model: string, path = chat) => {
    await postJson(
      gateway.url + path,
      { ...body(model), max_tokens: 5 },
      { ...authorized(), traceparent, tracestate },
    )
    const headers = upstream.of(model).at(-1)?.headers
    return [headers?.get('traceparent'), headers?.get('tracestate')]
  }
  expect(await traceOf('quiet')).toEqual([undefined, undefined])
  expect(await traceOf('told')).toEqual([traceparent, tracestate])
  expect(await traceOf('translated', '/v1/messages')).toEqual([traceparent, tracestate])
})

describe('a caller without a valid key', () => {
  test('leaves one line, without the key, and a flood leaves no more', async () => {
    const bad = `sk-tg-${'Zz9'.repeat(13)}`
    const from = { 'x-forwarded-for': '198.51.100.66' }
    const first = await ask('quiet', from, bad)
    expect(first.status).toBe(401)
    const [line] = await linesOf(first.headers.get('x-request-id') ?? '')
    expect(line).toMatchObject({
      level: 'warn',
      msg: 'a request without a valid key was refused',
      status: 401,
      path: '/chat/completions',
      client_address: '198.51.100.66',
      key_prefix: 'sk-tg-',
    })
    for (let n = 0; n < 50; n += 1) await ask('quiet', from, bad)
    const elsewhere = await fetch(`${gateway.url}/v1/models`, {
      headers: { 'x-forwarded-for': '198.51.100.67' },
    })
    const [other] = await linesOf(elsewhere.headers.get('x-request-id') ?? '')
    expect(other).toMatchObject({ path: '/models', key_prefix: null })
    const lines = gateway.stderr.split('\n').filter((each) => each.includes('without a valid key'))
    expect(lines.filter((each) => each.includes('198.51.100.66'))).toHaveLength(1)
    expect(gateway.stderr).not.toContain('Zz9')
  })
})
