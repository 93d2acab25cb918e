// Tests the official SDK's transcriptions with vendors that have their own formats, and with the sandbox.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import OpenAI from 'openai'
import { type AudioStage, soundFile, startAudioStage } from '../support/audio-stage.ts'
import { wav } from '../support/samples.ts'
import { readSrt, readVtt } from '../support/sounds.ts'
import { json } from '../support/upstream.ts'

let stage: AudioStage
beforeAll(async () => {
  stage = await startAudioStage()
})
afterAll(() => stage.close())

const cues = [
  { startMs: 0, endMs: 1_400, text: 'Hello from the SDK.' },
  { startMs: 1_620, endMs: 2_508, text: 'Bye.' },
]

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
    await stage.expectCharge(request_id, 'nova-3', { units: { second: 26 } })
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
    await stage.expectCharge(srtId, 'nova-3', { units: { second: 26 } })

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
    await stage.expectCharge(streamId, 'nova-3', { units: { second: 26 } })
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
    await stage.expectCharge(request_id, 'scribe_v1', { units: { second: 2 } })
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
    await stage.expectCharge(request_id, 'gemini-2.5-flash', { tokens: charged })
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
    await stage.expectCharge(request_id, 'gemini-2.5-flash', { tokens: charged })
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
