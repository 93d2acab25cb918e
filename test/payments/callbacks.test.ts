// Tests how providers reach a deployment, as its operators see it: recent messages, and a test that says what is wrong.

import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { loadConfiguration } from '../../src/admin/configuration.ts'
import { testCallback } from '../../src/admin/payment-health.ts'
import { createSecretBox } from '../../src/identity/secret-box.ts'
import { createPayments, type Payments } from '../../src/payments/payments.ts'
import { makeDirectory } from '../contract/databases.ts'
import { makeCertificates } from '../support/certificates.ts'
import { type ControlStage, controlStage, manager, person } from '../support/control.ts'
import { newOrder, paidTransaction } from '../support/payments.ts'
import { stripeSignature, webhookSecret } from './providers.ts'

const directory = makeDirectory()
const operator = person('ops', 'admin')
const path = '/api/payments/stripe/notify'
let stage: ControlStage
let payments: Payments
let problems = 0
/** The server at the address to which providers send. */
let front: (request: Request) => Response | Promise<Response>
const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => front(request) })
const home = `http://127.0.0.1:${server.port}`
let address = home

const arrives = async (request: Request) =>
  stage.reply(null, new URL(request.url).pathname, {
    method: 'POST',
    headers: request.headers,
    body: await request.text(),
  })

beforeAll(async () => {
  const config = `${directory.path}/config.json`
  const stripe = { secretKey: 'sk_test', webhookSecret }
  await Bun.write(config, JSON.stringify({ payments: { stripe } }))
  const { payments: settings } = await loadConfiguration({
    flags: { config, data: directory.path },
    env: {},
  })
  const onProblem = () => {
    problems += 1
  }
  const desk = async () => ({ payments, settings, mode: 'live' as const, address, onProblem })
  stage = await controlStage({ services: { orders: { desk } } })
  payments = createPayments({
    store: stage.store,
    settings,
    currency: 'USD',
    mode: 'live',
    send: () => Promise.reject(new Error('no provider is asked')),
    onProblem,
  })
})
beforeEach(() => {
  front = arrives
  address = home
})
afterAll(async () => {
  await stage.close()
  await server.stop(true)
  directory.remove()
})

async function tested() {
  const { status, json } = await stage.send(operator, 'POST', '/api/payments/stripe/self-test')
  expect(status).toBe(200)
  return json
}

test('nothing is in the way: this deployment answers, and a loopback address is said to be out of reach', async () => {
  expect(await tested()).toMatchObject({
    address: `${home}${path}`,
    outcome: 'arrived',
    status: 200,
    detail: null,
    isPublic: false,
    isSecure: false,
  })
})

const html = { 'content-type': 'text/html; charset=utf-8' }
const between: [string, () => Response, object][] = [
  [
    'a slash too many',
    () => Response.redirect(`${home}${path}/`, 308),
    { outcome: 'redirect', status: 308, detail: `${home}${path}/` },
  ],
  ['a login page', () => new Response('<form>', { headers: html }), { outcome: 'page' }],
  ['a page that is not there', () => new Response('', { status: 404 }), { outcome: 'not_found' }],
  [
    'a proxy that wants a password',
    () => new Response('', { status: 401 }),
    { outcome: 'blocked' },
  ],
  [
    'a proxy whose gateway is away',
    () => new Response('<h1>', { status: 502, headers: html }),
    { outcome: 'unavailable', status: 502 },
  ],
  ['another program', () => Response.json({ ok: true }), { outcome: 'other_program' }],
  [
    'a program that says what it heard',
    () => new Response('{}', { headers: { 'content-type': 'text/plain' } }),
    { outcome: 'other_program' },
  ],
  ['a page without end', () => new Response('x'.repeat(70_000)), { outcome: 'other_program' }],
]
test.each(between)('%s is named', async (_, answer, expected) => {
  front = answer
  expect(await tested()).toMatchObject(expected)
})

test('a deployment with another key, one that answers too late, nobody there, a name nobody has, and TLS that does not hold', async () => {
  const other = createSecretBox(new Uint8Array(32).fill(1), 'payment callback tests')
  const ask = (at: string, timeoutMs = 5_000) =>
    testCallback({ payments, address: at }, { provider: 'stripe', box: other, timeoutMs })
  expect(await ask(home)).toMatchObject({ outcome: 'other_deployment', status: 409 })
  const late = Promise.withResolvers<Response>()
  front = () => late.promise
  expect(await ask(home, 50)).toMatchObject({ outcome: 'slow', status: null })
  late.resolve(new Response(''))
  expect(await ask('http://127.0.0.1:1')).toMatchObject({ outcome: 'unreachable' })
  expect(await ask('http://nobody.invalid')).toMatchObject({ outcome: 'unknown_host' })
  const certificates = makeCertificates()
  const { key, cert } = certificates.selfSigned
  const secure = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls: { key, cert },
    fetch: () => new Response(''),
  })
  const found = await ask(`https://127.0.0.1:${secure.port}`)
  expect(found).toMatchObject({ outcome: 'tls', isSecure: true })
  expect(found.detail).toContain('TLS failed')
  await secure.stop(true)
  certificates.remove()
})

test('what was asked cannot be used again for a credit, and is refused as a message without it would be', async () => {
  let asked: Headers | null = null
  front = (request) => {
    asked = request.headers
    return arrives(request)
  }
  await tested()
  const question = new Headers(asked ?? {}).get('x-tollgate-callback-test') ?? ''
  const again = (header: string) =>
    stage.reply(null, path, { method: 'POST', headers: { 'x-tollgate-callback-test': header } })
  expect((await again(question)).status).toBe(200)
  expect((await again(`${question.slice(0, -4)}AAAA`)).status).toBe(409)
  expect((await again('not base64 at all')).status).toBe(409)
  expect((await stage.store.callbacks.health(of)).refusedAt).toBeNull()
})

const of = { provider: 'stripe', mode: 'live', stuckBefore: 0 } as const

test('health says what came, what was refused and why, and what waits; a flood is one note', async () => {
  const { store } = stage
  const read = async () => {
    const reply = await stage.send(person('eve', 'auditor'), 'GET', '/api/payments/health')
    expect(reply.status).toBe(200)
    return reply.json.providers[0]
  }
  expect(await read()).toMatchObject({ name: 'stripe', receivedAt: null, open: 0, stuck: 0 })
  await store.accounts.ensure('ann', 1)
  const now = Date.now()
  const order = (id: string, createdAt: number) =>
    store.paymentOrders.create(newOrder({ id, provider: 'stripe', createdAt }))
  await order('old', now - 121_000)
  await order('new', now)
  await order('paid', now)
  await store.payments.markPaid('paid', paidTransaction({ provider: 'stripe' }), null, now)
  const notes: unknown[] = []
  const { note } = store.callbacks
  Object.assign(store.callbacks, {
    note: (message: Parameters<typeof note>[0]) => {
      notes.push(message)
      return note(message)
    },
  })
  const send = (body: string, secret: string) =>
    stage.reply(null, path, {
      method: 'POST',
      body,
      headers: { 'stripe-signature': stripeSignature(body, secret) },
    })
  const flood = Array.from({ length: 30 }, (_, index) => send(`{"id":"evt_${index}"}`, 'wrong'))
  expect((await Promise.all(flood)).map(({ status }) => status)).toEqual(Array(30).fill(400))
  expect(notes).toHaveLength(1)
  const event = JSON.stringify({ id: 'evt_1', type: 'customer.created', data: { object: {} } })
  expect((await send(event, webhookSecret)).status).toBe(200)
  const found = await read()
  expect(found).toMatchObject({ open: 2, stuck: 1 })
  expect(found.problem).toMatch(/signature/)
  expect([found.receivedAt >= found.refusedAt, found.creditedAt]).toEqual([
    true,
    new Date(now).toISOString(),
  ])
})

test('auditors do not test, users see nothing of it, and a provider that is not configured is not found', async () => {
  const asks = (as: ReturnType<typeof person>, provider = 'stripe') =>
    stage.send(as, 'POST', `/api/payments/${provider}/self-test`)
  expect((await asks(person('eve', 'auditor'))).status).toBe(403)
  expect((await asks(person('ann'))).status).toBe(403)
  expect((await stage.send(person('ann'), 'GET', '/api/payments/health')).status).toBe(403)
  expect((await stage.send(manager(null, ['read']), 'GET', '/api/payments/health')).status).toBe(
    200,
  )
  expect((await asks(operator, 'alipay')).json).toMatchObject({ status: 404, field: 'provider' })
})

test('many forged messages are reported once in a few seconds, so that they do not fill the log', async () => {
  const before = problems
  for (let count = 0; count < 20; count++) {
    const forged = new Request(`${home}${path}`, { method: 'POST', body: `{"id":"evt_${count}"}` })
    expect((await arrives(forged)).status).toBe(400)
  }
  expect(problems - before).toBeLessThanOrEqual(2)
})

test('what a refused notification is answered with is in the API description, as are the bodies it takes', async () => {
  const document = (await stage.send(null, 'GET', '/openapi.json')).json
  const { post } = document.paths['/api/payments/{provider}/notify']
  expect(Object.keys(post.requestBody.content).toSorted()).toEqual([
    'application/json',
    'application/x-www-form-urlencoded',
  ])
  const reply = await stage.reply(null, path, { method: 'POST', body: '{}' })
  const type = reply.headers.get('content-type')?.split(';')[0] ?? ''
  expect([reply.status, Object.keys(post.responses['400'].content)]).toEqual([
    400,
    expect.arrayContaining([type, 'text/plain', 'application/problem+json']),
  ])
})
