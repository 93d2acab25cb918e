// The official SDK's transcriptions and translations through the gateway, on vendors scripted as their documentation has them.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import OpenAI from 'openai'
import {
  type AudioStage,
  type Model,
  pricesOf,
  soundFile,
  startAudioStage,
} from '../support/audio-stage.ts'
import { billed } from '../support/price-oracle.ts'
import { wav } from '../support/samples.ts'
import { readSrt, readVtt } from '../support/sounds.ts'
import { event, json, lastChunk, reply, send, sseHead } from '../support/upstream.ts'

let stage: AudioStage
beforeAll(async () => {
  stage = await startAudioStage()
})
afterAll(() => stage.close())

interface Charged {
  readonly tokens?: Readonly<Record<string, number>>
  readonly units?: Readonly<Record<string, number>>
}

/** The newest record costs what an independent computation says. */
async function expectCharge(requestId: string | null | undefined, model: Model, what: Charged) {
  const row = await stage.gateway.row(requestId ?? '')
  const { tokens = {}, units = {} } = what
  const expected = billed({ prices: pricesOf(model), multiplier: '1', tokens, units })
  expect({ charge: row.chargeNano, units: row.units }).toEqual({
    charge: expected,
    units: what.units ?? null,
  })
  expect(expected).toBeGreaterThan(0n)
}

const tokenUsage = {
  type: 'tokens',
  input_tokens: 14,
  input_token_details: { text_tokens: 4, audio_tokens: 10 },
  output_tokens: 45,
  total_tokens: 59,
}
const tokens = { input: 4, audioInput: 10, output: 45 }

const whisper = {
  task: 'transcribe',
  language: 'english',
  duration: 2.508,
  text: 'Hello from the SDK. Bye.',
  segments: [
    { id: 0, seek: 0, start: 0, end: 1.4, text: ' Hello from the SDK.' },
    { id: 1, seek: 0, start: 1.62, end: 2.508, text: ' Bye.' },
  ],
}
const cues = [
  { startMs: 0, endMs: 1_400, text: 'Hello from the SDK.' },
  { startMs: 1_620, endMs: 2_508, text: 'Bye.' },
]

describe('vendors that speak the format', () => {
  test('JSON, with tokens of sound priced as such', async () => {
    stage.answer([json(200, { text: 'Hello', usage: tokenUsage })])
    const { data, request_id } = await stage.client.audio.transcriptions
      .create({
        model: 'gpt-4o-transcribe',
        file: await soundFile(),
        include: ['logprobs'],
        language: 'en',
        temperature: 0.2,
        chunking_strategy: { type: 'server_vad', threshold: 0.5 },
      })
      .withResponse()
    expect(data).toEqual({ text: 'Hello', usage: tokenUsage } as never)
    const form = await stage.lastForm()
    expect(Object.fromEntries([...form].filter(([name]) => name !== 'file'))).toEqual({
      model: 'gpt-4o-transcribe',
      'include[]': 'logprobs',
      language: 'en',
      temperature: '0.2',
      'chunking_strategy[type]': 'server_vad',
      'chunking_strategy[threshold]': '0.5',
    })
    expect(await (form.get('file') as File).bytes()).toEqual(Uint8Array.from(wav(2)))
    await expectCharge(request_id, 'gpt-4o-transcribe', { tokens })
  })

  test('JSON with every member, by the second as reported', async () => {
    const body = { ...whisper, usage: { type: 'duration', seconds: 3 } }
    stage.answer([json(200, body)])
    const { data, request_id } = await stage.client.audio.transcriptions
      .create({
        model: 'whisper-1',
        file: await soundFile(),
        response_format: 'verbose_json',
        timestamp_granularities: ['word', 'segment'],
      })
      .withResponse()
    expect(data).toEqual(body as never)
    const form = await stage.lastForm()
    expect(form.getAll('timestamp_granularities[]')).toEqual(['word', 'segment'])
    await expectCharge(request_id, 'whisper-1', { units: { second: 3 } })
  })

  test.each(['text', 'srt', 'vtt'] as const)(
    'W54: %s comes as the vendor wrote it',
    async (format) => {
      const text = `in ${format} – wörtlich\n`
      stage.answer([reply(200, text, 'content-type: text/plain; charset=utf-8')])
      const { data, request_id, response } = await stage.client.audio.transcriptions
        .create({ model: 'whisper-1', file: await soundFile(2), response_format: format })
        .withResponse()
      expect(data).toBe(text)
      expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
      // Nobody reports it: the file itself says how long it is.
      await expectCharge(request_id, 'whisper-1', { units: { second: 2 } })
    },
  )

  test('W54: a stream of events', async () => {
    stage.answer([
      send(
        Buffer.concat([
          Buffer.from(sseHead),
          event({ type: 'transcript.text.delta', delta: 'Hel' }),
          event({ type: 'transcript.text.delta', delta: 'lo' }),
          event({ type: 'transcript.text.done', text: 'Hello', usage: tokenUsage }),
          Buffer.from(lastChunk),
        ]),
      ),
    ])
    const { data, request_id } = await stage.client.audio.transcriptions
      .create({ model: 'gpt-4o-transcribe', file: await soundFile(), stream: true })
      .withResponse()
    const events = await Array.fromAsync(data)
    expect(events.map((each) => each.type)).toEqual([
      'transcript.text.delta',
      'transcript.text.delta',
      'transcript.text.done',
    ])
    expect((await stage.lastForm()).get('stream')).toBe('true')
    await expectCharge(request_id, 'gpt-4o-transcribe', { tokens })
  })

  test('a stream that stops before its end is an error, and what was heard is charged', async () => {
    stage.answer([
      send(
        Buffer.concat([
          Buffer.from(sseHead),
          event({ type: 'transcript.text.delta', delta: 'Hello there, this is a sentence' }),
          Buffer.from(lastChunk),
        ]),
      ),
    ])
    const { data, request_id } = await stage.client.audio.transcriptions
      .create({ model: 'gpt-4o-transcribe', file: await soundFile(2), stream: true })
      .withResponse()
    await expect(Array.fromAsync(data)).rejects.toThrow(/ended early/)
    const row = await stage.gateway.row(request_id ?? '')
    // Two seconds of sound, ten tokens each; eight tokens of text.
    expect([row.usageSource, row.audioInput, row.output]).toEqual(['counted', 20, 8])
    expect(row.chargeNano).toBeGreaterThan(0n)
  })

  test('a vendor that answers a stream whole is told as one', async () => {
    stage.answer([json(200, { text: 'Hello', usage: { type: 'duration', seconds: 2 } })])
    const { data, request_id } = await stage.client.audio.transcriptions
      .create({ model: 'own-whisper', file: await soundFile(), stream: true })
      .withResponse()
    const events = await Array.fromAsync(data)
    expect(events).toEqual([
      { type: 'transcript.text.delta', delta: 'Hello' },
      {
        type: 'transcript.text.done',
        text: 'Hello',
        usage: { type: 'duration', seconds: 2 },
      },
    ] as never)
    await expectCharge(request_id, 'own-whisper', { units: { second: 2 } })
  })

  test('translations, also of a model that is known for transcriptions', async () => {
    stage.answer([json(200, { text: 'Hello' })])
    const { data, request_id } = await stage.client.audio.translations
      .create({ model: 'whisper-1', file: await soundFile(4) })
      .withResponse()
    expect(data.text).toBe('Hello')
    expect(stage.last().target).toBe('/v1/audio/translations')
    await expectCharge(request_id, 'whisper-1', { units: { second: 4 } })
  })

  test('a report of more than a file of this size can last is not believed', async () => {
    stage.answer([json(200, { text: 'x', usage: { type: 'duration', seconds: 80_000 } })])
    const { request_id } = await stage.client.audio.transcriptions
      .create({ model: 'whisper-1', file: await soundFile(2) })
      .withResponse()
    await expectCharge(request_id, 'whisper-1', { units: { second: 60 } })
  })
})

describe('forms that a vendor lacks are made from those it has', () => {
  test('Whisper at Groq: subtitles from its segments', async () => {
    for (const [format, read] of [
      ['srt', readSrt],
      ['vtt', readVtt],
    ] as const) {
      stage.answer([json(200, { ...whisper, x_groq: { id: 'req_1' } })])
      const { data, request_id } = await stage.client.audio.transcriptions
        .create({ model: 'whisper-large-v3', file: await soundFile(3), response_format: format })
        .withResponse()
      expect(read(String(data))).toEqual(cues)
      const form = await stage.lastForm()
      expect(form.get('response_format')).toBe('verbose_json')
      expect(form.getAll('timestamp_granularities[]')).toEqual(['segment'])
      await expectCharge(request_id, 'whisper-large-v3', { units: { second: 3 } })
    }
  })

  test('GPT-4o: a text from its JSON, and no times', async () => {
    stage.answer([json(200, { text: 'Hello', usage: tokenUsage })])
    const { data, request_id } = await stage.client.audio.transcriptions
      .create({ model: 'gpt-4o-transcribe', file: await soundFile(), response_format: 'text' })
      .withResponse()
    expect(data as unknown).toBe('Hello\n')
    await expectCharge(request_id, 'gpt-4o-transcribe', { tokens })
    const asked = stage.upstream.requests.length
    const refused = await stage.client.audio.transcriptions
      .create({ model: 'gpt-4o-transcribe', file: await soundFile(), response_format: 'srt' })
      .catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(OpenAI.BadRequestError)
    expect(refused).toMatchObject({ param: 'response_format' })
    expect(String(refused)).toContain('json and text are')
    expect(stage.upstream.requests).toHaveLength(asked)
  })

  test('GPT-4o that tells speakers: subtitles from them', async () => {
    const segment = { type: 'transcript.text.segment', speaker: 'A' }
    stage.answer([
      json(200, {
        task: 'transcribe',
        duration: 2.508,
        text: whisper.text,
        segments: whisper.segments.map(({ start, end, text }, at) => ({
          ...segment,
          id: `seg_${at}`,
          start,
          end,
          text,
        })),
        usage: tokenUsage,
      }),
    ])
    const text = await stage.client.audio.transcriptions.create({
      model: 'gpt-4o-transcribe-diarize',
      file: await soundFile(),
      response_format: 'srt',
    })
    expect(readSrt(text)).toEqual(cues)
    const form = await stage.lastForm()
    expect(form.get('response_format')).toBe('diarized_json')
    expect(form.get('chunking_strategy')).toBe('auto')
  })

  test('Whisper knows no stream: its transcript as two events', async () => {
    stage.answer([json(200, { text: 'Hello', usage: { type: 'duration', seconds: 2 } })])
    const { data, request_id } = await stage.client.audio.transcriptions
      .create({ model: 'whisper-1', file: await soundFile(), stream: true })
      .withResponse()
    expect((await Array.fromAsync(data)).map((each) => each.type)).toEqual([
      'transcript.text.delta',
      'transcript.text.done',
    ])
    expect((await stage.lastForm()).get('stream')).toBeNull()
    await expectCharge(request_id, 'whisper-1', { units: { second: 2 } })
  })

  test('Mistral: who speaks, in its own words', async () => {
    stage.answer([
      json(200, {
        model: 'voxtral-mini-latest',
        text: 'One. Two.',
        language: null,
        segments: [
          { text: 'One.', start: 0.1, end: 1, speaker_id: 'speaker_2' },
          { text: ' Two.', start: 1.2, end: 2, speaker_id: 'speaker_1' },
        ],
        usage: {
          prompt_audio_seconds: 36,
          prompt_tokens: 13,
          completion_tokens: 151,
          total_tokens: 164,
        },
      }),
    ])
    const { data, request_id } = await stage.client.audio.transcriptions
      .create({
        model: 'voxtral-mini-latest',
        file: await soundFile(36),
        response_format: 'diarized_json',
        language: 'en',
      })
      .withResponse()
    const { segments } = data as unknown as OpenAI.Audio.TranscriptionDiarized
    expect(segments.map(({ id, speaker, start }) => [id, speaker, start])).toEqual([
      ['seg_0', 'A', 0.1],
      ['seg_1', 'B', 1.2],
    ])
    const form = await stage.lastForm()
    expect([...form].map(([name]) => name).toSorted()).toEqual(
      ['diarize', 'file', 'model', 'timestamp_granularities'].toSorted(),
    )
    await expectCharge(request_id, 'voxtral-mini-latest', { units: { second: 36 } })
  })
})

describe('Deepgram', () => {
  const results = {
    metadata: { request_id: 'r', duration: 25.933313, channels: 1 },
    results: {
      channels: [
        {
          detected_language: 'de',
          alternatives: [
            {
              transcript: 'Guten Tag. Ja?',
              confidence: 0.99,
              words: [
                { word: 'guten', start: 0.08, end: 0.4, punctuated_word: 'Guten', speaker: 0 },
                { word: 'tag', start: 0.4, end: 0.8, punctuated_word: 'Tag.', speaker: 0 },
                { word: 'ja', start: 1.5, end: 1.8, punctuated_word: 'Ja?', speaker: 1 },
              ],
            },
          ],
        },
      ],
      utterances: [
        { start: 0.08, end: 0.8, transcript: 'Guten Tag.', speaker: 0 },
        { start: 1.5, end: 1.8, transcript: 'Ja?', speaker: 1 },
      ],
    },
  }

  test('a recording goes as it is, and comes back in every form', async () => {
    stage.answer([json(200, results)])
    const sound = wav(26)
    const ask = async (more: object) =>
      stage.client.audio.transcriptions
        .create({ model: 'nova-3', file: await soundFile(26), ...more } as never)
        .withResponse()
    const { data: verbose, request_id } = await ask({
      response_format: 'verbose_json',
      timestamp_granularities: ['word'],
    })
    expect(verbose as unknown).toEqual({
      task: 'transcribe',
      language: 'german',
      duration: 25.933313,
      text: 'Guten Tag. Ja?',
      words: [
        { word: 'Guten', start: 0.08, end: 0.4 },
        { word: 'Tag.', start: 0.4, end: 0.8 },
        { word: 'Ja?', start: 1.5, end: 1.8 },
      ],
      usage: { type: 'duration', seconds: 26 },
    })
    await expectCharge(request_id, 'nova-3', { units: { second: 26 } })
    const { target, headers, body } = stage.last()
    const { pathname, searchParams } = new URL(target, 'http://x')
    expect(pathname).toBe('/v1/listen')
    expect(Object.fromEntries(searchParams)).toEqual({
      model: 'nova-3',
      smart_format: 'true',
      utterances: 'true',
      detect_language: 'true',
    })
    expect(headers.get('authorization')).toBe('Token key-of-deepgram-0123456789')
    expect(headers.get('content-type')).toBe('audio/wav')
    expect(body.equals(sound)).toBe(true)

    const { data: srt, request_id: srtId } = await ask({ response_format: 'srt', language: 'de' })
    expect(readSrt(String(srt)).map(({ startMs, text }) => [startMs, text])).toEqual([
      [80, 'Guten Tag.'],
      [1_500, 'Ja?'],
    ])
    expect(stage.last().target).toContain('language=de')
    await expectCharge(srtId, 'nova-3', { units: { second: 26 } })

    const { data: diarized } = await ask({ response_format: 'diarized_json' })
    const { segments } = diarized as unknown as OpenAI.Audio.TranscriptionDiarized
    expect(segments.map(({ speaker, text }) => [speaker, text])).toEqual([
      ['A', 'Guten Tag.'],
      ['B', 'Ja?'],
    ])
    expect(stage.last().target).toContain('diarize=true')

    const { data: stream, request_id: streamId } = await ask({ stream: true })
    const events = await Array.fromAsync(stream as unknown as AsyncIterable<{ type: string }>)
    expect(events.at(-1)).toEqual({
      type: 'transcript.text.done',
      text: 'Guten Tag. Ja?',
      usage: { type: 'duration', seconds: 26 },
    } as never)
    await expectCharge(streamId, 'nova-3', { units: { second: 26 } })
  })

  test('what is wrong with a file is the client’s to know', async () => {
    const err_msg = 'Bad Request: failed to process audio: corrupt or unsupported data'
    stage.answer([json(400, { err_code: 'Bad Request', err_msg, request_id: 'r' })])
    const refused = await stage.client.audio.transcriptions
      .create({ model: 'nova-3', file: await soundFile() })
      .catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(OpenAI.BadRequestError)
    expect(String(refused)).toContain('corrupt or unsupported data')
  })
})

describe('ElevenLabs', () => {
  test('words become parts, with who speaks', async () => {
    const word = (text: string, start: number, end: number, speaker_id: string) => ({
      text,
      start,
      end,
      type: 'word',
      speaker_id,
    })
    const space = { text: ' ', start: 0, end: 0, type: 'spacing', speaker_id: 'speaker_0' }
    stage.answer([
      json(200, {
        language_code: 'eng',
        language_probability: 0.98,
        text: 'Hello world. Yes!',
        words: [
          word('Hello', 0, 0.5, 'speaker_0'),
          space,
          word('world.', 0.5, 1.2, 'speaker_0'),
          space,
          word('Yes!', 1.3, 1.9, 'speaker_1'),
        ],
      }),
    ])
    const { data, request_id } = await stage.client.audio.transcriptions
      .create({
        model: 'scribe_v1',
        file: await soundFile(2),
        response_format: 'diarized_json',
      })
      .withResponse()
    const { segments } = data as unknown as OpenAI.Audio.TranscriptionDiarized
    expect(segments.map(({ speaker, start, end, text }) => [speaker, start, end, text])).toEqual([
      ['A', 0, 1.2, 'Hello world.'],
      ['B', 1.3, 1.9, 'Yes!'],
    ])
    const form = await stage.lastForm()
    expect(form.get('model_id')).toBe('scribe_v1')
    expect(form.get('diarize')).toBe('true')
    expect(stage.last().headers.get('xi-api-key')).toBe('key-of-elevenlabs-0123456789')
    await expectCharge(request_id, 'scribe_v1', { units: { second: 2 } })
  })
})

describe('Gemini, whose models that chat hear too', () => {
  const usageMetadata = {
    promptTokenCount: 90,
    candidatesTokenCount: 30,
    totalTokenCount: 120,
    promptTokensDetails: [
      { modality: 'TEXT', tokenCount: 26 },
      { modality: 'AUDIO', tokenCount: 64 },
    ],
  }
  const said = (text: string) => ({
    candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP' }],
    usageMetadata,
  })
  const charged = { input: 26, audioInput: 64, output: 30 }

  test('a text alone', async () => {
    stage.answer([json(200, said('Hello there.\n'))])
    const { data, request_id } = await stage.client.audio.transcriptions
      .create({ model: 'gemini-2.5-flash', file: await soundFile(2), prompt: 'A greeting' })
      .withResponse()
    expect(data.text).toBe('Hello there.')
    const { target, body } = stage.last()
    expect(target).toBe('/v1beta/models/gemini-2.5-flash:generateContent')
    const asked = JSON.parse(body.toString('utf8'))
    const [file, wish] = asked.contents[0].parts
    expect(file.inlineData.mimeType).toBe('audio/wav')
    expect(Buffer.from(file.inlineData.data, 'base64').equals(wav(2))).toBe(true)
    expect(wish.text).toContain('A greeting')
    await expectCharge(request_id, 'gemini-2.5-flash', { tokens: charged })
  })

  test('subtitles from the times it is made to tell', async () => {
    const parts = {
      language: 'en',
      segments: [
        { start: '00:00.000', end: '00:01.400', speaker: 'A', text: 'Hello from the SDK.' },
        { start: '00:01.620', end: '00:02.508', speaker: 'A', text: 'Bye.' },
      ],
    }
    stage.answer([json(200, said(JSON.stringify(parts)))])
    const { data, request_id } = await stage.client.audio.transcriptions
      .create({ model: 'gemini-2.5-flash', file: await soundFile(3), response_format: 'vtt' })
      .withResponse()
    expect(readVtt(String(data))).toEqual(cues)
    await expectCharge(request_id, 'gemini-2.5-flash', { tokens: charged })
  })

  test('a refusal is no transcript', async () => {
    stage.answer([json(200, { promptFeedback: { blockReason: 'SAFETY' } })])
    const refused = await stage.client.audio.translations
      .create({ model: 'gemini-2.5-flash', file: await soundFile() })
      .catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(OpenAI.BadRequestError)
  })
})

describe('the sandbox', () => {
  test('subtitles last as long as the file', async () => {
    for (const [format, read] of [
      ['srt', readSrt],
      ['vtt', readVtt],
    ] as const) {
      const text = await stage.client.audio.transcriptions.create({
        model: 'sandbox/transcription',
        file: await soundFile(9),
        response_format: format,
      })
      const found = read(text)
      expect(found[0]?.startMs).toBe(0)
      expect(found.at(-1)?.endMs).toBe(9_000)
      for (const [at, { startMs }] of found.entries())
        if (at > 0) expect(startMs).toBeGreaterThanOrEqual(found[at - 1]?.endMs ?? 0)
    }
  })

  test('every other form', async () => {
    const ask = async (more: object) =>
      (await stage.client.audio.transcriptions.create({
        model: 'sandbox/transcription',
        file: await soundFile(5),
        ...more,
      } as never)) as unknown as Record<string, unknown>
    const json = await ask({})
    expect(json.text).toContain('5 seconds long')
    expect(json.usage).toEqual({ type: 'duration', seconds: 5 })
    expect(String(await ask({ response_format: 'text' }))).toBe(`${json.text}\n`)
    const verbose = await ask({ response_format: 'verbose_json' })
    expect([verbose.duration, verbose.language, verbose.text]).toEqual([5, 'english', json.text])
    expect(verbose.words).toBeUndefined()
    const events = await Array.fromAsync(
      (await ask({ stream: true })) as unknown as AsyncIterable<{ type: string; text?: string }>,
    )
    expect(events.at(-1)?.text).toBe(json.text as string)
  })
})
