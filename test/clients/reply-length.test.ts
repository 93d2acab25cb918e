// Tests replies too large to be held: the client gets their length if the vendor states it, and never takes a part for
// the whole.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { authorized } from '../support/clients.ts'
import { deploy, expectCleanAudit, keyOf } from '../support/deployment.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { parseReply, portOf, post, RawClient } from '../support/socket.ts'
import {
  chatReply,
  head,
  reply,
  reset,
  send,
  startUpstream,
  type Upstream,
} from '../support/upstream.ts'

let upstream: Upstream
let gateways: { readonly normal: Gateway; readonly strict: Gateway }
const models = ['stated', 'chunked', 'gzip', 'cut']
/** Text that compression does not shrink so far that it would be refused. */
const whole = JSON.stringify(chatReply(randomBytes(1_500_000).toString('base64')))

beforeAll(async () => {
  upstream = await startUpstream()
  upstream.on('stated', [reply(200, whole)])
  upstream.on('chunked', [
    send(head(200, 'content-type: application/json', 'transfer-encoding: chunked')),
    send(`${whole.length.toString(16)}\r\n${whole}\r\n0\r\n\r\n`),
  ])
  upstream.on('gzip', [reply(200, gzipSync(whole), 'content-encoding: gzip')])
  upstream.on('cut', [
    send(head(200, 'content-type: application/json', `content-length: ${whole.length}`)),
    send(whole.slice(0, -1_000)),
    reset,
  ])
  const channels = [{ id: 'main', vendor: 'openai', baseUrl: upstream.url, key: 'sk-up', models }]
  const [normal, strict] = await Promise.all([
    startGateway({ config: { channels } }),
    startGateway({ config: { channels, billing: { durability: 'strict' } } }),
  ])
  gateways = { normal, strict }
})
afterAll(async () => {
  await Promise.all([gateways.normal.stop(), gateways.strict.stop()])
  await upstream.close()
})

const request = (model: string) =>
  JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] })

async function ask(gateway: Gateway, model: string) {
  const answered = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...authorized(), 'content-type': 'application/json' },
    body: request(model),
  })
  const { headers } = answered
  return { headers, isSame: (await answered.text()) === whole }
}

describe('a reply of megabytes', () => {
  test('has its length in the head where the vendor states it, and the next reply follows it', async () => {
    const client = await RawClient.open(portOf(gateways.normal.url))
    const asked = post('/v1/chat/completions', authorized(), request('stated'))
    for (const count of [1, 2]) {
      client.send(asked)
      await client.until((text) => text.split(whole).length > count)
    }
    const first = parseReply(client.received)
    expect(first.headers['content-length']).toBe(String(whole.length))
    expect(first.headers['transfer-encoding']).toBeUndefined()
    client.destroy()
  })

  test.each([
    ['chunked', 'normal', 'the vendor does not state it'],
    ['gzip', 'normal', 'it is decompressed on the way'],
    ['stated', 'strict', 'its end waits for the ledger'],
  ] as const)('%s, durability %s: comes without a length, since %s', async (model, durability) => {
    const { headers, isSame } = await ask(gateways[durability], model)
    expect(isSame).toBe(true)
    expect(headers.get('content-length')).toBeNull()
  })

  test('is recorded before its last bytes leave: a kill -9 once they are here loses nothing', async () => {
    const deployment = await deploy({
      databaseUrl: null,
      credits: { ann: '1000' },
      config: {
        channels: [{ id: 'main', vendor: 'openai', baseUrl: upstream.url, key: 'sk-up', models }],
      },
    })
    try {
      const answered: string[] = []
      for (let round = 0; round < 3; round += 1) {
        const server = await deployment.start()
        const asked = post('/v1/chat/completions', authorized(keyOf('ann')), request('stated'))
        const clients = await Promise.all(
          Array.from({ length: 6 }, () => RawClient.open(portOf(server.url))),
        )
        for (const client of clients) client.send(asked)
        await Promise.race(clients.map((client) => client.until((text) => text.includes(whole))))
        server.signal('SIGKILL')
        await Promise.all(clients.map((client) => client.closed()))
        for (const { received } of clients)
          if (received.includes(whole))
            answered.push(parseReply(received).headers['x-request-id'] ?? '')
      }
      const last = await deployment.start()
      last.signal('SIGTERM')
      expect(await last.exited).toBe(0)
      const rows = await deployment.store.usage.list({ limit: 100 })
      expect(answered.length).toBeGreaterThanOrEqual(3)
      for (const id of answered)
        expect(rows.find(({ requestId }) => requestId === id)).toMatchObject({ status: 200 })
      await expectCleanAudit(deployment)
    } finally {
      await deployment.remove()
    }
  }, 60_000)

  test('that its vendor breaks off is reset at the client, not ended', async () => {
    const client = await RawClient.open(portOf(gateways.normal.url))
    client.send(post('/v1/chat/completions', authorized(), request('cut')))
    const received = await client.closed()
    const { headers } = parseReply(received)
    expect(headers['content-length']).toBe(String(whole.length))
    expect(received.length).toBeLessThan(whole.length)
  })
})
