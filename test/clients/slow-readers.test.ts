// Tests clients slower than their vendor: the vendor waits, memory is bounded, and clients that read nothing are
// disconnected.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { authorized, eventually, pace, steady } from '../support/clients.ts'
import { type Gateway, residentBytes, startGateway } from '../support/gateway.ts'
import { isLong, lasts, repetitions } from '../support/long.ts'
import { parseReply, portOf, post, RawClient } from '../support/socket.ts'
import {
  chatReply,
  chunk,
  delta,
  hang,
  head,
  json,
  send,
  sseHead,
  startUpstream,
  type Turn,
  type Upstream,
} from '../support/upstream.ts'

let upstream: Upstream
let gateway: Gateway
/** Disconnects stalled readers soon. */
let impatient: Gateway
/** The same, and reads their vendors to the end. */
let draining: Gateway
/**
 * Size of one stream, in the gateway and in the system's buffers on both sides: several times what these hold by
 * default.
 */
const mostBuffered = 64 << 20
/** Bytes that the gateway has read from the vendor, in all streams. */
let taken = 0

const readers = repetitions(20, 500)

const frame = chunk(`data: ${JSON.stringify(delta({ content: 'x'.repeat(4_000) }))}\n\n`)

/** Sends as fast as the gateway reads, without end. */
async function flood({ socket }: Turn): Promise<void> {
  while (!socket.destroyed) {
    const flushed = socket.write(frame)
    taken += frame.length
    if (flushed) await pace(0)
    else await new Promise((resolve) => socket.once('drain', resolve).once('close', resolve))
  }
}

beforeAll(async () => {
  upstream = await startUpstream()
  upstream.on('flood', [send(sseHead), flood])
  const channels = [
    {
      id: 'main',
      vendor: 'openai',
      baseUrl: upstream.url,
      key: 'sk-up',
      models: ['flood', 'burst', 'fine', 'large', 'stated', 'chunked'],
    },
  ]
  gateway = await startGateway({ config: { channels } })
  const server = { writeStallMs: 1_500 }
  impatient = await startGateway({ config: { channels, server } })
  const config = { billing: { clientLeaves: 'drain' }, timeouts: { idleMs: 1_000 } }
  draining = await startGateway({ config: { channels, server, ...config } })
})
afterAll(async () => {
  await Promise.all([gateway.stop(), impatient.stop(), draining.stop()])
  await upstream.close()
})

const body = JSON.stringify({
  model: 'flood',
  stream: true,
  messages: [{ role: 'user', content: 'Hello' }],
})

async function begin({ url }: Gateway, asked = body): Promise<RawClient> {
  const client = await RawClient.open(portOf(url), false)
  client.socket.pause()
  client.send(post('/v1/chat/completions', authorized(), asked))
  return client
}

/** Lets one client read a piece of its waiting data, 64 KiB or so. */
function sip({ socket }: RawClient): void {
  socket.once('data', () => void socket.pause())
  socket.resume()
}

/** Whole megabytes, so that what the readers take meanwhile does not count. */
async function paused(): Promise<void> {
  const filled = await steady(() => Math.floor(taken / 5_000_000), 500)
  expect(filled * 5_000_000).toBeLessThan(readers * mostBuffered)
}

async function expectFlat(idle: number): Promise<void> {
  const takenEarly = taken
  const startedMs = performance.now()
  let most = 0
  let least = Number.POSITIVE_INFINITY
  while (performance.now() - startedMs < 8_000) {
    const rss = residentBytes(gateway.pid)
    most = Math.max(most, rss)
    least = Math.min(least, rss)
    await lasts(250)
  }
  const perReader = (taken - takenEarly) / readers / ((performance.now() - startedMs) / 1_000)
  console.log(
    `${readers} slow readers: idle ${mb(idle)}, after the buffers filled ${mb(least)} to ${mb(most)}; each stream took ${Math.round(perReader)} B/s of its vendor`,
  )
  // Memory that was read is given back when the collector runs, so the minimum is what the readers hold.
  expect(least - idle).toBeLessThan(readers * 786_432)
  expect(perReader).toBeLessThan(65_536)
}

test(`${readers} readers at about 1 KB/s of an endless stream: memory flat, the vendor paused`, async () => {
  const idle = residentBytes(gateway.pid)
  const clients: RawClient[] = []
  for (let at = 0; at < readers; at++) clients.push(await begin(gateway))
  // 64 KiB of each in 64 s: one after the other, not all at once.
  let next = 0
  const timer = setInterval(() => {
    const client = clients[next++ % clients.length]
    if (client !== undefined) sip(client)
  }, 64_000 / readers)
  try {
    await eventually(() => (upstream.of('flood').length === readers ? true : undefined), 45_000)
    // Kernel buffers fill first; from then on the vendor sends as much as the readers take.
    await paused()
    if (isLong) await expectFlat(idle)
    const reply = await gateway.post('/v1/chat/completions', {
      model: 'fine',
      messages: [{ role: 'user', content: 'Hello' }],
    })
    expect(reply.status).toBe(200)
  } finally {
    clearInterval(timer)
    for (const client of clients) client.destroy()
  }
  await eventually(() => (upstream.open <= 1 ? true : undefined))
}, 150_000)

function mb(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MB`
}

test('a reader that stops is let go, and so is its vendor', async () => {
  const client = await begin(impatient)
  const count = upstream.of('flood').length
  await eventually(() => (upstream.of('flood').length > count ? true : undefined))
  const request = upstream.of('flood').at(-1)
  const startedMs = performance.now()
  await request?.gone
  expect((request?.goneMs ?? Number.NaN) - startedMs).toBeGreaterThan(1_000)
  client.socket.resume()
  await client.closed()
  const row = await eventually(async () =>
    (await impatient.usage()).find(
      ({ modelAsked, status }) => modelAsked === 'flood' && status === 499,
    ),
  )
  expect(row.usageSource).toBe('counted')
})

test('a reader that stops is charged and forgotten, though its vendor is to be read to an end that never comes', async () => {
  // Some megabytes, more than all buffers on the way hold, and then nothing.
  upstream.on('burst', [
    send(sseHead),
    ({ socket }) => void socket.write(Buffer.alloc(frame.length * 5_000, frame)),
    hang,
  ])
  const client = await begin(draining, body.replace('flood', 'burst'))
  const row = await eventually(async () =>
    (await draining.usage()).find(({ modelAsked }) => modelAsked === 'burst'),
  )
  expect(row).toMatchObject({ status: 499, usageSource: 'counted' })
  expect(row.chargeNano).toBeGreaterThan(0n)
  client.destroy()
}, 30_000)

/** Around the size from which the runtime would get them otherwise, and far above it. */
test.each([15_359, 15_360, 15_361, 100_000, 1_000_000])(
  'a slow reader gets a whole reply of %i bytes with its length, and may ask again',
  async (size) => {
    const asked = JSON.stringify({ model: 'large', messages: [{ role: 'user', content: 'Hello' }] })
    const bare = JSON.stringify(chatReply('')).length
    const value = chatReply('é"\\'.padEnd(size - bare - 3, 'x'))
    const expected = Buffer.from(JSON.stringify(value))
    expect(expected.length).toBe(size)
    upstream.on('large', [json(200, value)])
    const client = await RawClient.open(portOf(gateway.url))
    for (const _time of ['first', 'second']) {
      client.received = ''
      client.send(post('/v1/chat/completions', authorized(), asked))
      const isWhole = () => parseReply(client.received).body.length >= size
      while (!isWhole()) {
        const { bytes } = client
        sip(client)
        await client.until(() => client.bytes > bytes)
      }
      const reply = parseReply(client.received)
      expect([reply.status, reply.headers['content-length']]).toEqual([200, String(size)])
      expect(reply.headers['transfer-encoding']).toBeUndefined()
      expect(Buffer.from(reply.body, 'latin1').equals(expected)).toBe(true)
    }
    client.destroy()
  },
)

function unchunked(body: string): string {
  const pieces: string[] = []
  let at = 0
  for (;;) {
    const start = body.indexOf('\r\n', at) + 2
    const size = Number.parseInt(body.slice(at, start), 16)
    if (size === 0 || start < 2) return pieces.join('')
    pieces.push(body.slice(start, start + size))
    at = start + size + 2
  }
}

test.each([
  ['stated', 'its length known from the vendor'],
  ['chunked', 'its length unknown'],
])(
  'a slow and a fast reader each get every byte of a reply that passes in pieces: %s, %s',
  async (model) => {
    const asked = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] })
    // More of it than the system's buffers hold.
    const value = chatReply(Array.from({ length: 3_000_000 }, (_, at) => at.toString(36)).join(' '))
    const expected = JSON.stringify(value)
    const fields = ['content-type: application/json', 'transfer-encoding: chunked']
    const chunked = [
      send(head(200, ...fields)),
      send(`${expected.length.toString(16)}\r\n${expected}\r\n0\r\n\r\n`),
    ]
    upstream.on(model, model === 'chunked' ? chunked : [json(200, value)])
    const end = model === 'chunked' ? '\r\n0\r\n\r\n' : expected.slice(-20)
    const clients = [true, false, true].map(async (slow) => {
      const client = await RawClient.open(portOf(gateway.url), false)
      const pieces: string[] = []
      client.socket.on('data', (piece) => pieces.push(piece.toString('latin1')))
      client.send(post('/v1/chat/completions', authorized(), asked))
      if (slow) {
        await client.until(() => client.bytes > 0)
        client.socket.pause()
      }
      const isWhole = () => pieces.slice(-2).join('').endsWith(end)
      while (slow && !isWhole()) {
        const { bytes } = client
        sip(client)
        await client.until(() => client.bytes > bytes)
      }
      await client.until(isWhole)
      client.destroy()
      const { status, body } = parseReply(pieces.join(''))
      return [status, (model === 'chunked' ? unchunked(body) : body) === expected]
    })
    expect(await Promise.all(clients)).toEqual(Array(3).fill([200, true]))
  },
  20_000,
)
