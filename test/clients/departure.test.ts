// Tests a server that is stopped while many connections are in use: every sent request gets its reply, and no
// connection is reset.

import { describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import { connect } from 'node:net'
import { eventually, pace } from '../support/clients.ts'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'
import { portOf, post, RawClient, statusesIn } from '../support/socket.ts'

const hello = { model: 'sandbox/chat+tokens=2', messages: [{ role: 'user', content: 'Hello' }] }
const asking = post(
  '/v1/chat/completions',
  { authorization: `Bearer ${testKey}` },
  JSON.stringify(hello),
)

interface Ended {
  readonly statuses: readonly number[]
  /** Requests whose reply was not complete. */
  readonly unanswered: number
  /** The system's error if the connection was broken off. */
  readonly error: string | null
}

/** Sends requests on one connection until the server ends it. */
async function askUntilClosed(port: number, pauseMs: () => number): Promise<Ended> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  await once(socket, 'connect')
  const statuses: number[] = []
  let [received, waiting, over] = ['', false, false]
  let error: string | null = null
  const { promise, resolve } = Promise.withResolvers<void>()
  const send = () => {
    if (over) return
    waiting = true
    socket.write(asking)
  }
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1')
    const head = received.indexOf('\r\n\r\n')
    const length = /content-length: (\d+)/i.exec(received)?.[1]
    if (head === -1 || received.length < head + 4 + Number(length)) return
    statuses.push(Number(received.split(' ', 2)[1]))
    const last = /^connection: close\r$/im.test(received)
    received = ''
    waiting = false
    if (!last) void pace(pauseMs()).then(send)
  })
  socket.on('end', () => {
    over = true
  })
  socket.on('error', (failure: NodeJS.ErrnoException) => {
    error = failure.code ?? failure.message
  })
  socket.on('close', () => resolve())
  send()
  await promise
  return { statuses, unanswered: Number(waiting), error }
}

/** Many such connections, a signal once all of them are in use, and the results. */
async function throughStop(gateway: Gateway, connections: number): Promise<readonly Ended[]> {
  const port = portOf(gateway.url)
  let pauses = 0
  const ended = Array.from({ length: connections }, (_, index) =>
    askUntilClosed(port, () => {
      pauses += 1
      return (index * 7 + pauses) % 40
    }),
  )
  await eventually(() => (pauses > 4 * connections ? true : undefined))
  process.kill(gateway.pid, 'SIGTERM')
  return await Promise.all(ended)
}

describe('SIGTERM under load', () => {
  test.each([0, 400])(
    'with a delay of %d ms: each request has its reply, no connection is reset',
    async (drainDelayMs) => {
      const gateway = await startGateway({ config: { server: { drainDelayMs } } })
      const ended = await throughStop(gateway, 300)
      expect(ended.filter(({ error }) => error !== null)).toEqual([])
      expect(ended.filter(({ unanswered }) => unanswered > 0)).toEqual([])
      expect(ended.flatMap(({ statuses }) => statuses).filter((each) => each !== 200)).toEqual([])
      expect(await gateway.stop()).toBe(0)
    },
  )
})

interface Readiness {
  readonly status: number
  readonly components: Readonly<Record<string, { status: string; reason?: string }>>
}

async function readiness(url: string): Promise<Readiness> {
  const reply = await fetch(`${url}/readyz`)
  const { components } = (await reply.json()) as Omit<Readiness, 'status'>
  return { status: reply.status, components }
}

describe('before it stops listening', () => {
  test('a server whose readiness is asked for says that it stops, and serves; a second signal ends it', async () => {
    const gateway = await startGateway({ config: { server: { drainDelayMs: null } } })
    expect((await readiness(gateway.url)).status).toBe(200)
    process.kill(gateway.pid, 'SIGTERM')
    const { components } = await eventually(async () => {
      const found = await readiness(gateway.url)
      return found.status === 503 ? found : undefined
    })
    expect(components).toEqual({
      server: { status: 'unavailable', reason: 'the server is stopping' },
      ledger: { status: 'ok' },
      channels: { status: 'ok' },
    })
    // A signal within a second of the first counts as the same one.
    const againMs = performance.now() + 1_000
    while (performance.now() < againMs) {
      const reply = await gateway.post('/v1/chat/completions', hello)
      expect([reply.status, reply.headers.get('connection')]).toEqual([200, 'close'])
    }
    // It is killed if it takes two seconds more.
    expect(await gateway.stop()).toBe(0)
  })

  test.each([
    ['nobody asks for its readiness', {}, false],
    ['npm start has started it', { npm_lifecycle_event: 'start' }, true],
  ])('where %s it does not wait', async (_, env, asks) => {
    const gateway = await startGateway({ config: { server: { drainDelayMs: null } }, env })
    if (asks) await readiness(gateway.url)
    // It is killed if it takes two seconds.
    expect(await gateway.stop()).toBe(0)
  })

  test('what is refused, asked in a row or sent in pieces has its reply all the same', async () => {
    const gateway = await startGateway({ config: { server: { drainDelayMs: 1_500 } } })
    const [slow, row, resting] = await Promise.all(
      [1, 2, 3].map(() => RawClient.open(portOf(gateway.url))),
    )
    if (slow === undefined || row === undefined || resting === undefined) throw new Error('none')
    resting.send('GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n')
    await resting.until((text) => text.includes('uptimeSeconds'))
    process.kill(gateway.pid, 'SIGTERM')
    await eventually(async () => ((await readiness(gateway.url)).status === 503 ? true : undefined))
    const long = post('/v1/chat/completions', { authorization: 'Bearer no' }, 'x'.repeat(200_000))
    slow.send(long.slice(0, 70_000))
    slow.send(long.slice(70_000))
    expect(statusesIn(await slow.closed())).toEqual([401])
    row.send(`HEAD /v1/models HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${testKey}\r\n\r\n`)
    expect(statusesIn(await row.closed())).toEqual([200])
    // The reply to the first says that it is the last (RFC 9112, section 9.6).
    resting.send('GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(2))
    const replies = await resting.closed()
    expect(statusesIn(replies)).toEqual([200, 200])
    expect(replies).toMatch(/^connection: close\r$/im)
    expect(await gateway.stop()).toBe(0)
  })

  test('a stream that began before goes on to its end, and new connections find nobody', async () => {
    const gateway = await startGateway()
    const long = { ...hello, model: 'sandbox/chat+tokens=400+gap=5', stream: true }
    const stream = await gateway.post('/v1/chat/completions', long)
    const text = stream.text()
    process.kill(gateway.pid, 'SIGTERM')
    const reached = () =>
      RawClient.open(portOf(gateway.url)).then(
        (client) => client.destroy(),
        () => true,
      )
    await eventually(reached)
    expect(await text).toEndWith('data: [DONE]\n\n')
    expect(await gateway.stop()).toBe(0)
  })
})
