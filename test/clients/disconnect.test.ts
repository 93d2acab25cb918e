// Tests clients that disconnect: the vendor's connection is closed at once, and what was used is recorded.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { authorized, eventually } from '../support/clients.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { isLong } from '../support/long.ts'
import { parseReply, portOf, post, RawClient } from '../support/socket.ts'
import {
  chatReply,
  delta,
  event,
  forever,
  hang,
  json,
  send,
  sseHead,
  startUpstream,
  type Upstream,
  usage,
  wait,
  words,
} from '../support/upstream.ts'

let upstream: Upstream
let gateway: Gateway
const models = ['silent', 'endless', 'no-done', 'slow-whole', 'half-whole', 'fine']

beforeAll(async () => {
  upstream = await startUpstream()
  upstream.on('silent', [hang])
  upstream.on('endless', [send(sseHead), forever(words('word '), 2)])
  const almost = [event(delta({}, 'stop')), event({ ...delta({}), choices: [], usage })]
  upstream.on('no-done', [send(sseHead), send(words('all of it')), ...almost.map(send), hang])
  upstream.on('slow-whole', [wait(60_000), json(200, chatReply())])
  upstream.on('half-whole', [
    send('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"id":'),
    hang,
  ])
  gateway = await startGateway({
    config: {
      channels: [{ id: 'main', vendor: 'openai', baseUrl: upstream.url, key: 'sk-up', models }],
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})

async function call(model: string, stream: boolean): Promise<RawClient> {
  const client = await RawClient.open(portOf(gateway.url))
  const body = JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'Hello' }] })
  client.send(post('/v1/chat/completions', authorized(), body))
  return client
}

/** The client leaves; resolves once the gateway has left the vendor, whose reply would take longer or never end. */
async function leave(client: RawClient, model: string): Promise<void> {
  const request = upstream.of(model).at(-1)
  if (request === undefined) throw new Error('the vendor was not called')
  const leftMs = performance.now()
  client.destroy()
  await request.gone
  if (isLong) expect((request.goneMs ?? Number.NaN) - leftMs).toBeLessThan(100)
}

async function arrived(model: string): Promise<void> {
  await eventually(() => upstream.of(model).length > 0 || undefined)
}

/** The newest row of a model; waits for it. */
async function rowOf(model: string): Promise<Record<string, unknown>> {
  const before = performance.now()
  for (;;) {
    const row = (await gateway.usage()).find(({ modelAsked }) => modelAsked === model)
    if (row !== undefined) return { ...row }
    if (performance.now() - before > 3_000) throw new Error(`no usage row for ${model}`)
  }
}

describe('a client that leaves', () => {
  test.each([
    ['silent', true],
    ['slow-whole', false],
    ['half-whole', false],
  ] as const)('before the reply: %s, stream %p', async (model, stream) => {
    const client = await call(model, stream)
    await arrived(model)
    await leave(client, model)
    expect(await rowOf(model)).toMatchObject({ status: 499, errorCode: 'client_closed_request' })
  })

  test('amid a stream, with what was generated counted', async () => {
    const client = await call('endless', true)
    await client.until((text) => text.split('word ').length > 20)
    await leave(client, 'endless')
    const row = await rowOf('endless')
    expect(row).toMatchObject({ status: 499, usageSource: 'counted', stream: true })
    expect(row['output']).toBeGreaterThanOrEqual(20)
    expect(row['id']).toBeUndefined()
    const id = parseReply(client.received).headers['x-request-id']
    expect(row['requestId']).toBe(id)
  })

  test('between the last event and [DONE], with the usage the vendor reported', async () => {
    const client = await call('no-done', true)
    await client.until((text) => text.includes('"finish_reason":"stop"'))
    await leave(client, 'no-done')
    expect(await rowOf('no-done')).toMatchObject({
      input: 7,
      output: 5,
      usageSource: 'reported',
    })
  })

  test('200 at once, and the next client is served as ever', async () => {
    const clients = await Promise.all(Array.from({ length: 200 }, () => call('endless', true)))
    await Promise.all(clients.map((client) => client.until((text) => text.includes('word '))))
    const requests = upstream.of('endless').slice(-200)
    for (const client of clients) client.destroy()
    const leftMs = performance.now()
    await Promise.all(requests.map(({ gone }) => gone))
    if (isLong) expect(performance.now() - leftMs).toBeLessThan(1_000)
    const reply = await gateway.post('/v1/chat/completions', {
      model: 'fine',
      messages: [{ role: 'user', content: 'Hello' }],
    })
    expect(reply.status).toBe(200)
    const metrics = await gateway.metrics()
    expect(Number(/stream_aborts_total\{by="client"\} (\d+)/.exec(metrics)?.[1])).toBeGreaterThan(
      200,
    )
  })
})
