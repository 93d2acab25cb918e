// Tests embeddings and reranking through the whole gateway, on vendors with other formats than OpenAI's: request, reply
// and charge.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { type Gateway, startGateway } from '../support/gateway.ts'

let gateway: Gateway
let vendor: Bun.Server<undefined>
const asked: { readonly path: string; readonly body: Record<string, unknown> }[] = []

const answers: Readonly<Record<string, (texts: number) => Response>> = {
  '/embeddings': (texts) =>
    Response.json({
      data: [
        { index: 0, embedding: [0.5, -0.25] },
        { index: 1, embedding: [1, 0] },
      ].slice(0, texts),
      model: 'voyage-3.5',
      usage: { total_tokens: 40 },
    }),
  '/v2/rerank': () =>
    Response.json({
      id: 'r',
      results: [{ index: 0, relevance_score: 0.5 }],
      meta: { billed_units: { search_units: 2 } },
    }),
  '/rerank': () =>
    Response.json({
      data: [
        { index: 1, relevance_score: 0.75 },
        { index: 0, relevance_score: 0.25 },
      ],
      usage: { total_tokens: 1_000 },
    }),
}

beforeAll(async () => {
  vendor = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const path = new URL(request.url).pathname
      asked.push({ path, body: (await request.json()) as Record<string, unknown> })
      const busy = asked.at(-1)?.body['model'] === 'busy'
      if (busy) return Response.json({ detail: 'Too many requests' }, { status: 429 })
      const { input, model } = asked.at(-1)?.body ?? {}
      const texts = Array.isArray(input) && model !== 'short' ? input.length : 1
      return answers[path]?.(texts) ?? new Response('nothing here', { status: 404 })
    },
  })
  const baseUrl = `http://127.0.0.1:${vendor.port}`
  const models = ['voyage-3.5', 'rerank-2.5', 'busy', 'short']
  const channel = { id: 'voyage', vendor: 'voyage', baseUrl, key: 'k', models }
  gateway = await startGateway({
    config: {
      channels: [
        channel,
        { ...channel, id: 'cohere', vendor: 'cohere', models: ['rerank-v3.5', 'rerank-v4'] },
      ],
      models: {
        'rerank-v3.5': { kind: 'rerank', prices: { search: '2000' } },
        'rerank-v4': { kind: 'rerank', prices: { request: '1000' } },
        busy: { kind: 'rerank' },
        '*': { prices: { input: '2', output: '0' } },
      },
    },
  })
})

afterAll(async () => {
  await gateway.stop()
  await vendor.stop(true)
})

test('the official SDK gets its vectors, which it asks for as base64', async () => {
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 })
  const { data: reply, response } = await client.embeddings
    .create({ model: 'voyage-3.5', input: ['sunny', 'rainy'], user: 'u' })
    .withResponse()
  expect(reply.data.map(({ embedding }) => embedding)).toEqual([
    [0.5, -0.25],
    [1, 0],
  ])
  expect(reply.usage).toEqual({ prompt_tokens: 40, total_tokens: 40 })
  expect(response.headers.get('x-tollgate-dropped')).toBe('user')
  expect(response.headers.get('x-tollgate-cost')).toBe('0.00008')
  const row = await gateway.row(response.headers.get('x-request-id') ?? '')
  expect(row).toMatchObject({ operation: 'embedding', input: 40, output: 0, chargeNano: 80_000n })
})

test("Google's SDK embeds one text and several", async () => {
  const client = new GoogleGenAI({
    apiKey: gateway.key,
    httpOptions: { baseUrl: gateway.url, apiVersion: 'v1beta' },
  })
  const model = 'voyage-3.5'
  const { embeddings } = await client.models.embedContent({ model, contents: ['sunny', 'rainy'] })
  expect(embeddings?.map(({ values }) => values)).toEqual([
    [0.5, -0.25],
    [1, 0],
  ])
  const one = await gateway.post(`/v1beta/models/${model}:embedContent`, {
    content: { parts: [{ text: 'sun' }, { text: 'ny' }] },
    taskType: 'RETRIEVAL_QUERY',
    title: 'unknown there',
  })
  expect(await one.json()).toEqual({
    embedding: { values: [0.5, -0.25] },
    usageMetadata: { promptTokenCount: 40 },
  })
  expect(one.headers.get('x-tollgate-dropped')).toBe('title')
  expect(asked.at(-1)?.body).toEqual({ model, input: ['sunny'], input_type: 'query' })
  const row = await gateway.row(one.headers.get('x-request-id') ?? '')
  expect(row).toMatchObject({ operation: 'embedding', chargeNano: 80_000n })
  const wrong = await gateway.post(`/v1beta/models/${model}:embedContent`, {
    content: { parts: [{ inlineData: {} }] },
  })
  expect([wrong.status, await wrong.json()]).toMatchObject([
    400,
    { error: { status: 'INVALID_ARGUMENT', message: expect.stringContaining('parts[0]') } },
  ])
})

test('a vector that is missing is no reply: each is of the text at its place', async () => {
  const reply = await gateway.post('/v1/embeddings', { model: 'short', input: ['sunny', 'rainy'] })
  expect([reply.status, await reply.json()]).toMatchObject([
    503,
    { error: { code: 'service_unavailable' } },
  ])
})

test.each(['/v1/rerank', '/v2/rerank', '/rerank'])('reranking at %s', async (path) => {
  const body = { model: 'rerank-2.5', query: 'sea?', documents: ['sunny', 'rainy'], top_n: 2 }
  const reply = await gateway.post(path, { ...body, return_documents: true })
  expect(reply.status).toBe(200)
  expect(await reply.json()).toMatchObject({
    results: [
      { index: 1, relevance_score: 0.75, document: { text: 'rainy' } },
      { index: 0, relevance_score: 0.25, document: { text: 'sunny' } },
    ],
    usage: { total_tokens: 1_000 },
  })
  expect(asked.at(-1)).toEqual({
    path: '/rerank',
    body: {
      model: 'rerank-2.5',
      query: 'sea?',
      documents: ['sunny', 'rainy'],
      top_k: 2,
      return_documents: false,
    },
  })
  const row = await gateway.row(reply.headers.get('x-request-id') ?? '')
  expect(row).toMatchObject({ operation: 'rerank', status: 200, chargeNano: 2_000_000n })
})

test.each([
  ['rerank-v3.5', 4_000_000n, { search: 2 }],
  ['rerank-v4', 1_000_000n, { request: 1 }],
])(
  '%s costs by the searches that Cohere bills where the card prices them',
  async (model, charge, units) => {
    const reply = await gateway.post('/v2/rerank', { model, query: 'q', documents: ['d'] })
    expect(await reply.json()).toMatchObject({ meta: { billed_units: { search_units: 2 } } })
    const row = await gateway.row(reply.headers.get('x-request-id') ?? '')
    expect(row).toMatchObject({ chargeNano: charge, units })
  },
)

test.each(['/v1/score', '/score'])('scores at %s, in the order of the texts', async (path) => {
  const body = { model: 'rerank-2.5', text_1: ['sea?'], text_2: ['sunny', 'rainy'], priority: 1 }
  const reply = await gateway.post(path, body)
  expect([reply.status, reply.headers.get('x-tollgate-dropped')]).toEqual([200, 'priority'])
  expect(await reply.json()).toMatchObject({
    id: expect.stringMatching(/^score-/),
    object: 'list',
    data: [
      { index: 0, object: 'score', score: 0.25 },
      { index: 1, object: 'score', score: 0.75 },
    ],
    usage: { prompt_tokens: 1_000, total_tokens: 1_000, completion_tokens: 0 },
  })
  expect(asked.at(-1)?.body).toMatchObject({ query: 'sea?', documents: ['sunny', 'rainy'] })
  const row = await gateway.row(reply.headers.get('x-request-id') ?? '')
  expect(row).toMatchObject({ operation: 'rerank', chargeNano: 2_000_000n })
})

test('of one text the score, billed as the search it is; of one that has none nothing', async () => {
  const one = { model: 'rerank-v3.5', text_1: 'sea?', text_2: 'sunny' }
  const reply = await gateway.post('/v1/score', one)
  expect(await reply.json()).toMatchObject({ data: [{ index: 0, score: 0.5 }] })
  const row = await gateway.row(reply.headers.get('x-request-id') ?? '')
  expect(row).toMatchObject({ chargeNano: 4_000_000n, units: { search: 2 } })
  const half = await gateway.post('/v1/score', { ...one, text_2: ['sunny', 'rainy'] })
  expect([half.status, await half.json()]).toMatchObject([
    503,
    { error: { code: 'service_unavailable' } },
  ])
})

test('what the vendor cannot be told is refused by the field, before it is asked', async () => {
  const before = asked.length
  const reply = await gateway.post('/v1/embeddings', { model: 'voyage-3.5', input: [1, 2, 3] })
  expect([reply.status, await reply.json()]).toMatchObject([400, { error: { param: 'input' } }])
  const wrong = await gateway.post('/v1/rerank', { model: 'rerank-2.5', query: 'q' })
  expect([wrong.status, await wrong.json()]).toMatchObject([400, { error: { param: 'documents' } }])
  expect(asked).toHaveLength(before)
})

test('a model of another kind is refused with where it is served', async () => {
  const reply = await gateway.post('/v1/rerank', {
    model: 'voyage-3.5',
    query: 'q',
    documents: ['d'],
  })
  expect([reply.status, await reply.json()]).toMatchObject([
    400,
    { error: { message: expect.stringContaining('/v1/embeddings') } },
  ])
})

test("a vendor's refusal is told in the client's form", async () => {
  const reply = await gateway.post('/v1/rerank', { model: 'busy', query: 'q', documents: ['d'] })
  expect([reply.status, await reply.json()]).toMatchObject([
    429,
    { error: { code: 'rate_limit_exceeded' } },
  ])
})
