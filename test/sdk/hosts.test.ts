// Tests the official openai SDK on Cohere and Bedrock: with an independent mock of both, and with a scripted Bedrock.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { LLMock } from '@copilotkit/aimock'
import type OpenAI from 'openai'
import { testChannel } from '../../src/admin/channels.ts'
import type { Config } from '../../src/config/types.ts'
import { ask, openaiClient } from '../support/clients.ts'
import { event } from '../support/event-stream.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import {
  chunk,
  head,
  json,
  lastChunk,
  reset,
  send,
  startUpstream,
  type Upstream,
} from '../support/upstream.ts'

const cohereModel = 'command-a-03-2025'
const claude = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const arn =
  'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5'
const secret = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'

let mock: LLMock
let scripted: Upstream
let gateway: Gateway
let client: OpenAI

beforeAll(async () => {
  mock = new LLMock({ port: 0, host: '127.0.0.1' })
  const call = { name: 'get_weather', arguments: '{"city":"Paris"}', id: 'call_weather_1' }
  mock.on({ userMessage: 'get_weather', hasToolResult: false }, { toolCalls: [call] })
  mock.on({ userMessage: 'get_weather', hasToolResult: true }, { content: 'It is sunny.' })
  const usage = { prompt_tokens: 11, completion_tokens: 7 }
  mock.on({ endpoint: 'chat' }, { content: 'Hi from the mock, é你😀.', usage })
  await mock.start()
  scripted = await startUpstream()
  const baseUrl = scripted.url.replace(/\/v1$/, '')
  gateway = await startGateway({
    config: {
      channels: [
        { id: 'cohere', vendor: 'cohere', baseUrl: mock.url, key: 'co-key', models: [cohereModel] },
        {
          id: 'bedrock',
          vendor: 'bedrock',
          baseUrl: mock.url,
          key: `AKIDEXAMPLE:${secret}`,
          models: { [claude]: claude },
        },
        {
          id: 'scripted',
          vendor: 'bedrock',
          baseUrl,
          key: `AKIDEXAMPLE:${secret}`,
          options: { region: 'eu-west-1' },
          models: { scripted: arn },
        },
      ],
    },
  })
  client = openaiClient(gateway.url)
})

afterAll(async () => {
  await gateway.stop()
  await scripted.close()
  await mock.stop()
})

const weather = {
  type: 'function' as const,
  function: {
    name: 'get_weather',
    description: 'Weather of a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
}

describe.each([
  ['cohere', cohereModel],
  ['bedrock', claude],
])('%s', (_vendor, model) => {
  test('a whole reply', async () => {
    const reply = await client.chat.completions.create({ model, messages: ask('Hello') })
    expect(reply.object).toBe('chat.completion')
    expect(reply.choices[0]?.message.content).toBe('Hi from the mock, é你😀.')
    expect(reply.choices[0]?.finish_reason).toBe('stop')
    expect(reply.usage).toMatchObject({ prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 })
  })

  test('a stream', async () => {
    const stream = client.chat.completions.stream({
      model,
      messages: ask('Hello'),
      stream_options: { include_usage: true },
    })
    const reply = await stream.finalChatCompletion()
    expect(reply.choices[0]?.message.content).toBe('Hi from the mock, é你😀.')
    expect(reply.choices[0]?.finish_reason).toBe('stop')
    expect(reply.usage?.total_tokens).toBe(18)
  })

  test('a call and its answer, streamed and whole', async () => {
    const messages = ask('use get_weather')
    const asked = { model, messages, tools: [weather] }
    const streamed = await client.chat.completions.stream(asked).finalChatCompletion()
    const whole = await client.chat.completions.create(asked)
    for (const reply of [streamed, whole]) {
      const [choice] = reply.choices
      expect(choice?.finish_reason).toBe('tool_calls')
      const [call] = choice?.message.tool_calls ?? []
      if (call?.type !== 'function') throw new Error('no call came')
      expect(call.function.name).toBe('get_weather')
      expect(JSON.parse(call.function.arguments)).toEqual({ city: 'Paris' })
    }
    const message = whole.choices[0]?.message
    if (message === undefined) throw new Error('no message came')
    const tool_call_id = message.tool_calls?.[0]?.id ?? ''
    const answer = { role: 'tool' as const, tool_call_id, content: 'Sun' }
    const after = await client.chat.completions.create({
      ...asked,
      messages: [...messages, message, answer],
    })
    expect(after.choices[0]?.message.content).toBe('It is sunny.')
  })

  test('legacy completions', async () => {
    const reply = await client.completions.create({ model, prompt: 'Hello' })
    expect(reply.choices[0]?.text).toBe('Hi from the mock, é你😀.')
  })

  test('what is left out is named, what cannot be said is refused', async () => {
    const body = { model, messages: ask('Hello'), logit_bias: { '1': 1 }, store: true }
    const reply = await gateway.post('/v1/chat/completions', body)
    expect(reply.status).toBe(200)
    expect(reply.headers.get('x-tollgate-dropped')).toBe('store, logit_bias')
    const refused = await gateway.post('/v1/chat/completions', { ...body, n: 2 })
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({ error: { param: 'n' } })
  })
})

test.each([
  ['cohere', 'co-key', cohereModel],
  ['bedrock', `AKIDEXAMPLE:${secret}`, claude],
])('an operator can try a channel of %s', async (vendor, key, model) => {
  const channel = {
    id: 'tried',
    vendor,
    baseUrl: mock.url,
    key,
    models: { [model]: model },
    options: {},
    timeouts: {},
  }
  const config = { channels: [channel], models: {} } as unknown as Config
  const probe = await testChannel(config, { id: 'tried' })
  expect(probe).toMatchObject({ ok: true, model, message: `${model} answered` })
  const away = { ...channel, baseUrl: `${mock.url}/nowhere` }
  const elsewhere = { channels: [away], models: {} } as unknown as Config
  expect((await testChannel(elsewhere, { id: 'tried' })).ok).toBe(false)
})

test('a channel of pictures alone is not tried', async () => {
  const channel = {
    id: 'tried',
    vendor: 'openai',
    baseUrl: mock.url,
    key: 'sk-up',
    models: { 'dall-e-3': 'dall-e-3' },
    options: {},
    timeouts: {},
  }
  const config = { channels: [channel], models: {} } as unknown as Config
  expect(await testChannel(config, { id: 'tried' })).toEqual({
    ok: false,
    model: null,
    durationMs: 0,
    message: 'the channel names only models of images, sound or video, which are not tried',
    exchange: null,
  })
})

const eventsHead = head(
  200,
  'content-type: application/vnd.amazon.eventstream',
  'transfer-encoding: chunked',
)
const begin = event('messageStart', { role: 'assistant' })
const said = (text: string) =>
  event('contentBlockDelta', { contentBlockIndex: 0, delta: { text }, p: 'abcd' })
const stop = event('messageStop', { stopReason: 'end_turn' })
const counted = event('metadata', {
  usage: { inputTokens: 3, outputTokens: 2, totalTokens: 10, cacheReadInputTokens: 5 },
})

async function streamed(): Promise<{ text: string; error: unknown; ended: boolean }> {
  const body = { model: 'scripted', messages: ask('Hello'), stream: true }
  const reply = await gateway.post('/v1/chat/completions', body)
  const text = await reply.text()
  const frames = text.split('\n\n').filter((frame) => frame.startsWith('data: {'))
  const parsed = frames.map((frame) => JSON.parse(frame.slice('data: '.length)))
  return {
    text: parsed.map((frame) => frame.choices?.[0]?.delta?.content ?? '').join(''),
    error: parsed.find((frame) => frame.error !== undefined)?.error ?? null,
    ended: text.includes('[DONE]'),
  }
}

test('a stream of binary events, cut in the middle of them, signed for its region', async () => {
  const bytes = Buffer.concat([begin, said('Hello, '), said('é你😀'), stop, counted])
  const half = Math.floor(bytes.length / 2)
  scripted.on('', [
    send(eventsHead),
    send(chunk(bytes.subarray(0, half))),
    send(chunk(bytes.subarray(half))),
    send(lastChunk),
  ])
  const reply = await client.chat.completions
    .stream({
      model: 'scripted',
      messages: ask('Hello'),
      stream_options: { include_usage: true },
    })
    .finalChatCompletion()
  expect(reply.choices[0]?.message.content).toBe('Hello, é你😀')
  expect(reply.usage).toMatchObject({
    prompt_tokens: 8,
    completion_tokens: 2,
    prompt_tokens_details: { cached_tokens: 5 },
  })
  const request = scripted.requests.at(-1)
  expect(request?.target).toBe(`/model/${encodeURIComponent(arn)}/converse-stream`)
  expect(request?.headers.get('authorization')).toMatch(
    /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/bedrock\/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=[0-9a-f]{64}$/,
  )
  expect(request?.headers.get('x-amz-date')).toMatch(/^\d{8}T\d{6}Z$/)
  expect(JSON.parse(request?.body.toString('utf8') ?? '')).toEqual({
    messages: [{ role: 'user', content: [{ text: 'Hello' }] }],
  })
})

test('W51: an exception in the stream, half an event, or an end too soon is an error to the client', async () => {
  const endings = [
    [send(chunk(event('modelStreamErrorException', { message: 'went wrong' }))), send(lastChunk)],
    [send(chunk(stop.subarray(0, -3))), send(lastChunk)],
    [send(chunk(stop)), send(lastChunk)],
    [send(lastChunk)],
    [reset],
  ]
  for (const ending of endings) {
    const words = [begin, said('Hello')].map((bytes) => send(chunk(bytes)))
    scripted.on('', [send(eventsHead), ...words, ...ending])
    const seen = await streamed()
    expect(seen.text).toBe('Hello')
    expect(seen.error).not.toBeNull()
    expect(seen.ended).toBe(false)
  }
})

test('an error reply is told by its type', async () => {
  const type = 'x-amzn-errortype: ValidationException:http://internal.amazon.com/'
  scripted.on('', [json(400, { message: 'Input is too long for requested model.' }, type)])
  const reply = await gateway.post('/v1/chat/completions', {
    model: 'scripted',
    messages: ask('Hello'),
  })
  expect(reply.status).toBe(400)
  expect(await reply.json()).toMatchObject({
    error: { code: 'context_length_exceeded', message: 'Input is too long for requested model.' },
  })
})

test('thoughts come back to the channel that signed them', async () => {
  const thought = { reasoningText: { text: 'Hm', signature: 'c2lnbmF0dXJl' } }
  const content = [
    { reasoningContent: thought },
    { toolUse: { toolUseId: 't1', name: 'get_weather', input: {} } },
  ]
  scripted.on('', [
    json(200, { output: { message: { role: 'assistant', content } }, stopReason: 'tool_use' }),
  ])
  const asked = { model: 'scripted', messages: ask('Weather?'), tools: [weather] }
  const first = await client.chat.completions.create(asked)
  const message = first.choices[0]?.message
  if (message === undefined) throw new Error('no message came')
  const answer = { role: 'tool' as const, tool_call_id: 't1', content: 'Sun' }
  await client.chat.completions.create({
    ...asked,
    messages: [...asked.messages, message, answer],
  })
  const { messages } = JSON.parse(scripted.requests.at(-1)?.body.toString('utf8') ?? '')
  expect(messages[1].content).toEqual(content)
})
