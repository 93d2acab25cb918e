// Tests the chat format on the hub: what is written is read back, however it was divided and spelled.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { breaches, frames, normal, readAll, replies } from '../../../test/replies.ts'
import type { WriterHead } from '../codec.ts'
import type { ChatEvent, JsonObject, JsonValue } from '../ir.ts'
import type { ReplyQuirks } from '../reply.ts'
import { chatHub } from './hub.ts'

const head: WriterHead = { id: 'chatcmpl-1', model: 'asked', createdAt: 7, wantsUsage: true }
const encoder = new TextEncoder()

function written(events: readonly ChatEvent[], to: WriterHead = head): string {
  const writer = chatHub.writer(to)
  return events.map((event) => writer.event(event)).join('') + writer.end()
}

function chunks(text: string): JsonObject[] {
  return frames(encoder.encode(text), [])
    .filter((data) => data !== '[DONE]')
    .map((data) => JSON.parse(data))
}

function read(list: readonly JsonValue[], quirks: ReplyQuirks = {}): ChatEvent[] {
  return readAll(
    chatHub.reader(quirks),
    list.map((frame) => JSON.stringify(frame)),
  )
}

/** One chunk of choice 0. */
function said(delta: JsonObject, finish: string | null = null, more: JsonObject = {}): JsonObject {
  return {
    id: 'r',
    created: 5,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...more,
  }
}

function whole(list: readonly JsonValue[], quirks: ReplyQuirks = {}): JsonObject {
  return chatHub.writeWhole(read(list, quirks), head)
}

function messageOf(body: JsonObject, at = 0): JsonObject {
  return (body.choices as JsonObject[])[at]?.message as JsonObject
}

describe('for any reply', () => {
  test('what is read is what was written, up to the numbers of parts', () => {
    fc.assert(
      fc.property(replies, (events) => {
        const data = frames(encoder.encode(written(events)), [])
        const again = readAll(chatHub.reader({}), data)
        expect(normal(again)).toEqual(normal(events))
        expect(breaches(again)).toEqual([])
      }),
    )
  })

  test('the fold of the stream is the whole, and the whole replays as the same', () => {
    fc.assert(
      fc.property(replies, (events) => {
        const body = chatHub.writeWhole(events, head)
        const data = frames(encoder.encode(written(events)), [])
        expect(chatHub.writeWhole(readAll(chatHub.reader({}), data), head)).toEqual(body)
        const replayed = chatHub.readWhole(structuredClone(body), {})
        expect(breaches(replayed)).toEqual([])
        expect(chatHub.writeWhole(replayed, head)).toEqual(body)
      }),
    )
  })

  test('cut at every byte it reads the same', () => {
    fc.assert(
      fc.property(replies, (events) => {
        const bytes = encoder.encode(written(events))
        const everywhere = Array.from(bytes, (_, at) => at)
        expect(frames(bytes, everywhere)).toEqual(frames(bytes, []))
      }),
      { numRuns: 30 },
    )
  })

  test('cut off while a choice is open it never ends clean', () => {
    fc.assert(
      fc.property(replies, fc.nat(), (events, seed) => {
        const data = frames(encoder.encode(written(events)), []).slice(0, -2)
        const kept = data.slice(0, seed % data.length)
        const open = new Map<unknown, unknown>()
        for (const text of kept) {
          const [choice] = (JSON.parse(text) as JsonObject).choices as JsonObject[]
          open.set(choice?.index, choice?.finish_reason)
        }
        const broken = open.size === 0 || [...open.values()].includes(null)
        const last = readAll(chatHub.reader({}), kept).at(-1)
        expect(last?.type === 'fault' && last.fault.kind === 'cut').toBe(broken)
      }),
    )
  })

  test('chunks have the shape of OpenAI', () => {
    fc.assert(
      fc.property(replies, (events) => {
        const text = written(events)
        expect(text.endsWith('\n\ndata: [DONE]\n\n')).toBe(true)
        expect(text.split('[DONE]')).toHaveLength(2)
        const list = chunks(text)
        const opened = new Set<JsonValue>()
        for (const chunk of list.slice(0, -1)) {
          expect(chunk).toMatchObject({
            id: 'reply-1',
            object: 'chat.completion.chunk',
            usage: null,
          })
          const [choice] = chunk.choices as JsonObject[]
          const first = !opened.has(choice?.index ?? null)
          expect((choice?.delta as JsonObject).role).toBe(first ? 'assistant' : undefined)
          if (choice?.finish_reason !== null) expect(choice?.delta).toEqual({})
          opened.add(choice?.index ?? null)
        }
        expect(list.at(-1)).toMatchObject({
          choices: [],
          usage: { total_tokens: expect.any(Number) },
        })
      }),
    )
  })
})

describe('the reader', () => {
  test('puts interleaved parallel calls together, each by its index', () => {
    const call = (index: number, rest: JsonObject): JsonObject => ({
      tool_calls: [{ index, ...rest }],
    })
    const body = whole([
      said({ role: 'assistant', content: null }),
      said(call(0, { id: 'a', type: 'function', function: { name: 'f', arguments: '' } })),
      said(call(1, { id: 'b', type: 'function', function: { name: 'g', arguments: '{"y"' } })),
      said(call(0, { function: { arguments: '{"x":' } })),
      said(call(1, { function: { arguments: ':2}' } })),
      said(call(0, { function: { arguments: '1}' } })),
      said({}, 'tool_calls'),
    ])
    expect(messageOf(body)).toEqual({
      role: 'assistant',
      content: null,
      refusal: null,
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
        { id: 'b', type: 'function', function: { name: 'g', arguments: '{"y":2}' } },
      ],
    })
  })

  test.each([
    [
      'every call at index 0',
      [
        { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } },
        { index: 0, id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } },
      ],
    ],
    [
      'no index and no type',
      [
        { id: 'a', function: { name: 'f', arguments: '{}' } },
        { id: 'b', function: { name: 'g', arguments: '{}' } },
      ],
    ],
    [
      'arguments as an object, or none at all',
      [
        { index: 0, id: 'a', type: null, function: { name: 'f', arguments: {} } },
        { index: 1, id: 'b', function: { name: 'g', arguments: null } },
      ],
    ],
    [
      'the name after the arguments, empty names and ids repeated',
      [
        { index: 0, id: 'a', function: { arguments: '{' } },
        { index: 0, id: '', function: { name: 'f', arguments: '' } },
        { index: 0, id: '', type: 'function', function: { name: '', arguments: '}' } },
        { index: 1, id: 'b', function: { name: 'g', arguments: '{}' } },
      ],
    ],
  ] as const)('understands %s', (_, list) => {
    const body = whole([
      ...list.map((call) => said({ role: '', tool_calls: [structuredClone(call) as JsonObject] })),
      said({}, 'tool_calls'),
    ])
    expect(messageOf(body).tool_calls).toEqual([
      { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } },
      { id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } },
    ])
  })

  test('makes up an id where the vendor gave none, another for each call', () => {
    const call = (name: string): JsonObject => ({ function: { name, arguments: '{}' } })
    const body = chatHub.readWhole(
      { id: 'x-1', choices: [{ message: { tool_calls: [call('f'), call('f')] } }] },
      {},
    )
    const ids = body.flatMap((event) =>
      event.type === 'part-start' && event.head.type === 'tool-call' ? [event.head.id] : [],
    )
    expect(ids).toEqual(['call_x1_0_0', 'call_x1_0_1'])
  })

  test('refuses a call that never got its name', () => {
    const events = read([
      said({ tool_calls: [{ index: 0, function: { arguments: '{' } }] }, 'stop'),
    ])
    expect(events.at(-1)).toMatchObject({ type: 'fault', fault: { kind: 'unreadable' } })
  })

  test.each([
    ['reasoning_content', { reasoning_content: 'why' }],
    ['reasoning', { reasoning: 'why', reasoning_content: null }],
    ['both', { reasoning: 'why', reasoning_content: 'why' }],
    ['parts', { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'why' }] }] }],
  ])('finds reasoning in %s', (_, delta) => {
    const body = whole([said(delta), said({ content: [{ type: 'text', text: 'ok' }] }, 'stop')])
    const message = messageOf(body)
    expect([message.reasoning_content, message.content, message.reasoning]).toEqual([
      'why',
      'ok',
      undefined,
    ])
  })

  test('takes the text of reasoning details and keeps them for their replay', () => {
    const details = [{ type: 'reasoning.text', text: 'why', signature: 's' }]
    const message = messageOf(whole([said({ reasoning_details: details }), said({}, 'stop')]))
    expect(message).toMatchObject({ reasoning_content: 'why', reasoning_details: details })
  })

  test.each([
    ['stop', 'stop'],
    ['eos', 'stop'],
    ['length', 'length'],
    ['model_length', 'length'],
    ['sensitive', 'content_filter'],
    ['function_call', 'stop'],
    ['something_new', 'stop'],
  ])('ends %s as %s', (word, shown) => {
    const [choice] = whole([said({ content: 'a' }, word)]).choices as JsonObject[]
    expect(choice?.finish_reason).toBe(shown)
  })

  test.each(['insufficient_system_resource', 'network_error', 'error'])(
    'takes %s for a fault, after its usage',
    (word) => {
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
      const events = read([said({ content: 'a' }), said({}, word, { usage })])
      expect(events.slice(-2)).toMatchObject([
        { type: 'usage' },
        { type: 'fault', fault: { kind: 'vendor_error', code: word } },
      ])
    },
  )

  test.each([
    ['an error', { error: { message: 'no', code: 429 } }, 'rate_limited'],
    ['an error as text', { error: 'overloaded' }, 'vendor_error'],
    ['Groq', { choices: [], x_groq: { error: 'over_capacity' } }, 'vendor_error'],
    ['vLLM', { object: 'error', message: 'no', type: 'x', code: 400 }, 'rejected'],
    ['a choice', { choices: [{ error: { message: 'cut', code: 502 } }] }, 'vendor_error'],
    ['MiniMax', { base_resp: { status_code: 1008, status_msg: 'insufficient balance' } }, 'quota'],
  ])('tells the error of %s', (_, frame, kind) => {
    const events = chatHub.reader({}).frame(JSON.stringify(frame))
    expect(events).toMatchObject([{ type: 'fault', fault: { kind } }])
  })

  test.each(['{"id":', 'null', '[]', 'hello'])('cannot read %s', (data) => {
    expect(chatHub.reader({}).frame(data)).toMatchObject([
      { type: 'fault', fault: { kind: 'unreadable' } },
    ])
  })

  test('begins with the first frame that says whose it is, and keeps what came before', () => {
    const events = read([
      { id: '', model: '', created: 0, choices: [], prompt_filter_results: [1] },
      { ...said({ role: 'assistant', content: '' }), created: 1_700_000_000_123 },
      said({ content: 'a' }, 'stop'),
    ])
    expect(events[0]).toEqual({
      type: 'response-start',
      id: 'r',
      model: 'm',
      createdAt: 1_700_000_000,
      extra: { 'openai-chat': { prompt_filter_results: [1] } },
    })
  })

  test('reads usage where the quirks say, and does not show it twice', () => {
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
    const events = read([said({ content: 'a' }, 'stop', { x_groq: { id: 'q', usage } })], {
      usagePath: ['x_groq', 'usage'],
    })
    expect(events).toContainEqual({
      type: 'usage',
      usage: { input: 3, cachedInput: 0, cacheWrite: 0, output: 2, reasoning: 0 },
    })
    expect(JSON.stringify(events)).not.toContain('prompt_tokens')
    expect(events[0]).toMatchObject({ extra: { 'openai-chat': { x_groq: { id: 'q' } } } })
  })
})

test('the body it is given stays as it was', () => {
  const body = said({ content: 'a' }, 'stop', {
    x_groq: { usage: { prompt_tokens: 1 } },
    usage: {},
  })
  const before = structuredClone(body)
  chatHub.readWhole(body, { usagePath: ['x_groq', 'usage'] })
  expect(body).toEqual(before)
})

test('usage is corrected by the quirks before it is read', () => {
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
  const doubled = (raw: JsonObject): JsonObject => ({
    ...raw,
    completion_tokens: 4,
    total_tokens: 7,
  })
  const body = whole([said({ content: 'a' }, 'stop', { usage })], { usage: doubled })
  expect(body.usage).toMatchObject({ completion_tokens: 4, total_tokens: 7 })
})

describe('the writer', () => {
  test('keeps private fields: of the reply, of a choice and of a call', () => {
    const logprobs = { content: [{ token: 'a', logprob: -1, bytes: null, top_logprobs: [] }] }
    const [one, two, three, four] = [
      said({ role: 'assistant', content: '' }, null, { service_tier: 'default' }),
      {
        ...said({ content: 'a' }, null, { citations: ['u'] }),
        choices: [{ index: 0, delta: { content: 'a' }, logprobs, finish_reason: null }],
      },
      said({ annotations: [{ type: 'url_citation' }] }, null, { citations: ['u'] }),
      said(
        {
          tool_calls: [
            {
              index: 0,
              id: 'i',
              function: { name: 'f', arguments: '{}' },
              extra_content: { s: 1 },
            },
          ],
        },
        'tool_calls',
      ),
    ]
    const frames_ = [one, two, three, four] as JsonObject[]
    const list = chunks(written(read(frames_)))
    expect(list.every((chunk) => chunk.service_tier === 'default')).toBe(true)
    expect(list.filter((chunk) => chunk.citations !== undefined)).toHaveLength(1)
    const body = whole(frames_)
    expect(body).toMatchObject({ service_tier: 'default', citations: ['u'] })
    expect(body.choices).toMatchObject([
      {
        logprobs,
        message: {
          annotations: [{ type: 'url_citation' }],
          tool_calls: [{ id: 'i', type: 'function', extra_content: { s: 1 } }],
        },
      },
    ])
    expect(chatHub.writeWhole(read(list), head)).toEqual(body)
  })

  test('says nothing of usage unasked', () => {
    const text = written(read([said({ content: 'a' }, 'stop')]), { ...head, wantsUsage: false })
    expect(text).not.toContain('usage')
    expect(text.split('data: ')).toHaveLength(5)
  })

  test('falls back on its own head where the vendor has none', () => {
    const [chunk] = chunks(
      written(chatHub.readWhole({ choices: [{ message: { content: 'a' } }] }, {})),
    )
    expect(chunk).toMatchObject({ id: 'chatcmpl-1', model: 'asked', created: 7 })
  })

  test('a whole reply has every field OpenAI requires', () => {
    expect(whole([said({ role: 'assistant', content: '' }), said({}, 'stop')])).toEqual({
      id: 'r',
      object: 'chat.completion',
      created: 5,
      model: 'm',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: '', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
    })
  })
})
