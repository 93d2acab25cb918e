// Tests in which of OpenAI's formats a channel is asked, by the model and the request: newer models refuse chats
// altogether, or with functions.

import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { chatReply } from '../support/upstream.ts'

type Body = Record<string, unknown>

let gateway: Gateway
let upstream: Bun.Server<undefined>
let path = ''
let text = ''
let refusal: Response | null = null

const call = {
  id: 'fc_1',
  type: 'function_call',
  status: 'completed',
  call_id: 'call_1',
  name: 'f',
  arguments: '{"x":1}',
}
const thought = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'secret thoughts' }
const response = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'm',
  status: 'completed',
  output: [thought, call],
  usage: {
    input_tokens: 11,
    output_tokens: 7,
    total_tokens: 18,
    input_tokens_details: { cached_tokens: 3 },
    output_tokens_details: { reasoning_tokens: 2 },
  },
}

function streamed(): Response {
  const events: Body[] = [
    {
      type: 'response.created',
      response: { ...response, status: 'in_progress', output: [], usage: null },
    },
    { type: 'response.output_item.added', output_index: 0, item: thought },
    { type: 'response.output_item.done', output_index: 0, item: thought },
    {
      type: 'response.output_item.added',
      output_index: 1,
      item: { ...call, status: 'in_progress', arguments: '' },
    },
    {
      type: 'response.function_call_arguments.delta',
      output_index: 1,
      item_id: 'fc_1',
      delta: '{"x":1}',
    },
    { type: 'response.output_item.done', output_index: 1, item: call },
    { type: 'response.completed', response },
  ]
  const frames = events.map(
    (event, at) =>
      `event: ${event['type']}\ndata: ${JSON.stringify({ ...event, sequence_number: at })}\n\n`,
  )
  return new Response(frames.join(''), { headers: { 'content-type': 'text/event-stream' } })
}

beforeAll(async () => {
  upstream = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      path = new URL(request.url).pathname
      text = await request.text()
      if (refusal !== null) return refusal.clone()
      if (!path.endsWith('/responses')) return Response.json(chatReply())
      return text.includes('"stream":true') ? streamed() : Response.json(response)
    },
  })
  const baseUrl = `http://127.0.0.1:${upstream.port}`
  const options = { responsesFirst: 'true' }
  const azure = { vendor: 'azure-openai', baseUrl, key: 'k', options }
  const dated = (apiVersion: string) => ({ ...azure, options: { ...options, apiVersion } })
  gateway = await startGateway({
    config: {
      channels: [
        {
          id: 'o',
          vendor: 'openai',
          baseUrl,
          key: 'k',
          models: ['gpt-*', 'o*', 'codex-*'],
          options,
        },
        {
          id: 'imitates',
          vendor: 'openai',
          baseUrl,
          key: 'k',
          models: { 'imitated/gpt-5': 'gpt-5.6-terra' },
        },
        {
          id: 'fixed',
          vendor: 'openai',
          dialect: 'openai-chat',
          baseUrl,
          key: 'k',
          models: { fixed: 'gpt-5.6-terra' },
        },
        { id: 'v1', ...azure, models: { 'azure/gpt-5.4': 'ours' } },
        { id: 'late', ...dated('2025-04-01-preview'), models: { 'late/gpt-5': 'ours' } },
        { id: 'early', ...dated('2024-10-21'), models: { 'early/gpt-5': 'ours' } },
      ],
      models: { '*': { prices: { input: '1', output: '2' } } },
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop(true)
})
beforeEach(() => {
  refusal = null
})

const messages = [{ role: 'user' as const, content: 'Go.' }]
const tools = [
  { type: 'function' as const, function: { name: 'f', parameters: { type: 'object' } } },
]

async function askedAt(url: string, body: Body): Promise<string> {
  const reply = await gateway.post(url, body)
  expect([reply.status, await reply.text()]).toEqual([200, expect.any(String)])
  return path
}

test.each([
  ['gpt-4o', '/chat/completions'],
  ['gpt-4.1-mini', '/chat/completions'],
  ['gpt-5-chat-latest', '/chat/completions'],
  ['gpt-5-search-api', '/chat/completions'],
  ['o1', '/chat/completions'],
  ['o3-mini', '/chat/completions'],
  ['o3', '/responses'],
  ['o4-mini', '/responses'],
  ['gpt-5', '/responses'],
  ['gpt-5.2-2025-12-11', '/responses'],
  ['gpt-5.6-terra', '/responses'],
  ['gpt-6-astra', '/responses'],
  ['gpt-5.3-codex', '/responses'],
  ['o1-pro', '/responses'],
  ['fixed', '/chat/completions'],
  ['azure/gpt-5.4', '/openai/v1/responses'],
  ['late/gpt-5', '/openai/responses'],
  ['early/gpt-5', '/openai/deployments/ours/chat/completions'],
  ['imitated/gpt-5', '/chat/completions'],
])('agents of other formats reach %s at %s', async (model, at) => {
  expect(await askedAt('/v1/messages', { model, max_tokens: 100, messages })).toBe(at)
})

test.each([
  ['gpt-5', { tools, reasoning_effort: 'high' }, '/chat/completions'],
  ['gpt-5.2', { tools, reasoning_effort: 'high' }, '/chat/completions'],
  ['gpt-5.4', { tools, reasoning_effort: 'high' }, '/responses'],
  ['gpt-5.4', { tools }, '/chat/completions'],
  ['gpt-5.6-terra', { tools }, '/responses'],
  ['gpt-5.6-terra', { tools, reasoning_effort: 'none' }, '/chat/completions'],
  ['gpt-5.6-terra', { reasoning_effort: 'high' }, '/chat/completions'],
  ['gpt-6-astra', { tools, reasoning_effort: 'none' }, '/responses'],
  ['gpt-6-sol', { tools, reasoning_effort: 'none' }, '/chat/completions'],
  ['gpt-5.3-codex', {}, '/responses'],
  ['gpt-5.2-pro', {}, '/responses'],
  ['codex-mini-latest', {}, '/responses'],
  ['o3-pro', {}, '/responses'],
  ['o3', { tools, reasoning_effort: 'high' }, '/chat/completions'],
  ['fixed', { tools, reasoning_effort: 'high' }, '/chat/completions'],
  ['azure/gpt-5.4', { tools, reasoning_effort: 'low' }, '/openai/v1/responses'],
  ['early/gpt-5', { tools, reasoning_effort: 'low' }, '/openai/deployments/ours/chat/completions'],
])('a chat for %s with %j is asked at %s', async (model, more, at) => {
  const body = { model, messages, ...more }
  expect(await askedAt('/v1/chat/completions', body)).toBe(at)
  if (at === '/chat/completions' && model !== 'fixed') expect(text).toBe(JSON.stringify(body))
})

test('Responses stay as they are for every model', async () => {
  for (const model of ['gpt-4o', 'gpt-5', 'gpt-5.3-codex'])
    expect(await askedAt('/v1/responses', { model, input: 'Go.' })).toBe('/responses')
})

test('a chat that is asked in Responses streams its calls and usage, and its reasoning goes back', async () => {
  const client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
  const ask = { model: 'gpt-5.6-terra', tools, reasoning_effort: 'high' as const }
  const stream = client.chat.completions.stream({
    ...ask,
    messages,
    stream_options: { include_usage: true },
  })
  const reply = await stream.finalChatCompletion()
  expect(JSON.parse(text)).toMatchObject({
    model: 'gpt-5.6-terra',
    store: false,
    include: ['reasoning.encrypted_content'],
    reasoning: { effort: 'high' },
    tools: [{ type: 'function', name: 'f' }],
    stream: true,
  })
  const [choice] = reply.choices
  expect(choice?.finish_reason).toBe('tool_calls')
  expect(choice?.message.tool_calls).toMatchObject([
    { id: 'call_1', function: { name: 'f', arguments: '{"x":1}' } },
  ])
  expect(reply.usage).toMatchObject({
    prompt_tokens: 11,
    completion_tokens: 7,
    prompt_tokens_details: { cached_tokens: 3 },
    completion_tokens_details: { reasoning_tokens: 2 },
  })
  const whole = await client.chat.completions.create({ ...ask, messages })
  const said = whole.choices[0]?.message
  if (said === undefined) throw new Error('nothing was said')
  await client.chat.completions.create({
    ...ask,
    messages: [...messages, said, { role: 'tool', tool_call_id: 'call_1', content: 'done' }],
  })
  expect((JSON.parse(text) as { input: Body[] }).input).toMatchObject([
    { role: 'user' },
    { type: 'reasoning', encrypted_content: 'secret thoughts' },
    { type: 'function_call', call_id: 'call_1' },
    { type: 'function_call_output', call_id: 'call_1', output: 'done' },
  ])
})

test('Claude Code makes a turn with functions on a newer model', async () => {
  const client = new Anthropic({ apiKey: gateway.key, baseURL: gateway.url, maxRetries: 0 })
  const stream = client.messages.stream({
    model: 'gpt-5.6-terra',
    max_tokens: 32_000,
    messages,
    thinking: { type: 'adaptive' },
    tools: [{ name: 'f', input_schema: { type: 'object', properties: {} } }],
  })
  const { content, stop_reason } = await stream.finalMessage()
  expect(stop_reason).toBe('tool_use')
  expect(content.at(-1)).toMatchObject({ type: 'tool_use', name: 'f', input: { x: 1 } })
})

test('a refusal of the format is the request’s, not the channel’s', async () => {
  const error = {
    message: 'This model is only supported in v1/responses and not in v1/chat/completions.',
    type: 'invalid_request_error',
    param: 'model',
    code: null,
  }
  refusal = Response.json({ error }, { status: 404 })
  const reply = await gateway.post('/v1/chat/completions', { model: 'gpt-4o', messages })
  expect([reply.status, (await reply.json()) as Body]).toEqual([
    400,
    { error: expect.objectContaining({ message: error.message }) },
  ])
  refusal = null
  expect(await askedAt('/v1/chat/completions', { model: 'gpt-4o', messages })).toBe(
    '/chat/completions',
  )
})
