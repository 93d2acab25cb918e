// Tests changing only the model's name: the rest of the request stays the same, and the new vendor never refuses it for
// that.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Gateway, startGateway } from '../support/gateway.ts'
import {
  chatReply,
  delta,
  event,
  json,
  lastChunk,
  type Received,
  type Step,
  send,
  sseHead,
  startUpstream,
  type Upstream,
  usage,
} from '../support/upstream.ts'

/** The parameters that each refuses, by its vendor's own documentation: any value but null is answered with 400. */
const sampling = ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty']
const tokens = ['logprobs', 'top_logprobs', 'logit_bias']
const older = ['max_tokens', ...sampling, ...tokens]
const vendors: readonly {
  readonly vendor: string
  readonly models: Readonly<Record<string, readonly string[]>>
  readonly options?: object
}[] = [
  {
    vendor: 'openai',
    models: {
      'gpt-4o': ['reasoning_effort', 'verbosity'],
      'gpt-4.1-mini': ['reasoning_effort', 'verbosity'],
      'gpt-5-chat-latest': ['reasoning_effort', 'verbosity'],
      'gpt-4o-search-preview': [...sampling, ...tokens, 'reasoning_effort'],
      o1: [...older, 'parallel_tool_calls'],
      'o3-mini': [...older, 'stop', 'parallel_tool_calls'],
      'o4-mini-2025-04-16': [...older, 'stop', 'parallel_tool_calls'],
      'gpt-5': [...older, 'stop'],
      'gpt-5-nano': [...older, 'stop'],
      'gpt-5.4-mini': [...older, 'stop'],
      'gpt-6-sol': [...older, 'stop'],
    },
  },
  {
    vendor: 'azure-openai',
    options: { apiVersion: '2024-10-21' },
    models: { 'azure/o3': [...older, 'stop'] },
  },
  { vendor: 'openai-compatible', models: { 'openai/gpt-5-mini': [...older, 'stop'] } },
  { vendor: 'xai', models: { 'grok-4.3': ['presence_penalty', 'frequency_penalty', 'stop'] } },
  {
    vendor: 'mistral',
    models: { 'mistral-large-latest': ['max_completion_tokens', 'logit_bias', 'verbosity'] },
  },
  { vendor: 'groq', models: { 'llama-3.3-70b-versatile': tokens } },
  {
    vendor: 'cerebras',
    models: { 'qwen-3-32b': ['presence_penalty', 'frequency_penalty', 'logit_bias'] },
  },
  {
    vendor: 'deepseek',
    models: { 'deepseek-reasoner': ['max_completion_tokens', 'logprobs', 'top_logprobs'] },
  },
  ...['together', 'fireworks', 'llamacpp', 'ollama', 'lmstudio', 'perplexity', 'zhipu'].map(
    (vendor) => ({ vendor, models: { [`${vendor}-model`]: ['max_completion_tokens'] } }),
  ),
]

const refusedBy = new Map(vendors.flatMap(({ models }) => Object.entries(models)))

let upstream: Upstream
let gateway: Gateway

function unsupported(name: string): Step {
  const message = `Unsupported parameter: '${name}' is not supported with this model.`
  const error = {
    message,
    type: 'invalid_request_error',
    param: name,
    code: 'unsupported_parameter',
  }
  return json(400, { error })
}

function bodyOf({ body }: Received): Record<string, unknown> {
  return JSON.parse(body.toString()) as Record<string, unknown>
}

/** As strict as the strictest of them. */
function answer(name: string): Step {
  return (turn) => {
    const body = bodyOf(turn.request)
    const found = refusedBy.get(name)?.find((each) => body[each] != null)
    if (found !== undefined) return unsupported(found)(turn)
    if (body['stream'] !== true) return json(200, chatReply('Hello'))(turn)
    const frames = [event(delta({ content: 'Hello' })), event(delta({}, 'stop', { usage }))]
    return send(
      Buffer.concat([Buffer.from(sseHead), ...frames, event('[DONE]'), Buffer.from(lastChunk)]),
    )(turn)
  }
}

/** Azure has the deployment in the address; the operator may choose any name. */
const deployment = 'our-deployment'

beforeAll(async () => {
  upstream = await startUpstream()
  for (const name of refusedBy.keys()) upstream.on(name, [answer(name)])
  upstream.on(deployment, [answer('azure/o3')])
  upstream.on('*', [answer('azure/o3')])
  gateway = await startGateway({
    config: {
      models: { 'claude-declared': { maxOutput: 9_000 } },
      channels: [
        ...vendors.map(({ vendor, models, options }) => ({
          id: vendor,
          vendor,
          baseUrl: upstream.url,
          key: 'k',
          models: vendor === 'azure-openai' ? { 'azure/o3': deployment } : Object.keys(models),
          ...(options !== undefined && { options }),
        })),
        {
          id: 'claude',
          vendor: 'anthropic',
          baseUrl: upstream.url,
          key: 'k',
          models: ['claude-*'],
        },
        {
          id: 'answers',
          vendor: 'openai',
          dialect: 'openai-responses',
          baseUrl: upstream.url,
          key: 'k',
          models: ['o3', 'gpt-4.1'],
        },
      ],
    },
  })
})

afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})

const asked = {
  messages: [{ role: 'user', content: 'Say hello.' }],
  temperature: 0.5,
  top_p: 0.9,
  presence_penalty: 0.1,
  frequency_penalty: 0.1,
  logit_bias: { '1': 5 },
  logprobs: true,
  top_logprobs: 2,
  stop: ['END'],
  seed: 7,
  parallel_tool_calls: true,
  reasoning_effort: 'low',
  verbosity: 'low',
}

function namesIn(reply: Response): string[] {
  const dropped = reply.headers.get('x-tollgate-dropped') ?? ''
  return dropped === '' ? [] : dropped.split(', ')
}

describe('one chat request, every model', () => {
  const all = [...refusedBy].flatMap(([model, refused]) =>
    [false, true].flatMap((stream) =>
      ['max_tokens', 'max_completion_tokens'].map(
        (limit) => [model, stream, limit, refused] as const,
      ),
    ),
  )
  test.each(all)('%s, stream %p, with %s', async (model, stream, limit, refused) => {
    const reply = await gateway.post('/v1/chat/completions', {
      model,
      stream,
      [limit]: 9,
      ...asked,
    })
    const text = await reply.text()
    expect({ status: reply.status, text }).toEqual({
      status: 200,
      text: expect.stringContaining('Hello'),
    })
    const last = upstream.requests.at(-1)
    if (last === undefined) throw new Error('nothing was asked')
    const sent = bodyOf(last)
    // The limit always arrives, under one name.
    expect(
      [sent['max_tokens'], sent['max_completion_tokens']].filter((each) => each === 9),
    ).toHaveLength(1)
    // Every missing field was named, and no other was; a limit is sent under its other name.
    const missing = Object.keys(asked).filter((name) => sent[name] === undefined)
    const named = namesIn(reply)
    for (const name of refused.filter((each) => each in asked)) expect(named).toContain(name)
    for (const name of named) expect(missing).toContain(name)
    // Mistral calls the seed `random_seed`; Cerebras makes calls in parallel anyway.
    const kept = missing.filter((name) => name !== 'seed' && name !== 'parallel_tool_calls')
    expect(kept.filter((name) => !named.includes(name))).toEqual([])
  })

  test('beside an effort of none the newer models take how words are drawn', async () => {
    const body = { model: 'gpt-5.4-mini', ...asked, reasoning_effort: 'none' }
    upstream.on('gpt-5.4-mini', [json(200, chatReply('Hello'))])
    const reply = await gateway.post('/v1/chat/completions', body)
    expect(bodyOf(upstream.requests.at(-1) as Received)).toMatchObject({
      temperature: 0.5,
      top_p: 0.9,
      logprobs: true,
    })
    expect(namesIn(reply)).toEqual(['presence_penalty', 'frequency_penalty', 'logit_bias', 'stop'])
    upstream.on('gpt-5.4-mini', [answer('gpt-5.4-mini')])
  })

  const efforts: readonly [model: string, effort: string, sent: string | undefined][] = [
    ['gpt-5-nano', 'none', 'minimal'],
    ['o3-mini', 'max', 'high'],
    ['gpt-5.4-mini', 'minimal', 'low'],
    ['grok-4.3', 'xhigh', 'high'],
    ['llama-3.3-70b-versatile', 'high', undefined],
    ['mistral-large-latest', 'high', undefined],
  ]
  test.each(efforts)('%s with the effort %s is sent %s', async (model, effort, sent) => {
    const messages = [{ role: 'user', content: 'Hi' }]
    const reply = await gateway.post('/v1/chat/completions', {
      model,
      messages,
      reasoning_effort: effort,
    })
    expect(reply.status).toBe(200)
    expect(bodyOf(upstream.requests.at(-1) as Received)['reasoning_effort']).toBe(sent)
    expect(namesIn(reply)).toEqual(['reasoning_effort'])
  })

  test.each([
    ['azure/o3', 'max', 'high'],
    ['llama-3.3-70b-versatile', 'high', undefined],
  ] as const)("an agent's effort for %s, %s, is sent as %s", async (model, effort, sent) => {
    const reply = await gateway.post('/v1/messages', {
      model,
      max_tokens: 5_000,
      messages: [{ role: 'user', content: 'Hi' }],
      thinking: { type: 'adaptive' },
      output_config: { effort },
    })
    expect(reply.status).toBe(200)
    expect(bodyOf(upstream.requests.at(-1) as Received)['reasoning_effort']).toBe(sent)
    expect(namesIn(reply)).toEqual(['thinking'])
  })

  test('a limit above what the model can write is lowered to that, and named', async () => {
    const messages = [{ role: 'user', content: 'Hi' }]
    const sent = (name: string) => bodyOf(upstream.requests.at(-1) as Received)[name]
    const reply = await gateway.post('/v1/chat/completions', {
      model: 'gpt-4o',
      messages,
      max_tokens: 32_000,
    })
    expect([reply.status, sent('max_tokens'), namesIn(reply)]).toEqual([
      200,
      16_384,
      ['max_tokens'],
    ])
    const agent = await gateway.post('/v1/messages', {
      model: 'gpt-4o',
      messages,
      max_tokens: 32_000,
    })
    expect([agent.status, sent('max_completion_tokens'), namesIn(agent)]).toEqual([
      200,
      16_384,
      ['max_tokens'],
    ])
    const fits = { model: 'gpt-4o', messages, max_tokens: 16_384 }
    expect(namesIn(await gateway.post('/v1/chat/completions', fits))).toEqual([])
    expect(bodyOf(upstream.requests.at(-1) as Received)).toEqual(fits)
  })

  test('a request that needs no change goes out byte for byte', async () => {
    const text =
      '{ "model":"gpt-5" , "messages" : [ {"role":"user","content":"Hi"} ],"temperature":null }'
    const reply = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: text,
    })
    expect(reply.status).toBe(200)
    expect(reply.headers.get('x-tollgate-dropped')).toBeNull()
    expect(upstream.requests.at(-1)?.body.toString()).toBe(text)
  })
})

describe('one message, every Claude', () => {
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'text', text: 'Hello' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 7, output_tokens: 5 },
  }
  const drawn = { temperature: 0.5, top_p: 0.9, top_k: 5 }
  const thinking = { type: 'enabled', budget_tokens: 1_024 }
  const format = { type: 'json_schema', schema: { type: 'object' } }
  const rows: readonly [model: string, more: object, left: object, dropped: readonly string[]][] = [
    ['claude-opus-4-8', drawn, {}, ['temperature', 'top_p', 'top_k']],
    ['claude-sonnet-5', { temperature: 1 }, {}, ['temperature']],
    ['claude-sonnet-4-5', drawn, { temperature: 0.5, top_k: 5 }, ['top_p']],
    ['claude-sonnet-4-5', { top_p: 0.9 }, { top_p: 0.9 }, []],
    ['claude-sonnet-4-5', { ...drawn, thinking }, { thinking }, ['temperature', 'top_p', 'top_k']],
    ['claude-sonnet-4-5', { top_p: 0.97, thinking }, { top_p: 0.97, thinking }, []],
    ['claude-3-haiku-20240307', drawn, drawn, []],
    [
      'claude-haiku-4-5',
      { thinking: { type: 'adaptive' }, output_config: { effort: 'high' }, max_tokens: 32_000 },
      { thinking: { type: 'enabled', budget_tokens: 16_384 }, max_tokens: 32_000 },
      ['thinking', 'output_config.effort'],
    ],
    [
      'claude-sonnet-4-5',
      {
        thinking: { type: 'adaptive', display: 'omitted' },
        output_config: { effort: 'low', format },
      },
      {
        thinking: { type: 'enabled', budget_tokens: 1_024, display: 'omitted' },
        output_config: { format },
      },
      ['thinking', 'output_config.effort'],
    ],
    ['claude-3-haiku-20240307', { thinking: { type: 'adaptive' }, ...drawn }, drawn, ['thinking']],
    [
      'claude-opus-4-5',
      { output_config: { effort: 'max' } },
      { output_config: { effort: 'high' } },
      ['output_config.effort'],
    ],
    [
      'claude-sonnet-4-6',
      { thinking: { type: 'adaptive' }, output_config: { effort: 'xhigh' } },
      { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
      ['output_config.effort'],
    ],
    [
      'claude-opus-4-8',
      { thinking: { type: 'enabled', budget_tokens: 1_024 } },
      { thinking: { type: 'adaptive', display: 'summarized' } },
      ['thinking'],
    ],
    ['claude-opus-5-5', { thinking: { type: 'disabled' } }, {}, ['thinking']],
    [
      'claude-opus-5',
      { thinking: { type: 'adaptive' }, output_config: { effort: 'xhigh' } },
      { thinking: { type: 'adaptive' }, output_config: { effort: 'xhigh' } },
      [],
    ],
    ['claude-opus-4-1', { max_tokens: 64_000 }, { max_tokens: 32_000 }, ['max_tokens']],
    ['claude-declared', { max_tokens: 9_001 }, { max_tokens: 9_000 }, ['max_tokens']],
  ]
  test.each(rows)('%s with %j: %j arrives', async (model, more, left, dropped) => {
    upstream.on(model, [json(200, message)])
    const messages = [{ role: 'user', content: 'Say hello.' }]
    const plain = { model, max_tokens: 2_000, messages }
    const reply = await gateway.post('/v1/messages', { ...plain, ...more })
    expect(reply.status).toBe(200)
    expect(bodyOf(upstream.requests.at(-1) as Received)).toEqual({ ...plain, ...left })
    expect(namesIn(reply)).toEqual([...dropped])
  })
})

test("reasoning and citations that another vendor's model left unsigned are not sent to Claude", async () => {
  const model = 'claude-sonnet-4-5'
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model,
    stop_reason: 'end_turn',
  }
  const usage = { input_tokens: 7, output_tokens: 5 }
  upstream.on(model, [json(200, { ...message, content: [{ type: 'text', text: 'No' }], usage })])
  const thought = { type: 'thinking', thinking: 'Four.', signature: '' }
  const text = { type: 'text', text: '4' }
  const at = { type: 'web_search_result_location', url: 'https://a.example', title: 'A' }
  const cited = { ...text, citations: [{ ...at, cited_text: '', encrypted_index: '' }] }
  const ask = { role: 'user', content: '2+2?' }
  const call = { type: 'tool_use', id: 'toolu_1', name: 'sum', input: {} }
  const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: '4' }
  const reply = await gateway.post('/v1/messages', {
    model,
    max_tokens: 5_000,
    thinking: { type: 'enabled', budget_tokens: 2_048 },
    tools: [{ name: 'sum', input_schema: { type: 'object', properties: {} } }],
    messages: [
      ask,
      { role: 'assistant', content: [thought, cited] },
      ask,
      { role: 'assistant', content: [thought, call] },
      { role: 'user', content: [result] },
    ],
  })
  expect(reply.status).toBe(200)
  const sent = bodyOf(upstream.requests.at(-1) as Received)
  expect(sent).toMatchObject({
    messages: [
      { role: 'user' },
      { role: 'assistant', content: [text] },
      { role: 'user' },
      { role: 'assistant', content: [call] },
      { role: 'user', content: [result] },
    ],
  })
  expect(JSON.stringify(sent)).not.toMatch(/"thinking"|"citations"/)
  expect(namesIn(reply)).toContain('thinking')
})

describe('one response, every model', () => {
  const response = {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'm',
    error: null,
    incomplete_details: null,
    output: [
      {
        type: 'message',
        id: 'msg_1',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
      },
    ],
    usage: {
      input_tokens: 7,
      output_tokens: 5,
      total_tokens: 12,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    },
  }
  test.each([
    ['o3', { temperature: 0.5, top_p: 0.9 }, { reasoning: { effort: 'low' } }],
    ['gpt-4.1', { reasoning: { effort: 'low' } }, { temperature: 0.5, top_p: 0.9 }],
  ])('%s is not sent %j', async (model, gone, left) => {
    upstream.on(model, [json(200, response)])
    const plain = { model, input: 'Say hello.', store: false }
    const reply = await gateway.post('/v1/responses', { ...plain, ...gone, ...left })
    expect(reply.status).toBe(200)
    const sent = bodyOf(upstream.requests.at(-1) as Received)
    expect(sent).toMatchObject(left)
    for (const name of Object.keys(gone)) expect(sent[name]).toBeUndefined()
    expect(namesIn(reply)).toEqual(Object.keys(gone))
  })

  test.each([
    ['/v1/responses', { input: 'Say hello.', include: ['message.output_text.logprobs'] }],
    [
      '/v1/responses',
      { input: 'Say hello.', include: ['message.output_text.logprobs'], store: false },
    ],
    ['/v1/chat/completions', { ...asked, top_logprobs: undefined }],
  ] as const)('%s: no probabilities are asked of o3', async (path, body) => {
    upstream.on('o3', [json(200, response)])
    const reply = await gateway.post(path, { model: 'o3', ...body })
    expect(reply.status).toBe(200)
    const sent = upstream.requests.at(-1)?.body.toString()
    expect(sent).not.toContain('logprobs')
    expect(namesIn(reply)).toContain('top_logprobs')
  })
})
