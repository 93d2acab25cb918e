// Tests Anthropic's official clients, of both major versions, with vendors of both formats.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import OlderAnthropic from 'anthropic-sdk-0'
import { ask } from '../support/clients.ts'
import { testKey } from '../support/gateway.ts'
import { json } from '../support/upstream.ts'
import { messageStream, type Stage, startStage, thinkingEvents, whole } from './anthropic-stage.ts'

let stage: Stage

beforeAll(async () => {
  stage = await startStage()
})
afterAll(() => stage.close())

/** The newer client authenticates with a bearer token and another version of the interface. */
const clients = {
  '1.x': () => new Anthropic({ baseURL: stage.gateway.url, apiKey: testKey, maxRetries: 0 }),
  '0.x': () =>
    new OlderAnthropic({
      baseURL: stage.gateway.url,
      apiKey: testKey,
      maxRetries: 0,
    }) as unknown as Anthropic,
}
const majors = Object.keys(clients) as (keyof typeof clients)[]

const tools: Anthropic.Tool[] = [
  {
    name: 'get_weather',
    description: 'Weather of a city.',
    input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
]

function said(message: Anthropic.Message): string {
  return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
}

describe.each(majors)('client %s', (major) => {
  test.each([
    ['by more than one', (index: number) => index * 2 + 1],
    ['all by 0', () => 0],
  ])('blocks that a vendor numbers %s are the same as in their order', async (_how, number) => {
    const client = clients[major]()
    const asked = { model: 'claude-stub', max_tokens: 200, messages: ask('Weather in Oslo') }
    const read = async (events: Parameters<typeof messageStream>[0]) => {
      stage.stub.on('claude-opus-5', messageStream(events))
      return (await client.messages.stream(asked).finalMessage()).content
    }
    const inOrder = await read(thinkingEvents)
    const otherwise = thinkingEvents.map((event) =>
      'index' in event ? { ...event, index: number(event.index ?? 0) } : event,
    )
    expect(await read(otherwise)).toEqual(inOrder)
  })

  describe.each([
    ['sandbox/chat', /sandbox/i],
    ['claude-mock', /Hi from the mock/],
  ])('on %s', (model, says) => {
    const asked = {
      model,
      max_tokens: 200,
      system: 'Be brief.',
      messages: [{ role: 'user' as const, content: 'Hello' }],
    }

    test('a message, whole and streamed, is the same', async () => {
      const client = clients[major]()
      const message = await client.messages.create(asked)
      expect(said(message)).toMatch(says)
      expect(message).toMatchObject({ type: 'message', role: 'assistant', stop_reason: 'end_turn' })
      expect(message.usage.input_tokens).toBeGreaterThan(0)
      expect(message.usage.output_tokens).toBeGreaterThan(0)
      const streamed = await client.messages.stream(asked).finalMessage()
      expect(said(streamed)).toBe(said(message))
      expect(streamed.stop_reason).toBe('end_turn')
      expect(streamed.usage.output_tokens).toBe(message.usage.output_tokens)
      expect(streamed.usage.input_tokens).toBe(message.usage.input_tokens)
    })

    test('a tool is called and its result understood', async () => {
      const client = clients[major]()
      const first = { role: 'user' as const, content: 'Please use get_weather for Paris' }
      const call = await client.messages
        .stream({ ...asked, messages: [first], tools })
        .finalMessage()
      expect(call.stop_reason).toBe('tool_use')
      const used = call.content.find((block) => block.type === 'tool_use')
      if (used === undefined) throw new Error('no tool was called')
      expect(used.name).toBe('get_weather')
      expect(Object.keys(used.input as object)).toEqual(['city'])
      const result = { type: 'tool_result' as const, tool_use_id: used.id, content: 'sunny' }
      const answer = await client.messages.create({
        ...asked,
        tools,
        messages: [
          first,
          { role: 'assistant', content: call.content },
          { role: 'user', content: [result] },
        ],
      })
      expect(answer.stop_reason).toBe('end_turn')
      expect(said(answer)).not.toBe('')
    })
  })

  test('thinking of a chat vendor is a thinking block', async () => {
    const message = await clients[major]()
      .messages.stream({
        model: 'sandbox/reasoning',
        max_tokens: 2_000,
        messages: [{ role: 'user', content: 'Hello' }],
      })
      .finalMessage()
    expect(message.content.map(({ type }) => type)).toEqual(['thinking', 'text'])
  })

  test('a stream of the vendor reaches the client as it is, and is metered', async () => {
    stage.stub.on('claude-opus-5', messageStream(thinkingEvents))
    const stream = clients[major]().messages.stream({
      model: 'claude-stub',
      max_tokens: 4_000,
      messages: [{ role: 'user', content: 'Weather in Oslo, and the time' }],
    })
    const message = await stream.finalMessage()
    expect(message.id).toBe('msg_stub')
    expect(message.content).toMatchObject([
      { type: 'thinking', thinking: 'Two cities. Ask both.', signature: 'EqQBsignature' },
      { type: 'text', text: 'Grüße, 世界 👋' },
      { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Oslo' } },
      { type: 'tool_use', id: 'toolu_2', name: 'now', input: {} },
    ])
    expect(message.stop_reason).toBe('tool_use')
    const { response } = await stream.withResponse()
    const row = await stage.gateway.row(response.headers.get('x-request-id') ?? '')
    expect(row).toMatchObject({
      status: 200,
      input: 20,
      cachedInput: 100,
      cacheWrite: 2,
      cacheWrite1h: 3,
      output: 30,
      reasoning: 30,
    })
  })

  test('W14: a message that begins twice is read as one', async () => {
    const [first, ...rest] = thinkingEvents
    if (first === undefined) throw new Error('no events')
    stage.stub.on('claude-twice', messageStream([first, first, ...rest]))
    const asked = { model: 'claude-twice', max_tokens: 200, messages: ask('Weather in Oslo') }
    const message = await clients[major]().messages.stream(asked).finalMessage()
    expect(said(message)).toBe('Grüße, 世界 👋')
  })

  test('a message whose start or end has no counts, or whose start no content, is read', async () => {
    const asked = { model: 'claude-bare', max_tokens: 200, messages: ask('Weather in Oslo') }
    const without = thinkingEvents.map((event) => {
      const { usage: _, ...bare } = event as { usage?: object; type: string; message?: object }
      if (bare.type !== 'message_start') return bare
      return { ...bare, message: { ...bare.message, usage: undefined, content: undefined } }
    })
    stage.stub.on('claude-bare', messageStream(without))
    const message = await clients[major]().messages.stream(asked).finalMessage()
    expect([said(message), message.stop_reason]).toEqual(['Grüße, 世界 👋', 'tool_use'])
  })

  test('W50: a vendor overloaded is an overload, a rate limit one of rates', async () => {
    const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
    stage.stub.on('claude-busy', [json(529, overloaded)])
    const limited = { type: 'error', error: { type: 'rate_limit_error', message: 'Slow down' } }
    stage.stub.on('claude-limited', [json(429, limited, 'retry-after: 7')])
    const ask = (model: string) =>
      clients[major]()
        .messages.create({ model, max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] })
        .then(
          () => null,
          (error) => error,
        )
    expect(await ask(`claude-busy`)).toMatchObject({ status: 529, type: 'overloaded_error' })
    const slow = await ask('claude-limited')
    expect(slow).toMatchObject({ status: 429, type: 'rate_limit_error' })
    // The rest of what the vendor sent to the first client.
    expect(Number(slow.headers.get('retry-after'))).toBeWithin(1, 8)
  })

  test('an unknown model is a not_found_error with the request id', async () => {
    const error = await clients[major]()
      .messages.create({
        model: 'nothing',
        max_tokens: 5,
        messages: [{ role: 'user', content: 'Hi' }],
      })
      .catch((thrown) => thrown)
    expect(error).toMatchObject({ status: 404, type: 'not_found_error' })
    expect(error.requestID).toStartWith('req_')
    expect(error.error.request_id).toBe(error.requestID)
  })

  test('models are listed page by page, and one is told', async () => {
    const client = clients[major]()
    const ids: string[] = []
    for await (const model of client.models.list({ limit: 1 })) {
      ids.push(model.id)
      expect(model.type).toBe('model')
    }
    expect(ids).toContain('claude-mock')
    expect(ids).toContain('claude-stub')
    expect(await client.models.retrieve('claude-stub')).toMatchObject({
      type: 'model',
      id: 'claude-stub',
    })
    const missing = await client.models.retrieve('nothing').catch((thrown) => thrown)
    expect(missing).toMatchObject({ status: 404, type: 'not_found_error' })
  })
})

test('a thread is refused in words by which the tool runner sends the whole conversation', async () => {
  const replied = (id: string, content: object, stop_reason: string) =>
    whole({
      ...{ id, type: 'message', role: 'assistant', model: 'm', content: [content], stop_reason },
      ...{ stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } },
    })
  const call = { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Oslo' } }
  stage.stub.on(
    'claude-runner',
    replied('msg_1', call, 'tool_use'),
    replied('msg_2', { type: 'text', text: 'It snows.' }, 'end_turn'),
  )
  const [weather] = tools
  if (weather === undefined) throw new Error('no tool')
  const schema = { type: 'object', properties: { city: { type: 'string' } } } as const
  const asked = {
    model: 'claude-runner',
    max_tokens: 50,
    messages: [{ role: 'user' as const, content: 'Weather in Oslo?' }],
  }
  const said = await clients['1.x']().beta.messages.toolRunner({
    ...asked,
    tools: [
      betaTool({ name: weather.name, inputSchema: schema, description: '', run: () => 'snow' }),
    ],
  })
  expect(said.content).toMatchObject([{ type: 'text', text: 'It snows.' }])
  const sent = stage.stub.of('claude-runner').map(({ body }) => JSON.parse(body.toString()))
  expect(sent.map(({ messages, thread }) => [messages.length, thread])).toEqual([
    [1, undefined],
    [3, undefined],
  ])
  for (const thread of [{ type: 'create' }, { type: 'continue', previous_message_id: 'msg_1' }]) {
    const reply = await stage.gateway.post('/v1/messages', { ...asked, thread })
    expect(reply.status).toBe(400)
    expect(await reply.json()).toMatchObject({
      error: {
        type: 'invalid_request_error',
        details: { error_code: 'thread_unsupported_request' },
      },
    })
  }
  expect(stage.stub.of('claude-runner')).toHaveLength(2)
})

describe('tokens are counted', () => {
  const client = () => clients['1.x']()

  test('by the vendor where it can', async () => {
    stage.stub.on('claude-counted', [json(200, { input_tokens: 4_711 })])
    const count = await client().messages.countTokens({
      model: 'claude-counted',
      messages: [{ role: 'user', content: 'Hi' }],
    })
    expect(count.input_tokens).toBe(4_711)
    expect(stage.stub.of('claude-counted').at(-1)?.target).toBe('/v1/messages/count_tokens')
  })

  test('by an estimate where it cannot, or does not answer', async () => {
    stage.stub.on('claude-broken', [json(500, { type: 'error' })])
    for (const model of ['sandbox/chat', 'claude-broken', 'a-model-nobody-has']) {
      const { input_tokens: count } = await client().messages.countTokens({
        model,
        system: 'Be brief.',
        messages: [{ role: 'user', content: 'word '.repeat(400) }],
      })
      expect(count).toBeGreaterThan(300)
      expect(count).toBeLessThan(800)
    }
  })

  test('and what the vendor refuses is refused', async () => {
    const refusal = { type: 'error', error: { type: 'invalid_request_error', message: 'bad tool' } }
    stage.stub.on('claude-refusing', [json(400, refusal)])
    const error = await client()
      .messages.countTokens({
        model: 'claude-refusing',
        messages: [{ role: 'user', content: 'Hi' }],
      })
      .catch((thrown) => thrown)
    expect(error).toMatchObject({ status: 400, type: 'invalid_request_error' })
    expect(error.message).toContain('bad tool')
  })
})

test("the client's version and betas go to the vendor, the gateway's own where it says none", async () => {
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'text', text: 'Hi' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  }
  stage.stub.on('claude-betas', whole(message))
  const asked = {
    model: 'claude-betas',
    max_tokens: 5,
    messages: [{ role: 'user', content: 'Hi' }],
  }
  const sent = () => stage.stub.of('claude-betas').at(-1)?.headers
  await clients['1.x']().beta.messages.create({
    ...asked,
    messages: [{ role: 'user', content: 'Hi' }],
    betas: ['context-management-2025-06-27', 'x-y'],
  })
  expect(sent()?.get('anthropic-beta')).toBe('context-management-2025-06-27,x-y')
  expect(sent()?.get('anthropic-version')).toBe('2026-10-21')
  expect(sent()?.get('x-api-key')).toBe('sk-ant-upstream-0123456789')
  const plain = await stage.gateway.post('/v1/messages', asked)
  expect(plain.status).toBe(200)
  expect(sent()?.get('anthropic-version')).toBe('2023-06-01')
  expect(sent()?.has('anthropic-beta')).toBe(false)
  expect(sent()?.has('authorization')).toBe(false)
})
