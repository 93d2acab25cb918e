// Tests the official openai SDK's two realtime clients, which support only TLS, in a session through the gateway.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type Certificates, makeCertificates } from '../support/certificates.ts'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'
import { type RealtimeVendor, startRealtimeVendor, usage } from '../support/realtime.ts'
import { portOf } from '../support/socket.ts'

let certificates: Certificates
let vendor: RealtimeVendor
let gateway: Gateway
let front: Bun.TCPSocketListener<Pipe>

/** One end of a connection, and what arrived for the other end before that existed. */
interface Pipe {
  other: Bun.Socket<Pipe> | null
  early: Uint8Array[]
}

/** Like the proxy before a gateway in production: it ends TLS and passes the bytes on. */
function startFront(port: number): Bun.TCPSocketListener<Pipe> {
  const handlers = {
    data(socket: Bun.Socket<Pipe>, bytes: Uint8Array) {
      const { other, early } = socket.data
      if (other === null) early.push(new Uint8Array(bytes))
      else other.write(bytes)
    },
    close(socket: Bun.Socket<Pipe>) {
      socket.data.other?.end()
    },
    error(socket: Bun.Socket<Pipe>) {
      socket.data.other?.end()
    },
  }
  return Bun.listen<Pipe>({
    hostname: '127.0.0.1',
    port: 0,
    tls: certificates.valid,
    socket: {
      ...handlers,
      async open(socket) {
        socket.data = { other: null, early: [] }
        const data: Pipe = { other: socket, early: [] }
        const inner = await Bun.connect<Pipe>({
          hostname: '127.0.0.1',
          port,
          data,
          socket: handlers,
        })
        for (const bytes of socket.data.early) inner.write(bytes)
        socket.data.other = inner
      },
    },
  })
}

beforeAll(async () => {
  certificates = makeCertificates()
  // The vendor uses TLS too, as every vendor does.
  vendor = startRealtimeVendor(certificates.valid)
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
    },
    env: { NODE_EXTRA_CA_CERTS: certificates.authorityFile },
  })
  front = startFront(portOf(gateway.url))
})
afterAll(async () => {
  front.stop(true)
  await gateway.stop()
  await vendor.close()
  certificates.remove()
})

test('both clients speak, hear, and are told what is refused', async () => {
  const child = Bun.spawn(
    [
      process.execPath,
      join(import.meta.dir, 'realtime-client.ts'),
      `https://localhost:${front.port}/v1`,
      testKey,
    ],
    {
      env: { PATH: Bun.env['PATH'] ?? '', NODE_EXTRA_CA_CERTS: certificates.authorityFile },
      stdout: 'pipe',
      stderr: 'pipe',
    },
  )
  const said = await new Response(child.stdout).text()
  expect(await new Response(child.stderr).text()).toBe('')
  const { node, browser, refusal } = JSON.parse(said)
  const turn = {
    received: [
      'session.created',
      'session.updated',
      'response.created',
      'response.output_audio.delta',
      'response.done',
      'error',
    ],
    errors: ['invalid_request_error: mine'],
    audioBytes: 7 * 2_400,
    usage,
  }
  expect(node).toEqual(turn)
  expect(browser).toEqual(turn)
  expect(refusal).toContain('404')
  expect(vendor.sessions).toHaveLength(2)
  for (const { received } of vendor.sessions) {
    expect(received.events.map(({ type }) => type)).toEqual([
      'session.update',
      'conversation.item.create',
      'response.create',
    ])
  }
}, 20_000)

test('a vendor whose certificate does not hold is not spoken to', async () => {
  const wrong = startRealtimeVendor(certificates.selfSigned)
  const other = await startGateway({
    config: {
      channels: [
        {
          id: 'main',
          vendor: 'openai',
          baseUrl: wrong.url,
          key: 'sk-up-0123456789',
          models: ['gpt-realtime'],
        },
      ],
      models: { 'gpt-realtime': { kind: 'realtime' } },
    },
  })
  try {
    const reply = await fetch(`${other.url}/v1/realtime?model=gpt-realtime`, {
      headers: { authorization: `Bearer ${testKey}`, upgrade: 'websocket', connection: 'upgrade' },
    })
    expect(reply.status).toBe(503)
    expect(wrong.sessions).toHaveLength(0)
  } finally {
    await other.stop()
    await wrong.close()
  }
})
