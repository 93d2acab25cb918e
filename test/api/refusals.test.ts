// Tests every refusal before a vendor is asked: its status, its code, its form, and that it never contains a key.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { authorized } from '../support/clients.ts'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'
import { expectRefusal, postJson, readRefusal } from '../support/requests.ts'
import { parseReply, portOf, post, RawClient } from '../support/socket.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let gateway: Gateway
const chat = '/v1/chat/completions'
const hello = { model: 'known', messages: [{ role: 'user', content: 'Hello' }] }
const maxBodyBytes = 100_000

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({
    config: {
      server: { maxBodyBytes, bodyTimeoutMs: 700 },
      groups: { default: {}, small: { models: ['known', 'open/*'] } },
      channels: [
        {
          id: 'main',
          vendor: 'openai',
          baseUrl: upstream.url,
          key: 'sk-upstream-0123456789',
          models: ['known', 'other', 'blind', 'open/a', 'open/b'],
        },
      ],
      models: { blind: { kind: 'chat', vision: false }, vectors: { kind: 'embedding' } },
      keys: [
        { name: 'main', secret: testKey },
        { name: 'small', group: 'small', secret: 'sk-small-0123456789abcdef' },
        { name: 'listed', models: ['other'], secret: 'sk-listed-0123456789abcdef' },
        { name: 'expired', expiresAt: '2020-01-01', secret: 'sk-expired-0123456789abcdef' },
        { name: 'disabled', disabled: true, secret: 'sk-disabled-0123456789abcdef' },
        { name: 'spaces', secret: 'My API Key with spaces' },
      ],
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})

describe('401', () => {
  const bad: readonly (readonly [string, Record<string, string>])[] = [
    ['no key', {}],
    ['an unknown key', { authorization: 'Bearer sk-unknown-0123456789abcdef' }],
    ['an unknown key in x-api-key', { 'x-api-key': 'sk-unknown-0123456789abcdef' }],
    ['an unknown key in api-key', { 'api-key': 'sk-unknown-0123456789abcdef' }],
    ['an expired key', { authorization: 'Bearer sk-expired-0123456789abcdef' }],
    ['a disabled key', { authorization: 'Bearer sk-disabled-0123456789abcdef' }],
    ['another scheme', { authorization: `Basic ${btoa(`user:${testKey}`)}` }],
    ['an empty key', { authorization: 'Bearer ' }],
    ['a key with a tail', { authorization: `Bearer ${testKey}x` }],
    ['a key in other letters', { authorization: `Bearer ${testKey.toUpperCase()}` }],
  ]

  test.each(bad)('%s, on every endpoint', async (_name, headers) => {
    const replies = [
      await postJson(gateway.url + chat, hello, { 'content-type': 'application/json', ...headers }),
      await postJson(`${gateway.url}/v1/embeddings`, { model: 'm', input: 'x' }, headers),
      await postJson(`${gateway.url}/completions`, { model: 'm', prompt: 'x' }, headers),
      await fetch(`${gateway.url}/v1/models`, { headers }),
      await fetch(`${gateway.url}/v1/models/known`, { headers }),
    ]
    for (const reply of replies) {
      const error = await expectRefusal(reply, 401, 'invalid_api_key')
      expect(error.type).toBe('invalid_request_error')
      expect(JSON.stringify(error)).not.toContain('0123456789')
      expect(JSON.stringify([...reply.headers])).not.toContain('0123456789')
      expect(reply.headers.get('x-should-retry')).toBe('false')
    }
    expect(upstream.requests).toHaveLength(0)
  })
})

describe('keys are found wherever an SDK puts them', () => {
  const good: readonly Record<string, string>[] = [
    { authorization: `Bearer ${testKey}` },
    { authorization: `bearer ${testKey}` },
    { authorization: `Bearer   ${testKey} ` },
    { 'x-api-key': testKey },
    { 'api-key': testKey },
    { authorization: 'Bearer My API Key with spaces' },
    { 'x-api-key': 'My API Key with spaces' },
    { 'api-key': 'My API Key with spaces' },
  ]
  test.each(good)('%p', async (headers) => {
    expect((await fetch(`${gateway.url}/v1/models`, { headers })).status).toBe(200)
    const reply = await postJson(gateway.url + chat, hello, headers)
    expect(reply.status).toBe(200)
    const sent = upstream.requests.at(-1)
    expect(sent?.headers.get('authorization')).toBe('Bearer sk-upstream-0123456789')
    expect(sent?.head).not.toContain(testKey)
  })
})

describe('404', () => {
  const cases = [
    ['a model nobody serves', testKey, 'no-such-model'],
    ['a model outside the group', 'sk-small-0123456789abcdef', 'other'],
    ["a model outside the key's own list", 'sk-listed-0123456789abcdef', 'known'],
  ] as const
  test.each(cases)('model_not_found: %s', async (_name, key, model) => {
    const reply = await postJson(gateway.url + chat, { ...hello, model }, authorized(key))
    const error = await expectRefusal(reply, 404, 'model_not_found')
    expect(error.message).toContain(model)
    const one = await fetch(`${gateway.url}/v1/models/${model}`, { headers: authorized(key) })
    await expectRefusal(one, 404, 'model_not_found')
    const list = await fetch(`${gateway.url}/v1/models`, { headers: authorized(key) })
    const { data } = (await list.json()) as { data: { id: string }[] }
    expect(data.length).toBeGreaterThan(0)
    expect(data.map(({ id }) => id)).not.toContain(model)
  })

  test('each key sees its own models', async () => {
    const ids = async (key: string) => {
      const reply = await fetch(`${gateway.url}/v1/models`, { headers: authorized(key) })
      return ((await reply.json()) as { data: { id: string }[] }).data.map(({ id }) => id)
    }
    expect(await ids(testKey)).toEqual(['blind', 'known', 'open/a', 'open/b', 'other'])
    expect(await ids('sk-small-0123456789abcdef')).toEqual(['known', 'open/a', 'open/b'])
    expect(await ids('sk-listed-0123456789abcdef')).toEqual(['other'])
  })

  const unsupported = [
    ['GET', '/v1/files'],
    ['POST', '/v1/files'],
    ['DELETE', '/v1/files/file-1'],
    ['POST', '/v1/fine_tuning/jobs'],
    ['GET', '/v1/fine_tuning/jobs/ft-1/events'],
    ['GET', '/fine-tunes'],
    ['GET', '/v1/organization/costs'],
    ['GET', '/v1/organization/users'],
    ['GET', '/v1/dashboard/billing/credit_grants'],
    ['GET', '/dashboard/billing/subscription'],
    ['GET', '/v1/billing/usage'],
    ['POST', '/v1/assistants'],
    ['POST', '/v1/threads/t/runs'],
    ['POST', '/v1/batches'],
    ['GET', '/v1/vector_stores'],
    ['POST', '/v1/uploads'],
    ['GET', '/v1/v1/files'],
    ['GET', '/openai/v1/files'],
    ['GET', '/v1/chat/completions'],
    ['GET', '/v1/chat/completions?limit=2'],
    ['GET', '/v1/chat/completions/chatcmpl-1'],
    ['POST', '/v1/chat/completions/chatcmpl-1'],
    ['DELETE', '/v1/chat/completions/chatcmpl-1'],
    ['GET', '/v1/chat/completions/chatcmpl-1/messages'],
    ['DELETE', '/chat/completions/chatcmpl-1'],
    ['POST', '/v1/videos/characters'],
    ['GET', '/v1/videos/characters'],
    ['GET', '/v1/videos/characters/char_1'],
    ['DELETE', '/v1/videos/edits'],
    ['POST', '/v1/audio/voices'],
    ['GET', '/v1/audio/voice_consents/cons_1'],
    ['GET', '/v1/skills'],
  ] as const
  test.each(unsupported)('unsupported_endpoint: %s %s', async (method, path) => {
    const reply = await fetch(gateway.url + path, { method, headers: authorized() })
    await expectRefusal(reply, 404, 'unsupported_endpoint')
  })

  const unknown = [
    '/v1',
    '/v1/',
    '/v2/chat/completions',
    '/v1/chat',
    '/v1/chat/completions/',
    '/v1/v1/v1/chat/completions',
    '/V1/models',
    '/v1/nothing',
    '/index.html',
    '/.env',
  ]
  test.each(unknown)('not_found: %s', async (path) => {
    for (const method of ['GET', 'POST']) {
      const reply = await fetch(gateway.url + path, { method, headers: authorized() })
      await expectRefusal(reply, 404, 'not_found')
    }
  })
})

const slashed = ['/v1//chat/completions', '/v1/chat/completions/']
test.each(slashed)('the refusal of %s names the path without the slash', async (path) => {
  const reply = await postJson(gateway.url + path, hello)
  const { message } = await expectRefusal(reply, 404, 'not_found')
  expect(message).toBe(`Unknown path: POST ${path}; did you mean /v1/chat/completions?`)
})

test('of a path that is served, another interface is refused by its method', async () => {
  const reply = await fetch(`${gateway.url}/v1/chat/completions`, { headers: authorized() })
  const { message } = await expectRefusal(reply, 404, 'unsupported_endpoint')
  expect(message).toBe('GET /v1/chat/completions is not offered by this gateway.')
})

describe("other formats' interfaces that are not offered", () => {
  const google = [
    '/v1beta/files',
    '/v1beta/cachedContents/c',
    '/upload/v1beta/files',
    '/v1beta/operations/o',
  ]
  test.each(google)('%s, in the shape of Google', async (path) => {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const reply = await fetch(gateway.url + path, { method, headers: authorized() })
      const { error } = (await reply.json()) as {
        error: { code: number; status: string; details: object[] }
      }
      expect([reply.status, error.code, error.status]).toEqual([404, 404, 'NOT_FOUND'])
      expect(error.details).toMatchObject([{ reason: 'UNSUPPORTED_ENDPOINT' }])
    }
  })

  test.each([
    '/v1beta',
    '/v1beta/',
    '/v1beta/nothing',
    '/v1alpha/x/y',
    '/v1/v1beta/x',
    '/v1beta1/x',
  ])('nothing at %s, in the shape of Google', async (path) => {
    for (const method of ['GET', 'POST', 'DELETE', 'PUT']) {
      const reply = await fetch(gateway.url + path, { method, headers: authorized() })
      const { error } = (await reply.json()) as {
        error: { code: number; status: string; details: object[] }
      }
      expect([reply.status, error.code, error.status]).toEqual([404, 404, 'NOT_FOUND'])
      expect(error.details).toMatchObject([{ reason: 'NOT_FOUND' }])
    }
  })

  test.each([
    ['/v1/messages/batches', 'messages/batches'],
    ['/v1/messages/batches/b/results', 'messages/batches'],
    ['/v1/complete', 'complete'],
  ])('%s, of Anthropic, by its name', async (path, name) => {
    const headers = { ...authorized(), 'anthropic-version': '2023-06-01' }
    const reply = await fetch(gateway.url + path, { method: 'GET', headers })
    expect(reply.status).toBe(404)
    const body = (await reply.json()) as object
    expect(body).toMatchObject({
      type: 'error',
      error: {
        type: 'not_found_error',
        message: `The interface '${name}' is not offered by this gateway.`,
      },
    })
  })
})

describe('methods', () => {
  const wrong = [
    ['PATCH', chat, 'POST'],
    ['PUT', chat, 'POST'],
    ['DELETE', '/v1/embeddings', 'POST'],
    ['PATCH', '/completions', 'POST'],
    ['POST', '/v1/models', 'GET'],
    ['DELETE', '/v1/models/known', 'GET'],
  ] as const
  test.each(wrong)('405: %s %s', async (method, path, allowed) => {
    const reply = await fetch(gateway.url + path, { method, headers: authorized() })
    const allow = reply.headers.get('allow')?.split(/, */)
    await expectRefusal(reply, 405, 'method_not_allowed')
    expect(allow).toContain(allowed)
    expect(allow).toContain('OPTIONS')
    expect(allow).not.toContain(method)
  })

  test('HEAD answers as GET does, without a body', async () => {
    const head = await fetch(`${gateway.url}/v1/models`, { method: 'HEAD', headers: authorized() })
    expect(head.status).toBe(200)
    expect(head.headers.get('content-type')).toBe('application/json')
    expect(head.headers.get('x-request-id')).toMatch(/^req_/)
    expect(await head.text()).toBe('')
    const missing = await fetch(`${gateway.url}/v1/models/nothing`, {
      method: 'HEAD',
      headers: authorized(),
    })
    expect(missing.status).toBe(404)
    const post = await fetch(`${gateway.url}/v1/embeddings`, {
      method: 'HEAD',
      headers: authorized(),
    })
    expect(post.status).toBe(405)
  })

  test('OPTIONS and the preflight of a browser need no key', async () => {
    for (const path of [chat, '/v1/models', '/v1/models/a/b', '/embeddings']) {
      const plain = await fetch(gateway.url + path, { method: 'OPTIONS' })
      expect(plain.status).toBe(204)
      expect(plain.headers.get('allow')).toContain('OPTIONS')
      const preflight = await fetch(gateway.url + path, {
        method: 'OPTIONS',
        headers: {
          origin: 'https://page.example',
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization, content-type, x-stainless-lang',
        },
      })
      expect(preflight.status).toBe(204)
      expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
      expect(preflight.headers.get('access-control-allow-headers')).toContain('x-stainless-lang')
      const allowed = preflight.headers.get('access-control-allow-methods') ?? ''
      expect(allowed).toContain(path.includes('models') ? 'GET' : 'POST')
    }
  })

  test('a page may read the reply and its headers', async () => {
    const reply = await postJson(gateway.url + chat, hello, {
      ...authorized(),
      origin: 'https://page.example',
    })
    expect(reply.headers.get('access-control-allow-origin')).toBe('*')
    expect(reply.headers.get('access-control-expose-headers')).toContain('x-request-id')
    expect(reply.headers.get('access-control-allow-credentials')).toBeNull()
    const refused = await fetch(`${gateway.url}/v1/nothing`, {
      headers: { origin: 'https://page.example' },
    })
    expect(refused.headers.get('access-control-allow-origin')).toBe('*')
  })
})

describe('the body', () => {
  test('413 by its declared length, before it is sent', async () => {
    const client = await RawClient.open(portOf(gateway.url))
    client.send(post(chat, { ...authorized(), 'content-length': '1000000000' }, ''))
    const reply = parseReply(await client.until((text) => text.includes('request_too_large')))
    expect(reply.status).toBe(413)
    client.destroy()
  })

  test('413 by what a chunked body comes to', async () => {
    const client = await RawClient.open(portOf(gateway.url))
    client.send(
      `POST ${chat} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${testKey}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
    )
    const piece = `4000\r\n${' '.repeat(0x4000)}\r\n`
    for (let sent = 0; sent <= maxBodyBytes; sent += 0x4000) client.send(piece)
    const reply = parseReply(await client.until((text) => text.includes('request_too_large')))
    expect(reply.status).toBe(413)
    client.destroy()
  })

  test('a body as large as the bound passes', async () => {
    const frame = JSON.stringify({ ...hello, user: '' })
    const body = JSON.stringify({ ...hello, user: 'u'.repeat(maxBodyBytes - frame.length) })
    expect(body).toHaveLength(maxBodyBytes)
    expect((await postJson(gateway.url + chat, body)).status).toBe(200)
    await expectRefusal(await postJson(gateway.url + chat, `${body} `), 413, 'request_too_large')
  })

  const types = [
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
  ]
  test.each(types)('415: %s', async (type) => {
    const headers = { ...authorized(), 'content-type': type }
    await expectRefusal(
      await postJson(gateway.url + chat, hello, headers),
      415,
      'unsupported_media_type',
    )
  })

  test.each(['gzip', 'deflate', 'zstd'] as const)('415: a body in %s', async (encoding) => {
    const text = new TextEncoder().encode(JSON.stringify(hello))
    const packed = { gzip: Bun.gzipSync, deflate: Bun.deflateSync, zstd: Bun.zstdCompressSync }
    const message = await expectRefusal(
      await fetch(gateway.url + chat, {
        method: 'POST',
        headers: {
          ...authorized(),
          'content-type': 'application/json',
          'content-encoding': encoding,
        },
        body: new Uint8Array(packed[encoding](text)),
      }),
      415,
      'unsupported_media_type',
    )
    expect(JSON.stringify(message)).toContain('content-encoding')
  })

  const taken = [
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/vnd.api+json',
  ]
  test.each(taken)('taken: %s', async (type) => {
    const headers = { ...authorized(), 'content-type': type }
    expect((await postJson(gateway.url + chat, hello, headers)).status).toBe(200)
  })

  test('408 for a body that dawdles', async () => {
    const client = await RawClient.open(portOf(gateway.url))
    client.send(post(chat, { ...authorized(), 'content-length': '500' }, '{"model":'))
    const reply = parseReply(await client.until((text) => text.includes('request_timeout')))
    expect(reply.status).toBe(408)
    readRefusal(
      reply.body,
      reply.headers['content-type'],
      reply.headers['x-request-id'],
      'request_timeout',
    )
    client.destroy()
  })

  const malformed = [
    '',
    '{',
    'null',
    '[]',
    '"text"',
    '42',
    '{"model":"known","messages":[{"role":"user","content":"a"}]',
    '{"model":"known","messages":[{"role":"user","content":"a"}]}}',
    '{"model":"known",}',
    "{'model':'known'}",
    '{"model":"known","temperature":NaN,"messages":[{"role":"user","content":"a"}]}',
    '{"model":"known","temperature":01,"messages":[{"role":"user","content":"a"}]}',
    '{"model":"known"}//',
  ]
  test.each(malformed)('400: %s', async (body) => {
    const before = upstream.requests.length
    const error = await expectRefusal(
      await postJson(gateway.url + chat, body),
      400,
      'invalid_request_error',
    )
    expect(error.type).toBe('invalid_request_error')
    expect(error.message).not.toMatch(/\.ts:|SyntaxError|node_modules/)
    expect(upstream.requests).toHaveLength(before)
  })
})

describe('headers', () => {
  test('431 for many and for large ones, as JSON', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 150 }, (_, at) => [`x-filler-${at}`, 'x'.repeat(200)]),
    )
    for (const extra of [{ 'x-large': 'x'.repeat(40_000) }, many] as Record<string, string>[]) {
      const client = await RawClient.open(portOf(gateway.url))
      client.send(post(chat, { ...authorized(), ...extra }, JSON.stringify(hello)))
      const reply = parseReply(await client.until((text) => text.includes('too_large')))
      expect(reply.status).toBe(431)
      readRefusal(
        reply.body,
        reply.headers['content-type'],
        reply.headers['x-request-id'],
        'request_headers_too_large',
      )
      client.destroy()
    }
  })

  test('headers below the bound pass', async () => {
    const headers = { ...authorized(), 'x-large': 'x'.repeat(12_000) }
    expect((await postJson(gateway.url + chat, hello, headers)).status).toBe(200)
  })
})

test('every reply has an id of its own', async () => {
  const ids = new Set<string | null>()
  for (let at = 0; at < 50; at++) {
    const reply =
      at % 2 === 0
        ? await postJson(gateway.url + chat, hello)
        : await fetch(`${gateway.url}/v1/nothing`)
    ids.add(reply.headers.get('x-request-id'))
    await reply.body?.cancel()
  }
  expect(ids.size).toBe(50)
  expect(ids).not.toContain(null)
})
