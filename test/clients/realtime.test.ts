// Tests realtime sessions with many, slow, silent or vanished clients: memory is bounded, and the vendor's connection
// is closed.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { eventually, pace } from '../support/clients.ts'
import {
  type Gateway,
  openSockets,
  residentBytes,
  startGateway,
  testKey,
} from '../support/gateway.ts'
import { isLong } from '../support/long.ts'
import {
  RealtimeClient,
  type RealtimeVendor,
  startRealtimeVendor,
  type VendorSession,
} from '../support/realtime.ts'
import { portOf, RawClient } from '../support/socket.ts'

let vendor: RealtimeVendor
let gateway: Gateway | null = null
beforeEach(() => {
  vendor = startRealtimeVendor()
})
afterEach(async () => {
  expect(gateway?.stderr).not.toContain('internal error:')
  await gateway?.stop()
  await vendor.close()
})

async function start(config: Readonly<Record<string, unknown>> = {}): Promise<Gateway> {
  gateway = await startGateway({
    config: {
      channels: [
        {
          id: 'main',
          vendor: 'openai',
          baseUrl: vendor.url,
          key: 'sk-up-0123456789',
          models: ['gpt-realtime'],
        },
      ],
      models: { 'gpt-realtime': { kind: 'realtime', prices: { input: '4', output: '16' } } },
      ...config,
    },
  })
  return gateway
}

async function gauge(name: string): Promise<number> {
  const text = (await gateway?.metrics()) ?? ''
  return Number(new RegExp(`^${name}\\{route="/realtime"\\} (\\d+)`, 'm').exec(text)?.[1] ?? 0)
}

const inFlight = 'tollgate_requests_in_flight'

test('200 idle sessions take little memory, count as under way, and leave nothing behind', async () => {
  const serving = await start()
  const first = await RealtimeClient.open(serving.url)
  const before = residentBytes(serving.pid)
  const clients = await Promise.all(
    Array.from({ length: 200 }, () => RealtimeClient.open(serving.url)),
  )
  const grown = residentBytes(serving.pid) - before
  console.log(`200 idle sessions: ${Math.round(grown / 1024)} KiB more`)
  if (isLong) expect(grown).toBeLessThan(40 * 1024 * 1024)
  expect(await gauge(inFlight)).toBe(201)
  const sockets = openSockets(serving.pid)
  await Promise.all([first, ...clients].map((client) => client.leave()))
  await Promise.all(vendor.sessions.map((session) => session.closed()))
  await eventually(async () => (await gauge(inFlight)) === 0 || undefined)
  await eventually(() => openSockets(serving.pid) < sockets - 390 || undefined)
}, 20_000)

/** A client that has its socket and reads nothing from it. */
async function deaf(url: string): Promise<RawClient> {
  const client = await asking(url)
  await client.until((text) => text.includes('101 Switching'))
  client.socket.pause()
  return client
}

/** A client that has requested its socket. */
async function asking(url: string): Promise<RawClient> {
  const client = await RawClient.open(portOf(url))
  client.send(
    'GET /v1/realtime?model=gpt-realtime HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\n' +
      `connection: Upgrade\r\nsec-websocket-version: 13\r\nauthorization: Bearer ${testKey}\r\n` +
      'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  )
  return client
}

/** Sends as long as the other side accepts it, until it is closed; returns how much that was. */
async function flood(session: VendorSession, mostBytes: number): Promise<number> {
  const event = JSON.stringify({ type: 'conversation.item.added', text: 'x'.repeat(60_000) })
  let sent = 0
  while (sent < mostBytes && session.received.closed === null) {
    if (session.buffered < 1_000_000) {
      session.raw(event)
      sent += event.length
    } else await pace(2)
  }
  return sent
}

test('a client that takes nothing: its vendor waits, and after a while both are let go', async () => {
  const serving = await start({ server: { writeStallMs: 1_500 } })
  const client = await deaf(serving.url)
  const session = await vendor.arrived(1)
  const before = residentBytes(serving.pid)
  const sent = await flood(session, 512 * 1024 * 1024)
  const grown = residentBytes(serving.pid) - before
  expect(sent).toBeLessThan(64 * 1024 * 1024)
  if (isLong) expect(grown).toBeLessThan(64 * 1024 * 1024)
  await session.closed()
  await eventually(async () => (await gauge(inFlight)) === 0 || undefined)
  client.destroy()
}, 30_000)

test('a client that falls behind and catches up gets all of it, in order', async () => {
  const serving = await start()
  const client = await deaf(serving.url)
  const session = await vendor.arrived(1)
  const text = 'x'.repeat(60_000)
  let sent = 0
  const send = () => session.send({ type: 'conversation.item.added', n: sent++, text })
  // More than all buffers on the way can hold, however large the system lets them grow.
  while (session.buffered <= 500_000) send()
  client.socket.resume()
  while (session.buffered > 0) await pace(2)
  send()
  const received = await client.until((all) => all.includes(`"n":${sent - 1},`))
  expect([...received.matchAll(/"n":(\d+),/g)].map(([, n]) => Number(n))).toEqual(
    Array.from({ length: sent }, (_, at) => at),
  )
  client.destroy()
}, 20_000)

/** A vendor that opens a session, greets, and reads nothing more. */
async function startDeafVendor(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', (head) => {
      const key = /sec-websocket-key: (\S+)/i.exec(head.toString('latin1'))?.[1] ?? ''
      const proof = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      const greeting = Buffer.from('{"type":"session.created","session":{}}')
      socket.pause()
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n' +
          `sec-websocket-accept: ${proof.digest('base64')}\r\n\r\n`,
      )
      socket.write(Buffer.concat([Buffer.from([0x81, greeting.length]), greeting]))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/v1`, close: () => void server.close() }
}

test('a vendor that takes nothing: the session ends before memory does', async () => {
  const deafVendor = await startDeafVendor()
  const serving = await start({
    realtime: { maxMessageBytes: 1_000_000 },
    channels: [
      {
        id: 'deaf',
        vendor: 'openai',
        baseUrl: deafVendor.url,
        key: 'sk-up-0123456789',
        models: ['gpt-realtime'],
      },
    ],
  })
  const client = await RealtimeClient.open(serving.url)
  const audio = 'A'.repeat(900_000)
  for (let n = 0; n < 200 && client.received.closed === null; n++) {
    client.send({ type: 'input_audio_buffer.append', audio })
    await pace(1)
  }
  expect((await client.error()).code).toBe('service_unavailable')
  expect((await client.closed()).code).toBe(1_013)
  deafVendor.close()
}, 30_000)

test('a client whose connection is cut', async () => {
  const serving = await start()
  const client = await RealtimeClient.open(serving.url)
  const session = await vendor.arrived(1)
  client.cut()
  await session.closed()
  await eventually(async () => (await gauge(inFlight)) === 0 || undefined)
})

test('a client that leaves before the vendor has answered', async () => {
  const answer = Promise.withResolvers<void>()
  vendor.refusal = () => answer.promise.then(() => null)
  const serving = await start()
  const client = await asking(serving.url)
  await eventually(async () => (await gauge(inFlight)) === 1 || undefined)
  client.destroy()
  await eventually(async () => (await gauge(inFlight)) === 0 || undefined)
  answer.resolve()
  const [row] = await eventually(async () => {
    const rows = await serving.usage()
    return rows.length > 0 ? rows : undefined
  })
  expect(row).toMatchObject({ status: 499, chargeNano: 0n, usageSource: 'none' })
})

test.each([
  ['the longest duration', { maxSessionMs: 300 }, 'session_expired'],
  ['silence', { idleMs: 300 }, 'session_idle'],
])('%s ends a session, with an error first', async (_name, realtime, code) => {
  const serving = await start({ realtime })
  const client = await RealtimeClient.open(serving.url)
  expect((await client.error()).code).toBe(code)
  expect((await client.closed()).code).toBe(1_001)
  await (await vendor.arrived(1)).closed()
})

test('past server.maxInFlight no session begins', async () => {
  const serving = await start({ server: { maxInFlight: 2 } })
  const clients = [
    await RealtimeClient.open(serving.url),
    await RealtimeClient.open(serving.url),
  ] as const
  await expect(RealtimeClient.open(serving.url)).rejects.toThrow('refused')
  await clients[0].leave()
  const next = await eventually(() => RealtimeClient.open(serving.url).catch(() => undefined))
  await next.leave()
  await clients[1].leave()
})
