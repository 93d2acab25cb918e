// Tests what requests about sound may contain, what their replies cost, and how their streams are read.

import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { recordingsFolder } from '../../../test/recordings/found.ts'
import { dialects } from '../dialects.ts'
import { frameKind } from '../reply.ts'
import type { FileInfo, Peek } from '../request.ts'
import { FrameSplitter } from '../sse.ts'
import { soundOf } from './duration.ts'
import { speechDelta, speechDone, transcriptEvents } from './events.ts'
import { SpeechReplay, TranscriptReplay } from './replay.ts'
import { SoundWatcher } from './watcher.ts'
import { rawSpeech, rawTranscript, tailTranscript, wholeTranscript } from './whole.ts'

const encode = (value: unknown): Uint8Array =>
  new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value))
const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

function fileOf(more: Partial<FileInfo> = {}): FileInfo {
  return { field: 'file', name: 'a.wav', type: 'audio/wav', size: 320_000, seconds: 10, ...more }
}

function peekOf(fields: object = {}, file: Partial<FileInfo> = {}): Peek {
  const body = encode({ model: 'whisper-1', ...fields })
  return dialects['openai-transcriptions'].client.peek(body, { files: [fileOf(file)] })
}

describe('what a transcription may ask', () => {
  test('all that is documented', () => {
    const { units, stream, model } = peekOf({
      language: 'en',
      languages: ['en', 'fr'],
      keywords: ['Tollgate'],
      prompt: 'About gates.',
      response_format: 'json',
      temperature: 0.4,
      include: ['logprobs'],
      stream: true,
      chunking_strategy: 'auto',
      known_speaker_names: ['agent'],
      known_speaker_references: ['data:audio/wav;base64,AAAA'],
    })
    expect([units, stream, model]).toEqual([{ second: 10 }, true, 'whisper-1'])
    const verbose = {
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
    }
    expect(peekOf(verbose).stream).toBe(false)
    expect(peekOf({ chunking_strategy: { type: 'server_vad', threshold: 0.5 } }).stream).toBe(false)
  })

  test.each([
    ['response_format', { response_format: 'xml' }],
    ['temperature', { temperature: 1.5 }],
    ['temperature', { temperature: 'warm' }],
    ['include', { include: ['segments'] }],
    ['include', { include: ['logprobs'], response_format: 'text' }],
    ['timestamp_granularities', { timestamp_granularities: ['word'] }],
    [
      'timestamp_granularities',
      { timestamp_granularities: ['line'], response_format: 'verbose_json' },
    ],
    ['languages', { languages: 'en' }],
    ['languages', { languages: [1] }],
    ['chunking_strategy', { chunking_strategy: 'none' }],
    ['chunking_strategy', { chunking_strategy: { type: 'client_vad' } }],
    ['known_speaker_names', { known_speaker_names: ['a', 'b', 'c', 'd', 'e'] }],
    ['known_speaker_references', { known_speaker_names: ['a'] }],
    ['stream', { stream: 'yes' }],
    ['response_format', { stream: true, response_format: 'srt' }],
    ['response_format', { stream: true, response_format: 'verbose_json' }],
    ['language', { language: 3 }],
  ])('%s %#', (param, fields) => {
    expect(() => peekOf(fields)).toThrow(expect.objectContaining({ detail: { param } }))
  })

  test('a file there must be', () => {
    const { peek } = dialects['openai-transcriptions'].client
    expect(() => peek(encode({ model: 'm' }), { files: [] })).toThrow('file is required')
  })

  test('a translation has no form that tells speakers', () => {
    const { peek } = dialects['openai-translations'].client
    const body = encode({ model: 'm', response_format: 'diarized_json' })
    expect(() => peek(body, { files: [fileOf()] })).toThrow('response_format must be one of')
  })
})

describe('how long a file is taken to last', () => {
  test('as long as its container says, in whole seconds', () => {
    expect(soundOf(fileOf({ seconds: 9.2 }))).toEqual({
      units: { second: 10 },
      audioTokens: { most: 320, likely: 100 },
      mostSeconds: 40,
    })
  })

  test('by its size, where that says nothing', () => {
    const found = soundOf(fileOf({ type: 'audio/mpeg', size: 120_000, seconds: null }))
    expect(found).toEqual({
      units: { second: 120 },
      likelyUnits: { second: 10 },
      audioTokens: { most: 3_840, likely: 100 },
      mostSeconds: 120,
    })
  })

  test('no hold is for more than four hours', () => {
    const found = soundOf(fileOf({ type: 'audio/ogg', size: 25_000_000, seconds: null }))
    expect(found.units).toEqual({ second: 14_400 })
    expect(found.likelyUnits).toEqual({ second: 6_250 })
  })

  test('a container that claims less than its bytes can be is not believed', () => {
    // An hour of MP3 at 320 kbit/s that claims to last a second.
    const lie = fileOf({ type: 'audio/mpeg', size: 144_000_000, seconds: 1 })
    expect(soundOf(lie).units).toEqual({ second: 1_800 })
    const plain = fileOf({ type: 'audio/mpeg', size: 40_000, seconds: 1 })
    expect(soundOf(plain).units).toEqual({ second: 1 })
  })
})

describe('what a transcript cost', () => {
  const costOf = (usage: unknown, peek = peekOf(), more: object = {}) => {
    const {
      fault,
      units,
      usage: read,
    } = wholeTranscript(encode({ text: 'x', ...more, usage }), peek)
    expect(fault).toBeNull()
    return { units, usage: read }
  }
  const noTokens = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 }

  test('tokens, those of sound apart', () => {
    const usage = {
      type: 'tokens',
      input_tokens: 14,
      input_token_details: { text_tokens: 4, audio_tokens: 10 },
      output_tokens: 45,
      total_tokens: 59,
    }
    expect(costOf(usage)).toEqual({
      units: null,
      usage: { ...noTokens, input: 4, audioInput: 10, output: 45 },
    })
  })

  test('seconds, as reported', () => {
    const usage = { type: 'duration', seconds: 11 }
    expect(costOf(usage)).toEqual({ units: { second: 11 }, usage: noTokens })
  })

  test('no more seconds than the file can have, whatever its container says', () => {
    const usage = { type: 'duration', seconds: 3_600 }
    expect(costOf(usage, peekOf({}, { seconds: 1 })).units).toEqual({ second: 60 })
    const dense = peekOf({}, { type: 'audio/mpeg', size: 3_600_000, seconds: 1 })
    expect(costOf(usage, dense).units).toEqual({ second: 3_600 })
  })

  test('what the vendor says of the length, where the container claims far less', () => {
    const forged = peekOf({}, { type: 'audio/mp4', size: 12_000_000, seconds: 1 })
    expect(forged.units).toEqual({ second: 46 })
    expect(costOf(undefined, forged, { duration: 780.2 }).units).toEqual({ second: 781 })
    const honest = peekOf({}, { type: 'audio/mp4', size: 12_000_000, seconds: 780 })
    expect(costOf(undefined, honest, { duration: 781.4 }).units).toBeNull()
  })

  test.each([[-1], [Number.NaN], ['7'], [1e9]])(
    'seconds that are none are not read: %p',
    (seconds) => {
      expect(costOf({ type: 'duration', seconds })).toEqual({ units: null, usage: null })
    },
  )

  test('nothing reported: the length of the file, else that of the transcript', () => {
    expect(costOf(undefined, peekOf(), { duration: 3.2 }).units).toBeNull()
    const unknown = peekOf({}, { seconds: null })
    expect(costOf(undefined, unknown, { duration: 3.2 }).units).toEqual({ second: 4 })
    expect(costOf(undefined, unknown).units).toBeNull()
  })

  test('Mistral tells both', () => {
    const usage = { prompt_audio_seconds: 36, prompt_tokens: 13, completion_tokens: 151 }
    const peek = peekOf({}, { size: 1_000_000 })
    expect(costOf(usage, peek)).toEqual({
      units: { second: 36 },
      usage: { ...noTokens, input: 13, output: 151 },
    })
  })

  test('of one too long to hold, its end is read', () => {
    const tail = encode('ion":3}],"usage":{"type":"duration","seconds":12}}')
    expect(tailTranscript(tail, peekOf()).units).toEqual({ second: 12 })
    expect(tailTranscript(encode('no end'), peekOf()).usage).toBeNull()
  })

  test('what is none is a fault', () => {
    const fault = (body: unknown) => wholeTranscript(encode(body), peekOf()).fault?.kind
    expect(fault({ segments: [] })).toBe('unreadable')
    expect(fault('text')).toBe('unreadable')
    expect(fault({ error: { message: 'no', type: 'invalid_request_error' } })).toBe('rejected')
  })

  test('of bytes passed on unread: what is reported beside them', () => {
    const passed = { bytes: 40, isWhole: true }
    const silent = rawTranscript(peekOf(), null, passed)
    expect([silent.units, silent.outputBytes]).toEqual([undefined, 40])
    const reported = rawTranscript(peekOf(), { type: 'duration', seconds: 5 }, passed)
    expect(reported.units).toEqual({ second: 5 })
  })
})

function speechPeek(fields: object): Peek {
  const body = encode({ model: 'tts', voice: 'v', ...fields })
  return dialects['openai-speech'].client.peek(body)
}

describe('what speech costs', () => {
  test('characters are code points', () => {
    expect(speechPeek({ input: 'a👋é\u0301' }).units?.['character']).toBe(4)
    expect(speechPeek({ input: '\\u00e9 \n' }).units?.['character']).toBe(8)
  })

  test('other vendors’ models take longer texts than OpenAI’s', () => {
    expect(speechPeek({ input: 'x'.repeat(30_000) }).units?.['character']).toBe(30_000)
    expect(() => speechPeek({ input: 'x'.repeat(100_001) })).toThrow('at most 100000')
  })

  test('a character of Chinese takes as long as three of an alphabet, one of kana as two', () => {
    const seconds = (input: string) => speechPeek({ input }).likelyUnits?.['second']
    const of = (text: string) => text.repeat(150)
    expect(['x', '好', '한', 'あ', '好x'].map(of).map(seconds)).toEqual([10, 30, 30, 20, 40])
    expect(speechPeek({ input: of('好') }).units).toEqual({ character: 150, second: 57 })
  })

  test('tokens are likely ones where nobody tells them, and sound where somebody does', () => {
    const peek = speechPeek({ input: 'x'.repeat(150) })
    const whole = { bytes: 9, isWhole: true }
    expect(rawSpeech(peek, null, whole)).toMatchObject({ usage: null, outputBytes: 800 })
    const usage = { input_tokens: 3, output_tokens: 20, total_tokens: 23 }
    const reported = rawSpeech(peek, usage, whole)
    expect(reported.usage).toMatchObject({ input: 3, output: 0, audioOutput: 20 })
  })

  test('of speech that breaks off only the part that passed counts', () => {
    const peek = speechPeek({ input: 'x'.repeat(150) })
    const cut = (bytes: number) => {
      const { outputBytes, units } = rawSpeech(peek, null, { bytes, isWhole: false })
      return { outputBytes, units }
    }
    expect(cut(100)).toEqual({ outputBytes: 2, units: { character: 1, second: 1 } })
    expect(cut(20_000)).toEqual({ outputBytes: 400, units: { character: 75, second: 5 } })
    expect(cut(200_000)).toEqual({ outputBytes: 800, units: undefined })
  })
})

interface Watched {
  readonly kinds: readonly number[]
  readonly watcher: SoundWatcher
}

/** The stream in two pieces. */
function watched(stream: Uint8Array, cut: number, peek?: Peek): Watched {
  const splitter = new FrameSplitter()
  const watcher = new SoundWatcher(peek)
  const kinds: number[] = []
  const take = (count: number) => {
    for (let at = 0; at < count; at++) {
      const [start = 0, end = 0] = [splitter.starts[at], splitter.ends[at]]
      kinds.push(watcher.frame(splitter.bytes, start, end))
    }
  }
  take(splitter.push(stream.subarray(0, cut)))
  take(splitter.push(stream.subarray(cut)))
  take(splitter.end())
  return { kinds, watcher }
}

describe('streams', () => {
  const usage = { type: 'tokens', input_tokens: 9, output_tokens: 3, total_tokens: 12 }
  const segments = [{ id: 'seg_0', start: 0, end: 1, text: 'Grüße', speaker: 'A' }]
  const stream = encode(`: hi\n\n${transcriptEvents({ text: 'Grüße', segments, usage })}`)

  test('no more seconds than the file can have', () => {
    const long = { type: 'duration', seconds: 86_400 }
    const events = encode(transcriptEvents({ text: 'x', usage: long }))
    expect(watched(events, 1, peekOf({}, { seconds: 4 })).watcher.units).toEqual({ second: 60 })
  })

  test('W54: a transcript, cut at every byte', () => {
    const { lifecycle, semantic, usage: ends } = frameKind
    for (let cut = 0; cut <= stream.length; cut++) {
      const { kinds, watcher } = watched(stream, cut)
      expect(kinds).toEqual([lifecycle, semantic, semantic, ends])
      expect(watcher.outputBytes).toBe(7)
      expect(watcher.finishReason).toBe('stop')
      expect(watcher.usage).toMatchObject({ input: 9, output: 3 })
    }
  })

  test('W54: a stream without its end has not finished', () => {
    const events = decode(stream).split('\n\n').slice(0, 2).join('\n\n')
    expect(watched(encode(`${events}\n\n`), 10).watcher.finishReason).toBeNull()
  })

  test('an error inside, in any of its shapes', () => {
    for (const frame of [
      'event: error\ndata: {"message":"no","type":"invalid_request_error"}\n\n',
      'data: {"type":"error","error":{"message":"no","type":"invalid_request_error"}}\n\n',
      'data: {"error":{"message":"no","type":"invalid_request_error"}}\n\n',
    ]) {
      const { kinds, watcher } = watched(encode(frame), 5)
      expect(kinds).toEqual([frameKind.fault])
      expect(watcher.fault).toMatchObject({ kind: 'rejected', message: 'no' })
    }
    expect(watched(encode('data: nonsense\n\n'), 3).watcher.fault?.kind).toBe('unreadable')
  })

  test('speech is counted by its bytes until it is reported', () => {
    const delta = speechDelta(new Uint8Array(8_000))
    const peek = speechPeek({ input: 'x'.repeat(150) })
    expect(watched(encode(delta), 7, peek).watcher.outputBytes).toBe(160)
    const silent = `${delta}${speechDone(null)}`
    expect(watched(encode(silent), 7, peek).watcher.outputBytes).toBe(800)
    const all = `${delta}${speechDone({ input_tokens: 2, output_tokens: 12, total_tokens: 14 })}`
    expect(watched(encode(all), 7).watcher.usage).toMatchObject({ output: 0, audioOutput: 12 })
  })
})

describe('whole replies where a stream was asked for', () => {
  test('JSON', () => {
    const replay = new TranscriptReplay(peekOf(), 'application/json')
    const usage = { type: 'duration', seconds: 4 }
    const segment = { type: 'x', id: 's', start: 0, end: 1, text: 'Hi', speaker: 'B' }
    const body = encode({ text: 'Hi', segments: [segment], usage })
    expect(replay.push(body.subarray(0, 9)).length).toBe(0)
    replay.push(body.subarray(9))
    const { fault, bytes, units } = replay.end()
    const { type: _type, ...plain } = segment
    expect([fault, units]).toEqual([null, { second: 4 }])
    expect(decode(bytes)).toBe(transcriptEvents({ text: 'Hi', segments: [plain], usage }))
  })

  test('a text, an error, and nothing at all', () => {
    const text = new TranscriptReplay(peekOf(), 'text/plain')
    text.push(encode(' Hello.\n'))
    expect(decode(text.end().bytes)).toBe(transcriptEvents({ text: 'Hello.', usage: null }))
    const error = new TranscriptReplay(peekOf(), 'application/json')
    error.push(encode({ error: { message: 'no' } }))
    expect(error.end().fault?.kind).toBe('vendor_error')
    expect(new SpeechReplay(speechPeek({ input: 'Hi' })).end().fault?.kind).toBe('unreadable')
  })

  test('sound, as it comes', () => {
    const replay = new SpeechReplay(speechPeek({ input: 'x'.repeat(150) }))
    expect(decode(replay.push(encode('abc')))).toBe(speechDelta(encode('abc')))
    replay.push(new Uint8Array(7_997))
    expect(replay.passed.outputBytes).toBe(160)
    const { bytes, outputBytes } = replay.end()
    expect([decode(bytes), outputBytes]).toEqual([speechDone(null), 800])
  })
})

const recordings = recordingsFolder()

describe.skipIf(recordings === null)('recorded transcripts', () => {
  const recorded = (path: string) => readFileSync(`${recordings}/${path}.json`)

  test('of OpenAI', () => {
    const bytes = recorded('openai/transcription--openai-transcription')
    const peek = peekOf({}, { type: 'audio/mpeg', size: 600_000, seconds: 36.71 })
    const { fault, units } = wholeTranscript(bytes, peek)
    expect([fault, units]).toEqual([null, { second: 37 }])
  })

  test('of Mistral', () => {
    const bytes = recorded('mistral/mistral-transcription')
    const peek = peekOf({}, { type: 'audio/mpeg', size: 600_000, seconds: 36.71 })
    const { fault, units, usage, model } = wholeTranscript(bytes, peek)
    expect([fault, units, model]).toEqual([null, { second: 36 }, 'voxtral-mini-latest'])
    expect(usage).toMatchObject({ input: 13, output: 151 })
  })
})
