// Tests Converse replies as events of the hub: every block, streamed and whole, and every failure at the end of a
// reply.

import { describe, expect, test } from 'bun:test'
import { fold } from '../hub/fold.ts'
import type { ChatEvent, JsonObject, JsonValue } from '../ir.ts'
import { ConverseReader } from './reader.ts'

function read(frames: readonly JsonObject[]): ChatEvent[] {
  const reader = new ConverseReader({})
  const events = frames.flatMap((frame) => [...reader.frame(JSON.stringify(frame))])
  return [...events, ...reader.end()]
}

function delta(contentBlockIndex: number, value: JsonObject): JsonObject {
  return { contentBlockDelta: { contentBlockIndex, delta: value, p: 'abcdefgh' } }
}

function start(contentBlockIndex: number, value: JsonObject): JsonObject {
  return { contentBlockStart: { contentBlockIndex, start: value } }
}

function stop(contentBlockIndex: number): JsonObject {
  return { contentBlockStop: { contentBlockIndex } }
}

function end(stopReason: string, more: JsonObject = {}): JsonObject {
  return { messageStop: { stopReason, ...more } }
}

const begin = { messageStart: { role: 'assistant' } }
const metadata = {
  metadata: { usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 }, metrics: {} },
}

function call(index: number, toolUseId: string, name: string): JsonObject {
  return start(index, { toolUse: { toolUseId, name } })
}

/** The content of a reply: type, text and opaque state of its parts, then its end. */
function said(events: readonly ChatEvent[]): unknown {
  const [choice] = fold(events).choices
  return {
    parts: choice?.parts.map(({ head, text, sealed }) => [
      head.type === 'tool-call' ? `${head.id} ${head.name}` : head.type,
      text,
      ...(sealed === null ? [] : [sealed]),
    ]),
    reason: choice?.reason,
  }
}

function whole(content: JsonValue[], stopReason = 'end_turn', more: JsonObject = {}): ChatEvent[] {
  const body = { output: { message: { role: 'assistant', content } }, stopReason, ...more }
  return [...new ConverseReader({}).whole(body)]
}

function faultOf(events: readonly ChatEvent[]): unknown {
  return events.flatMap((event) => (event.type === 'fault' ? [event.fault] : []))[0] ?? null
}

describe('a stream and a whole reply say the same', () => {
  test('text and thoughts with their signature', () => {
    const streamed = read([
      begin,
      delta(0, { reasoningContent: { text: 'Let me' } }),
      delta(0, { reasoningContent: { text: ' see' } }),
      delta(0, { reasoningContent: { signature: 'EqQBsig=' } }),
      stop(0),
      delta(1, { text: 'é你' }),
      delta(1, { text: '😀' }),
      stop(1),
      end('end_turn'),
      metadata,
    ])
    const expected = {
      parts: [
        ['reasoning', 'Let me see', 'EqQBsig='],
        ['text', 'é你😀'],
      ],
      reason: 'stop',
    }
    expect(said(streamed)).toEqual(expected)
    const reasoningText = { text: 'Let me see', signature: 'EqQBsig=' }
    const atOnce = whole([{ reasoningContent: { reasoningText } }, { text: 'é你😀' }])
    expect(said(atOnce)).toEqual(expected)
    expect(streamed.filter(({ type }) => type === 'usage')).toEqual([
      {
        type: 'usage',
        usage: { input: 10, cachedInput: 0, cacheWrite: 0, output: 5, reasoning: 0 },
      },
    ])
  })

  test('redacted thoughts, and a signature of a thought that shows nothing', () => {
    const streamed = read([
      begin,
      delta(0, { reasoningContent: { redactedContent: 'UkVEQUNURUQ=' } }),
      stop(0),
      delta(1, { reasoningContent: { signature: 'sig' } }),
      stop(1),
      end('end_turn'),
    ])
    const expected = {
      parts: [
        ['reasoning', '', 'UkVEQUNURUQ='],
        ['reasoning', '', 'sig'],
      ],
      reason: 'stop',
    }
    expect(said(streamed)).toEqual(expected)
    expect(
      said(
        whole([
          { reasoningContent: { redactedContent: 'UkVEQUNURUQ=' } },
          { reasoningContent: { reasoningText: { text: '', signature: 'sig' } } },
        ]),
      ),
    ).toEqual(expected)
    expect(streamed).toContainEqual({
      type: 'part-start',
      choice: 0,
      part: 0,
      head: { type: 'reasoning', redacted: true },
    })
  })

  test('W1: parallel calls keep their places, one without input included', () => {
    const expected = {
      parts: [
        ['text', 'I look.'],
        ['t1 weather', '{"city":"Bern"}'],
        ['t2 now', '{}'],
      ],
      reason: 'tool_calls',
    }
    expect(
      said(
        read([
          begin,
          delta(0, { text: 'I look.' }),
          stop(0),
          call(1, 't1', 'weather'),
          delta(1, { toolUse: { input: '' } }),
          delta(1, { toolUse: { input: '{"city":' } }),
          delta(1, { toolUse: { input: '"Bern"}' } }),
          stop(1),
          call(2, 't2', 'now'),
          stop(2),
          end('tool_use'),
          metadata,
        ]),
      ),
    ).toEqual(expected)
    expect(
      said(
        whole(
          [
            { text: 'I look.' },
            { toolUse: { toolUseId: 't1', name: 'weather', input: { city: 'Bern' } } },
            { toolUse: { toolUseId: 't2', name: 'now', input: {} } },
          ],
          'tool_use',
        ),
      ),
    ).toEqual(expected)
  })

  test('calls whose pieces come interleaved, and texts that nobody stops', () => {
    const events = read([
      delta(0, { text: 'one' }),
      delta(1, { text: 'two' }),
      call(2, 't1', 'a'),
      call(3, 't2', 'b'),
      delta(3, { toolUse: { input: '{"b"' } }),
      delta(2, { toolUse: { input: '{"a"' } }),
      delta(2, { toolUse: { input: ':1}' } }),
      delta(3, { toolUse: { input: ':2}' } }),
      end('end_turn'),
    ])
    expect(said(events)).toEqual({
      parts: [
        ['text', 'one'],
        ['text', 'two'],
        ['t1 a', '{"a":1}'],
        ['t2 b', '{"b":2}'],
      ],
      // A call was made, whatever reason the vendor gives for the end.
      reason: 'tool_calls',
    })
  })

  test('the reply by a forced tool is text, and no call', () => {
    const expected = { parts: [['text', '{"a":1}']], reason: 'stop' }
    const name = 'tollgate_json_reply'
    const frames = [
      begin,
      call(0, 't', name),
      delta(0, { toolUse: { input: '{"a"' } }),
      delta(0, { toolUse: { input: ':1}' } }),
      stop(0),
      end('tool_use'),
    ]
    expect(said(read(frames))).toEqual(expected)
    const block = { toolUse: { toolUseId: 't', name, input: { a: 1 } } }
    expect(said(whole([block], 'tool_use'))).toEqual(expected)
  })

  test('images, and places on the web that a text rests on', () => {
    const cited = { title: 'Bern', location: { web: { url: 'https://example.com/b' } } }
    const streamed = read([
      begin,
      start(0, { image: { format: 'png' } }),
      delta(0, { image: { source: { bytes: 'aGk=' } } }),
      stop(0),
      delta(1, { text: 'It is Bern.' }),
      delta(1, { citation: cited }),
      delta(1, { citation: { title: 'page 2', location: { documentPage: { start: 2 } } } }),
      stop(1),
      end('end_turn'),
    ])
    const atOnce = whole([
      { image: { format: 'png', source: { bytes: 'aGk=' } } },
      { citationsContent: { content: [{ text: 'It is Bern.' }], citations: [cited] } },
    ])
    for (const events of [streamed, atOnce]) {
      const [choice] = fold(events).choices
      expect(choice?.parts.map(({ head, text }) => [head.type, text])).toEqual([
        ['image', 'aGk='],
        ['text', 'It is Bern.'],
      ])
      expect(choice?.parts[1]?.citations).toEqual([{ url: 'https://example.com/b', title: 'Bern' }])
    }
  })
})

test('tools that the vendor runs itself are no calls of the client', () => {
  const toolUse = { toolUseId: 's', name: 'nova_grounding', type: 'server_tool_use' }
  const events = read([
    begin,
    start(0, { toolUse }),
    delta(0, { toolUse: { input: '{}' } }),
    stop(0),
    start(1, { toolResult: { toolUseId: 's' } }),
    delta(1, { toolResult: [{ text: 'found' }] }),
    stop(1),
    delta(2, { text: 'Found.' }),
    end('end_turn'),
  ])
  expect(said(events)).toEqual({ parts: [['text', 'Found.']], reason: 'stop' })
})

test.each([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['guardrail_intervened', 'content_filter'],
  ['content_filtered', 'content_filter'],
  ['a_reason_of_tomorrow', 'stop'],
])('stopReason %s ends a reply as %s', (word, reason) => {
  expect(said(read([begin, delta(0, { text: 'a' }), end(word)]))).toMatchObject({ reason })
})

test('the stop text is read where Bedrock was asked for it', () => {
  const streamed = read([
    begin,
    delta(0, { text: 'a' }),
    end('stop_sequence', { additionalModelResponseFields: { delta: { stop_sequence: 'END' } } }),
  ])
  const atOnce = whole([{ text: 'a' }], 'stop_sequence', {
    additionalModelResponseFields: { stop_sequence: 'END' },
  })
  for (const events of [streamed, atOnce]) expect(fold(events).choices[0]?.stopText).toBe('END')
})

test('W27: what was read from the cache and written to it is counted beside the input, by its time', () => {
  const usage = {
    inputTokens: 7,
    outputTokens: 3,
    totalTokens: 160,
    cacheReadInputTokens: 100,
    cacheWriteInputTokens: 50,
    cacheDetails: [
      { ttl: '5m', inputTokens: 20 },
      { ttl: '1h', inputTokens: 30 },
    ],
  }
  const counted = {
    input: 7,
    cachedInput: 100,
    cacheWrite: 20,
    cacheWrite1h: 30,
    output: 3,
    reasoning: 0,
  }
  expect(fold(whole([{ text: 'a' }], 'end_turn', { usage })).usage).toEqual(counted)
  expect(fold(read([begin, end('end_turn'), { metadata: { usage } }])).usage).toEqual(counted)
  const older = { inputTokens: 1, cacheReadInputTokenCount: 2, cacheWriteInputTokenCount: 3 }
  expect(fold(whole([{ text: 'a' }], 'end_turn', { usage: older })).usage).toMatchObject({
    input: 1,
    cachedInput: 2,
    cacheWrite: 3,
  })
})

describe('W51: exceptions inside a stream are faults', () => {
  test.each([
    ['throttlingException', 'Too many tokens', 'rate_limited'],
    ['serviceUnavailableException', 'Busy', 'vendor_error'],
    ['internalServerException', 'Oops', 'vendor_error'],
    ['modelStreamErrorException', 'Broken', 'vendor_error'],
    ['modelTimeoutException', 'Slow', 'timeout'],
    ['validationException', 'Malformed input', 'rejected'],
    ['somethingNewException', 'New', 'vendor_error'],
  ])('%s', (name, message, kind) => {
    const events = read([begin, delta(0, { text: 'a' }), { [name]: { message } }])
    expect(faultOf(events)).toMatchObject({ kind, message })
    expect(events.at(-1)?.type).toBe('fault')
  })

  test('also as the first of all, and where nothing is said of them', () => {
    expect(faultOf(read([{ throttlingException: {} }]))).toMatchObject({ kind: 'rate_limited' })
    expect(faultOf(read([{ error: { code: 'InternalFailure', message: 'x' } }]))).toMatchObject({
      kind: 'vendor_error',
      message: 'x',
    })
  })
})

test('replies that are not whole are never taken for it', () => {
  expect(faultOf(read([begin, delta(0, { text: 'a' }), stop(0), metadata]))).toMatchObject({
    kind: 'cut',
  })
  expect(faultOf(read([]))).toMatchObject({ kind: 'cut' })
  expect(faultOf(new ConverseReader({}).frame('{'))).toMatchObject({ kind: 'unreadable' })
  expect(faultOf(new ConverseReader({}).whole({ message: 'no' }))).toEqual({
    kind: 'unreadable',
    message: 'the reply has no message: no',
  })
  for (const word of ['malformed_model_output', 'malformed_tool_use']) {
    expect(faultOf(read([begin, end(word)]))).toMatchObject({ kind: 'vendor_error', code: word })
    expect(faultOf(whole([], word))).toMatchObject({ kind: 'vendor_error' })
  }
})
