// Tests that a management key makes a key over the control API of a running server, and that changes of that key take
// effect there.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createManagementKey } from '../../src/admin/management-keys.ts'
import { openStore } from '../../src/store/open.ts'
import { adminOf } from '../support/admin.ts'
import { eventually } from '../support/clients.ts'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'

let gateway: Gateway
let secret: string
beforeAll(async () => {
  gateway = await startGateway({
    config: { channels: [{ id: 'sandbox', vendor: 'sandbox', models: ['sandbox/*'] }] },
  })
  const store = await openStore({ dataDir: gateway.dataDir, databaseUrl: null })
  const admin = adminOf(store)
  const input = { name: 'ci', account: 'default', scopes: ['read' as const, 'write' as const] }
  secret = (await createManagementKey(admin, input)).secret
  await store.close()
})
afterAll(async () => {
  await gateway.stop()
})

async function manage(method: string, path: string, body?: object, as = secret) {
  const reply = await fetch(gateway.url + path, {
    method,
    headers: { authorization: `Bearer ${as}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await reply.text()
  return { status: reply.status, json: text === '' ? null : JSON.parse(text) }
}

async function call(key: string): Promise<number> {
  const body = { model: 'sandbox/chat', messages: [{ role: 'user', content: 'Hello' }] }
  const headers = { authorization: `Bearer ${key}` }
  const reply = await gateway.post('/v1/chat/completions', body, { headers })
  await reply.arrayBuffer()
  return reply.status
}

const answers = (key: string, status: number) =>
  eventually(async () => (await call(key)) === status || undefined, 3_000)

test('a key is made, called, tested, rotated, disabled, enabled and deleted', async () => {
  const made = await manage('POST', '/api/keys', { name: 'app', group: 'default' })
  expect([made.status, made.json.account]).toEqual([201, 'default'])
  const { id } = made.json
  await answers(made.json.secret, 200)
  const tested = await manage('POST', `/api/keys/${id}/test`)
  expect(tested.json).toMatchObject({ admitted: true, reasons: [] })
  expect(tested.json.models).toContain('sandbox/chat')
  const shown = await eventually(async () => {
    const { json } = await manage('GET', `/api/keys/${id}`)
    return json.lastUsed !== null && json.today.requests > 0 ? json : undefined
  })
  expect(shown.lastUsed.address).toBe('127.0.0.1')
  expect(shown.month).toEqual(shown.today)
  const rotated = await manage('POST', `/api/keys/${id}/rotate`, { overlapSeconds: 60 })
  await answers(rotated.json.secret, 200)
  expect(await call(made.json.secret)).toBe(200)
  const again = await manage('POST', `/api/keys/${id}/rotate`, { overlapSeconds: 0 })
  await answers(made.json.secret, 401)
  await answers(rotated.json.secret, 401)
  await answers(again.json.secret, 200)
  await manage('POST', `/api/keys/${id}/disable`)
  await answers(again.json.secret, 401)
  await manage('POST', `/api/keys/${id}/enable`)
  await answers(again.json.secret, 200)
  await manage('PATCH', `/api/keys/${id}`, { spendLimit: { amount: '0.000000001' } })
  await answers(again.json.secret, 429)
  await manage('PATCH', `/api/keys/${id}`, { spendLimit: null, deniedModels: ['sandbox/*'] })
  await answers(again.json.secret, 404)
  expect((await manage('DELETE', `/api/keys/${id}`)).status).toBe(204)
  await answers(again.json.secret, 401)
})

test('each kind of key opens its own half alone', async () => {
  expect(await call(secret)).toBe(401)
  const refused = await manage('GET', '/api/keys', undefined, testKey)
  expect([refused.status, refused.json.detail]).toEqual([
    403,
    'This key calls models. The control API needs a management key or a session.',
  ])
  expect((await manage('GET', '/api/me/balance', undefined, testKey)).status).toBe(200)
  expect((await manage('GET', '/api/keys')).json.items).toMatchObject([
    { id: 'config:test', declared: true },
  ])
})
