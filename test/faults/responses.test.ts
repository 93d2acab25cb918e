// Tests faults within a stream of the Responses format: translated from a chat, and relayed from a vendor of that
// format.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import type { JsonObject } from '../../src/wire/ir.ts'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'
import {
  chunk,
  goodStream,
  json,
  reset,
  type Script,
  send,
  sseHead,
  startUpstream,
  type Upstream,
  words,
} from '../support/upstream.ts'

let gateway: Gateway
let chats: Upstream
let responds: Upstream

beforeAll(async () => {
  chats = await startUpstream()
  responds = await startUpstream()
  const key = 'sk-upstream-secret-0123456789'
  gateway = await startGateway({
    config: {
      channels: [
        { id: 'responds', vendor: 'openai', baseUrl: responds.url, key, models: ['r*', 'both'] },
        {
          id: 'chats',
          vendor: 'openai-compatible',
          baseUrl: chats.url,
          key,
          models: ['c*', 'both'],
          weight: 0,
        },
      ],
      keys: [{ name: 'faults', secret: testKey }],
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await chats.close()
  await responds.close()
})

function named(event: JsonObject): Script[number] {
  return send(chunk(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`))
}

const response = { id: 'resp_vendor', object: 'response', created_at: 5, model: 'r', output: [] }
const created = named({
  type: 'response.created',
  sequence_number: 0,
  response: { ...response, status: 'in_progress' },
})
const delta = named({
  type: 'response.output_text.delta',
  sequence_number: 1,
  item_id: 'msg_1',
  output_index: 0,
  content_index: 0,
  delta: 'Hi',
})

/** The events of a stream, which must not end without a terminal event. */
async function eventsOf(model: string): Promise<JsonObject[]> {
  const reply = await fetch(`${gateway.url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, input: 'hi', stream: true }),
  })
  expect(reply.status).toBe(200)
  expect(reply.headers.get('content-type')).toStartWith('text/event-stream')
  const frames = (await reply.text()).split('\n\n').filter((frame) => frame.startsWith('event: '))
  return frames.map((frame) => JSON.parse(frame.slice(frame.indexOf('\ndata: ') + 7)))
}

function expectFailed(events: readonly JsonObject[], id: RegExp): void {
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, at) => at))
  expect(events.some(({ type }) => type === 'response.completed')).toBe(false)
  const code = { code: 'service_unavailable', param: null }
  expect(events.slice(-2)).toMatchObject([
    { type: 'error', ...code, error: code },
    { type: 'response.failed', response: { status: 'failed', id: expect.stringMatching(id) } },
  ])
}

describe('W48: a stream that is cut ends in an error and a failed response', () => {
  test('translated from a chat', async () => {
    chats.on('c1', [send(sseHead), send(words('Hi')), reset])
    expectFailed(await eventsOf('c1'), /^resp_/)
  })

  test('relayed', async () => {
    responds.on('r1', [send(sseHead), created, delta, reset])
    expectFailed(await eventsOf('r1'), /^resp_vendor$/)
  })

  test.each(['c2', 'r2'])('and the official client throws: %s', async (model) => {
    chats.on('c2', [send(sseHead), send(words('Hi')), reset])
    responds.on('r2', [send(sseHead), created, delta, reset])
    const client = new OpenAI({ apiKey: testKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
    const stream = await client.responses.create({ model, input: 'hi', stream: true })
    const seen: string[] = []
    let thrown: unknown = null
    try {
      for await (const event of stream) seen.push(event.type)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(OpenAI.APIError)
    expect(seen).toContain('response.output_text.delta')
    expect(seen).not.toContain('response.completed')
  })
})

test('an error before anything was said is another channel to try, whatever its format', async () => {
  const error = { type: 'error', error: { code: 'server_error', message: 'no' } }
  responds.on('both', [send(sseHead), created, named(error)])
  chats.on('both', goodStream('Hello'))
  const events = await eventsOf('both')
  expect(events.at(-1)).toMatchObject({
    type: 'response.completed',
    response: { output: [{ content: [{ text: 'Hello' }] }] },
  })
})

test('a model the vendor does not know is no fault of the client', async () => {
  const message = "The requested model 'r3' does not exist."
  responds.on('r3', [
    json(400, {
      error: { message, type: 'invalid_request_error', param: 'model', code: 'model_not_found' },
    }),
  ])
  const reply = await fetch(`${gateway.url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'r3', input: 'hi' }),
  })
  expect(reply.status).toBe(503)
  expect(await reply.json()).toMatchObject({ error: { code: 'service_unavailable' } })
})

test('what a vendor of the format is sent is what the client sent', async () => {
  const { requests } = responds
  const before = requests.length
  responds.on('r4', [json(200, { ...response, status: 'completed', usage: null })])
  const body = `{ "model":"r4", "input":"hi","stream":false, "odd":[1, 2], "store":false }`
  await fetch(`${gateway.url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
    body,
  })
  expect(requests.at(before)?.body.toString()).toBe(body)
  expect(requests.at(before)?.target).toBe('/v1/responses')
})

test('a vendor that repeats an id does not make a conversation continue itself', async () => {
  const message = (text: string) => ({
    id: `msg_${text}`,
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text, annotations: [] }],
  })
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: testKey, maxRetries: 0 })
  let previous: string | null = null
  const ids = new Set<string>()
  for (const said of ['one', 'two', 'three']) {
    const body = { ...response, id: 'resp_same', status: 'completed', output: [message(said)] }
    responds.on('r4', [json(200, body)])
    const made: OpenAI.Responses.Response = await client.responses.create({
      model: 'r4',
      input: `after ${ids.size}`,
      previous_response_id: previous,
    })
    previous = made.id
    ids.add(made.id)
  }
  expect(ids.size).toBe(3)
  const sent = JSON.stringify(JSON.parse(String(responds.requests.at(-1)?.body)).input)
  for (const text of ['after 0', 'one', 'after 1', 'two', 'after 2']) expect(sent).toContain(text)
})
