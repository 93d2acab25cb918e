// Tests the official SDK's transcriptions and translations through the gateway, with vendors scripted by their
// documentation.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import OpenAI from 'openai'
import { type AudioStage, soundFile, startAudioStage } from '../support/audio-stage.ts'
import { wav } from '../support/samples.ts'
import { readSrt, readVtt } from '../support/sounds.ts'
import { event, json, lastChunk, reply, send, sseHead } from '../support/upstream.ts'

let stage: AudioStage
beforeAll(async () => {
  stage = await startAudioStage()
})
afterAll(() => stage.close())

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
  test.each([
    [JSON.stringify({ text: 'Hello', usage: tokenUsage }), { text: 'Hello', usage: tokenUsage }],
    ['Hello\n', { text: 'Hello' }],
  ])('JSON, though its vendor calls it text: %j', async (body, expected) => {
    stage.answer([reply(200, Buffer.from(body), 'content-type: text/plain')])
    const file = await soundFile()
    const made = await stage.client.audio.transcriptions
      .create({ model: 'gpt-4o-transcribe', file })
      .withResponse()
    expect(made.data).toEqual(expected as never)
    const row = await stage.gateway.row(made.request_id ?? '')
    expect(row.usageSource).toBe('usage' in expected ? 'reported' : 'counted')
  })

  test('an error, though its vendor calls it text, is no transcript', async () => {
    const error = { error: { message: 'no', type: 'server_error' } }
    stage.answer([reply(200, Buffer.from(JSON.stringify(error)), 'content-type: text/plain')])
    const file = await soundFile()
    const refusal = await stage.client.audio.transcriptions
      .create({ model: 'own-whisper', file })
      .catch((thrown: unknown) => thrown)
    expect(refusal).toMatchObject({ status: 500 })
  })

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
    await stage.expectCharge(request_id, 'gpt-4o-transcribe', { tokens })
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
    await stage.expectCharge(request_id, 'whisper-1', { units: { second: 3 } })
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
      // No usage is reported: the length comes from the file itself.
      await stage.expectCharge(request_id, 'whisper-1', { units: { second: 2 } })
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
    await stage.expectCharge(request_id, 'gpt-4o-transcribe', { tokens })
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
    await stage.expectCharge(request_id, 'own-whisper', { units: { second: 2 } })
  })

  test('translations, also of a model that is known for transcriptions', async () => {
    stage.answer([json(200, { text: 'Hello' })])
    const { data, request_id } = await stage.client.audio.translations
      .create({ model: 'whisper-1', file: await soundFile(4) })
      .withResponse()
    expect(data.text).toBe('Hello')
    expect(stage.last().target).toBe('/v1/audio/translations')
    await stage.expectCharge(request_id, 'whisper-1', { units: { second: 4 } })
  })

  test('a report of more than a file of this size can last is not believed', async () => {
    stage.answer([json(200, { text: 'x', usage: { type: 'duration', seconds: 80_000 } })])
    const { request_id } = await stage.client.audio.transcriptions
      .create({ model: 'whisper-1', file: await soundFile(2) })
      .withResponse()
    await stage.expectCharge(request_id, 'whisper-1', { units: { second: 60 } })
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
      await stage.expectCharge(request_id, 'whisper-large-v3', { units: { second: 3 } })
    }
  })

  test('GPT-4o: a text from its JSON, and no times', async () => {
    stage.answer([json(200, { text: 'Hello', usage: tokenUsage })])
    const { data, request_id } = await stage.client.audio.transcriptions
      .create({ model: 'gpt-4o-transcribe', file: await soundFile(), response_format: 'text' })
      .withResponse()
    expect(data as unknown).toBe('Hello\n')
    await stage.expectCharge(request_id, 'gpt-4o-transcribe', { tokens })
    const asked = stage.upstream.requests.length
    const refused = await stage.client.audio.transcriptions
      .create({ model: 'gpt-4o-transcribe', file: await soundFile(), response_format: 'srt' })
      .catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(OpenAI.BadRequestError)
    expect(refused).toMatchObject({ param: 'response_format' })
    expect(String(refused)).toContain('use json or text')
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
    await stage.expectCharge(request_id, 'whisper-1', { units: { second: 2 } })
  })

  test('Mistral: words where segments would be', async () => {
    const words = [
      { word: 'One.', start: 0.1, end: 1 },
      { word: 'Two.', start: 1.2, end: 2 },
    ]
    const segments = words.map(({ word, start, end }) => ({ text: ` ${word}`, start, end }))
    stage.answer([json(200, { text: 'One. Two.', segments })])
    const transcript = await stage.client.audio.transcriptions.create({
      model: 'voxtral-mini-latest',
      file: await soundFile(2),
      response_format: 'verbose_json',
      timestamp_granularities: ['word'],
    })
    expect(transcript.words).toEqual(words)
    expect((await stage.lastForm()).get('timestamp_granularities')).toBe('word')
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
    await stage.expectCharge(request_id, 'voxtral-mini-latest', { units: { second: 36 } })
  })
})
