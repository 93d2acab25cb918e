// Tests the official openai SDK's Responses interface through the gateway: with chat vendors and one of the Responses
// format.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { LLMock } from '@copilotkit/aimock'
import type OpenAI from 'openai'
import { openaiClient } from '../support/clients.ts'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'

let gateway: Gateway
let mock: LLMock
let client: OpenAI

const usage = { prompt_tokens: 11, completion_tokens: 7 }
const key = 'sk-upstream-secret-0123456789'

/** Models for the ways to a reply: the sandbox and the mock chat, and the mock also speaks the format itself. */
const models = ['sandbox/chat', 'chats', 'responds'] as const

function startMock(): Promise<string> {
  mock = new LLMock({ port: 0, host: '127.0.0.1' })
  const call = { name: 'get_weather', arguments: '{"city":"Paris"}', id: 'call_weather_1' }
  mock.on({ userMessage: 'get_weather', hasToolResult: false }, { toolCalls: [call], usage })
  mock.on({ userMessage: 'get_weather', hasToolResult: true }, { content: 'It is sunny.', usage })
  const twins = ['a', 'b'].map((name) => ({ name, arguments: '{}', id: 'call_0' }))
  mock.on({ userMessage: 'Twins' }, { toolCalls: twins, usage })
  mock.on({ userMessage: 'Think' }, { content: 'Done.', reasoning: 'Let me see.', usage })
  mock.on({}, { content: 'Hi from the mock, in a sentence of several words.', usage })
  return mock.start()
}

beforeAll(async () => {
  const baseUrl = `${await startMock()}/v1`
  const vendor = { vendor: 'openai', baseUrl, key }
  gateway = await startGateway({
    config: {
      channels: [
        { id: 'sandbox', vendor: 'sandbox', models: ['sandbox/chat'] },
        { ...vendor, id: 'chats', dialect: 'openai-chat', models: { chats: 'gpt-4o-mini' } },
        { ...vendor, id: 'responds', models: { responds: 'gpt-4o-mini' } },
      ],
      keys: [{ name: 'sdk', secret: testKey }],
    },
  })
  client = openaiClient(gateway.url)
})
afterAll(async () => {
  await gateway.stop()
  await mock.stop()
})

const weather = {
  type: 'function' as const,
  name: 'get_weather',
  description: 'Weather of a city.',
  strict: true,
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
}

describe.each(models)('%s', (model) => {
  test('whole', async () => {
    const { data, request_id } = await client.responses
      .create({ model, input: 'Hello', instructions: 'Be kind.', metadata: { a: 'b' } })
      .withResponse()
    expect(data.object).toBe('response')
    expect(data.id).toMatch(/^resp/)
    expect(data.status).toBe('completed')
    expect(data.output_text).toMatch(/sandbox|Hi from the mock/i)
    expect(data.output.map(({ type }) => type)).toEqual(['message'])
    expect(data.usage?.total_tokens).toBe(
      (data.usage?.input_tokens ?? Number.NaN) + (data.usage?.output_tokens ?? Number.NaN),
    )
    expect(request_id).toMatch(/^req/)
    if (model === 'responds') return
    expect(data).toMatchObject({ instructions: 'Be kind.', metadata: { a: 'b' } })
  })

  test('streamed, the helper accepts every event and folds them to the whole', async () => {
    const whole = await client.responses.create({ model, input: 'Hello' })
    const runner = client.responses.stream({ model, input: 'Hello' })
    const types: string[] = []
    const numbers: number[] = []
    for await (const event of runner) {
      types.push(event.type)
      numbers.push(event.sequence_number)
    }
    const final = await runner.finalResponse()
    expect(final.output_text).toBe(whole.output_text)
    expect<unknown>(final.usage).toEqual(whole.usage)
    // The mock's own events have no numbers.
    if (model !== 'responds') expect(numbers).toEqual(numbers.map((_, at) => at))
    expect(types.slice(0, 2)).toEqual(['response.created', 'response.in_progress'])
    expect(types.filter((type) => /completed|incomplete|failed/.test(type))).toEqual([
      'response.completed',
    ])
    expect(types.at(-1)).toBe('response.completed')
  })
})

test.each(['chats', 'responds'])('%s: a tool is called and its answer read', async (model) => {
  const input: OpenAI.Responses.ResponseInput = [
    { role: 'user', content: 'Use get_weather for Paris' },
  ]
  const asked = { model, tools: [weather], input }
  const runner = client.responses.stream(asked)
  const streamed = await runner.finalResponse()
  const whole = await client.responses.create(asked)
  for (const reply of [streamed, whole]) {
    const [call] = reply.output.flatMap((item) => (item.type === 'function_call' ? [item] : []))
    expect(call).toMatchObject({
      call_id: 'call_weather_1',
      name: 'get_weather',
      status: 'completed',
    })
    expect(JSON.parse(call?.arguments ?? '')).toEqual({ city: 'Paris' })
  }
  const next = await client.responses.create({
    model,
    tools: [weather],
    input: [
      ...input,
      ...whole.output.filter((item) => item.type === 'function_call'),
      { type: 'function_call_output', call_id: 'call_weather_1', output: 'sunny' },
    ],
  })
  expect(next.output_text).toBe('It is sunny.')
})

test('calls to which a chat vendor gave one id are told apart, whole and streamed', async () => {
  const asked = { model: 'chats', input: 'Twins' }
  const whole = await client.responses.create(asked)
  const streamed = await client.responses.stream(asked).finalResponse()
  for (const { output } of [whole, streamed]) {
    expect(output.map((item) => (item.type === 'function_call' ? item.call_id : ''))).toEqual([
      'call_0',
      'call_0_2',
    ])
  }
})

test('reasoning of a chat vendor is a reasoning item', async () => {
  const runner = client.responses.stream({ model: 'chats', input: 'Think' })
  const final = await runner.finalResponse()
  expect(final.output).toMatchObject([
    { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Let me see.' }] },
    { type: 'message', content: [{ type: 'output_text', text: 'Done.' }] },
  ])
})

test('what is wrong with a request is told in its own words', async () => {
  const error = await client.responses
    .create({ model: 'chats', input: [{ type: 'message', role: 'user', content: 5 as never }] })
    .catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ status: 400, param: 'input[0].content' })
})

test('a tool that only OpenAI runs is left out and named', async () => {
  const { data, response } = await client.responses
    .create({ model: 'chats', input: 'hi', tools: [{ type: 'web_search' }] })
    .withResponse()
  expect(response.headers.get('x-tollgate-dropped')).toBe('tools.web_search')
  expect(data.tools).toEqual([{ type: 'web_search' }])
})

test('what a chat vendor cannot be told is named, and what is the gateway own business is not', async () => {
  const { response } = await client.responses
    .create({
      model: 'chats',
      input: 'Hello',
      store: false,
      include: ['reasoning.encrypted_content'],
      truncation: 'auto',
      max_tool_calls: 3,
    })
    .withResponse()
  expect(response.headers.get('x-tollgate-dropped')).toBe('truncation, max_tool_calls')
})
