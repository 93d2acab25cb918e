// Tests Messages and Responses whose vendor writes events, or calls, otherwise than their format: the official client
// reads what is meant.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'

interface Event {
  readonly type: string
  readonly [name: string]: unknown
}

let stream = ''
/** What the vendor answers to those who do not ask for a stream. */
let body: unknown
let vendor: Bun.Server<undefined>
let gateway: Gateway
let anthropic: Anthropic
let openai: OpenAI

beforeAll(async () => {
  vendor = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const asked = (await request.json()) as { stream?: boolean }
      if (asked.stream !== true) return Response.json(body)
      return new Response(stream, { headers: { 'content-type': 'text/event-stream' } })
    },
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
  anthropic = new Anthropic({ baseURL: gateway.url, apiKey: testKey, maxRetries: 0 })
  openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: testKey, maxRetries: 0 })
})
afterAll(async () => {
  await gateway.stop()
  await vendor.stop(true)
})

const named = (events: readonly Event[]) =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')

const usage = { input_tokens: 5, output_tokens: 3 }
const begun = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [] }
const messageStart = { type: 'message_start', message: { ...begun, stop_reason: null, usage } }
const messageEnd = (stop_reason: string): Event[] => [
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
  { type: 'message_stop' },
]
const block = (index: number, content_block: object) => ({
  type: 'content_block_start',
  index,
  content_block,
})
const says = (index: number, delta: object) => ({ type: 'content_block_delta', index, delta })
const ends = (index: number) => ({ type: 'content_block_stop', index })
const thinks = { type: 'thinking_delta', thinking: 'Hm.' }
const text = { type: 'text_delta', text: 'Hello' }
const asked = { model: 'claude', max_tokens: 9, messages: [{ role: 'user' as const, content: '' }] }

describe('messages', () => {
  test('have a block for what comes without one', async () => {
    stream = named([
      messageStart,
      ...[says(0, thinks), says(0, { type: 'signature_delta', signature: 's' }), ends(0)],
      ...[says(2, text), ends(2)],
      ...messageEnd('end_turn'),
    ])
    const { content } = await anthropic.messages.stream(asked).finalMessage()
    expect(content).toMatchObject([
      { type: 'thinking', thinking: 'Hm.', signature: 's' },
      { type: 'text', text: 'Hello' },
    ])
  })

  const use = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} })
  test.each([
    ['', ''],
    ['toolu_1', 'toolu_1'],
  ])('have calls with ids %j and %j that can be answered', async (first, second) => {
    stream = named([
      messageStart,
      ...[block(0, { type: 'text', text: '' }), says(0, text), ends(0)],
      ...[block(1, use(first)), ends(1)],
      ...[
        block(5, use(second)),
        says(5, { type: 'input_json_delta', partial_json: '{}' }),
        ends(5),
      ],
      ...messageEnd('tool_use'),
    ])
    body = { ...begun, content: [use(first), use(second)], stop_reason: 'tool_use', usage }
    for (const { content } of [
      await anthropic.messages.stream(asked).finalMessage(),
      await anthropic.messages.create(asked),
    ]) {
      const ids = content.flatMap((each) => (each.type === 'tool_use' ? each.id : []))
      expect(new Set(ids).size).toBe(2)
      for (const id of ids) expect(id).toMatch(/^\w+$/)
    }
  })
})

const message = {
  ...{ type: 'message', role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
}
const response = { object: 'response', created_at: 1, model: 'gpt', output: [] as unknown[] }
const counted = { input_tokens: 5, output_tokens: 3, total_tokens: 8 }

/** Each event with its number, and with other ids than before in what is `rotated`. */
function rotating(...rotated: readonly ('response' | 'item')[]): Event[] {
  let count = 0
  const id = (kind: 'response' | 'item') => (rotated.includes(kind) ? `${kind}_${count++}` : kind)
  const place = () => ({ item_id: id('item'), output_index: 0, content_index: 0 })
  const item = (more: object) => ({
    output_index: 0,
    item: { ...message, ...more, id: id('item') },
  })
  const part = { type: 'output_text', text: '', annotations: [] }
  const whole = (status: string, more: object) => ({
    response: { ...response, id: id('response'), status, ...more },
  })
  const events: Event[] = [
    { type: 'response.created', ...whole('in_progress', {}) },
    { type: 'response.in_progress', ...whole('in_progress', {}) },
    { type: 'response.output_item.added', ...item({ content: [], status: 'in_progress' }) },
    { type: 'response.content_part.added', ...place(), part },
    { type: 'response.output_text.delta', ...place(), delta: 'Hello' },
    { type: 'response.output_text.done', ...place(), text: 'Hello' },
    { type: 'response.content_part.done', ...place(), part: { ...part, text: 'Hello' } },
    { type: 'response.output_item.done', ...item({}) },
    {
      type: 'response.completed',
      ...whole('completed', { output: [{ ...message, id: id('item') }], usage: counted }),
    },
  ]
  return events.map((event, sequence_number) => ({ ...event, sequence_number }))
}

describe('responses', () => {
  test.each([
    ['the response and its items', rotating('response', 'item')],
    ['items alone', rotating('item')],
  ])('whose vendor changes the ids of %s have the first', async (_what, events) => {
    stream = named(events)
    const ids = new Set<string>()
    const reply = openai.responses.stream({ model: 'gpt', input: 'Hi', store: false })
    reply.on('event', (event) => {
      if ('item_id' in event) ids.add(event.item_id)
      if ('response' in event) ids.add(event.response.id)
    })
    const { output_text, output, id } = await reply.finalResponse()
    expect([output_text, output[0]?.id]).toEqual(['Hello', [...ids][1] ?? ''])
    expect([...ids]).toEqual([id, expect.any(String)])
  })

  test('whose ids stay are relayed byte for byte', async () => {
    stream = named(rotating())
    const body = { model: 'gpt', input: 'Hi', stream: true, store: false }
    expect(await (await gateway.post('/v1/responses', body)).text()).toBe(stream)
  })

  test('have arguments in calls without any', async () => {
    const call = {
      ...{ type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f', arguments: '' },
      status: 'completed',
    }
    const [created] = rotating()
    const at = { output_index: 0, item_id: 'fc_1' }
    const whole = { ...response, id: 'response', status: 'completed', output: [call] }
    stream = named([
      ...(created === undefined ? [] : [created]),
      { type: 'response.output_item.added', output_index: 0, item: call },
      { type: 'response.function_call_arguments.done', ...at, name: 'f', arguments: '' },
      { type: 'response.output_item.done', output_index: 0, item: call },
      { type: 'response.completed', response: { ...whole, usage: counted } },
    ])
    body = { ...whole, usage: counted }
    const question = { model: 'gpt', input: 'Hi', store: false }
    for (const { output } of [
      await openai.responses.stream(question).finalResponse(),
      await openai.responses.create(question),
    ])
      expect(output).toMatchObject([{ call_id: 'call_1', arguments: '{}' }])
  })

  test('that fail are numbered without a gap', async () => {
    const [created, progress, added, part, delta] = rotating()
    const events = [created, progress, added, part, delta].filter((each) => each !== undefined)
    const error = { code: 'server_error', message: 'over' }
    stream = named([...events, { type: 'error', sequence_number: events.length, error }])
    const body = { model: 'gpt', input: 'Hi', stream: true, store: false }
    const said = await (await gateway.post('/v1/responses', body)).text()
    const numbers = [...said.matchAll(/"sequence_number":(\d+)/g)].map(([, number]) =>
      Number(number),
    )
    expect(numbers).toEqual([0, 1, 2, 3, 4, 5, 6])
  })
})
