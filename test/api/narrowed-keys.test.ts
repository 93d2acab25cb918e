// Tests keys that are limited to models and addresses: what they may request, and how other requests are refused.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Gateway, startGateway } from '../support/gateway.ts'

const denied = 'sk-denied-0123456789'
const wide = 'sk-wide-0123456789ab'
const office = 'sk-office-0123456789'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway({
    config: {
      server: { trustedProxies: ['127.0.0.1'] },
      channels: [
        {
          id: 'sandbox',
          vendor: 'sandbox',
          models: { 'small-1': 'sandbox/chat', 'small-2': 'sandbox/chat', large: 'sandbox/chat' },
        },
      ],
      keys: [
        { name: 'denied', secret: denied, models: ['small*'], deniedModels: ['small-2', 'large'] },
        { name: 'wide', secret: wide, deniedModels: ['small*'] },
        { name: 'office', secret: office, addresses: ['192.0.2.0/24', '2001:db8::/32'] },
      ],
    },
  })
})
afterAll(async () => {
  await gateway.stop()
})

async function ask(key: string, model: string, from?: string) {
  const headers = {
    authorization: `Bearer ${key}`,
    ...(from !== undefined && { 'x-forwarded-for': from }),
  }
  const messages = [{ role: 'user', content: 'Hello' }]
  const reply = await gateway.post('/v1/chat/completions', { model, messages }, { headers })
  const body = (await reply.json()) as { error?: { code: string; message: string } }
  return { status: reply.status, error: body.error, id: reply.headers.get('x-request-id') ?? '' }
}

async function listed(key: string): Promise<readonly string[]> {
  const headers = { authorization: `Bearer ${key}` }
  const reply = await fetch(`${gateway.url}/v1/models`, { headers })
  const { data } = (await reply.json()) as { data: readonly { id: string }[] }
  return data.map(({ id }) => id)
}

test('a denied model is none, whatever allows it, and is not listed', async () => {
  expect(await listed(denied)).toEqual(['small-1'])
  expect((await ask(denied, 'small-1')).status).toBe(200)
  for (const model of ['small-2', 'large'])
    expect(await ask(denied, model)).toMatchObject({
      status: 404,
      error: { code: 'model_not_found' },
    })
})

test('a pattern denies all that begins so, and nothing else', async () => {
  expect(await listed(wide)).toEqual(['large'])
  expect((await ask(wide, 'large')).status).toBe(200)
  expect((await ask(wide, 'small-1')).status).toBe(404)
})

test.each(['192.0.2.77', '2001:db8::9', '203.0.113.5, 192.0.2.77'])(
  'a key that is bound to addresses is taken from %s',
  async (from) => {
    expect((await ask(office, 'large', from)).status).toBe(200)
  },
)

test.each([undefined, '203.0.113.5', '192.0.2.77, 203.0.113.5'])(
  'and refused from %p, with 401 and the address',
  async (from) => {
    const { status, error } = await ask(office, 'large', from)
    expect(status).toBe(401)
    expect(error?.code).toBe('ip_not_authorized')
    expect(error?.message).toContain(from === undefined ? '127.0.0.1' : '203.0.113.5')
    expect(error?.message).not.toContain(office)
  },
)

test('it is refused in the client’s own format, and for what is only read too', async () => {
  const headers = { 'x-api-key': office, 'x-forwarded-for': '203.0.113.5' }
  const messages = [{ role: 'user', content: 'Hello' }]
  const body = { model: 'large', max_tokens: 5, messages }
  const reply = await gateway.post('/v1/messages', body, {
    headers: { ...headers, authorization: '' },
  })
  expect(reply.status).toBe(401)
  expect(await reply.json()).toMatchObject({
    type: 'error',
    error: { type: 'authentication_error', message: expect.stringContaining('203.0.113.5') },
  })
  for (const path of ['/v1/models', '/api/me/balance'])
    expect((await fetch(gateway.url + path, { headers })).status).toBe(401)
})
