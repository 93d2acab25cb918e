// Tests the specification's catalogue by kind: what the list of models shows of each, and at which endpoints each is
// accepted.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type OpenAI from 'openai'
import { authorized, openaiClient } from '../support/clients.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { expectRefusal } from '../support/requests.ts'

const key = 'key-of-a-vendor-0123456789'
/** Chat models by the context windows of the specification, in tokens. */
const windows = {
  'reasoner-64k': 64_000,
  'chat-128k': 128_000,
  'chat-200k': 200_000,
  'chat-1m': 1_000_000,
  'chat-2m': 2_000_000,
} as const

let gateway: Gateway
let client: OpenAI

beforeAll(async () => {
  const shipped = ['openai', 'anthropic', 'google', 'xai', 'deepseek', 'bfl', 'groq']
  gateway = await startGateway({
    config: {
      channels: [
        // These are never called: they only declare what they offer.
        ...shipped.map((vendor) => ({ id: vendor, vendor, key, baseUrl: 'http://127.0.0.1:9/v1' })),
        { id: 'own', vendor: 'sandbox', models: Object.keys(windows) },
      ],
      models: Object.fromEntries(
        Object.entries(windows).map(([name, context]) => [name, { kind: 'chat', context }]),
      ),
    },
  })
  client = openaiClient(gateway.url)
})
afterAll(() => gateway.stop())

/** By kind: a shipped model, its maker, and the endpoint of its requests. */
const kinds = [
  ['chat', 'gpt-4o', 'openai', '/v1/chat/completions'],
  ['chat', 'claude-haiku-4-5', 'anthropic', '/v1/chat/completions'],
  ['chat', 'gemini-2.5-flash', 'google', '/v1/chat/completions'],
  ['chat', 'deepseek-reasoner', 'deepseek', '/v1/chat/completions'],
  ['image', 'dall-e-3', 'openai', '/v1/images/generations'],
  ['image', 'dall-e-2', 'openai', '/v1/images/generations'],
  ['image', 'gpt-image-1', 'openai', '/v1/images/generations'],
  ['image', 'flux-pro-1.1', 'black-forest-labs', '/v1/images/generations'],
  ['image', 'flux-dev', 'black-forest-labs', '/v1/images/generations'],
  ['image', 'gemini-3-pro-image', 'google', '/v1/images/generations'],
  ['video', 'sora-2', 'openai', '/v1/videos'],
  ['video', 'sora-2-pro', 'openai', '/v1/videos'],
  ['embedding', 'text-embedding-3-small', 'openai', '/v1/embeddings'],
  ['completion', 'gpt-3.5-turbo-instruct', 'openai', '/v1/completions'],
  ['transcription', 'whisper-1', 'openai', '/v1/audio/transcriptions'],
  ['speech', 'tts-1', 'openai', '/v1/audio/speech'],
  ['moderation', 'omni-moderation-latest', 'openai', '/v1/moderations'],
] as const

describe('GET /v1/models', () => {
  test.each(kinds)('%s: %s', async (_, id, owner) => {
    const listed = await Array.fromAsync(client.models.list())
    const found = listed.filter((each) => each.id === id)
    expect(found).toHaveLength(1)
    for (const model of [...found, await client.models.retrieve(id)]) {
      expect(model).toMatchObject({ id, object: 'model', owned_by: owner })
      expect(model.created).toBeInteger()
    }
  })

  test('is a list of models, each with an owner in lower case', async () => {
    const reply = await fetch(`${gateway.url}/v1/models`, { headers: authorized() })
    const { object, data } = (await reply.json()) as { object: string; data: OpenAI.Model[] }
    expect([reply.status, object]).toEqual([200, 'list'])
    expect(data.length).toBeGreaterThan(100)
    expect(
      data.filter((each) => each.object !== 'model' || !/^[^A-Z]+$/.test(each.owned_by)),
    ).toEqual([])
    expect(new Set(data.map(({ id }) => id)).size).toBe(data.length)
  })
})

describe('context windows', () => {
  const shipped = [
    ['gpt-4o', 128_000],
    ['claude-haiku-4-5', 200_000],
    ['gemini-2.5-flash', 1_048_576],
    ['grok-4-fast-reasoning', 2_000_000],
  ] as const

  test.each([...Object.entries(windows), ...shipped])('%s: %p', async (id, tokens) => {
    const list = await fetch(`${gateway.url}/v1/models`, { headers: authorized() })
    const { models } = (await list.json()) as { models: { slug: string; context_window: number }[] }
    expect(models.find(({ slug }) => slug === id)?.context_window).toBe(tokens)
    const headers = { ...authorized(), 'anthropic-version': '2023-06-01' }
    const one = await fetch(`${gateway.url}/v1/models/${id}`, { headers })
    expect(await one.json()).toMatchObject({ id, max_input_tokens: tokens })
  })
})

describe('a model of one kind is refused where another is served', () => {
  const asked: readonly (readonly [path: string, kind: string, body: object])[] = [
    ['/v1/chat/completions', 'chat', { messages: [{ role: 'user', content: 'x' }] }],
    ['/v1/embeddings', 'embedding', { input: 'x' }],
    ['/v1/images/generations', 'image', { prompt: 'x' }],
    ['/v1/audio/speech', 'speech', { input: 'x', voice: 'alloy' }],
    ['/v1/moderations', 'moderation', { input: 'x' }],
    ['/v1/videos', 'video', { prompt: 'x' }],
  ]
  const own = ['gpt-4o', 'dall-e-3', 'sora-2', 'text-embedding-3-small', 'whisper-1', 'tts-1']
  const rows = asked.flatMap(([path, kind, body]) =>
    kinds
      .filter(([each, id]) => own.includes(id) && each !== kind)
      .map(([, id, , place]) => [path, id, kind, place, body] as const),
  )

  test.each(rows)('%s %s', async (path, model, kind, place, body) => {
    const reply = await gateway.post(path, { model, ...body })
    const error = await expectRefusal(reply, 400, 'invalid_request_error')
    expect(error.param).toBe('model')
    expect(error.message).toContain(`not a${/^[aeio]/.test(kind) ? 'n' : ''} ${kind} model`)
    expect(error.message).toContain(`Use ${place}.`)
  })
})
