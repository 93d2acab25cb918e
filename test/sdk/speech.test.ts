// Tests the official SDK's speech through the gateway, with vendors scripted by their documentation, and with the
// sandbox.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import OpenAI from 'openai'
import { type AudioStage, startAudioStage } from '../support/audio-stage.ts'
import { readWav, samples } from '../support/sounds.ts'
import {
  chunk,
  event,
  head,
  json,
  lastChunk,
  reply,
  send,
  sseHead,
  until,
} from '../support/upstream.ts'

let stage: AudioStage
beforeAll(async () => {
  stage = await startAudioStage()
})
afterAll(() => stage.close())

const input = 'Grüße, 世界 👋'
const characters = 11
const sound = Buffer.from(Array.from({ length: 5_000 }, (_, at) => (at * 7) % 251))

type Body = OpenAI.Audio.SpeechCreateParams

async function speak(body: Omit<Body, 'input' | 'voice'> & Partial<Body>) {
  const { data, response } = await stage.client.audio.speech
    .create({ input, voice: 'alloy', ...body })
    .withResponse()
  const bytes = Buffer.from(await data.arrayBuffer())
  const type = response.headers.get('content-type')
  return { bytes, type, requestId: response.headers.get('x-request-id') }
}

describe('vendors that speak the format', () => {
  test('sound passes as it is, by the character', async () => {
    stage.answer([reply(200, sound, 'content-type: audio/mpeg')])
    const { bytes, type, requestId } = await speak({ model: 'tts-1', speed: 1.5 })
    expect(bytes.equals(sound)).toBe(true)
    expect(type).toBe('audio/mpeg')
    const sent = JSON.parse(stage.last().body.toString('utf8'))
    expect(sent).toEqual({ model: 'tts-1', input, voice: 'alloy', speed: 1.5 })
    await stage.expectCharge(requestId, 'tts-1', { units: { character: characters } })
  })

  test('the first bytes reach the client before the last are made', async () => {
    const received = Promise.withResolvers<void>()
    stage.answer([
      send(head(200, 'content-type: audio/mpeg', 'transfer-encoding: chunked')),
      send(chunk('first')),
      until(received.promise),
      send(Buffer.concat([chunk('last'), Buffer.from(lastChunk)])),
    ])
    const { body } = await stage.client.audio.speech.create({
      model: 'tts-1',
      input,
      voice: 'alloy',
    })
    let text = ''
    for await (const bytes of body ?? []) {
      text += Buffer.from(bytes).toString()
      if (text === 'first') received.resolve()
    }
    expect(text).toBe('firstlast')
  })

  test.each([
    ['mp3', 'audio/mpeg'],
    ['opus', 'audio/ogg'],
    ['aac', 'audio/aac'],
    ['flac', 'audio/flac'],
    ['wav', 'audio/wav'],
    ['pcm', 'audio/pcm'],
  ] as const)(
    '%s is called by its name where the vendor has none for it',
    async (format, named) => {
      stage.answer([reply(200, sound, 'content-type: application/octet-stream')])
      const { type } = await speak({ model: 'tts-1', response_format: format })
      expect(type).toBe(named)
    },
  )

  test('events, with tokens of sound priced as such', async () => {
    const audio = sound.toString('base64')
    stage.answer([
      send(
        Buffer.concat([
          Buffer.from(sseHead),
          event({ type: 'speech.audio.delta', audio }),
          event({
            type: 'speech.audio.done',
            usage: { input_tokens: 9, output_tokens: 21, total_tokens: 30 },
          }),
          Buffer.from(lastChunk),
        ]),
      ),
    ])
    const { bytes, type, requestId } = await speak({
      model: 'gpt-4o-mini-tts',
      stream_format: 'sse',
    })
    expect(type).toStartWith('text/event-stream')
    const events = bytes
      .toString('utf8')
      .split('\n\n')
      .filter((frame) => frame !== '')
      .map((frame) => JSON.parse(frame.replace(/^data: /, '')))
    expect(events[0]).toEqual({ type: 'speech.audio.delta', audio })
    expect(events[1].type).toBe('speech.audio.done')
    await stage.expectCharge(requestId, 'gpt-4o-mini-tts', {
      tokens: { input: 9, audioOutput: 21 },
    })
  })

  test.each(['audio', 'sse'] as const)(
    'a model priced by tokens is not free where nobody reports them: %s',
    async (form) => {
      stage.answer([reply(200, sound, 'content-type: audio/mpeg')])
      const input = 'word '.repeat(60)
      const { requestId } = await speak({ model: 'gpt-4o-mini-tts', input, stream_format: form })
      const row = await stage.gateway.row(requestId ?? '')
      // 300 characters take some 20 seconds, at 20 tokens each.
      expect([row.usageSource, row.audioOutput]).toEqual(['counted', 400])
      expect(row.chargeNano).toBeGreaterThan(400n * 12_000n)
    },
  )

  test('a voice of one’s own by its id, and an own voice’s error', async () => {
    const message = 'No such voice'
    stage.answer([json(400, { error: { message, type: 'invalid_request_error', param: 'voice' } })])
    const refused = await speak({ model: 'tts-1', voice: { id: 'voice_1' } }).catch(
      (error: unknown) => error,
    )
    expect(refused).toBeInstanceOf(OpenAI.BadRequestError)
    expect(JSON.parse(stage.last().body.toString('utf8')).voice).toEqual({ id: 'voice_1' })
  })
})

describe('Deepgram', () => {
  test.each([
    ['mp3', 'audio/mpeg', { encoding: 'mp3' }],
    ['opus', 'audio/ogg', { encoding: 'opus', container: 'ogg' }],
    ['aac', 'audio/aac', { encoding: 'aac' }],
    ['flac', 'audio/flac', { encoding: 'flac', sample_rate: '24000' }],
    ['wav', 'audio/wav', { encoding: 'linear16', container: 'wav', sample_rate: '24000' }],
    ['pcm', 'audio/pcm', { encoding: 'linear16', container: 'none', sample_rate: '24000' }],
  ] as const)('%s', async (format, named, asked) => {
    stage.answer([reply(200, sound, 'content-type: audio/whatever')])
    const { bytes, type, requestId } = await speak({
      model: 'aura-2',
      voice: 'thalia',
      response_format: format,
    })
    expect(bytes.equals(sound)).toBe(true)
    expect(type).toBe(named)
    const { target, body } = stage.last()
    const { pathname, searchParams } = new URL(target, 'http://x')
    expect(pathname).toBe('/v1/speak')
    expect(Object.fromEntries(searchParams)).toEqual({ model: 'aura-2-thalia-en', ...asked })
    expect(JSON.parse(body.toString('utf8'))).toEqual({ text: input })
    await stage.expectCharge(requestId, 'aura-2', { units: { character: characters } })
  })

  test('what it cannot do is refused by name, without asking it', async () => {
    const asked = stage.upstream.requests.length
    for (const [param, more] of [
      ['speed', { speed: 2 }],
      ['input', { input: 'x'.repeat(2_001) }],
      ['voice', { voice: 'aura-asteria-en' }],
    ] as const) {
      const refused = await speak({ model: 'aura-2', ...more }).catch((error: unknown) => error)
      expect(refused).toBeInstanceOf(OpenAI.BadRequestError)
      expect(refused).toMatchObject({ param })
    }
    expect(stage.upstream.requests).toHaveLength(asked)
  })

  test('an error in place of sound is an error', async () => {
    stage.answer([json(429, { err_code: 'TOO_MANY_REQUESTS', err_msg: 'Too many requests.' })])
    const refused = await speak({ model: 'aura-2' }).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(OpenAI.RateLimitError)
  })
})

describe('ElevenLabs', () => {
  const voice = '21m00Tcm4TlvDq8ikWAM'

  test('the voice stands in the address, the format in the query', async () => {
    stage.answer([reply(200, sound, 'content-type: audio/mpeg')])
    const { bytes, type, requestId } = await speak({
      model: 'eleven_multilingual_v2',
      voice: { id: voice },
      speed: 1.1,
    })
    expect(bytes.equals(sound)).toBe(true)
    expect(type).toBe('audio/mpeg')
    const { target, body } = stage.last()
    expect(target).toBe(`/v1/text-to-speech/${voice}/stream?output_format=mp3_44100_128`)
    expect(JSON.parse(body.toString('utf8'))).toEqual({
      text: input,
      model_id: 'eleven_multilingual_v2',
      voice_settings: { speed: 1.1 },
    })
    await stage.expectCharge(requestId, 'eleven_multilingual_v2', {
      units: { character: characters },
    })
  })

  test('samples become a WAV whose lengths are right', async () => {
    const said = samples(36_000)
    stage.answer([reply(200, said, 'content-type: audio/pcm')])
    const { bytes, type } = await speak({
      model: 'eleven_multilingual_v2',
      voice,
      response_format: 'wav',
    })
    expect(type).toBe('audio/wav')
    const { rate, channels, bits, data } = readWav(bytes)
    expect([rate, channels, bits, data.length / rate / 2]).toEqual([24_000, 1, 16, 1.5])
    expect(data.equals(said)).toBe(true)
    expect(stage.last().target).toContain('output_format=pcm_24000')
  })

  test('formats it lacks are refused with those it has', async () => {
    const refused = await speak({
      model: 'eleven_multilingual_v2',
      voice,
      response_format: 'flac',
    }).catch((error: unknown) => error)
    expect(refused).toMatchObject({ status: 400, param: 'response_format' })
    expect(String(refused)).toContain('mp3, opus, pcm, wav')
  })

  test('a voice it does not know is the client’s to correct', async () => {
    const detail = { status: 'voice_not_found', message: 'A voice was not found.' }
    stage.answer([json(404, { detail })])
    const refused = await speak({ model: 'eleven_multilingual_v2', voice: 'nobody' }).catch(
      (error: unknown) => error,
    )
    expect(refused).toMatchObject({ status: 400, param: 'voice' })
  })
})

describe('Mistral', () => {
  const model = 'voxtral-mini-tts-2603'

  test('sound out of its JSON', async () => {
    stage.answer([json(200, { audio_data: sound.toString('base64') })])
    const { bytes, type, requestId } = await speak({ model, voice: 'en_paul_neutral' })
    expect([type, bytes.equals(sound)]).toEqual(['audio/mpeg', true])
    expect(JSON.parse(stage.last().body.toString('utf8'))).toEqual({
      model,
      input,
      voice_id: 'en_paul_neutral',
      response_format: 'mp3',
    })
    await stage.expectCharge(requestId, model, { units: { character: characters } })
  })

  test('its samples of 32 bits become such of 16', async () => {
    const levels = [0, 1, -1, 0.5, -0.25, 3]
    const floats = Buffer.alloc(levels.length * 4)
    for (const [at, level] of levels.entries()) floats.writeFloatLE(level, at * 4)
    stage.answer([json(200, { audio_data: floats.toString('base64') })])
    const { bytes, type } = await speak({ model, response_format: 'pcm' })
    expect(type).toBe('audio/pcm')
    const read = levels.map((_, at) => bytes.readInt16LE(at * 2))
    expect(read).toEqual([0, 32_767, -32_767, 16_384, -8_192, 32_767])
  })
})

describe('Gemini', () => {
  const said = samples(24_000)
  const spoken = {
    candidates: [
      {
        content: {
          parts: [
            {
              inlineData: {
                mimeType: 'audio/L16;codec=pcm;rate=24000',
                data: said.toString('base64'),
              },
            },
          ],
        },
        finishReason: 'STOP',
      },
    ],
    usageMetadata: {
      promptTokenCount: 5,
      candidatesTokenCount: 25,
      totalTokenCount: 30,
      candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 25 }],
    },
  }
  const model = 'gemini-2.5-flash-preview-tts'

  test('samples with a head written here, and tokens as it counts them', async () => {
    stage.answer([json(200, spoken)])
    const { bytes, type, requestId } = await speak({ model, voice: 'kore' })
    expect(type).toBe('audio/wav')
    const { rate, channels, bits, data } = readWav(bytes)
    expect([rate, channels, bits, data.length / rate / 2]).toEqual([24_000, 1, 16, 1])
    expect(data.equals(said)).toBe(true)
    const { generationConfig } = JSON.parse(stage.last().body.toString('utf8'))
    expect(generationConfig).toEqual({
      responseModalities: ['AUDIO'],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
    })
    await stage.expectCharge(requestId, model, { tokens: { input: 5, audioOutput: 25 } })
  })

  test('mere samples, and events', async () => {
    stage.answer([json(200, spoken)])
    const pcm = await speak({ model, voice: 'Kore', response_format: 'pcm' })
    expect([pcm.type, pcm.bytes.equals(said)]).toEqual(['audio/pcm', true])
    const events = await speak({
      model,
      voice: 'Kore',
      response_format: 'pcm',
      stream_format: 'sse',
    })
    const frames = events.bytes.toString('utf8').trim().split('\n\n')
    const all = frames.map((frame) => JSON.parse(frame.replace(/^data: /, '')))
    const audios = all.flatMap(({ audio }) => (audio === undefined ? [] : [audio]))
    expect(Buffer.concat(audios.map((each) => Buffer.from(each, 'base64'))).equals(said)).toBe(true)
    await stage.expectCharge(events.requestId, model, { tokens: { input: 5, audioOutput: 25 } })
  })

  test('mp3 is refused with the formats there are', async () => {
    const refused = await speak({ model, voice: 'Kore', response_format: 'mp3' }).catch(
      (error: unknown) => error,
    )
    expect(refused).toMatchObject({ status: 400, param: 'response_format' })
    expect(String(refused)).toContain('wav, pcm')
  })
})

describe('the sandbox', () => {
  test('a WAV that lasts as long as its text takes', async () => {
    const short = await speak({
      model: 'sandbox/speech',
      response_format: 'wav',
      input: 'One two.',
    })
    const long = await speak({
      model: 'sandbox/speech',
      response_format: 'wav',
      input: 'One two three four five six seven eight.',
    })
    const seconds = ({ bytes }: { bytes: Buffer }) => {
      const { rate, channels, bits, data } = readWav(bytes)
      return data.length / rate / channels / (bits / 8)
    }
    expect(seconds(short)).toBeGreaterThan(0.2)
    expect(seconds(long)).toBeGreaterThan(2 * seconds(short))
  })
})

describe('what is no request for speech', () => {
  test.each([
    ['input', { input: '' }],
    ['input', { input: 'x'.repeat(4_097) }],
    ['voice', { voice: '' }],
    ['voice', { voice: {} }],
    ['speed', { speed: 5 }],
    ['speed', { speed: 0.1 }],
    ['response_format', { response_format: 'midi' }],
    ['stream_format', { stream_format: 'sse' }],
    ['stream_format', { stream_format: 'websocket' }],
    ['instructions', { instructions: 'x'.repeat(4_097) }],
  ])('%s %#', async (param, more) => {
    const refused = await speak({ model: 'tts-1', ...(more as object) }).catch(
      (error: unknown) => error,
    )
    expect(refused).toBeInstanceOf(OpenAI.BadRequestError)
    expect(refused).toMatchObject({ param })
  })
})
