// Tests the gateway's own listener: requests in any pieces, in sequence, abandoned, and those it passes to the
// runtime's server.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eventually, steady } from '../support/clients.ts'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'
import { parseReply, portOf, post, RawClient, statusesIn } from '../support/socket.ts'
import { hang, startUpstream, type Upstream } from '../support/upstream.ts'

let gateway: Gateway
let upstream: Upstream
let port: number
beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({
    config: {
      channels: [
        { id: 'sandbox', vendor: 'sandbox', models: ['sandbox/*'] },
        {
          id: 'stage',
          vendor: 'openai',
          baseUrl: upstream.url,
          key: 'sk-stage-0123456789',
          models: ['m-hang'],
        },
      ],
      models: { 'm-hang': { kind: 'chat', prices: { input: '1', output: '1' } } },
    },
  })
  port = portOf(gateway.url)
})
afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})

const chat = '/v1/chat/completions'
const auth = { authorization: `Bearer ${testKey}` }
const asking = (model: string, more = {}) =>
  JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }], ...more })
const hello = asking('sandbox/chat')
const models = `GET /v1/models HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${testKey}\r\n\r\n`

/** All replies in the received bytes, each by its own length. */
function bodiesIn(received: string): string[] {
  const bodies: string[] = []
  for (let rest = received; rest.startsWith('HTTP/1.1 '); ) {
    const { headers, body } = parseReply(rest)
    const length = Number(headers['content-length'])
    bodies.push(body.slice(0, length))
    rest = body.slice(length)
  }
  return bodies
}

test('a request cut at any byte is answered as it is whole', async () => {
  const request = post(chat, auth, hello)
  const client = await RawClient.open(port)
  for (let at = 1; at < request.length; at += 7) {
    const before = statusesIn(client.received).length
    client.send(request.slice(0, at))
    await new Promise((resolve) => setImmediate(resolve))
    client.send(request.slice(at))
    await client.until(
      (text) => statusesIn(text).length > before && bodiesIn(text).at(-1)?.endsWith('}') === true,
    )
  }
  expect(new Set(statusesIn(client.received))).toEqual(new Set([200]))
  client.destroy()
})

test('requests sent in a row are answered in their order, also across both servers', async () => {
  const client = await RawClient.open(port)
  const unknown = post('/v1/nothing', auth, '{}')
  client.send(models + post(chat, auth, hello) + post(chat, {}, hello) + models + unknown + models)
  const text = await client.until((received) => statusesIn(received).length === 6)
  expect(statusesIn(text)).toEqual([200, 200, 401, 200, 404, 200])
  client.destroy()
})

test('more than is looked at ahead waits in the connection, and nothing is lost', async () => {
  const client = await RawClient.open(port)
  const many = 400
  client.send(post(chat, auth, asking('sandbox/chat', { user: 'x'.repeat(500) })).repeat(many))
  const text = await client.until((received) => statusesIn(received).length === many, 30_000)
  expect(new Set(statusesIn(text))).toEqual(new Set([200]))
  client.destroy()
})

describe('a refusal before the body has come', () => {
  const long = post(chat, { authorization: 'Bearer no' }, 'x'.repeat(100_000))

  test('is told at once, and the connection carries the next request once the body is over', async () => {
    const client = await RawClient.open(port)
    client.send(long.slice(0, 2_000))
    await client.until((text) => bodiesIn(text).length === 1)
    client.send(long.slice(2_000) + models)
    const text = await client.until((received) => statusesIn(received).length === 2)
    expect(statusesIn(text)).toEqual([401, 200])
    client.destroy()
  })

  test('the rest of the body is no request', async () => {
    const client = await RawClient.open(port)
    const inside = models.repeat(3)
    const request = post(chat, { authorization: 'Bearer no' }, inside)
    client.send(request.slice(0, -inside.length))
    await client.until((text) => bodiesIn(text).length === 1)
    client.send(inside)
    await steady(() => client.bytes, 200)
    expect(statusesIn(client.received)).toEqual([401])
    client.destroy()
  })
})

test('connection: close is heard, and said', async () => {
  const client = await RawClient.open(port)
  client.send(post(chat, { ...auth, connection: 'close' }, hello) + models)
  const reply = parseReply(await client.closed())
  expect(reply.headers['connection']).toBe('close')
  expect(statusesIn(client.received)).toEqual([200])
})

test('a client that leaves before its body is whole leaves nothing under way', async () => {
  const client = await RawClient.open(port)
  client.send(post(chat, auth, 'x'.repeat(50_000)).slice(0, 10_000))
  const inFlight = async () =>
    /^tollgate_requests_in_flight.* (\d+)$/m.exec(await gateway.metrics())?.[1]
  await eventually(async () => (await inFlight()) === '1' || undefined)
  client.destroy()
  expect(await eventually(async () => (await inFlight()) === '0' || undefined)).toBe(true)
})

test('clients that reset their connection right behind a request leave nothing but their rows', async () => {
  for (let count = 0; count < 100; count++) {
    const client = await RawClient.open(port)
    client.socket.write(post(chat, auth, hello))
    client.socket.resetAndDestroy()
  }
  expect((await gateway.post(chat, JSON.parse(hello))).status).toBe(200)
  expect(gateway.stderr).not.toContain('internal error')
})

test('a client that leaves while its vendor is asked lets the vendor go', async () => {
  upstream.on('m-hang', [hang])
  const client = await RawClient.open(port)
  client.send(post(chat, auth, asking('m-hang')))
  const request = await upstream.arrived(1)
  client.destroy()
  await request.gone
  const [row] = await eventually(async () => {
    const rows = await gateway.usage()
    return rows[0]?.modelAsked === 'm-hang' ? rows : undefined
  })
  expect(row?.errorCode).toBe('client_closed_request')
})

test('both servers give the same reply to the same request', async () => {
  const replies = await Promise.all(
    [{}, { trailer: 'x' }, { expect: '100-continue' }].map(async (more) => {
      const client = await RawClient.open(port)
      client.send(post(chat, { ...auth, ...more }, hello))
      const text = await client.until(
        (received) => received.includes('"finish_reason"') && received.endsWith('}'),
      )
      client.destroy()
      const { status, headers, body } = parseReply(text.replace(/^HTTP\/1\.1 100 .*\r\n\r\n/, ''))
      const { choices } = JSON.parse(body)
      return { status, names: Object.keys(headers).sort(), choices }
    }),
  )
  expect(new Set(replies.map((reply) => JSON.stringify(reply))).size).toBe(1)
  expect(replies[0]?.status).toBe(200)
})

test('a client of the runtime’s server is known by its own address', async () => {
  const client = await RawClient.open(port)
  client.send(post(chat, { ...auth, trailer: 'x', 'x-client-request-id': 'through' }, hello))
  const reply = parseReply(await client.until((text) => text.endsWith('}')))
  const row = await gateway.row(reply.headers['x-request-id'] ?? '')
  expect(row.clientAddress).toBe('127.0.0.1')
  client.destroy()
})

test('a slow reader of a large reply gets all of it', async () => {
  const client = await RawClient.open(port, false)
  client.socket.pause()
  const stream = asking('sandbox/chat+tokens=20000', { stream: true })
  client.send(post(chat, { ...auth, connection: 'close' }, stream))
  await eventually(
    async () => (await gateway.metrics()).includes('tollgate_requests_in_flight') || undefined,
  )
  client.socket.resume()
  await client.closed(60_000)
  expect(client.bytes).toBeGreaterThan(1_000_000)
}, 90_000)
