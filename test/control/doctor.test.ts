// Tests the setup doctor: misconfigured clients of a running server, and who is shown their mistakes.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { createManagementKey } from '../../src/admin/management-keys.ts'
import type { Arrival } from '../../src/store/arrivals.ts'
import { openStore } from '../../src/store/open.ts'
import { adminOf } from '../support/admin.ts'
import { controlStage, manager, person } from '../support/control.ts'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'

let gateway: Gateway
let manage: Readonly<Record<'own' | 'other' | 'all', string>>
let made: { readonly id: string; readonly secret: string }
let disabled: string
beforeAll(async () => {
  gateway = await startGateway({
    config: {
      channels: [{ id: 'sandbox', vendor: 'sandbox', models: ['sandbox/chat', 'sandbox/echo'] }],
      server: { trustedProxies: ['127.0.0.1'] },
      keys: [
        { name: 'test', secret: testKey },
        { name: 'far', secret: 'sk-far-0123456789abcdef', addresses: ['203.0.113.0/24'] },
        { name: 'narrow', secret: 'sk-narrow-0123456789abcdef', models: ['sandbox/echo'] },
      ],
    },
  })
  const store = await openStore({ dataDir: gateway.dataDir, databaseUrl: null })
  const admin = adminOf(store)
  await store.accounts.ensure('bob', 1)
  const managing = async (account: string | null) =>
    (await createManagementKey(admin, { name: 'ci', account, scopes: ['read', 'write'] })).secret
  manage = {
    own: await managing('default'),
    other: await managing('bob'),
    all: await managing(null),
  }
  await store.close()
  made = await change('/api/keys', { name: 'app', group: 'default' })
  const stopped = await change('/api/keys', { name: 'stopped', group: 'default' })
  await change(`/api/keys/${stopped.id}/disable`)
  disabled = stopped.secret
})
afterAll(async () => {
  await gateway.stop()
})

/** It takes effect at once in the process that is asked. */
async function change(path: string, body = {}) {
  const headers = { authorization: `Bearer ${manage.own}`, 'content-type': 'application/json' }
  const init = { method: 'POST', headers, body: JSON.stringify(body) }
  return (await fetch(gateway.url + path, init)).json() as Promise<typeof made>
}

const hello = { model: 'sandbox/chat', messages: [{ role: 'user', content: 'Hello' }] }

/** Mistakes of one address are noted only this often in a second. */
let sent = 0
const nextAddress = () => `203.0.114.${(sent += 1)}`

interface Sent {
  readonly path?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

async function send({
  path = '/v1/chat/completions',
  method = 'POST',
  headers,
  body = hello,
}: Sent) {
  const reply = await fetch(gateway.url + path, {
    method,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'my-agent/1.2',
      'x-forwarded-for': nextAddress(),
      ...headers,
    },
    ...(method === 'POST' && { body: JSON.stringify(body) }),
  })
  await reply.arrayBuffer()
  return reply
}

const say = (secret: string, sent: Sent = {}) =>
  send({ ...sent, headers: { authorization: `Bearer ${secret}`, ...sent.headers } })

async function doctor(as: keyof typeof manage, query = '') {
  const headers = { authorization: `Bearer ${manage[as]}` }
  const reply = await fetch(`${gateway.url}/api/doctor${query}`, { headers })
  return { status: reply.status, ...((await reply.json()) as { items: View[] }) }
}

type View = Arrival & { readonly outcome: string; readonly by: string | null }

/** The request sent last, as the doctor reports it. */
async function told(asked: Promise<Response>, as: keyof typeof manage = 'own') {
  const id = (await asked).headers.get('x-request-id') ?? ''
  return (await doctor(as)).items.find(({ requestId }) => requestId === id)
}

const tool = { type: 'text', text: 'Hello' }

describe('a mistake is told to whose key it is', () => {
  const bearer = (text: string) => ({ headers: { authorization: text } })
  const cases: readonly (readonly [string, () => Promise<Response>, object])[] = [
    [
      'in a header of another name',
      () => send({ headers: { 'openai-api-key': made.secret } }),
      { code: 'key_misplaced' },
    ],
    ['without Bearer', () => send(bearer(made.secret)), { code: 'key_misplaced' }],
    [
      'in the address',
      () => send({ path: `/v1/chat/completions?api_key=${made.secret}` }),
      { code: 'key_misplaced' },
    ],
    ['in quotes', () => say(`"${made.secret}"`), { code: 'key_padded' }],
    ['with Bearer twice', () => say(`Bearer ${made.secret}`), { code: 'key_padded' }],
    ['cut short', () => say(made.secret.slice(0, 30)), { code: 'key_damaged' }],
    ['mistyped', () => say(`${made.secret.slice(0, -4)}0000`), { code: 'key_damaged' }],
    [
      'with a path doubled',
      () => say(made.secret, { path: '/v1/chat/completions/chat/completions' }),
      { code: 'path_doubled', suggestion: '/v1/chat/completions' },
    ],
    [
      'with a version doubled',
      () => say(made.secret, { path: '/v1/v1/v1/chat/completions' }),
      { code: 'path_doubled', suggestion: '/v1/chat/completions' },
    ],
    [
      'with another beginning',
      () => say(made.secret, { path: '/llm/v1/chat/completions' }),
      { code: 'path_unknown', suggestion: '/v1/chat/completions' },
    ],
    [
      'mistyped path',
      () => say(made.secret, { path: '/v1/chat/completion' }),
      { code: 'path_unknown', suggestion: '/v1/chat/completions' },
    ],
    [
      'without the version',
      () => say(made.secret, { path: '/publishers/google/models/m:generateContent' }),
      { code: 'version_missing' },
    ],
    [
      'by another method',
      () => say(made.secret, { path: '/v1/embeddings', method: 'GET' }),
      { code: 'method_not_allowed', status: 405 },
    ],
    [
      'of an interface not offered',
      () => say(made.secret, { path: '/v1/assistants' }),
      { code: 'endpoint_not_offered' },
    ],
    [
      'of a mistyped model',
      () => say(made.secret, { body: { ...hello, model: 'sandbox/chatt' } }),
      { code: 'model_unknown', model: 'sandbox/chatt', suggestion: 'sandbox/chat' },
    ],
    [
      'in another format',
      () => say(made.secret, { path: '/v1/responses' }),
      { code: 'wrong_format', suggestion: '/v1/chat/completions' },
    ],
    [
      "in Google's format",
      () => say(made.secret, { body: { model: 'sandbox/chat', contents: [tool] } }),
      { code: 'wrong_format' },
    ],
    [
      "in OpenAI's format to Anthropic's path",
      () => say(made.secret, { path: '/v1/messages' }),
      { code: 'wrong_format', suggestion: '/v1/chat/completions' },
    ],
    [
      'with a field amiss',
      () => say(made.secret, { body: { ...hello, temperature: 'hot' } }),
      { code: 'request_invalid', status: 400 },
    ],
  ]
  test.each(cases)('%s', async (_, asks, expected) => {
    const found = await told(asks())
    expect(found).toMatchObject({ outcome: 'mistake', by: 'key', keyId: made.id, ...expected })
    expect(found).toMatchObject({ userAgent: 'my-agent/1.2', address: `203.0.114.${sent}` })
  })

  test('disabled, from elsewhere, and of a model that its own list leaves out', async () => {
    expect(await told(say(disabled))).toMatchObject({ code: 'key_disabled', by: 'key' })
    const far = await told(say('sk-far-0123456789abcdef'))
    expect(far).toMatchObject({ code: 'address_not_allowed', keyId: 'config:far' })
    const narrow = await told(say('sk-narrow-0123456789abcdef'))
    expect(narrow).toMatchObject({ code: 'model_not_allowed', keyId: 'config:narrow' })
  })

  test('a socket where none is served', async () => {
    const { hostname, port } = new URL(gateway.url)
    const socket = connect(Number(port), hostname)
    const answered = new Promise<string>((resolve) =>
      socket.on('data', (data) => resolve(String(data))),
    )
    socket.write(
      `GET /v1/responses HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${made.secret}\r\nConnection: Upgrade\r\n` +
        'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    )
    expect(await answered).toStartWith('HTTP/1.1 426')
    socket.destroy()
    const [latest] = (await doctor('own')).items
    expect(latest).toMatchObject({
      code: 'websocket_not_served',
      keyId: made.id,
      path: '/v1/responses',
    })
  })
})

describe('who is told', () => {
  test("another account is told nothing, an operator all, also of nobody's keys", async () => {
    const nobody = say('sk-tg-unknown')
    expect(await told(nobody, 'own')).toBeUndefined()
    expect(await told(nobody, 'all')).toMatchObject({ code: 'key_unknown', keyId: null, by: null })
    expect((await doctor('other')).items).toEqual([])
    expect((await doctor('other', '?account=default')).status).toBe(404)
    const none = await told(send({}), 'all')
    expect(none).toMatchObject({ code: 'key_missing', keyId: null })
    expect(none?.detail).toContain('Authorization: Bearer <')
  })

  test('what came through is told, and as it comes', async () => {
    const headers = { authorization: `Bearer ${manage.own}` }
    const following = await fetch(`${gateway.url}/api/doctor/live`, { headers })
    const reader = (following.body ?? new Blob().stream())
      .pipeThrough(new TextDecoderStream())
      .getReader()
    let come = ''
    const until = async (text: string) => {
      while (!come.includes(text)) come += (await reader.read()).value ?? ''
    }
    await until(': following')
    const good = (await say(made.secret)).headers.get('x-request-id') ?? ''
    await until(good)
    const bad = (await say(made.secret, { path: '/v1/chatt' })).headers.get('x-request-id') ?? ''
    await until(bad)
    await reader.cancel()
    const events = [...come.matchAll(/^data: (.*)$/gm)]
      .map(([, data = '']) => JSON.parse(data))
      .filter(({ requestId }) => [good, bad].includes(requestId))
    expect(events.map(({ requestId, outcome }) => [requestId, outcome])).toEqual([
      [good, 'ok'],
      [bad, 'mistake'],
    ])
    expect((await doctor('own')).items.slice(0, 2).map(({ requestId }) => requestId)).toEqual([
      bad,
      good,
    ])
  })

  test('nothing that is told or logged holds a key', async () => {
    await say(made.secret.slice(0, 30), { headers: { 'user-agent': made.secret } })
    await say(made.secret, { body: { ...hello, model: made.secret } })
    await say(made.secret, { path: `/v1/${made.secret}` })
    const shown = JSON.stringify(await doctor('all')) + gateway.stderr
    for (const secret of [made.secret, made.secret.slice(0, 30), disabled, testKey])
      expect(shown).not.toContain(secret)
  })
})

const arrival: Arrival = {
  requestId: 'req_1',
  at: Date.now(),
  account: null,
  keyId: null,
  address: '127.0.0.1',
  code: 'key_missing',
  status: 401,
  method: 'POST',
  path: '/v1/chat/completions',
  model: null,
  userAgent: null,
  suggestion: null,
  detail: 'No API key came.',
}

test('whoever is signed in at the same address is told of what no key says whose it is, for a while', async () => {
  const arrivals = async () => [
    arrival,
    { ...arrival, requestId: 'req_2', address: '203.0.113.9' },
    { ...arrival, requestId: 'req_3', account: 'bob' },
    { ...arrival, requestId: 'req_4', at: Date.now() - 1_000_000 },
  ]
  const stage = await controlStage({ running: { arrivals } })
  try {
    const seen = async (as: Parameters<typeof stage.send>[0], query = '') => {
      const { json } = await stage.send(as, 'GET', `/api/doctor${query}`)
      return json.items.map(({ requestId, by }: View) => `${requestId} ${by}`)
    }
    expect(await seen(person('ann'), '?since=1h')).toEqual(['req_1 address'])
    expect(await seen(manager('ann', ['read']))).toEqual([])
    expect((await seen(person('bob'))).sort()).toEqual(['req_1 address', 'req_3 key'])
    expect(await seen(person('root', 'admin'))).toHaveLength(3)
    expect(await seen(person('root', 'admin'), '?account=bob')).toContain('req_3 key')
  } finally {
    await stage.close()
  }
})
