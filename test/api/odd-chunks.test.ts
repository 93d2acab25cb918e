// Tests chats whose vendor writes chunks, or calls, otherwise than OpenAI does: the official client reads what is meant,
// and a stream without such chunks is relayed byte for byte.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'
import { delta, usage } from '../support/upstream.ts'

let frames: readonly string[] = []
/** What the vendor answers to those who do not ask for a stream. */
let body: unknown
/** What stands before it. */
let mark = ''
const ofJson = { 'content-type': 'application/json' }
let vendor: Bun.Server<undefined>
let gateway: Gateway
let client: OpenAI

beforeAll(async () => {
  vendor = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const { stream } = (await request.json()) as { stream?: boolean }
      if (stream !== true) return new Response(mark + JSON.stringify(body), { headers: ofJson })
      return new Response(frames.join(''), { headers: { 'content-type': 'text/event-stream' } })
    },
  })
  const baseUrl = `http://127.0.0.1:${vendor.port}/v1`
  gateway = await startGateway({
    config: {
      channels: [{ id: 'a', vendor: 'openai-compatible', baseUrl, key: 'k', models: ['m'] }],
    },
  })
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: testKey, maxRetries: 0 })
})
afterAll(async () => {
  await gateway.stop()
  await vendor.stop(true)
})

const framed = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`
const opening = framed(delta({ role: 'assistant', content: null }))
const called = (...pieces: unknown[]) => framed(delta({ tool_calls: pieces }))
const begins = (index: unknown, id: string, name: string, args: unknown) => ({
  index,
  id,
  type: 'function',
  function: { name, arguments: args },
})
const usageChunk = framed({ ...delta({}), choices: [], usage })
const ending = [framed(delta({}, 'tool_calls')), usageChunk, 'data: [DONE]\n\n']
const tools = ['f', 'g'].map((name) => ({ type: 'function' as const, function: { name } }))

function read() {
  const messages = [{ role: 'user' as const, content: 'Hi' }]
  const stream_options = { include_usage: true }
  return client.chat.completions
    .stream({ model: 'm', messages, tools, stream_options })
    .finalChatCompletion()
}

/** The text as a client reads it that takes each chunk by itself. */
async function readChunks(): Promise<string> {
  const messages = [{ role: 'user' as const, content: 'Hi' }]
  const stream = await client.chat.completions.create({ model: 'm', messages, stream: true })
  let said = ''
  for await (const { choices } of stream) {
    for (const { delta } of choices) said += delta.content ?? ''
  }
  return said
}

const f = begins(0, 'call_a', 'f', '{"x":1}')
const g = begins(1, 'call_b', 'g', '{}')
const { index: _, ...unnumbered } = f
const ofCalls: readonly (readonly [what: string, frames: readonly string[]])[] = [
  ['out of order', [called({ ...g, index: 1 }), called({ ...f, index: 0 })]],
  ['all numbered 0', [called(f), called({ ...g, index: 0 })]],
  [
    'in pieces that are all numbered 0',
    [
      called(begins(0, 'call_a', 'f', '')),
      called({ index: 0, function: { arguments: '{"x":1}' } }),
      called(begins(0, 'call_b', 'g', '')),
      called({ index: 0, function: { arguments: '{}' } }),
    ],
  ],
  ['without numbers', [called(unnumbered), called({ ...g, index: undefined })]],
  ['numbered by texts', [called({ ...f, index: '0' }), called({ ...g, index: '1' })]],
  [
    'without a list around each',
    [framed(delta({ tool_calls: f })), framed(delta({ tool_calls: g }))],
  ],
  [
    'with arguments as objects',
    [called(begins(0, 'call_a', 'f', { x: 1 }), begins(1, 'call_b', 'g', {}))],
  ],
  ['with no arguments', [called(f), called(begins(1, 'call_b', 'g', ''))]],
  ['with null as arguments', [called(f), called(begins(1, 'call_b', 'g', null))]],
  ['of no type', [called({ ...f, type: null }), called({ ...g, type: undefined })]],
  ['without ids', [called({ ...f, id: null }), called({ ...g, id: '' })]],
  ['that share an id', [called(f), called({ ...g, id: 'call_a' })]],
  ['with numbers no client takes', [called(f), called({ ...g, index: 900 })]],
  [
    'named in every piece',
    [called(begins(0, 'call_a', 'f', '{"x"')), called(begins(0, 'call_a', 'f', ':1}')), called(g)],
  ],
]

describe('calls', () => {
  test.each(ofCalls)('%s are those the vendor means', async (_what, pieces) => {
    frames = [opening, ...pieces, ...ending]
    const completion = await read()
    const calls = completion.choices[0]?.message.tool_calls ?? []
    const said = calls.map((call) => call.type === 'function' && call.function)
    expect(said.map((each) => each && [each.name, JSON.parse(each.arguments)])).toEqual([
      ['f', { x: 1 }],
      ['g', {}],
    ])
    const ids = calls.map(({ id }) => id)
    expect([new Set(ids).size, ids.every((id) => typeof id === 'string' && id !== '')]).toEqual([
      2,
      true,
    ])
    expect(completion.usage).toMatchObject(usage)
  })
})

const sizes: readonly (readonly [size: string, more: object])[] = [
  ['small', {}],
  ['large', { padding: 'x'.repeat(10_000) }],
  ['whose usage is corrected', { usage: { ...usage, total_tokens: undefined } }],
]
const ofWhole: readonly (readonly [what: string, calls: unknown])[] = [
  ['without a list around it', { ...unnumbered, function: { name: 'f', arguments: '{}' } }],
  ['with no arguments', [{ ...unnumbered, function: { name: 'f', arguments: '' } }]],
  ['with null as arguments', [{ ...unnumbered, function: { name: 'f', arguments: null } }]],
  ['with an object as arguments', [{ ...unnumbered, function: { name: 'f', arguments: {} } }]],
]

describe.each(sizes)('in a whole reply, %s', (_size, more) => {
  test.each(ofWhole)('a call %s is one that clients read', async (_what, calls) => {
    const message = { role: 'assistant', content: null, tool_calls: calls }
    const choice = { index: 0, message, finish_reason: 'tool_calls' }
    body = { id: 'c1', object: 'chat.completion', model: 'm', choices: [choice], usage, ...more }
    const messages = [{ role: 'user' as const, content: 'Hi' }]
    const completion = await client.chat.completions.create({ model: 'm', messages, tools })
    expect(completion.choices[0]?.message.tool_calls).toEqual([
      { id: 'call_a', type: 'function', function: { name: 'f', arguments: '{}' } },
    ])
    expect(completion.usage).toMatchObject(usage)
  })
})

const start = framed(delta({ role: 'assistant', content: '' }))
const hello = framed(delta({ content: 'Hello' }))
const parts = [
  { type: 'text', text: 'Hel' },
  { type: 'text', text: 'lo' },
]
const stop = [framed(delta({}, 'stop')), usageChunk, 'data: [DONE]\n\n']
const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }
const withChoices = (...choices: readonly unknown[]) => ({ ...delta({}), choices })
const ofText: readonly (readonly [what: string, frames: readonly string[]])[] = [
  ['an empty role', [framed(delta({ role: '', content: '' })), hello]],
  [
    'spaces around its end',
    [start, hello, framed(delta({}, 'stop')), usageChunk, 'data:  [DONE]  \n\n'],
  ],
  ['a list as content', [start, framed(delta({ content: parts }))]],
  ['a chunk whose choices are null', [start, framed({ ...delta({}), choices: null }), hello]],
  ['a chunk without choices', [start, framed({ ...delta({}), choices: undefined }), hello]],
  ['a choice that says null', [start, hello, framed(withChoices({ index: 0, delta: null }))]],
  ['a choice that is null', [start, hello, framed(withChoices(null))]],
  ['events without data', ['event: ping\n\n', start, 'event: ping\ndata:\n\n', hello]],
]

describe('text', () => {
  test.each(ofText)('with %s is read', async (_what, pieces) => {
    frames = [...pieces, ...stop]
    const completion = await read()
    expect(completion.choices[0]?.message.content).toBe('Hello')
    expect(completion.usage).toMatchObject(usage)
    expect(await readChunks()).toBe('Hello')
  })
})

test('thoughts in a list of content are reasoning', async () => {
  const content = [thinking, ...parts]
  frames = [
    start,
    framed(delta({ content: [thinking] })),
    framed(delta({ content: parts })),
    ...stop,
  ]
  const streamed = (await read()).choices[0]?.message
  expect(streamed).toMatchObject({ content: 'Hello', reasoning_content: 'Hm.' })
  const choice = { index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }
  body = { id: 'c1', object: 'chat.completion', model: 'm', choices: [choice], usage }
  const messages = [{ role: 'user' as const, content: 'Hi' }]
  const { choices } = await client.chat.completions.create({ model: 'm', messages })
  expect(choices[0]?.message).toMatchObject({ content: 'Hello', reasoning_content: 'Hm.' })
})

test('a stream that the vendor calls done without a finish is no success', async () => {
  frames = [start, hello, 'data: [DONE]\n\n']
  expect(await read().catch((error: unknown) => error)).toBeInstanceOf(OpenAI.APIError)
})

describe.each(sizes)('calls of a whole reply, %s', (_size, more) => {
  const call = { function: { name: 'f', arguments: '{}' } }

  test.each([
    ['without ids and types', [call, call]],
    ['that share an id', [f, f]],
  ])('%s can be answered', async (_what, calls) => {
    const message = { role: 'assistant', content: null, tool_calls: calls }
    const choice = { index: 0, message, finish_reason: 'tool_calls' }
    body = { id: 'c1', object: 'chat.completion', model: 'm', choices: [choice], usage, ...more }
    const messages = [{ role: 'user' as const, content: 'Hi' }]
    const completion = await client.chat.completions.create({ model: 'm', messages, tools })
    const made = completion.choices[0]?.message.tool_calls ?? []
    expect(made.map(({ type }) => type)).toEqual(['function', 'function'])
    expect(new Set(made.map(({ id }) => id)).size).toBe(2)
    for (const { id } of made) expect(id).toMatch(/^call_\w{1,35}$/)
  })
})

describe.each(sizes)('of a whole reply, %s', (_size, more) => {
  const whole = (choices: unknown) => {
    body = { id: 'c1', object: 'chat.completion', model: 'm', choices, usage, ...more }
    const messages = [{ role: 'user' as const, content: 'Hi' }]
    return client.chat.completions.create({ model: 'm', messages })
  }

  test('a list of texts is the text they are together', async () => {
    const message = { role: 'assistant', content: parts }
    const completion = await whole([{ index: 0, message, finish_reason: 'stop' }])
    expect(completion.choices[0]?.message.content).toBe('Hello')
  })

  test('a byte order mark before it is no part of it, in other formats too', async () => {
    mark = '\ufeff'
    const message = { role: 'assistant', content: 'Hello' }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    expect((await whole(choices)).choices[0]?.message.content).toBe('Hello')
    const asked = { model: 'm', input: 'Hi', store: false }
    expect((await client.responses.create(asked)).output_text).toBe('Hello')
    mark = ''
  })

  test('null as a message is one without content', async () => {
    const completion = await whole([{ index: 0, message: null, finish_reason: 'stop' }])
    expect(completion.choices[0]?.message).toEqual({ role: 'assistant', content: null } as never)
  })

  test.each([[[]], [null], [[null]]])('%j as choices is no success', async (choices) => {
    const error = await whole(choices).catch((error: unknown) => error)
    expect(error).toMatchObject({ status: 503, code: 'service_unavailable' })
  })
})

test('calls as OpenAI writes them, and members that only a vendor has, are not touched', async () => {
  const begun =
    '{"function":{"arguments":"","name":"f"}, "type":"function","index":0,"id":"call_a"}'
  const goes = '{"id":null,"type":"function","index":0,"function":{"arguments":"{}"},"x":[1]}'
  const chunk = (call: string) => framed(delta({ tool_calls: [0] })).replace('[0]', `[${call}]`)
  const plain = '{"index":0,"function":{"arguments":" "}}'
  frames = [
    ...[opening, chunk(begun), chunk(goes), chunk(plain)],
    ...[framed(delta({}, 'tool_calls')), 'data: [DONE]\n\n'],
  ]
  const body = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], tools, stream: true }
  const answer = await gateway.post('/v1/chat/completions', body)
  expect(await answer.text()).toBe(frames.join(''))
})

test('an answer that the vendor broke off is no success', async () => {
  const finish = 'insufficient_system_resource'
  const message = { role: 'assistant', content: 'Half' }
  body = { id: 'c1', model: 'm', choices: [{ index: 0, message, finish_reason: finish }], usage }
  const messages = [{ role: 'user' as const, content: 'Hi' }]
  const whole = client.chat.completions.create({ model: 'm', messages })
  expect(await whole.catch((error: unknown) => error)).toMatchObject({ status: 500 })
  frames = [start, framed(delta({}, finish)), usageChunk, 'data: [DONE]\n\n']
  expect(await read().catch((error: unknown) => error)).toBeInstanceOf(OpenAI.APIError)
})

test.each(sizes)('a client is shown all kinds of tokens, %s', async (_size, more) => {
  const elsewhere = {
    ...{ prompt_tokens: 1_000, completion_tokens: 5, total_tokens: 1_005 },
    ...{ cache_read_input_tokens: 900, cache_creation_input_tokens: 50, reasoning_tokens: 3 },
  }
  const kinds = {
    prompt_tokens_details: { cached_tokens: 900, cache_write_tokens: 50 },
    completion_tokens_details: { reasoning_tokens: 3 },
  }
  const message = { role: 'assistant', content: 'Hello' }
  const choice = { index: 0, message, finish_reason: 'stop' }
  body = { ...more, id: 'c1', model: 'm', choices: [choice], usage: elsewhere }
  const messages = [{ role: 'user' as const, content: 'Hi' }]
  const { usage: shown } = await client.chat.completions.create({ model: 'm', messages })
  expect(shown).toMatchObject({ ...elsewhere, ...kinds })
  frames = [
    start,
    hello,
    framed(delta({}, 'stop')),
    framed({ ...delta({}), choices: [], usage: elsewhere }),
    'data: [DONE]\n\n',
  ]
  expect((await read()).usage).toMatchObject({ ...elsewhere, ...kinds })
})
