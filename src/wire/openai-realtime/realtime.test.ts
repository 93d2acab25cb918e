// Tests what is read from realtime events: usage of every kind, what a client adds and names, what a vendor delivers.

import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../errors.ts'
import { modelsNamed, readClientEvent, withModelNames } from './client-event.ts'
import { errorEvent } from './dialect.ts'
import { sessionFacts, usualFacts } from './session-facts.ts'
import { readCachedMedia, readRealtimeUsage, readTranscriptUsage } from './usage.ts'
import { readVendorEvent, withoutSecret, withResponseCost } from './vendor-event.ts'

const bytes = (value: unknown) =>
  new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value))

describe('usage of a response', () => {
  const plain = { cacheWrite: 0, reasoning: 0 }
  test.each([
    [
      'of every kind',
      {
        input_tokens: 1_000,
        output_tokens: 300,
        input_token_details: {
          text_tokens: 500,
          audio_tokens: 400,
          image_tokens: 100,
          cached_tokens: 450,
          cached_tokens_details: { text_tokens: 200, audio_tokens: 190, image_tokens: 60 },
        },
        output_token_details: { text_tokens: 60, audio_tokens: 240 },
      },
      {
        ...plain,
        input: 300,
        cachedInput: 450,
        audioInput: 210,
        imageInput: 40,
        output: 60,
        audioOutput: 240,
      },
    ],
    [
      'without details',
      { input_tokens: 7, output_tokens: 5 },
      { ...plain, input: 7, cachedInput: 0, output: 5 },
    ],
    ['of one side', { input_tokens: 7 }, { ...plain, input: 7, cachedInput: 0, output: 0 }],
    [
      'with reasoning',
      { input_tokens: 1, output_tokens: 9, output_token_details: { reasoning_tokens: 4 } },
      { ...plain, input: 1, cachedInput: 0, output: 5, reasoning: 4 },
    ],
    [
      'cached beyond the prompt',
      { input_tokens: 5, output_tokens: 0, input_token_details: { cached_tokens: 9 } },
      { ...plain, input: 0, cachedInput: 5, output: 0 },
    ],
    [
      'sound beyond the prompt',
      { input_tokens: 5, output_tokens: 0, input_token_details: { audio_tokens: 9 } },
      { ...plain, input: 0, cachedInput: 0, audioInput: 5, output: 0 },
    ],
    ['that is none', { total_tokens: 4 }, null],
    ['that is absurd', { input_tokens: -1, output_tokens: 1e12 }, null],
    ['absent', null, null],
  ])('%s', (_name, said, read) => {
    expect(readRealtimeUsage(said)).toEqual(read)
  })
})

test.each([
  [undefined, { audio: 0, image: 0 }],
  [
    { input_tokens: 9, output_tokens: 0 },
    { audio: 0, image: 0 },
  ],
  [
    {
      input_tokens: 9,
      output_tokens: 0,
      input_token_details: {
        cached_tokens: 7,
        cached_tokens_details: { text_tokens: 1, audio_tokens: 4, image_tokens: 2 },
      },
    },
    { audio: 4, image: 2 },
  ],
  // More than the total that was cached.
  [
    {
      input_tokens: 9,
      output_tokens: 0,
      input_token_details: {
        cached_tokens: 3,
        cached_tokens_details: { audio_tokens: 2, image_tokens: 5 },
      },
    },
    { audio: 2, image: 1 },
  ],
])('what was cached of sound and pictures: %j', (said, media) => {
  expect(readCachedMedia(said)).toEqual(media)
})

test.each([
  [{ type: 'duration', seconds: 1.5 }, 1.5],
  [{ type: 'duration', seconds: -1 }, undefined],
  [{ type: 'duration', seconds: '1' }, undefined],
  [{ type: 'tokens', input_tokens: 3, output_tokens: 1 }, null],
  [{ type: 'tokens' }, undefined],
])('usage of a transcription: %j', (said, seconds) => {
  expect(readTranscriptUsage(said)?.seconds).toBe(seconds as number)
})

describe('what a vendor says', () => {
  const delta = (type: string, text: string) => ({ type, response_id: 'r', delta: text })
  test.each([
    ['response.output_audio.delta', 'audio', 'AAAA'.repeat(10), 30],
    ['response.audio.delta', 'audio', 'AAAA', 3],
    ['response.output_text.delta', 'text', 'Hello', 5],
    ['response.text.delta', 'text', '', 0],
    ['response.output_audio_transcript.delta', 'text', 'ü', 2],
    ['response.audio_transcript.delta', 'text', 'a', 1],
    ['response.function_call_arguments.delta', 'text', 'x{', 2],
  ] as const)('%s', (type, medium, text, length) => {
    const read = readVendorEvent(bytes(delta(type, text)))
    expect(read).toEqual({ kind: 'output', responseId: 'r', medium, bytes: length })
  })

  test.each(['constructor', '__proto__', 'nobody.knows'])('%s is none of it', (type) => {
    expect(readVendorEvent(bytes(delta(type, 'Hello')))).toEqual(
      readVendorEvent(bytes(delta('unknown', 'Hello'))),
    )
  })

  test.each([
    ['no JSON', '{"type":"response.done"'],
    ['a list', '[1]'],
    ['nothing', ''],
    ['no type', '{}'],
    ['another type', '{"type":"conversation.item.done"}'],
  ])('%s is passed on', (_name, text) => {
    expect(readVendorEvent(bytes(text))).toEqual({ kind: 'other' })
  })

  test('a failed response is a fault, with the vendor words', () => {
    const error = { type: 'invalid_request_error', code: 'bad', message: 'No.' }
    const response = { id: 'r', status: 'failed', status_details: { type: 'failed', error } }
    const read = readVendorEvent(bytes({ type: 'response.done', response }))
    expect(read).toMatchObject({
      kind: 'ended',
      responseId: 'r',
      usage: null,
      fault: { kind: 'rejected', message: 'No.' },
    })
  })

  test("a key of the operator's account is taken out of the session, and nothing else", () => {
    const created = {
      type: 'session.created',
      session: { id: 's', client_secret: { value: 'ek' } },
    }
    expect(JSON.parse(withoutSecret(JSON.stringify(created)))).toEqual({
      type: 'session.created',
      session: { id: 's', client_secret: null },
    })
    const plain = '{"type":"session.created", "session":{}}'
    expect(withoutSecret(plain)).toBe(plain)
  })

  test('what it cost stands beside its usage, and nowhere where there is none', () => {
    const body = { type: 'response.done', response: { id: 'r', usage: { total_tokens: 2 } } }
    expect(JSON.parse(withResponseCost(body, '0.1'))).toEqual({
      type: 'response.done',
      response: { id: 'r', usage: { total_tokens: 2, cost: '0.1' } },
    })
    const bare = { type: 'response.done', response: { id: 'r', usage: null } }
    expect(JSON.parse(withResponseCost(bare, '0.1'))).toEqual(bare)
  })
})

describe('settings in force', () => {
  test.each([
    ['nothing said', {}, usualFacts],
    [
      'telephone sound',
      {
        audio: {
          input: { format: { type: 'audio/pcmu' } },
          output: { format: { type: 'audio/pcma' } },
        },
      },
      { ...usualFacts, inputBytesPerSecond: 8_000, outputBytesPerSecond: 8_000 },
    ],
    [
      'the trial form',
      {
        model: 'm',
        modalities: ['text'],
        input_audio_format: 'g711_ulaw',
        output_audio_format: 'pcm16',
        max_response_output_tokens: 200,
        instructions: 'ü',
      },
      {
        ...usualFacts,
        model: 'm',
        speaks: false,
        inputBytesPerSecond: 8_000,
        maxOutputTokens: 200,
        textBytes: 2,
      },
    ],
    [
      'another rate, text alone, no bound',
      {
        output_modalities: ['text'],
        max_output_tokens: 'inf',
        tools: [{ a: 1 }],
        audio: { input: { format: { type: 'audio/pcm', rate: 16_000 } } },
      },
      { ...usualFacts, speaks: false, inputBytesPerSecond: 32_000, textBytes: 9 },
    ],
  ])('%s', (_name, session, facts) => {
    expect(sessionFacts(session)).toEqual(facts)
  })
})

describe('what a client says', () => {
  const nothing = { textBytes: 0, audioBytes: 0, images: 0, clears: false }
  test.each([
    [
      { type: 'input_audio_buffer.append', audio: 'AAAA'.repeat(4) },
      { ...nothing, audioBytes: 12 },
    ],
    [{ type: 'input_audio_buffer.clear' }, { ...nothing, clears: true }],
    [{ type: 'response.cancel' }, nothing],
    [
      {
        type: 'conversation.item.create',
        item: {
          content: [
            { type: 'input_text', text: 'ü' },
            { type: 'input_audio', audio: 'AAAA', transcript: 'abc' },
            { type: 'input_image', image_url: 'data:' },
          ],
        },
      },
      { ...nothing, textBytes: 5, audioBytes: 3, images: 1 },
    ],
    [
      {
        type: 'conversation.item.create',
        item: { type: 'function_call_output', output: 'abcd' },
      },
      { ...nothing, textBytes: 4 },
    ],
    [
      {
        type: 'response.create',
        response: { instructions: 'ab', input: [{ content: [{ text: 'c' }] }] },
      },
      { ...nothing, textBytes: 3 },
    ],
  ])('%j', (event, added) => {
    const text = JSON.stringify(event)
    const read = readClientEvent(bytes(text))
    expect(read.added).toEqual(added)
    expect(new TextDecoder().decode(read.bytes)).toBe(text)
  })

  test.each(['{', '[]', '""', '{}', '{"type":null}', '{"type":{}}', '{"type":"a"}x'])(
    'refused: %s',
    (text) => {
      expect(() => readClientEvent(bytes(text))).toThrow(GatewayError)
    },
  )

  test('a model is found and renamed at each of its places, and at no other', () => {
    const settings = {
      type: 'session.update',
      model: 'not here',
      session: {
        model: 'a',
        tools: [{ model: 'nor here' }],
        audio: { input: { transcription: { model: 'b', language: 'de' } }, model: 'nor' },
        input_audio_transcription: { model: 'c' },
      },
      response: { model: 'd' },
    }
    const found = modelsNamed(settings)
    expect(found.map(({ name, role }) => [name, role])).toEqual([
      ['a', 'session'],
      ['d', 'session'],
      ['b', 'transcription'],
      ['c', 'transcription'],
    ])
    const names = new Map(found.map(({ param, name }) => [param, `own-${name}`]))
    const renamed = JSON.parse(new TextDecoder().decode(withModelNames(settings, names)))
    expect(renamed).toEqual({
      ...settings,
      session: {
        model: 'own-a',
        tools: [{ model: 'nor here' }],
        audio: { input: { transcription: { model: 'own-b', language: 'de' } }, model: 'nor' },
        input_audio_transcription: { model: 'own-c' },
      },
      response: { model: 'own-d' },
    })
    expect(settings.session.model).toBe('a')
  })

  test('transcription that is switched off names nobody', () => {
    const input = { transcription: null }
    expect(modelsNamed({ type: 'session.update', session: { audio: { input } } })).toEqual([])
  })
})

test('a refusal is written as the event that clients look for', () => {
  const error = new GatewayError('insufficient_quota', 'No more.', { param: 'x' })
  expect(JSON.parse(errorEvent(error, 'event_1', 'mine'))).toEqual({
    type: 'error',
    event_id: 'event_1',
    error: {
      type: 'insufficient_quota',
      code: 'insufficient_quota',
      message: 'No more.',
      param: 'x',
      event_id: 'mine',
    },
  })
})
