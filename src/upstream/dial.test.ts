// Tests the dialer with a raw socket: replies in any pieces, connections kept and dropped, bounds in time and memory.

import { afterEach, expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import { connect } from 'node:net'
import { eventually, steady } from '../../test/support/clients.ts'
import { Recorder } from '../../test/support/recorder.ts'
import {
  chunk,
  halfClose,
  hang,
  head,
  lastChunk,
  reset,
  type Script,
  send,
  startUpstream,
  type Upstream,
  until,
} from '../../test/support/upstream.ts'
import type { Exchange } from '../vendors/transport.ts'
import type { Destination } from './connect.ts'
import type { DialCall } from './connection.ts'
import { createDialer, type Dialer } from './dial.ts'

const ended: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const end of ended.splice(0)) await end()
})

async function stage(...scripts: Script[]): Promise<{ upstream: Upstream; dialer: Dialer }> {
  const upstream = await startUpstream()
  const dialer = createDialer({ idleMs: 150, sweepMs: 50 })
  ended.push(
    () => dialer.close(),
    () => upstream.close(),
  )
  upstream.on('*', ...scripts)
  return { upstream, dialer }
}

/** The same with a dialer that keeps its connections for the whole test. */
async function keptStage(...scripts: Script[]) {
  const { upstream } = await stage(...scripts)
  const dialer = createDialer()
  ended.push(() => dialer.close())
  return { upstream, dialer }
}

function destination(upstream: Upstream): Destination {
  const { port } = upstream
  return {
    origin: `http://127.0.0.1:${port}`,
    host: '127.0.0.1',
    port,
    tls: false,
    head: `POST / HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-length: `,
  }
}

interface Opened {
  readonly recorder: Recorder
  readonly exchange: Exchange
}

function open(
  { upstream, dialer }: { upstream: Upstream; dialer: Dialer },
  segments: readonly Uint8Array[] = [Buffer.from('{}')],
  sendIdleMs = 5_000,
  onKept?: DialCall['onKept'],
): Opened {
  const recorder = new Recorder()
  const call = {
    destination: destination(upstream),
    segments,
    connectMs: 1_000,
    sendIdleMs,
    onKept,
  }
  return { recorder, exchange: dialer.open(call, recorder) }
}

/** A port that accepts no connections: its process is stopped and its queue full, so the kernel drops new ones. */
async function silentPort(): Promise<{ port: number; end(): void }> {
  const script = `require('node:net').createServer().listen(0, '127.0.0.1', function () {
    console.log(this.address().port)
  })`
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe' })
  const first = await child.stdout.getReader().read()
  const port = Number(new TextDecoder().decode(first.value))
  child.kill('SIGSTOP')
  const waiting = Array.from({ length: 700 }, () => connect(port, '127.0.0.1'))
  for (const socket of waiting) socket.on('error', () => undefined)
  await eventually(() => waiting.filter(({ connecting }) => !connecting).length >= 512 || undefined)
  return {
    port,
    end() {
      for (const socket of waiting) socket.destroy()
      child.kill('SIGKILL')
    },
  }
}

/** Opens a call and waits for its end. */
async function call(
  on: { upstream: Upstream; dialer: Dialer },
  onKept?: DialCall['onKept'],
): Promise<Recorder> {
  const done = await open(on, undefined, undefined, onKept).recorder.over
  expect(done.broken).toEqual([])
  return done
}

const hello = send(`${head(200, 'content-length: 5')}hello`)
const chunkedReply = Buffer.concat([
  Buffer.from(head(103, 'link: </a>')),
  Buffer.from(head(200, 'x-one: 1', 'Transfer-Encoding: chunked')),
  chunk('hel'),
  chunk('lo'),
  Buffer.from('0\r\nx-sum: 1\r\n\r\n'),
])

test('a reply cut at every byte is the same, and the connection is used again', async () => {
  const cuts = Array.from({ length: chunkedReply.length - 1 }, (_, n): Script => {
    const gap = Promise.withResolvers<void>()
    setImmediate(() => setImmediate(gap.resolve))
    return [
      send(chunkedReply.subarray(0, n + 1)),
      until(gap.promise),
      () => new Promise((done) => setImmediate(done)),
      send(chunkedReply.subarray(n + 1)),
    ]
  })
  const on = await stage(...cuts)
  for (let n = 0; n < cuts.length; n++) {
    const { status, header, text, ended: whole } = await call(on)
    expect({ n, status, one: header('x-one'), text, whole }).toEqual({
      n,
      status: 200,
      one: '1',
      text: 'hello',
      whole: true,
    })
  }
  expect(on.upstream.accepted).toBe(1)
})

test('a request goes out as it is, in however many segments', async () => {
  const on = await stage([hello])
  await open(on, [Buffer.from('{"a":'), Buffer.from('1'), Buffer.from('}')]).recorder.over
  expect(on.upstream.requests[0]?.body.toString()).toBe('{"a":1}')
  expect(on.upstream.requests[0]?.headers.get('content-length')).toBe('7')
  await open(on, []).recorder.over
  expect(on.upstream.requests[1]?.headers.get('content-length')).toBe('0')
})

test('connections are kept, and the one used last is used first', async () => {
  const on = await stage([hello])
  const both = [open(on), open(on)]
  for (const { recorder } of both) await recorder.over
  expect(on.dialer.connections).toBe(2)
  const last = on.upstream.requests[1]?.connection
  await call(on)
  await call(on)
  expect(on.upstream.requests.slice(2).map(({ connection }) => connection)).toEqual(
    [0, 1].map(() => on.upstream.requests[2]?.connection ?? 0),
  )
  expect(last).toBeDefined()
  expect(on.upstream.accepted).toBe(2)
})

test('connections unused for long are closed, and others are opened when needed', async () => {
  const on = await stage([hello])
  await call(on)
  expect(on.dialer.connections).toBe(1)
  await eventually(() => on.dialer.connections === 0 || undefined)
  await eventually(() => on.upstream.open === 0 || undefined)
  await call(on)
  expect(on.upstream.accepted).toBe(2)
})

const unkept: Readonly<Record<string, Script>> = {
  'connection: close': [send(`${head(200, 'content-length: 5', 'connection: close')}hello`)],
  'HTTP/1.0': [send('HTTP/1.0 200 OK\r\ncontent-length: 5\r\n\r\nhello')],
  'no length': [send(`${head(200)}hello`), halfClose],
}

for (const [name, script] of Object.entries(unkept)) {
  test(`a connection is not kept: ${name}`, async () => {
    const on = await stage(script)
    const done = await call(on)
    expect({ text: done.text, ended: done.ended }).toEqual({ text: 'hello', ended: true })
    await call(on)
    expect(on.upstream.accepted).toBe(2)
    await eventually(() => on.dialer.connections === 0 || undefined)
  })
}

test('no body: 204 and 304 end at once', async () => {
  const on = await stage([send(head(204))], [send(head(304, 'content-length: 5'))])
  for (const status of [204, 304]) {
    const done = await call(on)
    expect({ status: done.status, text: done.text, ended: done.ended }).toEqual({
      status,
      text: '',
      ended: true,
    })
  }
  expect(on.upstream.accepted).toBe(1)
})

/** Scripts for a call on a kept connection that fails during the call. */
for (const [name, death] of Object.entries({ reset, halfClose })) {
  test(`a kept connection dead before the reply (${name}): the call is sent once more on a fresh one`, async () => {
    const on = await stage([hello], [death], [hello])
    await call(on)
    const done = await call(on)
    expect(done.text).toBe('hello')
    expect(on.upstream.requests.map(({ connection }) => connection)).toEqual([1, 1, 2])
  })

  test(`a kept connection dead before the reply (${name}): a call that must not be repeated is sent once`, async () => {
    const on = await stage([hello], [death], [hello])
    await call(on)
    expect((await call(on, 'fail')).failure).toMatchObject({ kind: 'reset', unsent: false })
    expect(on.upstream.requests).toHaveLength(2)
  })

  test(`dead again on the fresh one (${name}): a fault, and no third time`, async () => {
    const on = await stage([hello], [death], [death], [hello])
    await call(on)
    expect((await call(on)).failure).toMatchObject({ kind: 'reset', unsent: false })
    expect(on.upstream.requests).toHaveLength(3)
  })

  test(`a fresh connection dead before the reply (${name}): a fault at once`, async () => {
    const on = await stage([death])
    expect((await call(on)).failure).toMatchObject({ kind: 'reset', unsent: false })
    expect(on.upstream.requests).toHaveLength(1)
  })

  test(`a kept connection dead within the head (${name}): a fault, never sent again`, async () => {
    const on = await stage([hello], [send('HTTP/1.1 2'), death], [hello])
    await call(on)
    expect((await call(on)).failure).toMatchObject({ kind: 'reset' })
    expect(on.upstream.requests).toHaveLength(2)
  })

  test(`dead within the body (${name}): a cut`, async () => {
    const on = await stage([send(`${head(200, 'content-length: 50')}hello`), death])
    const done = await call(on)
    expect(done.failure).toMatchObject({ kind: 'cut' })
    expect(done.text).toBe('hello')
    await eventually(() => on.dialer.connections === 0 || undefined)
  })
}

test('a call that avoids kept connections gets one of its own, which is kept for others', async () => {
  const on = await stage([hello])
  await call(on)
  await call(on, 'avoid')
  await call(on)
  expect(on.upstream.requests.map(({ connection }) => connection)).toEqual([1, 2, 2])
})

test('of the connections of calls that avoid kept ones, 16 are kept', async () => {
  const all = Promise.withResolvers<void>()
  const on = await keptStage([until(all.promise), hello])
  const calls = Array.from({ length: 40 }, () => call(on, 'avoid'))
  await on.upstream.arrived(40)
  expect(on.dialer.connections).toBe(40)
  all.resolve()
  await Promise.all(calls)
  expect(on.dialer.connections).toBe(16)
})

test('a kept connection keeps neither its last request nor its reply', async () => {
  const on = await keptStage([hello])
  const recorders: WeakRef<Recorder>[] = []
  for (let n = 0; n < 32; n++) {
    const { recorder } = open(on, undefined, undefined, 'avoid')
    await recorder.over
    recorders.push(new WeakRef(recorder))
  }
  expect(on.dialer.connections).toBe(16)
  // In the turn in which it was made or read, a weak reference keeps its object.
  await new Promise<void>((resolve) => setImmediate(resolve))
  Bun.gc(true)
  const left = recorders.filter((recorder) => recorder.deref() !== undefined)
  // The collector treats any value on the stack that looks like an address as one.
  expect(left.length).toBeLessThan(8)
})

test('a kept connection the vendor closes is dropped', async () => {
  const close = Promise.withResolvers<void>()
  const on = await stage([hello, until(close.promise), halfClose], [hello])
  await call(on)
  close.resolve()
  await eventually(() => on.dialer.connections === 0 || undefined)
  expect((await call(on)).text).toBe('hello')
})

test('bytes nobody asked for: the kept connection is dropped', async () => {
  const now = Promise.withResolvers<void>()
  const on = await stage([hello, until(now.promise), hello, hang], [hello])
  await call(on)
  now.resolve()
  await on.upstream.requests[0]?.gone
  expect(on.dialer.connections).toBe(0)
  expect((await call(on)).text).toBe('hello')
})

const unreadable: Readonly<Record<string, Script>> = {
  'bytes behind its end': [send(`${head(200, 'content-length: 5')}hello!`)],
  'a second reply behind it': [send(`${head(200, 'content-length: 0')}${head(200)}`)],
  'another protocol': [send('SSH-2.0-OpenSSH\r\n\r\n')],
  'a switch of protocols': [send(head(101, 'upgrade: websocket'))],
  'a head of 70 KB': [send(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(70_000)}\r\n\r\n`)],
  'a head without end': [send(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(70_000)}`), hang],
  'a bare LF': [send('HTTP/1.1 200 OK\ncontent-length: 0\r\n\r\n')],
  'a chunk that is none': [send(`${head(200, 'transfer-encoding: chunked')}hello\r\n`)],
}

for (const [name, script] of Object.entries(unreadable)) {
  test(`a reply with ${name}: refused, and its connection dropped`, async () => {
    const on = await stage([...script, hang])
    const done = await call(on)
    expect({ kind: done.failure?.kind, ended: done.ended }).toEqual({
      kind: 'unreadable',
      ended: false,
    })
    await on.upstream.requests[0]?.gone
    expect(on.dialer.connections).toBe(0)
  })
}

test('interim replies without end are bounded', async () => {
  const on = await stage([
    async ({ socket }) => {
      const many = Buffer.from(head(103, `link: ${'x'.repeat(1_000)}`).repeat(100))
      while (!socket.destroyed) {
        await new Promise((done) => socket.write(many, done))
      }
    },
  ])
  const done = await open(on).recorder.over
  expect(done.failure).toMatchObject({ kind: 'unreadable' })
})

test('a body of 20 MB to a slow reader arrives whole', async () => {
  const on = await stage([hello])
  const segments = Array.from({ length: 20 }, (_, n) => new Uint8Array(1 << 20).fill(n))
  // Reads nothing until the dialer's writes have filled the sockets' buffers.
  const done = open(on, segments).recorder.over
  await on.upstream.arrived(1)
  expect((await done).text).toBe('hello')
  const body = on.upstream.requests[0]?.body ?? Buffer.alloc(0)
  expect(body.length).toBe(20 << 20)
  expect(Bun.hash(body)).toBe(Bun.hash(Buffer.concat(segments)))
})

test('a vendor that stops reading the request: a fault when the send limit is over', async () => {
  const deaf = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: (socket) => {
        socket.pause()
      },
      data: () => undefined,
    },
  })
  ended.push(() => deaf.stop(true))
  const dialer = createDialer()
  ended.push(() => dialer.close())
  const on = { upstream: { port: deaf.port } as Upstream, dialer }
  const done = await open(on, [new Uint8Array(20 << 20)], 200).recorder.over
  expect(done.failure).toMatchObject({ kind: 'timeout' })
  expect(dialer.connections).toBe(0)
})

test('a paused reply stops the vendor, and goes on where it stopped', async () => {
  const size = 64 << 20
  let written = 0
  const on = await stage([
    send(head(200, `content-length: ${size}`)),
    async ({ socket }) => {
      const piece = Buffer.alloc(1 << 20, 0x61)
      while (written < size && !socket.destroyed) {
        await new Promise((done) => socket.write(piece, done))
        written += piece.length
      }
    },
  ])
  const { recorder, exchange } = open(on)
  await recorder.begun
  exchange.pause()
  expect(await steady(() => written)).toBeLessThan(size / 2)
  const taken = recorder.byteCount
  expect(taken).toBeLessThan(size / 2)
  exchange.resume()
  expect((await recorder.over).byteCount).toBe(size)
  expect(recorder.broken).toEqual([])
})

test('an aborted call closes its connection at once and says nothing more', async () => {
  const on = await stage([send(head(200, 'transfer-encoding: chunked')), send(chunk('a')), hang])
  const { recorder, exchange } = open(on)
  await recorder.begun
  exchange.abort()
  await on.upstream.requests[0]?.gone
  exchange.abort()
  exchange.resume()
  expect({ ended: recorder.ended, fault: recorder.failure }).toEqual({ ended: false, fault: null })
  expect(on.dialer.connections).toBe(0)
})

test('a call may be aborted before it is sent, within its head and within its bytes', async () => {
  const on = await stage([
    send(`${head(200, 'transfer-encoding: chunked')}1\r\na\r\n1\r\nb\r\n${lastChunk}`),
  ])
  open(on).exchange.abort()
  const { recorder, exchange } = open(on)
  recorder.onBytes = () => exchange.abort()
  await recorder.begun
  await eventually(() => on.dialer.connections === 0 || undefined)
  expect(recorder.text).toBe('a')
  expect(recorder.ended).toBe(false)
})

test('a closed port is a fault before anything was sent', async () => {
  const on = await stage([hello])
  const { port } = on.upstream
  await on.upstream.close()
  const gone = { upstream: { port } as Upstream, dialer: on.dialer }
  expect((await call(gone)).failure).toMatchObject({ kind: 'unreachable', unsent: true })
  expect(on.dialer.connections).toBe(0)
})

test('an address that never answers: a fault when the connect limit is over', async () => {
  const { port, end } = await silentPort()
  ended.push(end)
  const dialer = createDialer()
  ended.push(() => dialer.close())
  const recorder = new Recorder()
  const target = destination({ port } as Upstream)
  const startedMs = performance.now()
  dialer.open({ destination: target, segments: [], connectMs: 200, sendIdleMs: 1_000 }, recorder)
  const done = await recorder.over
  expect(done.failure).toMatchObject({ kind: 'unreachable', unsent: true })
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(150)
  expect(dialer.connections).toBe(0)
})

test('a closed dialer has no connections left, and the vendor sees them go', async () => {
  const on = await stage([hello], [hello], [hang])
  const both = [open(on), open(on)]
  for (const { recorder } of both) await recorder.over
  open(on)
  await on.upstream.arrived(3)
  expect(on.dialer.connections).toBe(2)
  on.dialer.close()
  expect(on.dialer.connections).toBe(0)
  await eventually(() => on.upstream.open === 0 || undefined)
})
