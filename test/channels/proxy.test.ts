// Tests a channel with an HTTP proxy: what reaches its vendor, and the result if the proxy fails.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Certificates, makeCertificates } from '../support/certificates.ts'
import { eventually } from '../support/clients.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { type HttpProxy, startHttpProxy } from '../support/http-proxy.ts'
import { hang, startUpstream, type Upstream } from '../support/upstream.ts'

const password = 'p@ss word:0123456789'
const manners = ['refuses', 'hangs', 'closes', 'speaks'] as const
const messages = [{ role: 'user', content: 'a secret question' }]
let certificates: Certificates
let secure: Upstream
let unproven: Upstream
let plain: Upstream
let proxy: HttpProxy
let wary: HttpProxy
let cutting: HttpProxy
let sick: HttpProxy[] = []
let gateway: Gateway

beforeAll(async () => {
  certificates = makeCertificates()
  secure = await startUpstream(certificates.valid)
  unproven = await startUpstream(certificates.wrongHost)
  plain = await startUpstream()
  proxy = await startHttpProxy()
  wary = await startHttpProxy(`ops:${password}`)
  cutting = await startHttpProxy()
  sick = await Promise.all(manners.map((manner) => startHttpProxy(null, manner)))
  const at = (port: number, user = '') => `http://${user}127.0.0.1:${port}`
  const known = at(wary.port, `ops:${encodeURIComponent(password)}@`)
  const channel = (id: string, baseUrl: string, through: string, more: object = {}) => ({
    id,
    vendor: 'openai-compatible',
    baseUrl,
    key: `sk-vendor-secret-${id}`,
    models: [id],
    proxy: through,
    ...more,
  })
  const inTime = { timeouts: { connectMs: 300 } }
  gateway = await startGateway({
    env: { NODE_EXTRA_CA_CERTS: certificates.authorityFile },
    config: {
      channels: [
        channel('secure', `https://localhost:${secure.port}/v1`, at(proxy.port)),
        channel('known', `https://localhost:${secure.port}/v1`, known),
        channel('unknown', `https://localhost:${secure.port}/v1`, at(wary.port, 'ops:wrong@')),
        channel('unproven', `https://localhost:${unproven.port}/v1`, at(proxy.port)),
        channel('plain', plain.url, known),
        channel('plain-unknown', plain.url, at(wary.port)),
        ...manners.map((id, index) =>
          channel(id, `https://localhost:${secure.port}/v1`, at(sick[index]?.port ?? 0), inTime),
        ),
        channel('cut', `https://localhost:${secure.port}/v1`, at(cutting.port)),
        channel('nobody', plain.url, at(1)),
        { ...channel('spare', plain.url, ''), proxy: null, models: ['nobody'], priority: 1 },
      ],
    },
  })
})
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]()
  for (const each of [secure, unproven, plain]) await each?.close()
  for (const each of [proxy, wary, cutting, ...sick]) await each?.[Symbol.asyncDispose]()
  certificates?.remove()
})

async function ask(model: string, more: object = {}) {
  const answer = await gateway.post('/v1/chat/completions', { model, messages, ...more })
  const text = await answer.text()
  return {
    status: answer.status,
    text,
    row: await gateway.row(answer.headers.get('x-request-id') ?? ''),
  }
}

test('a vendor with TLS is reached by a way that the proxy cannot look into, kept for the next', async () => {
  expect((await ask('secure')).text).toContain('Hello')
  expect((await ask('secure', { stream: true })).text).toContain('[DONE]')
  expect(proxy.asked).toEqual([{ line: `CONNECT localhost:${secure.port}`, user: null }])
  expect(secure.requests.map(({ connection }) => connection)).toEqual([1, 1])
  expect(secure.requests[0]?.target).toBe('/v1/chat/completions')
  expect(secure.requests[0]?.headers.has('proxy-authorization')).toBe(false)
  expect(proxy.seen()).not.toContain('secret')
})

test('a proxy is told its user, and a channel of another user has ways of its own', async () => {
  expect((await ask('known')).status).toBe(200)
  expect(wary.asked.at(-1)).toEqual({
    line: `CONNECT localhost:${secure.port}`,
    user: `ops:${password}`,
  })
  expect(secure.requests.at(-1)?.headers.get('authorization')).toBe('Bearer sk-vendor-secret-known')
})

test('a vendor without TLS is asked by the proxy itself', async () => {
  const seen = plain.requests.length
  expect((await ask('plain')).text).toContain('Hello')
  expect(wary.asked.at(-1)).toEqual({
    line: `POST ${plain.url}/chat/completions`,
    user: `ops:${password}`,
  })
  expect(plain.requests[seen]).toMatchObject({ target: '/v1/chat/completions' })
})

test('what the vendor must prove it must prove through a proxy too', async () => {
  const { status, row } = await ask('unproven')
  expect(status).toBe(503)
  expect(row.failedAttempts).toMatchObject([{ kind: 'unreachable' }])
  await gateway.logged('TLS failed')
  expect(unproven.requests).toHaveLength(0)
})

const failing = [
  ['unknown', 'the proxy refused its user or password'],
  ['plain-unknown', 'the proxy refused its user or password'],
  ['refuses', 'the proxy answered 403'],
  ['hangs', 'the proxy did not open a tunnel to the vendor in time'],
  ['closes', 'the proxy closed the connection'],
  ['speaks', 'the proxy sent unexpected bytes after it opened the tunnel'],
] as const

test.each(failing)(
  '%s: nothing reaches the vendor, and the channel is at fault',
  async (id, why) => {
    const before = secure.requests.length + plain.requests.length
    const { status, text, row } = await ask(id)
    expect(status).toBe(503)
    expect(text).toContain('proxy let nothing through')
    expect(row.failedAttempts).toMatchObject([{ channel: id, kind: 'proxy' }])
    await gateway.logged(why)
    expect(secure.requests.length + plain.requests.length).toBe(before)
  },
)

test('a proxy that is not there lets another channel serve', async () => {
  const { status, row } = await ask('nobody')
  expect(status).toBe(200)
  expect(row.failedAttempts).toMatchObject([
    { channel: 'nobody', kind: 'proxy', then: 'next_channel' },
  ])
})

test('a way that breaks off in the middle is a connection that was lost', async () => {
  secure.on('cut', [hang])
  const arrived = secure.arrived(secure.requests.length + 1)
  const asked = ask('cut')
  await arrived
  cutting.cut()
  const { status, row } = await asked
  expect(status).toBe(503)
  expect(row.failedAttempts).toMatchObject([{ kind: 'reset' }])
  expect(await eventually(() => (cutting.ways === 0 ? true : undefined))).toBe(true)
})

test('neither the log nor any answer has a password of a proxy in it', async () => {
  const metrics = await gateway.metrics()
  for (const said of [gateway.stderr, metrics]) {
    expect(said).not.toContain(password)
    expect(said).not.toContain(encodeURIComponent(password))
    expect(said).not.toContain(Buffer.from(`ops:${password}`).toString('base64'))
  }
})
