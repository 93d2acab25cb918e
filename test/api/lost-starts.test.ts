// Tests streams whose vendor leaves out the first events, without which official clients fail: they are written anew.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'

interface Event {
  readonly type: string
  readonly [name: string]: unknown
}

let stream = ''
let vendor: Bun.Server<undefined>
let gateway: Gateway

beforeAll(async () => {
  vendor = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response(stream, { headers: { 'content-type': 'text/event-stream' } }),
  })
  const root = `http://127.0.0.1:${vendor.port}`
  const gpt = { id: 'o', vendor: 'openai', dialect: 'openai-responses', baseUrl: `${root}/v1` }
  gateway = await startGateway({
    config: {
      channels: [
        { id: 'a', vendor: 'anthropic', baseUrl: root, key: 'k', models: ['claude'] },
        { ...gpt, key: 'k', models: ['gpt'] },
      ],
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await vendor.stop(true)
})

const named = (events: readonly Event[]) =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
const unnamed = (events: readonly Event[]) =>
  events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join('')

const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }
const said = {
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text: 'Hello' },
}
const usage = { input_tokens: 5, output_tokens: 3 }
const messageEnd: Event[] = [
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
  { type: 'message_stop' },
]

const message = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
}
const place = { item_id: 'msg_1', output_index: 0, content_index: 0 }
const itemStart: Event[] = [
  {
    type: 'response.output_item.added',
    output_index: 0,
    item: { ...message, content: [], status: 'in_progress' },
  },
  {
    ...{ type: 'response.content_part.added', ...place },
    part: { type: 'output_text', text: '', annotations: [] },
  },
]
const response = {
  ...{ id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'gpt' },
  ...{ output: [message], usage: { input_tokens: 5, output_tokens: 3, total_tokens: 8 } },
}
const itemEnd: Event[] = [
  { type: 'response.output_text.delta', ...place, delta: 'Hello' },
  { type: 'response.output_text.done', ...place, text: 'Hello' },
  { type: 'response.output_item.done', output_index: 0, item: message },
  { type: 'response.completed', response },
]
const progress = { type: 'response.in_progress', response: { ...response, output: [] } }

const ofMessages: readonly (readonly [string, string])[] = [
  ['its start', named([block, said, ...messageEnd])],
  [
    'its start, behind a comment and a ping',
    `: hello\n\n${named([{ type: 'ping' }, block, said, ...messageEnd])}`,
  ],
  ['its start and the names of events', unnamed([block, said, ...messageEnd])],
  ['its start and that of its block', named([said, ...messageEnd])],
]

describe('a message without', () => {
  test.each(ofMessages)('%s is read by the official client', async (_what, frames) => {
    stream = frames
    const client = new Anthropic({ baseURL: gateway.url, apiKey: testKey, maxRetries: 0 })
    const messages = [{ role: 'user' as const, content: 'Hi' }]
    const reply = await client.messages
      .stream({ model: 'claude', max_tokens: 10, messages })
      .finalMessage()
    expect(reply).toMatchObject({
      content: [{ type: 'text', text: 'Hello' }],
      stop_reason: 'end_turn',
      usage,
    })
  })
})

const ofResponses: readonly (readonly [string, string])[] = [
  ['its creation', named([...itemStart, ...itemEnd])],
  ['its creation, and begun otherwise', named([progress, ...itemStart, ...itemEnd])],
  ['its creation and the names of events', unnamed([...itemStart, ...itemEnd])],
  ['its creation and the start of its item', named(itemEnd)],
  ['anything before its end', named(itemEnd.slice(-1))],
]

describe('a response without', () => {
  test.each(ofResponses)('%s is read by the official client', async (_what, frames) => {
    stream = frames
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: testKey, maxRetries: 0 })
    const reply = await client.responses.stream({ model: 'gpt', input: 'Hi' }).finalResponse()
    expect([reply.output_text, reply.status]).toEqual(['Hello', 'completed'])
    expect(reply.usage).toMatchObject({ input_tokens: 5, output_tokens: 3 })
  })
})

test('a stream that has its first event is relayed byte for byte', async () => {
  const start = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [] }
  const begun = { ...start, stop_reason: null, stop_sequence: null, usage }
  stream = named([
    { type: 'ping' },
    { type: 'message_start', message: begun },
    block,
    said,
    ...messageEnd,
  ])
  const asked = { model: 'claude', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] }
  const answer = await gateway.post('/v1/messages', { ...asked, stream: true })
  expect(await answer.text()).toBe(stream)
})
