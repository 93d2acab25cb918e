// Tests Google's replies read into events and written back: every part and end, whole and streamed, in any pieces.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { breaches } from '../../../test/replies.ts'
import type { ChatEvent, JsonObject } from '../ir.ts'
import { chatHub } from '../openai-chat/hub.ts'
import { GeminiFrames } from './frames.ts'
import { geminiHub } from './hub.ts'
import {
  comesTo,
  head,
  readBody,
  readFrames,
  readPieces,
  reply,
  streamOf,
  written,
} from './testing.ts'

const counted = {
  usageMetadata: {
    promptTokenCount: 9,
    candidatesTokenCount: 5,
    totalTokenCount: 20,
    thoughtsTokenCount: 6,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: 9 }],
  },
}
const call = (name: string, args: JsonObject, more: JsonObject = {}): JsonObject => ({
  functionCall: { name, args },
  ...more,
})

/** Replies by their content: each as a stream, and the whole reply that equals it. */
const cases: Readonly<Record<string, { stream: JsonObject[]; whole: JsonObject }>> = {
  text: {
    stream: [reply([{ text: 'Grüß 你' }]), { ...reply([{ text: '好😀' }], 'STOP'), ...counted }],
    whole: { ...reply([{ text: 'Grüß 你好😀' }], 'STOP'), ...counted },
  },
  'thoughts with a signature': {
    stream: [
      reply([{ text: 'Hm', thought: true }]),
      reply([{ text: ', so', thought: true, thoughtSignature: 'c2ln' }]),
      { ...reply([{ text: 'yes' }], 'STOP'), ...counted },
    ],
    whole: {
      ...reply(
        [{ text: 'Hm, so', thought: true, thoughtSignature: 'c2ln' }, { text: 'yes' }],
        'STOP',
      ),
      ...counted,
    },
  },
  'a signature after the text': {
    stream: [
      reply([{ text: 'yes' }]),
      { ...reply([{ text: '', thoughtSignature: 'c2ln' }], 'STOP'), ...counted },
    ],
    whole: { ...reply([{ text: 'yes', thoughtSignature: 'c2ln' }], 'STOP'), ...counted },
  },
  'calls beside a text': {
    stream: [
      reply([{ text: 'I look.' }]),
      reply([{ functionCall: { id: 'f1', name: 'a', args: { x: 1 } }, thoughtSignature: 'c2ln' }]),
      reply([{ functionCall: { id: 'f2', name: 'a', args: {} } }]),
      { ...reply([{ text: '' }], 'STOP'), ...counted },
    ],
    whole: {
      ...reply(
        [
          { text: 'I look.' },
          { functionCall: { id: 'f1', name: 'a', args: { x: 1 } }, thoughtSignature: 'c2ln' },
          { functionCall: { id: 'f2', name: 'a', args: {} } },
        ],
        'STOP',
      ),
      ...counted,
    },
  },
  'a picture': {
    stream: [
      reply([{ text: 'Look: ' }]),
      reply([{ inlineData: { mimeType: 'image/png', data: 'aWNvbg==' } }]),
      { ...reply([{ text: '' }], 'STOP'), ...counted },
    ],
    whole: {
      ...reply(
        [{ text: 'Look: ' }, { inlineData: { mimeType: 'image/png', data: 'aWNvbg==' } }],
        'STOP',
      ),
      ...counted,
    },
  },
  'code the vendor ran': {
    stream: [
      reply([{ executableCode: { language: 'PYTHON', code: '1+1' } }]),
      reply([{ codeExecutionResult: { outcome: 'OUTCOME_OK', output: '2' } }]),
      { ...reply([{ text: 'Two.' }], 'STOP'), ...counted },
    ],
    whole: {
      ...reply(
        [
          { executableCode: { language: 'PYTHON', code: '1+1' } },
          { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '2' } },
          { text: 'Two.' },
        ],
        'STOP',
      ),
      ...counted,
    },
  },
  'the length ran out': {
    stream: [reply([{ text: 'a' }]), { ...reply([{ text: 'b' }], 'MAX_TOKENS'), ...counted }],
    whole: { ...reply([{ text: 'ab' }], 'MAX_TOKENS'), ...counted },
  },
}

/** What a whole and a streamed reply have in common: the numbers of parts and the pieces of texts differ. */
function meaning(events: readonly ChatEvent[]) {
  return comesTo(events)
}

describe.each(Object.entries(cases))('%s', (_name, { stream, whole }) => {
  const events = readFrames(stream)

  test('streamed and whole it is the same', () => {
    expect(meaning(events)).toEqual(meaning(readBody(whole)))
    expect(breaches(events)).toEqual([])
    expect(breaches([...readBody(whole)])).toEqual([])
  })

  test('a client of this format gets it as it was', () => {
    expect(geminiHub.writeWhole(readBody(whole), head)).toEqual(whole)
    expect(geminiHub.writeWhole(events, head)).toEqual(whole)
    expect(meaning(readFrames(written(events)))).toEqual(meaning(events))
  })

  test('its bytes may be cut anywhere', () => {
    for (const lineEnd of ['\n', '\r\n', '\r']) {
      const bytes = streamOf(stream, lineEnd)
      for (let at = 0; at <= bytes.length; at++)
        expect(readPieces([bytes.slice(0, at), bytes.slice(at)])).toEqual(events)
      expect(readPieces(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(events)
    }
  })

  test('W10: broken off at any frame it is a fault', () => {
    for (let kept = 0; kept < stream.length; kept++)
      expect(comesTo(readFrames(stream.slice(0, kept))).fault).toBe('cut')
  })

  test('a list in place of events is read alike', () => {
    const bytes = new TextEncoder().encode(JSON.stringify(stream, null, 2))
    expect(readPieces([bytes.slice(0, 7), bytes.slice(7)])).toEqual(events)
    expect(geminiHub.readWhole(stream, {})).toEqual(events)
  })

  test('a chat client gets the same, streamed and whole', () => {
    const writer = chatHub.writer(head)
    const text = events.map((event) => writer.event(event)).join('') + writer.end()
    const reader = chatHub.reader({})
    const frames = text
      .split('\n\n')
      .flatMap((frame) => (frame === '' || frame.endsWith('[DONE]') ? [] : [frame.slice(6)]))
    const back = [...frames.flatMap((frame) => reader.frame(frame)), ...reader.end()]
    const again = comesTo(back)
    const once = comesTo(chatHub.readWhole(chatHub.writeWhole(events, head), {}))
    const words = (reply: typeof once) => ({
      usage: reply.usage,
      choices: reply.choices.map(({ reason, parts }) => ({
        reason,
        parts: parts.flatMap(({ head: { type }, text: said }) =>
          said === '' ? [] : [{ type, said }],
        ),
      })),
    })
    expect(words(again)).toEqual(words(once))
    expect(again.choices[0]?.reason).toBe(comesTo(events).choices[0]?.reason ?? null)
  })
})

describe('calls', () => {
  test('W2: each call of a stream has a number of its own', () => {
    const events = readFrames([
      reply([call('a', { x: 1 })]),
      reply([call('b', {})]),
      reply([call('a', { x: 2 })], 'STOP'),
    ])
    const writer = chatHub.writer(head)
    const text = events.map((event) => writer.event(event)).join('')
    const indices = [...text.matchAll(/"tool_calls":\[\{"index":(\d),"id":"([^"]+)"/g)]
    expect(indices.map(([, index]) => index)).toEqual(['0', '1', '2'])
    expect(new Set(indices.map(([, , id]) => id)).size).toBe(3)
  })

  test('W32: STOP after calls is tool_calls, in whatever frame it comes', () => {
    const later = readFrames([reply([call('a', {})]), reply([{ text: '' }], 'STOP')])
    const same = readBody(reply([call('a', {})], 'STOP'))
    const odd = readBody(reply([call('a', {})], 'FUNCTION_CALL'))
    for (const events of [later, same, odd])
      expect(comesTo(events).choices[0]?.reason).toBe('tool_calls')
    expect(comesTo(readBody(reply([call('a', {})], 'MAX_TOKENS'))).choices[0]?.reason).toBe(
      'length',
    )
  })

  test('W35: a call without arguments has an empty object', () => {
    const { choices } = comesTo(readBody(reply([{ functionCall: { name: 'a' } }], 'STOP')))
    expect(choices[0]?.parts[0]?.text).toBe('{}')
  })

  test('W37: ids are kept, and made the same each time where there are none', () => {
    const idOf = (events: readonly ChatEvent[]) =>
      events.flatMap((event) =>
        event.type === 'part-start' && event.head.type === 'tool-call' ? [event.head.id] : [],
      )
    const own = { functionCall: { id: 'own', name: 'a', args: {} } }
    const body = reply([own, call('a', {})], 'STOP')
    const [kept, made] = idOf(readBody(body))
    expect(kept).toBe('own')
    expect(made).toMatch(/^call_[\w-]{1,59}$/)
    expect(idOf(readFrames([body]))).toEqual([kept ?? '', made ?? ''])
  })

  test('W31: a signature stays on the call it came with', () => {
    const body = reply([call('a', {}, { thoughtSignature: 'c2ln' }), call('b', {})], 'STOP')
    const [first, second] = comesTo(readBody(body)).choices[0]?.parts ?? []
    expect([first?.sealed, second?.sealed]).toEqual(['c2ln', null])
    const chat = chatHub.writeWhole(readBody(body), head)
    expect(JSON.stringify(chat)).toContain('"google":{"thought_signature":"c2ln"}')
  })

  test('arguments in pieces are one call, ended by the next or by the finish', () => {
    const events = readFrames([
      reply([{ functionCall: { name: 'a', willContinue: true }, thoughtSignature: 'c2ln' }]),
      reply([
        {
          functionCall: {
            partialArgs: [{ jsonPath: '$.x', stringValue: 'p', willContinue: true }],
            willContinue: true,
          },
        },
      ]),
      reply([
        {
          functionCall: {
            partialArgs: [{ jsonPath: '$.x', stringValue: 'q' }],
            willContinue: true,
          },
        },
      ]),
      reply([{ functionCall: { name: 'b', willContinue: true } }]),
      reply([{ text: '' }], 'STOP'),
    ])
    const parts = comesTo(events).choices[0]?.parts ?? []
    expect(parts.map(({ text, sealed }) => [text, sealed])).toEqual([
      ['{"x":"pq"}', 'c2ln'],
      ['{}', null],
    ])
    expect(breaches(events)).toEqual([])
  })

  test('a call whose arguments are no object is not passed off as one', () => {
    const events: ChatEvent[] = [
      { type: 'response-start', id: 'r', model: 'm', createdAt: 1 },
      { type: 'part-start', choice: 0, part: 0, head: { type: 'tool-call', id: 'c', name: 'a' } },
      { type: 'part-delta', choice: 0, part: 0, text: '{"x":' },
      { type: 'part-end', choice: 0, part: 0 },
      { type: 'choice-end', choice: 0, reason: 'tool_calls' },
    ]
    const last = written(events).at(-1)
    expect(JSON.stringify(last)).toContain('MALFORMED_FUNCTION_CALL')
    expect(JSON.stringify(geminiHub.writeWhole(events, head))).not.toContain('functionCall')
  })
})

describe('ends', () => {
  test.each([
    'SAFETY',
    'RECITATION',
    'LANGUAGE',
    'BLOCKLIST',
    'PROHIBITED_CONTENT',
    'SPII',
    'IMAGE_SAFETY',
    'IMAGE_PROHIBITED_CONTENT',
    'IMAGE_RECITATION',
  ])('%s is content_filter, and the same word to a client of this format', (word) => {
    const body = reply([{ text: 'a' }], word)
    expect(comesTo(readBody(body)).choices[0]?.reason).toBe('content_filter')
    expect(geminiHub.writeWhole(readBody(body), head)).toEqual(body)
  })

  test.each([
    'MALFORMED_FUNCTION_CALL',
    'UNEXPECTED_TOOL_CALL',
    'TOO_MANY_TOOL_CALLS',
    'MALFORMED_RESPONSE',
    'NO_IMAGE',
    'IMAGE_OTHER',
    'OTHER',
  ])('W48: %s is a fault and no empty success', (word) => {
    expect(comesTo(readBody(reply([], word))).fault).toBe('vendor_error')
    expect(comesTo(readFrames([reply([{ text: 'a' }]), reply([], word)])).fault).toBe(
      'vendor_error',
    )
  })

  test('W48: an error inside a success is a fault, also as plain JSON under an event stream', () => {
    const error = { error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } }
    expect(comesTo(readFrames([reply([{ text: 'a' }]), error])).fault).toBe('vendor_error')
    expect(comesTo(readBody(error)).fault).toBe('vendor_error')
    const plain = new TextEncoder().encode(JSON.stringify([error], null, 2))
    expect(comesTo(readPieces([plain])).fault).toBe('vendor_error')
  })

  test('a refused prompt is content_filter with its count', () => {
    const body = {
      promptFeedback: { blockReason: 'SAFETY' },
      usageMetadata: { promptTokenCount: 3, totalTokenCount: 3 },
      modelVersion: 'm',
      responseId: 'r',
    }
    const { choices, usage } = comesTo(readBody(body))
    expect(choices[0]?.reason).toBe('content_filter')
    expect(usage?.input).toBe(3)
    expect(geminiHub.writeWhole(readBody(body), head)).toMatchObject({
      promptFeedback: { blockReason: 'SAFETY' },
    })
    expect(written(readFrames([body]))).toMatchObject([
      { promptFeedback: { blockReason: 'SAFETY' } },
    ])
  })

  test('content may be empty', () => {
    const body = { candidates: [{ content: {}, finishReason: 'STOP', index: 0 }] }
    expect(comesTo(readBody(body)).choices[0]).toMatchObject({ parts: [], reason: 'stop' })
  })

  test('what is no reply is unreadable', () => {
    for (const body of [null, 'x', {}, { candidates: [] }])
      expect(comesTo(readBody(body)).fault).toBe('unreadable')
    const source = new GeminiFrames()
    source.push(new TextEncoder().encode('{"a":'))
    expect(() => source.end()).toThrow('not JSON')
  })
})

test('W40: several texts of a reply are all written', () => {
  const chat = chatHub.writeWhole(readBody(reply([{ text: 'a' }, { text: 'b' }], 'STOP')), head)
  expect(JSON.stringify(chat)).toContain('"content":"ab"')
})

test('several candidates are several choices', () => {
  const one = (index: number, text: string, finishReason?: string): JsonObject => ({
    content: { parts: [{ text }], role: 'model' },
    index,
    ...(finishReason !== undefined && { finishReason }),
  })
  const events = readFrames([
    { candidates: [one(0, 'a'), one(1, 'x')] },
    { candidates: [one(1, 'y', 'STOP')] },
    { candidates: [one(0, 'b', 'MAX_TOKENS')] },
  ])
  const { choices } = comesTo(events)
  expect(choices.map(({ reason, parts }) => [reason, parts[0]?.text])).toEqual([
    ['length', 'ab'],
    ['stop', 'xy'],
  ])
  expect(meaning(readFrames(written(events)))).toMatchObject({ choices })
})

test('grounding is citations, by places in the text and not in its bytes', () => {
  const metadata = {
    groundingChunks: [
      { web: { uri: 'https://a.example/', title: 'A' } },
      { web: { uri: 'https://b.example/', title: 'B' } },
    ],
    groundingSupports: [
      { segment: { startIndex: 4, endIndex: 9, text: '好 ok' }, groundingChunkIndices: [0] },
    ],
  }
  const body = reply([{ text: '你 好 ok' }], 'STOP', { groundingMetadata: metadata })
  const events = readBody(body)
  const [part] = comesTo(events).choices[0]?.parts ?? []
  expect(part?.citations).toEqual([
    { url: 'https://a.example/', title: 'A', start: 2, end: 5 },
    { url: 'https://b.example/', title: 'B' },
  ])
  // A client of this format gets the vendor's own reason.
  expect(geminiHub.writeWhole(events, head)).toEqual(body)
  expect(breaches([...events])).toEqual([])
})

test('citations of another format are grounding', () => {
  const events: ChatEvent[] = [
    { type: 'response-start', id: 'r', model: 'm', createdAt: 1 },
    { type: 'part-start', choice: 0, part: 0, head: { type: 'text' } },
    { type: 'part-delta', choice: 0, part: 0, text: '你 ok' },
    { type: 'citation', choice: 0, part: 0, citation: { url: 'https://a/', start: 2, end: 4 } },
    { type: 'part-end', choice: 0, part: 0 },
    { type: 'choice-end', choice: 0, reason: 'stop' },
  ]
  const grounding = {
    groundingChunks: [{ web: { uri: 'https://a/' } }],
    groundingSupports: [
      { segment: { startIndex: 4, endIndex: 6, text: 'ok' }, groundingChunkIndices: [0] },
    ],
  }
  expect(geminiHub.writeWhole(events, head)).toMatchObject({
    candidates: [{ groundingMetadata: grounding }],
  })
  expect(written(events).at(-1)).toMatchObject({ candidates: [{ groundingMetadata: grounding }] })
})

test('probabilities of tokens go either way', () => {
  const result = {
    topCandidates: [{ candidates: [{ token: 'a', logProbability: -0.1 }] }],
    chosenCandidates: [{ token: 'a', logProbability: -0.1 }],
  }
  const body = reply([{ text: 'a' }], 'STOP', { logprobsResult: result })
  expect(comesTo(readBody(body)).choices[0]?.parts[0]?.logprobs[0]).toMatchObject({
    token: 'a',
    logprob: -0.1,
  })
  expect(geminiHub.writeWhole(readBody(body), head)).toEqual(body)
})

test.each<[string, JsonObject]>([
  ['a call', { functionCall: { id: 'c', name: 'f', args: {} } }],
  ['a picture', { inlineData: { mimeType: 'image/png', data: 'AA==' } }],
])('probabilities and citations of a text before %s are the text’s', (_, behind) => {
  const chosenCandidates = [{ token: 'a', logProbability: -0.1 }]
  const body = reply([{ text: 'a' }, behind], 'STOP', {
    groundingMetadata: { groundingChunks: [{ web: { uri: 'https://a/' } }] },
    logprobsResult: { chosenCandidates, topCandidates: [{ candidates: [] }] },
  })
  for (const events of [readBody(body), readFrames([body])]) {
    expect(breaches([...events])).toEqual([])
    expect(comesTo(events).choices[0]?.parts[0]).toMatchObject({
      text: 'a',
      logprobs: [{ token: 'a', logprob: -0.1 }],
      citations: [{ url: 'https://a/' }],
    })
  }
  const { candidates } = geminiHub.writeWhole(readBody(body), head)
  expect(candidates).toMatchObject(body['candidates'] as JsonObject[])
})

test('what is redacted comes back as that, and a thought without words as a thought', () => {
  const events: ChatEvent[] = [
    { type: 'response-start', id: 'r', model: 'm', createdAt: 1 },
    { type: 'part-start', choice: 0, part: 0, head: { type: 'reasoning', redacted: true } },
    { type: 'part-end', choice: 0, part: 0, sealed: 'c2VjcmV0' },
    { type: 'part-start', choice: 0, part: 1, head: { type: 'reasoning' } },
    { type: 'part-end', choice: 0, part: 1, sealed: 'c2ln' },
    { type: 'part-start', choice: 0, part: 2, head: { type: 'text' } },
    { type: 'part-delta', choice: 0, part: 2, text: 'a' },
    { type: 'part-end', choice: 0, part: 2 },
    { type: 'choice-end', choice: 0, reason: 'stop' },
  ]
  const { candidates } = geminiHub.writeWhole(events, head) as { candidates: JsonObject[] }
  const content = candidates[0]?.['content'] as JsonObject
  const asked = geminiHub.decodeRequest({ contents: [content] }, { model: 'm' }).value
  expect(asked.messages[0]?.parts).toEqual([
    { type: 'reasoning', text: '', sealed: 'c2VjcmV0', redacted: true },
    { type: 'reasoning', text: '', sealed: 'c2ln' },
    { type: 'text', text: 'a' },
  ])
})

test('never an end mark, a comment or an empty event', () => {
  const writer = geminiHub.writer(head)
  const texts = readFrames(cases['text']?.stream ?? []).map((event) => writer.event(event))
  const all = [...texts, writer.end()].filter((text) => text !== '')
  for (const text of all) expect(text).toMatch(/^(data: \{.*\}\n\n)+$/)
})

test('any texts come through, in any pieces', () => {
  const piece = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 5 }), (pieces) => {
      const frames = pieces.map((text, at) =>
        reply([{ text }], at === pieces.length - 1 ? 'STOP' : undefined),
      )
      const events = readFrames(frames)
      expect(comesTo(events).choices[0]?.parts[0]?.text).toBe(pieces.join(''))
      expect(meaning(readFrames(written(events)))).toEqual(meaning(events))
    }),
  )
})
