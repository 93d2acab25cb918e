// Tests that the cost shown in a request's own reply always equals its record.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { formatUnits } from '../../src/money.ts'
import { ask, eventually } from '../support/clients.ts'
import { expectRefusal } from '../support/requests.ts'
import { run } from '../support/server-process.ts'
import {
  chatReply,
  delta,
  event,
  goodStream,
  json,
  lastChunk,
  type Script,
  send,
  sseHead,
  usage,
} from '../support/upstream.ts'
import { ann, openShop, type Shop, seesCost } from './customers.ts'

const chat = '/v1/chat/completions'
const wanted = { 'x-tollgate-cost': 'true' }

let shop: Shop
beforeAll(async () => {
  shop = await openShop()
})
afterAll(() => shop[Symbol.asyncDispose]())

let made = 0
function newModel(...scripts: Script[]): string {
  const model = `m${++made}`
  if (scripts.length > 0) shop.upstream.on(model, ...scripts)
  return model
}

interface Chunk {
  readonly choices?: readonly { readonly finish_reason: string | null }[]
  readonly usage?: Readonly<Record<string, unknown>> | null
}

async function chunksOf(reply: Response): Promise<readonly Chunk[]> {
  const text = await reply.text()
  expect(text).toEndWith('data: [DONE]\n\n')
  return text
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: {'))
    .map((frame) => JSON.parse(frame.slice(6)) as Chunk)
}

/** The one cost that a stream shows. */
async function streamCost(reply: Response): Promise<unknown> {
  const shown = (await chunksOf(reply)).flatMap((each) => (each.usage ? [each.usage] : []))
  expect(shown).toHaveLength(1)
  return shown[0]?.['cost']
}

async function recordedCost(reply: Response): Promise<string> {
  const row = await shop.row(reply.headers.get('x-request-id'))
  expect(reply.headers.get('x-tollgate-price-version')).toBe(String(row.priceVersion))
  return formatUnits(row.chargeNano)
}

function bodyOf(model: string, more: Readonly<Record<string, unknown>> = {}) {
  return { model, messages: ask('Hello'), ...more }
}

describe('a whole reply', () => {
  test('has its cost in a header always, in its usage where that is asked for', async () => {
    const model = newModel()
    const plain = await shop.post(chat, bodyOf(model))
    expect(((await plain.json()) as Chunk).usage).toEqual(usage)
    expect(plain.headers.get('x-tollgate-cost')).toBe('0.000017')
    const shown = await shop.post(chat, bodyOf(model), wanted)
    expect(((await shown.json()) as Chunk).usage).toEqual({ cost: '0.000017', ...usage })
    expect(shown.headers.get('x-tollgate-cost')).toBe('0.000017')
    expect(await recordedCost(shown)).toBe('0.000017')
  })

  test('by a key that asks for it always, and not where the request says no', async () => {
    const model = newModel()
    const shown = await shop.post(chat, bodyOf(model), {}, seesCost)
    expect(((await shown.json()) as Chunk).usage?.['cost']).toBe('0.000017')
    const plain = await shop.post(chat, bodyOf(model), { 'x-tollgate-cost': 'false' }, seesCost)
    expect(((await plain.json()) as Chunk).usage).toEqual(usage)
  })

  test("shows the gateway's in place of a vendor's own", async () => {
    const counted = { ...usage, cost: 0.95, cost_details: { upstream_inference_cost: null } }
    const model = newModel([json(200, chatReply('Hi', { usage: counted }))])
    const shown = await shop.post(chat, bodyOf(model), wanted)
    expect(((await shown.json()) as Chunk).usage).toEqual({ ...counted, cost: '0.000017' })
  })

  test('without usage of its vendor has it in the header', async () => {
    const model = newModel([json(200, chatReply('Hi', { usage: undefined }))])
    const reply = await shop.post(chat, bodyOf(model), wanted)
    expect(await reply.json()).not.toHaveProperty('usage')
    expect(reply.headers.get('x-tollgate-cost')).toBe(await recordedCost(reply))
  })

  test('that is empty is shown what its prompt cost', async () => {
    const empty = { ...usage, completion_tokens: 0, total_tokens: 7 }
    const model = newModel([json(200, chatReply('', { usage: empty }))])
    const reply = await shop.post(chat, bodyOf(model), wanted)
    const cost = await recordedCost(reply)
    expect(Number(cost)).toBeGreaterThan(0)
    expect(((await reply.json()) as Chunk).usage?.['cost']).toBe(cost)
  })

  test('up to the ceiling of the client', async () => {
    const model = newModel()
    const body = bodyOf(model, { max_tokens: 1, max_cost: '0.0001' })
    shop.upstream.on(model, [
      json(
        200,
        chatReply('Hi', { usage: { ...usage, completion_tokens: 500, total_tokens: 507 } }),
      ),
    ])
    const reply = await shop.post(chat, body, wanted)
    expect(((await reply.json()) as Chunk).usage?.['cost']).toBe('0.0001')
    expect(await recordedCost(reply)).toBe('0.0001')
  })

  test('of embeddings', async () => {
    shop.upstream.on('embedder', [
      json(200, {
        object: 'list',
        model: 'served',
        data: [{ object: 'embedding', index: 0, embedding: [0.5, -0.5] }],
        usage: { prompt_tokens: 9, total_tokens: 9 },
      }),
    ])
    const reply = await shop.post('/v1/embeddings', { model: 'embedder', input: 'Hello' }, wanted)
    const body = (await reply.json()) as Chunk
    expect(body.usage).toEqual({ cost: '0.000027', prompt_tokens: 9, total_tokens: 9 })
    expect(await recordedCost(reply)).toBe('0.000027')
  })
})

describe('a stream', () => {
  test.each([true, false])('with include_usage %p shows it with its usage', async (included) => {
    const model = newModel(goodStream('Hel', 'lo'))
    const options = included ? { stream_options: { include_usage: true } } : {}
    const reply = await shop.post(chat, bodyOf(model, { stream: true, ...options }), wanted)
    expect(reply.headers.get('x-tollgate-cost')).toBeNull()
    expect(await streamCost(reply)).toBe('0.000017')
    expect(await recordedCost(reply)).toBe('0.000017')
  })

  test('that does not ask shows none, nor usage', async () => {
    const model = newModel(goodStream('Hel', 'lo'))
    const plain = await chunksOf(await shop.post(chat, bodyOf(model, { stream: true })))
    expect(plain.filter((each) => each.usage)).toEqual([])
  })

  test("shows the gateway's in place of a vendor's own", async () => {
    const last = { ...delta({}), choices: [], usage: { ...usage, cost: 0.95, is_byok: false } }
    const model = newModel([
      send(sseHead),
      send(event(delta({ content: 'Hi' }))),
      send(event(delta({}, 'stop'))),
      send(event(last)),
      send(event('[DONE]')),
      send(lastChunk),
    ])
    const reply = await shop.post(chat, bodyOf(model, { stream: true }), wanted)
    expect(await streamCost(reply)).toBe('0.000017')
  })

  test('with usage beside the finish shows it too', async () => {
    const model = newModel([
      send(sseHead),
      send(event(delta({ content: 'Hi' }))),
      send(event(delta({}, 'stop', { usage }))),
      send(event('[DONE]')),
      send(lastChunk),
    ])
    const reply = await shop.post(chat, bodyOf(model, { stream: true }), wanted)
    expect(await streamCost(reply)).toBe(await recordedCost(reply))
  })

  test('that is empty is shown what its prompt cost', async () => {
    const none = { ...usage, completion_tokens: 0, total_tokens: 7 }
    const model = newModel([
      send(sseHead),
      send(event(delta({}, 'stop'))),
      send(event({ ...delta({}), choices: [], usage: none })),
      send(event('[DONE]')),
      send(lastChunk),
    ])
    const reply = await shop.post(chat, bodyOf(model, { stream: true }), wanted)
    const cost = await recordedCost(reply)
    expect(Number(cost)).toBeGreaterThan(0)
    expect(await streamCost(reply)).toBe(cost)
  })
})

describe('a completion by a model that only chats', () => {
  const body = { model: 'chat-only', prompt: 'Once', max_tokens: 20 }

  test('whole', async () => {
    shop.upstream.on('chat-only', [json(200, chatReply())])
    const reply = await shop.post('/v1/completions', body, wanted)
    expect(((await reply.json()) as Chunk).usage).toMatchObject({ cost: '0.000017', ...usage })
    expect(reply.headers.get('x-tollgate-cost')).toBe('0.000017')
    expect(await recordedCost(reply)).toBe('0.000017')
  })

  test.each([true, false])('streamed, with include_usage %p', async (included) => {
    shop.upstream.on('chat-only', goodStream('Hel', 'lo'))
    const options = included ? { stream_options: { include_usage: true } } : {}
    const reply = await shop.post('/v1/completions', { ...body, stream: true, ...options }, wanted)
    expect(await streamCost(reply)).toBe('0.000017')
    expect(await recordedCost(reply)).toBe('0.000017')
  })
})

test('a key made with --show-cost shows it, one made without does not', async () => {
  const words = ['key', 'create', '--account', 'ann', '--group', 'default', '--json']
  const model = newModel()
  for (const [more, cost] of [
    [['--name', 'shows', '--show-cost'], '0.000017'],
    [['--name', 'hides'], undefined],
  ] as const) {
    const made = JSON.parse(await run(shop.dataDir, ...words, ...more))
    expect(made.showCost).toBe(cost !== undefined)
    // A key made beside a running server works within a second.
    const reply = await eventually(async () => {
      const answer = await shop.post(chat, bodyOf(model), {}, made.secret)
      return answer.status === 200 ? answer : undefined
    })
    expect(((await reply.json()) as Chunk).usage?.['cost']).toBe(cost)
  }
  const listed = JSON.parse(await run(shop.dataDir, 'key', 'list', '--json'))
  expect(
    Object.fromEntries(
      listed.map((key: Record<string, unknown>) => [key['name'], key['showCost']]),
    ),
  ).toEqual({ shows: true, hides: false })
})

test.each(['yes', '1', 'TRUE', ''])('x-tollgate-cost: %j is refused', async (value) => {
  const model = newModel()
  const refused = await shop.post(chat, bodyOf(model), { 'x-tollgate-cost': value }, ann)
  const error = await expectRefusal(refused, 400, 'invalid_request_error')
  expect(error.param).toBe('x-tollgate-cost')
  expect(shop.upstream.of(model)).toHaveLength(0)
})
