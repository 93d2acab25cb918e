// Tests message history of a running gateway: what is stored for each format, and what is not.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { gunzipSync } from 'node:zlib'
import { makeKeys, openSealed } from '../../src/history/sealed.ts'
import type { FoundMessage } from '../../src/store/history.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { eventually } from '../support/clients.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'

const keys = await makeKeys()
const secretOf = (account: string) => `sk-test-of-account-${account}`
let gateway: Gateway
let store: Store

beforeAll(async () => {
  gateway = await startGateway({
    config: {
      // For accounts that have made no choice.
      history: { mode: 'full', adminReads: true, queueBytes: 1_048_576, maxBodyBytes: 500_000 },
      keys: ['full', 'sealed', 'metadata', 'off'].map((account) => ({
        name: account,
        account,
        secret: secretOf(account),
      })),
      groups: { default: {} },
    },
  })
  store = await openStore({ dataDir: gateway.dataDir, databaseUrl: null })
  const setting = { retentionDays: 3, publicKey: keys.publicKey, revision: 0 }
  for (const mode of ['sealed', 'metadata', 'off'] as const)
    await store.historySettings.put({ ...setting, account: mode, mode })
  // Servers apply it within a second.
  await eventually(async () => {
    const { requestId } = await ask('off', 'sandbox/chat', {})
    await gateway.row(requestId)
    const marker = await ask('full', 'sandbox/chat', {})
    await kept(marker.requestId)
    return (await store.history.find(null, requestId)) === null ? true : undefined
  })
})

afterAll(async () => {
  await store.close()
  await gateway.stop()
})

async function post(account: string, path: string, body: unknown) {
  const headers = {
    authorization: `Bearer ${secretOf(account)}`,
    'anthropic-version': '2023-06-01',
  }
  const reply = await gateway.post(path, body, { headers })
  const requestId = reply.headers.get('x-request-id') ?? ''
  return { requestId, status: reply.status, text: await reply.text() }
}

function ask(account: string, model: string, more: object, said = 'Hello there') {
  const messages = [{ role: 'user', content: said }]
  return post(account, '/v1/chat/completions', { model, messages, ...more })
}

function kept(requestId: string): Promise<FoundMessage> {
  return eventually(async () => (await store.history.find(null, requestId)) ?? undefined, 5_000)
}

function documentOf({ content }: FoundMessage): Record<string, unknown> {
  return JSON.parse(gunzipSync(content ?? '').toString('utf8'))
}

const said = 'Use get_weather for Paris'
const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const described = { name: 'get_weather', description: 'The weather.' }

/** The request of each client format: the text, and the text with a tool. */
const formats = [
  {
    format: 'openai-chat',
    path: () => '/v1/chat/completions',
    body: (stream: boolean) => ({
      model: 'sandbox/reasoning',
      stream,
      ...(stream && { stream_options: { include_usage: true } }),
      messages: [{ role: 'user', content: said }],
      tools: [{ type: 'function', function: { ...described, parameters: schema } }],
    }),
  },
  {
    format: 'anthropic-messages',
    path: () => '/v1/messages',
    body: (stream: boolean) => ({
      model: 'sandbox/reasoning',
      stream,
      max_tokens: 200,
      messages: [{ role: 'user', content: said }],
      tools: [{ ...described, input_schema: schema }],
    }),
  },
  {
    format: 'openai-responses',
    path: () => '/v1/responses',
    body: (stream: boolean) => ({
      model: 'sandbox/reasoning',
      stream,
      store: false,
      input: said,
      tools: [{ type: 'function', ...described, parameters: schema }],
    }),
  },
  {
    format: 'gemini',
    path: (stream: boolean) =>
      `/v1beta/models/sandbox/reasoning:${stream ? 'streamGenerateContent' : 'generateContent'}`,
    body: () => ({
      contents: [{ role: 'user', parts: [{ text: said }] }],
      tools: [{ functionDeclarations: [{ ...described, parameters: schema }] }],
    }),
  },
] as const

/** Fields that differ between two replies of any request. */
function comparable(reply: unknown): unknown {
  const text = JSON.stringify(reply, (name, value) =>
    /^(id|created|created_at|completed_at|responseId|call_id|createTime|item_id|reasoning_signature)$/.test(
      name,
    )
      ? ''
      : value,
  )
  return JSON.parse(text)
}

for (const { format, path, body } of formats) {
  test(`a stream of ${format} is kept as the whole reply it would have been`, async () => {
    const whole = await post('full', path(false), body(false))
    const query = format === 'gemini' ? '?alt=sse' : ''
    const streamed = await post('full', path(true) + query, body(true))
    expect([whole.status, streamed.status]).toEqual([200, 200])
    const wholeKept = await kept(whole.requestId)
    const wholeDocument = documentOf(wholeKept)
    expect(wholeDocument['reply']).toEqual(JSON.parse(whole.text))
    expect(wholeDocument['request']).toEqual(JSON.parse(JSON.stringify(body(false))))
    const found = await kept(streamed.requestId)
    expect(found).toMatchObject({
      account: 'full',
      mode: 'full',
      format,
      stream: true,
      status: 200,
    })
    expect(found.replyBytes).toBe(Buffer.byteLength(streamed.text))
    const document = documentOf(found)
    expect(comparable(document['reply'])).toEqual(comparable(wholeDocument['reply']))
    expect(document['sent']).toMatchObject([
      { format: 'openai-chat', request: { model: 'sandbox/reasoning' } },
    ])
  })
}

test('a stream that breaks off is kept as far as it came', async () => {
  const { requestId } = await ask('full', 'sandbox/chat+fault=cut+after=3', { stream: true })
  const { reply } = documentOf(await kept(requestId))
  expect(reply).toMatchObject({ choices: [{ message: { content: "This is Tollgate's" } }] })
})

test('of an account that wants metadata no body is kept, of one that wants nothing nothing', async () => {
  const off = await ask('off', 'sandbox/chat', {})
  const { requestId, text } = await ask('metadata', 'sandbox/chat', { temperature: 0 }, 'a canary')
  const found = await kept(requestId)
  expect(found).toMatchObject({
    account: 'metadata',
    mode: 'metadata',
    model: 'sandbox/chat',
    content: null,
    wrappedKey: null,
    replyBytes: Buffer.byteLength(text),
    parameters: ['model', 'messages', 'temperature'],
    blobs: [],
  })
  expect(found.expiresAt).toBe(found.at + 3 * 86_400_000)
  expect(await store.history.find(null, off.requestId)).toBeNull()
})

test('S26 a sealed body opens with the secret key of its account alone', async () => {
  const picture = png()
  const content = [
    { type: 'text', text: 'a secret canary' },
    {
      type: 'image_url',
      image_url: { url: `data:image/png;base64,${picture.toString('base64')}` },
    },
  ]
  const { requestId } = await post('sealed', '/v1/chat/completions', {
    model: 'sandbox/chat',
    messages: [{ role: 'user', content }],
  })
  const { wrappedKey, content: sealed, mode, blobs } = await kept(requestId)
  expect(mode).toBe('sealed')
  expect(() => gunzipSync(sealed ?? '')).toThrow()
  const open = await openSealed(keys, wrappedKey ?? new Uint8Array(), requestId)
  const document = gunzipSync(await open(sealed ?? new Uint8Array())).toString('utf8')
  expect(document).toContain('a secret canary')
  expect(document).not.toContain('"sent"')
  const [blob] = blobs
  expect(blob).toMatchObject({ type: 'image/png' })
  expect(document).toContain(`data:image/png;base64,blob:${blob?.id}`)
  const stored = await store.history.blob('sealed', blob?.id ?? '')
  expect(Buffer.from(stored?.content ?? '').includes(picture.subarray(0, 16))).toBe(false)
  expect(Buffer.from(await open(stored?.content ?? new Uint8Array())).equals(picture)).toBe(true)
  await expect(
    openSealed(await makeKeys(), wrappedKey ?? new Uint8Array(), requestId),
  ).rejects.toThrow()
})

/** A picture that no other test sends. */
function png(size = 300): Buffer {
  const noise = crypto.getRandomValues(new Uint8Array(size))
  return Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), noise])
}

test('a picture is never base64 within a row, whichever format it comes in', async () => {
  const picture = png().toString('base64')
  const data = `data:image/png;base64,${picture}`
  const messages = (content: unknown) => [{ role: 'user', content }]
  const asked = [
    await ask('full', 'sandbox/chat', {
      messages: messages([{ type: 'image_url', image_url: { url: data } }]),
    }),
    await post('full', '/v1/messages', {
      model: 'sandbox/chat',
      max_tokens: 20,
      messages: messages([
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: picture } },
      ]),
    }),
    await post('full', '/v1/responses', {
      model: 'sandbox/chat',
      store: false,
      input: messages([{ type: 'input_image', image_url: data }]),
    }),
    await post('full', '/v1beta/models/sandbox/chat:generateContent', {
      contents: [
        { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: picture } }] },
      ],
    }),
  ]
  for (const { requestId, status } of asked) {
    expect(status).toBe(200)
    const found = await kept(requestId)
    const document = JSON.stringify(documentOf(found))
    expect(document).not.toContain(picture.slice(20, 60))
    expect(found.blobs).toHaveLength(1)
    const [{ id = '', type = '' } = {}] = found.blobs
    expect(type).toBe('image/png')
    expect(document).toContain(`blob:${id}`)
    const blob = await store.history.blob('full', id)
    expect(Buffer.from(blob?.content ?? '').toString('base64')).toBe(picture)
  }
})

test('made pictures, sound and uploads are blobs too', async () => {
  const image = await post('full', '/v1/images/generations', {
    model: 'sandbox/image',
    prompt: 'a red cat',
    size: '64x64',
    response_format: 'b64_json',
  })
  const made = await kept(image.requestId)
  expect(made.blobs).toMatchObject([{ type: 'image/png' }])
  const [{ b64_json: mark = '' } = {}] = (
    documentOf(made)['reply'] as { data: { b64_json: string }[] }
  ).data
  expect(mark).toBe(`blob:${made.blobs[0]?.id}`)
  const speech = await fetch(`${gateway.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secretOf('full')}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox/speech', voice: 'alloy', input: 'Hello' }),
  })
  const sound = Buffer.from(await speech.arrayBuffer())
  const spoken = await kept(speech.headers.get('x-request-id') ?? '')
  expect(spoken.blobs).toMatchObject([{ type: 'audio/mpeg', size: sound.length }])
  const form = new FormData()
  form.set('model', 'sandbox/transcription')
  form.set('file', new File([sound], 'hello.mp3'))
  const heard = await fetch(`${gateway.url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secretOf('full')}` },
    body: form,
  })
  expect(heard.status).toBe(200)
  const upload = await kept(heard.headers.get('x-request-id') ?? '')
  expect(upload.blobs).toMatchObject([{ size: sound.length }])
  expect(upload.blobs[0]?.id).toBe(spoken.blobs[0]?.id ?? '')
  expect(documentOf(upload)['files']).toMatchObject([
    { field: 'file', name: 'hello.mp3', size: sound.length },
  ])
})

test('a body that is too long is cut and marked; one that the queue has no room for is dropped and counted', async () => {
  const long = await ask('full', 'sandbox/chat', {}, 'x y '.repeat(150_000))
  expect(long.status).toBe(200)
  const cut = await kept(long.requestId)
  expect(cut.truncated).toBe(true)
  expect(cut.requestBytes).toBeGreaterThan(600_000)
  expect(String(documentOf(cut)['request'])).toHaveLength(500_000)
  const slow = 'sandbox/chat+first=400'
  const many = Array.from({ length: 6 }, () => ask('full', slow, {}, 'x y '.repeat(150_000)))
  const statuses = (await Promise.all(many)).map(({ status }) => status)
  expect(statuses).toEqual(Array(6).fill(200))
  const dropped = await eventually(async () => {
    const [, count = '0'] =
      /^tollgate_history_dropped_total (\d+)$/m.exec(await gateway.metrics()) ?? []
    return Number(count) > 0 ? Number(count) : undefined
  })
  expect(dropped).toBeLessThan(6)
  await eventually(async () => {
    const metrics = await gateway.metrics()
    return metrics.includes('\ntollgate_history_queue_bytes 0\n') ? true : undefined
  })
})
