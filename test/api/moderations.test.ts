// Tests moderations: bad input is refused before any vendor is asked, other input arrives unchanged and is charged at
// its price.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openaiClient } from '../support/clients.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { expectRefusal, postJson } from '../support/requests.ts'
import { json, startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let gateway: Gateway

const result = {
  flagged: true,
  categories: { hate: false, violence: true },
  category_scores: { hate: 0.01, violence: 0.97 },
  category_applied_input_types: { hate: ['text'], violence: ['text', 'image'] },
}
const calm = { ...result, flagged: false, categories: { hate: false, violence: false } }

function reply(...results: object[]): object {
  return { id: 'modr-upstream', model: 'omni-moderation-2024-09-26', results }
}

beforeAll(async () => {
  upstream = await startUpstream()
  upstream.on('omni-moderation-latest', [json(200, reply(result))])
  upstream.on('by-request', [json(200, reply(calm))])
  upstream.on('by-token', [json(200, reply(calm, result))])
  upstream.on('empty', [json(200, { id: 'modr-x', model: 'm', results: [] })])
  const plain = { categories: { hate: true, violence: false }, category_scores: {} }
  const quiet = { categories: { hate: false }, category_scores: {} }
  const usage = { prompt_tokens: 17, completion_tokens: 0, total_tokens: 17 }
  upstream.on('mistral-moderation', [
    json(200, { id: 'mod-1', model: 'm', results: [plain, quiet], usage }),
  ])
  const channel = { vendor: 'openai', baseUrl: upstream.url, key: 'sk-up-0123456789' }
  gateway = await startGateway({
    config: {
      retry: { maxAttempts: 1 },
      channels: [
        {
          ...channel,
          id: 'main',
          models: ['omni-moderation-latest', 'by-request', 'by-token', 'empty'],
        },
        { ...channel, id: 'other', vendor: 'mistral', models: ['mistral-moderation'] },
      ],
      models: {
        'omni-moderation-latest': { kind: 'moderation', prices: { request: '0' } },
        'by-request': { kind: 'moderation', prices: { request: '1500' } },
        'by-token': { kind: 'moderation', prices: { input: '2' } },
        empty: { kind: 'moderation', prices: { request: '1' } },
        'mistral-moderation': { kind: 'moderation', prices: { input: '0.1' } },
      },
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})

const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }
const text = { type: 'text', text: 'Hello' }

const bad: readonly (readonly [string, object, string])[] = [
  ['no input', {}, 'input'],
  ['null', { input: null }, 'input'],
  ['a number', { input: 1 }, 'input'],
  ['an object', { input: text }, 'input'],
  ['an empty list', { input: [] }, 'input'],
  ['numbers', { input: [1, 2] }, 'input[0]'],
  ['lists', { input: [['a']] }, 'input[0]'],
  ['a text, then a part', { input: ['a', text] }, 'input[1]'],
  ['a part, then a text', { input: [text, 'a'] }, 'input[1]'],
  ['a part without a type', { input: [{ text: 'a' }] }, 'input[0].type'],
  ['a part of no such type', { input: [text, { type: 'audio' }] }, 'input[1].type'],
  ['a text part without text', { input: [{ type: 'text' }] }, 'input[0].text'],
  ['a text part with a number', { input: [{ type: 'text', text: 1 }] }, 'input[0].text'],
  ['an image part without image', { input: [{ type: 'image_url' }] }, 'input[0].image_url'],
  [
    'an image address as text',
    { input: [{ type: 'image_url', image_url: 'https://example.com/a.png' }] },
    'input[0].image_url',
  ],
  [
    'an image without address',
    { input: [{ type: 'image_url', image_url: {} }] },
    'input[0].image_url.url',
  ],
  [
    'an image on disk',
    { input: [{ type: 'image_url', image_url: { url: 'file:///etc/passwd' } }] },
    'input[0].image_url.url',
  ],
  ['a model that is no text', { model: 1, input: 'a' }, 'model'],
  ['an empty model', { model: '', input: 'a' }, 'model'],
]

test.each(bad)('refused: %s', async (_name, body, param) => {
  const before = upstream.requests.length
  const answer = await postJson(`${gateway.url}/v1/moderations`, body)
  const error = await expectRefusal(answer, 400, 'invalid_request_error')
  expect(error.param).toBe(param)
  expect(upstream.requests).toHaveLength(before)
})

test.each([
  ['one text', 'Hello'],
  ['an empty text', ''],
  ['texts', ['a', 'Grüße \\ 👋']],
  ['parts', [text, image]],
  [
    'an image by its data',
    [{ ...image, image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }],
  ],
])('%s arrives as it was sent', async (_name, input) => {
  const body = JSON.stringify({ model: 'by-request', input })
  const answer = await postJson(`${gateway.url}/v1/moderations`, body)
  expect(await answer.json()).toEqual(reply(calm))
  const asked = upstream.requests.at(-1)
  expect(asked?.target).toBe('/v1/moderations')
  expect(asked?.body.toString()).toBe(body)
})

test.each([
  ['{"input":"a"}', '{"input":"a","model":"omni-moderation-latest"}'],
  ['{"model":null,"input":"a"}', '{"model":"omni-moderation-latest","input":"a"}'],
])('the model may be left out: %s', async (body, sent) => {
  const answer = await postJson(`${gateway.url}/v1/moderations`, body)
  expect(answer.status).toBe(200)
  expect(upstream.requests.at(-1)?.body.toString()).toBe(sent)
})

test('the official SDK, with the model left out: free at a price of 0', async () => {
  const client = openaiClient(gateway.url)
  const { data, request_id } = await client.moderations
    .create({ input: [{ type: 'text', text: 'I will hit you' }] })
    .withResponse()
  expect(data.results[0]?.flagged).toBe(true)
  expect(data.results[0]?.category_scores.violence).toBe(0.97)
  expect(data.results[0]?.category_applied_input_types.violence).toEqual(['text', 'image'])
  const row = await gateway.row(request_id ?? '')
  expect(row).toMatchObject({
    operation: 'moderation',
    modelAsked: 'omni-moderation-latest',
    modelServed: 'omni-moderation-2024-09-26',
    chargeNano: 0n,
    status: 200,
  })
})

async function charged(model: string, input: unknown) {
  const answer = await postJson(`${gateway.url}/v1/moderations`, { model, input })
  expect(answer.status).toBe(200)
  const row = await gateway.row(answer.headers.get('x-request-id') ?? '')
  return { row, answer }
}

test('paid by the request', async () => {
  const { row, answer } = await charged('by-request', 'Hello')
  expect(row.chargeNano).toBe(1_500_000n)
  expect(row.units).toEqual({ request: 1 })
  expect(answer.headers.get('x-tollgate-cost')).toBe('0.0015')
})

test('paid by input, which is counted: four bytes of the request to a token', async () => {
  const input = 'x'.repeat(1_000)
  const bytes = JSON.stringify({ model: 'by-token', input }).length
  const { row } = await charged('by-token', input)
  expect(row).toMatchObject({ input: Math.ceil(bytes / 4), output: 0, usageSource: 'counted' })
  expect(row.chargeNano).toBe(BigInt(Math.ceil(bytes / 4)) * 2_000n)
})

test('Mistral reports what it read, and its results are told apart by `flagged`', async () => {
  const { row, answer } = await charged('mistral-moderation', ['a', 'b'])
  const { results } = (await answer.json()) as { results: { flagged: boolean }[] }
  expect(results.map(({ flagged }) => flagged)).toEqual([true, false])
  expect(row).toMatchObject({ input: 17, output: 0, usageSource: 'reported', vendor: 'mistral' })
  expect(row.chargeNano).toBe(1_700n)
})

test('a reply without results is no reply, and is not charged', async () => {
  const answer = await postJson(`${gateway.url}/v1/moderations`, { model: 'empty', input: 'a' })
  expect(answer.status).toBeGreaterThanOrEqual(500)
  const row = await gateway.row(answer.headers.get('x-request-id') ?? '')
  expect(row.chargeNano).toBe(0n)
})

test('a model of another kind is refused with the place for it', async () => {
  const body = { model: 'by-request', messages: [{ role: 'user', content: 'a' }] }
  const answer = await postJson(`${gateway.url}/v1/chat/completions`, body)
  const error = await expectRefusal(answer, 400, 'invalid_request_error')
  expect(error.message).toContain('/v1/moderations')
})
