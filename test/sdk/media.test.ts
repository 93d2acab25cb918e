// Tests the official openai SDK on an independent mock of OpenAI's API: images, sound and moderations, decoded and
// charged.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import { LLMock } from '@copilotkit/aimock'
import type OpenAI from 'openai'
import { toFile } from 'openai'
import { openaiClient } from '../support/clients.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { png, wav } from '../support/samples.ts'

const picture = png(1024, 1024)
const spoken = wav(2)
const transcript = {
  text: 'Good morning. How are you?',
  language: 'english',
  duration: 4.5,
  segments: [
    { id: 0, text: 'Good morning.', start: 0, end: 1.25 },
    { id: 1, text: 'How are you?', start: 1.5, end: 4.5 },
  ],
}

let mock: LLMock
let gateway: Gateway
let client: OpenAI

beforeAll(async () => {
  mock = new LLMock({ port: 0, host: '127.0.0.1' })
  mock.on({ endpoint: 'image' }, { image: { b64Json: picture.toString('base64') } })
  mock.onSpeech(/./, { audio: spoken.toString('base64'), format: 'wav' })
  mock.onTranscription({ transcription: transcript })
  mock.onTranslation({
    transcription: { text: 'Good morning.', usage: { type: 'duration', seconds: 2 } },
  })
  mock.onModerate(/hurt/, { flagged: true, categories: { violence: true } })
  const url = await mock.start()
  const models = {
    painter: { kind: 'image', prices: { image: '40000' } },
    speaker: { kind: 'speech', prices: { character: '15' } },
    listener: { kind: 'transcription', prices: { second: '100' } },
    judge: { kind: 'moderation', prices: { request: '2' } },
  }
  const names = Object.keys(models)
  gateway = await startGateway({
    config: {
      channels: [
        { id: 'main', vendor: 'openai', baseUrl: `${url}/v1`, key: 'sk-up', models: names },
      ],
      models,
    },
  })
  client = openaiClient(gateway.url)
})
afterAll(async () => {
  await gateway.stop()
  await mock.stop()
})

/** The charge of the newest request, in nano-units, once its row is there. */
async function charged(response: Response): Promise<bigint> {
  return (await gateway.row(response.headers.get('x-request-id') ?? '')).chargeNano
}

describe('images', () => {
  const size = ({ data }: OpenAI.ImagesResponse) => {
    const bytes = Buffer.from(data?.[0]?.b64_json ?? '', 'base64')
    return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
  }

  test('generate', async () => {
    const asked = { model: 'painter', prompt: 'a boat', response_format: 'b64_json' } as const
    const { data, response } = await client.images.generate(asked).withResponse()
    expect(size(data)).toEqual([1024, 1024])
    expect(await charged(response)).toBe(40_000_000n)
  })

  test('edit', async () => {
    const image = await toFile(png(64, 64), 'a.png', { type: 'image/png' })
    const asked = {
      model: 'painter',
      prompt: 'a boat',
      image,
      response_format: 'b64_json',
    } as const
    const { data, response } = await client.images.edit(asked).withResponse()
    expect(size(data)).toEqual([1024, 1024])
    expect(await charged(response)).toBe(40_000_000n)
  })
})

describe('sound', () => {
  test('speech is passed on byte for byte and paid by characters', async () => {
    const input = 'Grüße 🌍'
    const asked = { model: 'speaker', input, voice: 'alloy', response_format: 'wav' } as const
    const { data, response } = await client.audio.speech.create(asked).withResponse()
    expect(data.headers.get('content-type')).toBe('audio/wav')
    expect(Buffer.from(await data.arrayBuffer()).equals(spoken)).toBeTrue()
    expect(await charged(response)).toBe(7n * 15_000n)
  })

  test('a transcript with its segments, paid by seconds', async () => {
    const file = await toFile(wav(7), 'speech.wav', { type: 'audio/wav' })
    const asked = { model: 'listener', file, response_format: 'verbose_json' } as const
    const { data, response } = await client.audio.transcriptions.create(asked).withResponse()
    expect(data.text).toBe(transcript.text)
    expect(data.segments?.map(({ start, end }) => [start, end])).toEqual([
      [0, 1.25],
      [1.5, 4.5],
    ])
    // The vendor counts nothing, so the length of the file counts.
    expect(await charged(response)).toBe(700_000n)
  })

  test('a translation', async () => {
    const file = await toFile(wav(3), 'speech.wav', { type: 'audio/wav' })
    const asked = { model: 'listener', file, response_format: 'json' } as const
    const { data, response } = await client.audio.translations.create(asked).withResponse()
    expect(data.text).toBe('Good morning.')
    // The vendor's count, not the size of what was sent.
    expect(await charged(response)).toBe(200_000n)
  })
})

test.each([
  ['hello', false],
  ['I will hurt you', true],
])('moderation of %p', async (input, flagged) => {
  const asked = client.moderations.create({ model: 'judge', input })
  const { data, response } = await asked.withResponse()
  expect(data.results.map((result) => result.flagged)).toEqual([flagged])
  expect(await charged(response)).toBe(2_000n)
})
