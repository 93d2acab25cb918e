// Tests that an overloaded gateway refuses requests before it reads them, and that a stopping one lets running requests
// finish.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { authorized, eventually } from '../support/clients.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { isLong } from '../support/long.ts'
import { expectRefusal, readRefusal } from '../support/requests.ts'
import { parseReply, portOf, post, RawClient } from '../support/socket.ts'
import {
  chatReply,
  forever,
  hang,
  json,
  send,
  sseHead,
  startUpstream,
  streamEnd,
  type Upstream,
  until,
  words,
} from '../support/upstream.ts'

let upstream: Upstream
const models = ['stuck', 'quick', 'gated', 'gated-whole', 'endless']

beforeAll(async () => {
  upstream = await startUpstream()
  upstream.on('stuck', [hang])
})
afterAll(() => upstream.close())

function start(server: Record<string, number>): Promise<Gateway> {
  const channel = { id: 'main', vendor: 'openai', baseUrl: upstream.url, key: 'sk-up', models }
  return startGateway({ config: { server, channels: [channel] } })
}

function body(model: string, stream = false) {
  return { model, stream, messages: [{ role: 'user', content: 'Hello' }] }
}

describe('shedding', () => {
  test('past maxInFlight: 503 with retry-after, and served again when a place is free', async () => {
    const gateway = await start({ maxInFlight: 2 })
    const leave = new AbortController()
    try {
      const before = upstream.requests.length
      const running = [1, 2].map(() =>
        gateway.post('/v1/chat/completions', body('stuck'), { signal: leave.signal }),
      )
      await upstream.arrived(before + 2)
      const reply = await gateway.post('/v1/chat/completions', body('quick'))
      expect(Number(reply.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
      expect(reply.headers.get('x-should-retry')).toBe('true')
      await expectRefusal(reply, 503, 'service_unavailable')
      // Refused before its body is read.
      const unread = await gateway.post('/v1/chat/completions', 'no JSON at all')
      expect(unread.status).toBe(503)
      leave.abort()
      await Promise.allSettled(running)
      await eventually(async () => {
        const { status } = await gateway.post('/v1/chat/completions', body('quick'))
        return status === 200 ? true : undefined
      })
    } finally {
      await gateway.stop()
    }
  })

  test('past maxBufferedBytes: 503 on the head alone', async () => {
    const gateway = await start({ maxBufferedBytes: 100_000 })
    try {
      const first = await RawClient.open(portOf(gateway.url))
      first.send(post('/v1/chat/completions', { ...authorized(), 'content-length': '90000' }, '{'))
      const reply = await eventually(async () => {
        const second = await RawClient.open(portOf(gateway.url))
        second.send(
          post('/v1/chat/completions', { ...authorized(), 'content-length': '20000' }, ''),
        )
        const ended = second.until((text) => text.includes('}}'), 300)
        const received = await ended.catch(() => undefined)
        second.destroy()
        return received
      })
      const { status, headers, body: text } = parseReply(reply)
      expect(status).toBe(503)
      expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1)
      readRefusal(text, headers['content-type'], headers['x-request-id'], 'service_unavailable')
      first.destroy()
      await eventually(async () => {
        const { status } = await gateway.post('/v1/chat/completions', body('quick'))
        return status === 200 ? true : undefined
      })
    } finally {
      await gateway.stop()
    }
  })
})

test('bodies that do not say their length count as they come', async () => {
  const gateway = await start({ maxBufferedBytes: 100_000 })
  const chunked = post(
    '/v1/chat/completions',
    { ...authorized(), 'transfer-encoding': 'chunked' },
    '',
  ).replace(/content-length: 0\r\n/, '')
  const piece = `1000\r\n${' '.repeat(0x1000)}\r\n`
  try {
    const clients: RawClient[] = []
    for (let at = 0; at < 10; at++) {
      const client = await RawClient.open(portOf(gateway.url))
      client.send(chunked + piece.repeat(5))
      clients.push(client)
    }
    const refused = await eventually(() =>
      clients.find(({ received }) => received.includes('service_unavailable')),
    )
    expect(parseReply(refused.received).status).toBe(503)
    for (const client of clients) client.destroy()
    await eventually(async () => {
      const { status } = await gateway.post('/v1/chat/completions', body('quick'))
      return status === 200 ? true : undefined
    })
  } finally {
    await gateway.stop()
  }
})

describe('SIGTERM', () => {
  test('streams and replies under way finish, new requests are refused, exit code 0', async () => {
    const gateway = await start({})
    const gate = Promise.withResolvers<void>()
    upstream.on('gated', [
      send(sseHead),
      send(words('first ')),
      until(gate.promise),
      send(words('last')),
      send(streamEnd),
    ])
    upstream.on('gated-whole', [until(gate.promise), json(200, chatReply('whole'))])
    const before = upstream.requests.length
    const streaming = await gateway.post('/v1/chat/completions', body('gated', true))
    const whole = gateway.post('/v1/chat/completions', body('gated-whole'))
    await upstream.arrived(before + 2)
    const kept = await RawClient.open(portOf(gateway.url))
    kept.send('GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n')
    await kept.until((text) => text.includes('200'))
    process.kill(gateway.pid, 'SIGTERM')
    // Refused: by 503 on an open connection, else the connection itself is refused.
    const refusal = await eventually(async () => {
      const reply = await gateway.post('/v1/chat/completions', body('quick')).catch(() => null)
      return reply === null || reply.status === 503 ? { reply } : undefined
    })
    if (refusal.reply !== null) {
      expect(Number(refusal.reply.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
      await expectRefusal(refusal.reply, 503, 'service_unavailable')
      expect((await fetch(`${gateway.url}/readyz`)).status).toBe(503)
    }
    gate.resolve()
    const text = await streaming.text()
    expect(text).toContain('first ')
    expect(text).toContain('last')
    expect(text).toEndWith('data: [DONE]\n\n')
    expect(await (await whole).text()).toContain('whole')
    kept.destroy()
    expect(await gateway.stop()).toBe(0)
  })

  test('a stream that outlasts drainMs ends in an error frame, exit code 0', async () => {
    const gateway = await start({ drainMs: 300 })
    upstream.on('endless', [send(sseHead), forever(words('word '), 5)])
    const reply = await gateway.post('/v1/chat/completions', body('endless', true))
    const text = reply.text()
    process.kill(gateway.pid, 'SIGTERM')
    const received = await text
    expect(received).toContain('word ')
    expect(received).not.toContain('[DONE]')
    expect(received.trimEnd().split('\n\n').at(-1)).toStartWith('data: {"error":')
    expect(await gateway.stop()).toBe(0)
    await upstream.of('endless').at(-1)?.gone
  })

  test('with nothing under way it ends at once', async () => {
    const gateway = await start({})
    const startedMs = performance.now()
    expect(await gateway.stop()).toBe(0)
    if (isLong) expect(performance.now() - startedMs).toBeLessThan(1_500)
  })
})
