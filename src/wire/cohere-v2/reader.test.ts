// Tests Cohere's replies as events of the hub, streamed and whole, and every failure at the end of a reply.

import { describe, expect, test } from 'bun:test'
import { fold } from '../hub/fold.ts'
import type { ChatEvent, JsonObject, JsonValue } from '../ir.ts'
import { CohereFrames, CohereReader } from './reader.ts'

function read(frames: readonly JsonObject[]): ChatEvent[] {
  const reader = new CohereReader({})
  const events = frames.flatMap((frame) => [...reader.frame(JSON.stringify(frame))])
  return [...events, ...reader.end()]
}

function whole(message: JsonObject, more: JsonObject = {}): readonly ChatEvent[] {
  return new CohereReader({}).whole({ id: 'r', message, finish_reason: 'COMPLETE', ...more })
}

const begin = { id: 'r', type: 'message-start', delta: { message: { role: 'assistant' } } }

function text(index: number, value: string): JsonObject {
  return { type: 'content-delta', index, delta: { message: { content: { text: value } } } }
}

function cited(index: number, citation: JsonObject): JsonObject {
  return { type: 'citation-start', index, delta: { message: { citations: citation } } }
}

function callStart(index: number, id: string, name: string): JsonObject {
  const call = { id, type: 'function', function: { name, arguments: '' } }
  return { type: 'tool-call-start', index, delta: { message: { tool_calls: call } } }
}

function callDelta(index: number, input: string): JsonObject {
  const call = { function: { arguments: input } }
  return { type: 'tool-call-delta', index, delta: { message: { tool_calls: call } } }
}

function end(finish_reason: string, more: JsonObject = {}): JsonObject {
  return { type: 'message-end', delta: { finish_reason, ...more } }
}

function said(events: readonly ChatEvent[]): unknown {
  const [choice] = fold(events).choices
  return {
    parts: choice?.parts.map(({ head, text: content }) => [
      head.type === 'tool-call' ? `${head.id} ${head.name}` : head.type,
      content,
    ]),
    reason: choice?.reason,
  }
}

function faultOf(events: readonly ChatEvent[]): unknown {
  return events.flatMap((event) => (event.type === 'fault' ? [event.fault] : []))[0] ?? null
}

describe('a stream and a whole reply say the same', () => {
  test('thoughts, then text in several parts', () => {
    const thought = { content: { thinking: 'Hm' } }
    const streamed = read([
      begin,
      { type: 'content-start', index: 0, delta: { message: { content: { type: 'thinking' } } } },
      { type: 'content-delta', index: 0, delta: { message: thought } },
      { type: 'content-end', index: 0 },
      text(1, 'é你'),
      text(1, '😀'),
      { type: 'content-end', index: 1 },
      text(2, 'two'),
      { type: 'debug', prompt: 'x' },
      end('COMPLETE'),
    ])
    const content = [
      { type: 'thinking', thinking: 'Hm' },
      { type: 'text', text: 'é你😀' },
      { type: 'text', text: 'two' },
    ]
    const expected = {
      parts: [
        ['reasoning', 'Hm'],
        ['text', 'é你😀'],
        ['text', 'two'],
      ],
      reason: 'stop',
    }
    expect(said(streamed)).toEqual(expected)
    expect(said(whole({ content }))).toEqual(expected)
    expect(said(whole({ content: 'plain' }))).toMatchObject({ parts: [['text', 'plain']] })
  })

  test('W1: the plan is a thought, calls keep their places, `null` is no input', () => {
    const streamed = read([
      begin,
      { type: 'tool-plan-delta', delta: { message: { tool_plan: 'I look' } } },
      { type: 'tool-plan-delta', delta: { message: { tool_plan: ' twice.' } } },
      callStart(0, 'a', 'weather'),
      callDelta(0, '{"city"'),
      callStart(1, 'b', 'now'),
      callDelta(1, 'nu'),
      callDelta(0, ':"Bern"}'),
      callDelta(1, 'll'),
      callStart(2, 'c', 'now'),
      { type: 'tool-call-end', index: 0 },
      end('TOOL_CALL'),
    ])
    const call = (id: string, name: string, input: string | null) => ({
      id,
      type: 'function',
      function: { name, arguments: input },
    })
    const atOnce = whole(
      {
        tool_plan: 'I look twice.',
        tool_calls: [
          call('a', 'weather', '{"city":"Bern"}'),
          call('b', 'now', 'null'),
          call('c', 'now', null),
        ],
      },
      { finish_reason: 'TOOL_CALL' },
    )
    for (const events of [streamed, atOnce]) {
      expect(said(events)).toEqual({
        parts: [
          ['reasoning', 'I look twice.'],
          ['a weather', '{"city":"Bern"}'],
          ['b now', '{}'],
          ['c now', '{}'],
        ],
        reason: 'tool_calls',
      })
    }
  })

  test('W1: calls that all come under one index are told apart', () => {
    const events = read([
      begin,
      callStart(0, 'a', 'x'),
      callDelta(0, '1'),
      callStart(0, 'b', 'y'),
      callDelta(0, '2'),
      end('COMPLETE'),
    ])
    expect(said(events)).toEqual({
      parts: [
        ['a x', '1'],
        ['b y', '2'],
      ],
      reason: 'tool_calls',
    })
  })

  test('citations of places on the web, where the text is still at hand', () => {
    const citation = (index: number | null, url: string) => ({
      start: 0,
      end: 2,
      text: 'AI',
      ...(index !== null && { content_index: index }),
      sources: [
        { type: 'document', id: 'd', document: { id: 'd', ...(url && { url }), title: 'T' } },
      ],
    })
    const streamed = read([
      begin,
      text(0, 'AI helps'),
      cited(0, citation(0, 'https://example.com/ai')),
      cited(1, citation(0, '')),
      { type: 'content-end', index: 0 },
      cited(2, citation(0, 'https://example.com/late')),
      end('COMPLETE'),
    ])
    expect(fold(streamed).choices[0]?.parts[0]?.citations).toEqual([
      { url: 'https://example.com/ai', title: 'T', start: 0, end: 2 },
      { url: 'https://example.com/late', title: 'T', start: 0, end: 2 },
    ])
    const atOnce = whole({
      content: [
        { type: 'text', text: 'AI helps' },
        { type: 'text', text: 'So it is' },
      ],
      citations: [citation(1, 'https://example.com/b'), citation(null, 'https://example.com/a')],
    })
    const parts = fold(atOnce).choices[0]?.parts ?? []
    expect(parts.map(({ citations }) => citations.map(({ url }) => url))).toEqual([
      ['https://example.com/a'],
      ['https://example.com/b'],
    ])
  })
})

test.each([
  ['COMPLETE', 'stop'],
  ['STOP_SEQUENCE', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['ERROR_TOXIC', 'content_filter'],
  // No call was made, so none can be answered.
  ['TOOL_CALL', 'stop'],
  ['A_REASON_OF_TOMORROW', 'stop'],
])('finish_reason %s ends a reply as %s', (word, reason) => {
  expect(said(read([begin, text(0, 'a'), end(word)]))).toMatchObject({ reason })
  expect(said(whole({ content: 'a' }, { finish_reason: word }))).toMatchObject({ reason })
})

test.each([
  [
    {
      tokens: { input_tokens: 507, output_tokens: 10 },
      billed_units: { input_tokens: 12, output_tokens: 7 },
      cached_tokens: 448,
    },
    { input: 12, cachedInput: 0, output: 7 },
  ],
  [
    {
      tokens: { input_tokens: 507, output_tokens: 10 },
      billed_units: { search_units: 1 },
      cached_tokens: 448,
    },
    { input: 59, cachedInput: 448, output: 10 },
  ],
  [
    {
      tokens: { input_tokens: 507, output_tokens: 10 },
      billed_units: { input_tokens: 0, output_tokens: 0 },
    },
    { input: 507, cachedInput: 0, output: 10 },
  ],
  [
    { tokens: { input_tokens: 5, output_tokens: 1 }, cached_tokens: 9 },
    { input: 0, cachedInput: 5 },
  ],
])('the usage %j', (usage, counted) => {
  for (const events of [read([begin, end('COMPLETE', { usage })]), whole({}, { usage })]) {
    expect(fold(events).usage).toMatchObject({ cacheWrite: 0, reasoning: 0, ...counted })
  }
})

test('zeros are no count', () => {
  const usage = { tokens: { input_tokens: 0, output_tokens: 0 } }
  expect(fold(read([begin, end('COMPLETE', { usage })])).usage).toBeNull()
})

describe('replies that are not whole are never taken for it', () => {
  test.each([
    ['ERROR', 'model overloaded'],
    ['TIMEOUT', ''],
  ])('finish_reason %s', (word, error) => {
    const events = read([begin, text(0, 'a'), end(word, error === '' ? {} : { error })])
    expect(faultOf(events)).toMatchObject({
      kind: 'vendor_error',
      code: word,
      message: error === '' ? `the vendor stopped with finish_reason ${word}` : error,
    })
    expect(events.some(({ type }) => type === 'choice-end')).toBe(false)
  })

  test('W48: an error in place of an event', () => {
    expect(faultOf(read([begin, { message: 'too many requests' }]))).toMatchObject({
      message: 'too many requests',
    })
    expect(faultOf(read([{ type: 'error', message: 'broken' }]))).toMatchObject({
      kind: 'vendor_error',
    })
  })

  test('W10: a stream without its end; what is no JSON; a body without a message', () => {
    expect(faultOf(read([begin, text(0, 'a')]))).toMatchObject({ kind: 'cut' })
    expect(faultOf(read([]))).toMatchObject({ kind: 'cut' })
    const reader = new CohereReader({})
    expect(faultOf(reader.frame('{'))).toMatchObject({ kind: 'unreadable' })
    expect(reader.end()).toEqual([])
    for (const body of [null, [], { message: 'no' }] satisfies JsonValue[]) {
      expect(faultOf(new CohereReader({}).whole(body))).toMatchObject({ kind: 'unreadable' })
    }
  })
})

test("the stream's last event is its end, and no text that looks like it", () => {
  const bytes = (frame: JsonObject) =>
    new TextEncoder().encode(`data: ${JSON.stringify(frame)}\n\n`)
  const frames = new CohereFrames()
  frames.push(bytes(text(0, '"type":"message-end"')))
  expect(frames.done).toBe(false)
  frames.push(bytes(end('COMPLETE')))
  expect(frames.done).toBe(true)
})

test('arguments that are an object in place of its text are taken', () => {
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: { a: 1 } } }
  const events = whole({ role: 'assistant', tool_calls: [call] }, { finish_reason: 'TOOL_CALL' })
  expect(said(events)).toMatchObject({ parts: [['c f', '{"a":1}']] })
})
