// Tests every endpoint other than text on the sandbox with the official SDK: results are decoded, and charged to the
// nano-unit.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI, { toFile } from 'openai'
import { seeFlac, seeMp3, seeMp4, seePng, seeWav } from '../../src/vendors/sandbox/media/testing.ts'
import { eventually, openaiClient } from '../support/clients.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'

let gateway: Gateway
let client: OpenAI

beforeAll(async () => {
  gateway = await startGateway()
  client = openaiClient(gateway.url)
})
afterAll(() => gateway.stop())

interface Answer<Data> {
  readonly data: Data
  readonly request_id: string | null
}

/** The answer, once its charge has the expected amount. */
async function paid<Data>(
  nano: bigint,
  asked: { withResponse(): Promise<Answer<Data>> },
): Promise<Data> {
  const { data, request_id: id } = await asked.withResponse()
  const row = await gateway.row(id ?? 'none')
  expect([row.chargeNano, row.writeoffNano, row.status]).toEqual([nano, 0n, 200])
  return data
}

/** The charge of a reply that is read to its end before it is settled. */
async function paidLater(nano: bigint, response: Response): Promise<void> {
  const row = await gateway.row(response.headers.get('x-request-id') ?? 'none')
  expect([row.chargeNano, row.status]).toEqual([nano, 200])
}

const bytesOf = async (response: Response) => new Uint8Array(await response.arrayBuffer())

/** $0.001 each. */
const image = 1_000_000n
/** $1.50 for a million. */
const character = 1_500n
/** $0.00001 each. */
const second = 10_000n

describe('images', () => {
  const ask = { model: 'sandbox/image', prompt: 'a red cat on a mat' }

  test.each(['1024x1024', '1536x1024', '1024x1536', '256x256'] as const)('of %s', async (size) => {
    const made = client.images.generate({ ...ask, size, n: 3, response_format: 'b64_json' })
    const { data } = await paid(3n * image, made)
    const [width, height] = size.split('x').map(Number)
    expect(data).toHaveLength(3)
    for (const { b64_json } of data ?? [])
      expect(seePng(Uint8Array.fromBase64(b64_json ?? ''))).toMatchObject({ width, height })
  })

  test('by address, which serves the same bytes', async () => {
    const made = (response_format: 'url' | 'b64_json') =>
      paid(image, client.images.generate({ ...ask, size: '256x256', response_format }))
    const [byUrl, inline] = [await made('url'), await made('b64_json')]
    const fetched = await fetch(byUrl.data?.[0]?.url ?? '')
    expect(fetched.headers.get('content-type')).toBe('image/png')
    expect((await bytesOf(fetched)).toBase64()).toBe(inline.data?.[0]?.b64_json ?? 'none')
  })

  test('as events, partly first', async () => {
    const body = { ...ask, size: '256x256', stream: true, partial_images: 2 } as const
    const { data: stream, response } = await client.images.generate(body).withResponse()
    const types: string[] = []
    for await (const event of stream) {
      types.push(event.type)
      const seen = seePng(Uint8Array.fromBase64(event.b64_json))
      expect([seen.width, seen.height]).toEqual([256, 256])
      if (event.type === 'image_generation.completed')
        expect(event.usage.total_tokens).toBe(event.usage.input_tokens + 64)
    }
    expect(types).toEqual([
      'image_generation.partial_image',
      'image_generation.partial_image',
      'image_generation.completed',
    ])
    await paidLater(image, response)
  })

  test('edited and varied, from an upload', async () => {
    const first = await client.images.generate({
      ...ask,
      size: '256x256',
      response_format: 'b64_json',
    })
    const bytes = Uint8Array.fromBase64(first.data?.[0]?.b64_json ?? '')
    const upload = () => toFile(bytes, 'cat.png', { type: 'image/png' })
    const edit = client.images.edit({
      ...ask,
      image: [await upload(), await upload()],
      response_format: 'b64_json',
    })
    const variation = client.images.createVariation({
      model: 'sandbox/image',
      image: await upload(),
      n: 2,
      response_format: 'b64_json',
    })
    const edited = await paid(image, edit)
    const varied = await paid(2n * image, variation)
    expect([edited.data?.length, varied.data?.length]).toEqual([1, 2])
    for (const { b64_json } of [...(edited.data ?? []), ...(varied.data ?? [])])
      expect(seePng(Uint8Array.fromBase64(b64_json ?? ''))).toMatchObject({
        width: 256,
        height: 256,
      })
  })
})

describe('sound', () => {
  const input = 'The quick brown fox jumps over the lazy dog, and rests.'
  const ask = { model: 'sandbox/speech', voice: 'alloy', input }
  const seconds = input.length / 15
  const cost = BigInt(input.length) * character

  async function speak(response_format: 'mp3' | 'wav' | 'flac' | 'pcm') {
    const response = await client.audio.speech.create({ ...ask, response_format })
    const bytes = await bytesOf(response)
    await paidLater(cost, response)
    return { bytes, type: response.headers.get('content-type') }
  }

  test('is spoken in every format, and as long as the text', async () => {
    const [mp3, wav, flac, pcm] = [
      await speak('mp3'),
      await speak('wav'),
      await speak('flac'),
      await speak('pcm'),
    ]
    expect(seeMp3(mp3.bytes).seconds).toBeCloseTo(seconds, 1)
    expect(seeWav(wav.bytes).seconds).toBeCloseTo(seconds, 3)
    expect(seeFlac(flac.bytes).seconds).toBeCloseTo(seconds, 3)
    expect(pcm.bytes.length / 48_000).toBeCloseTo(seconds, 3)
    expect([mp3.type, wav.type, flac.type, pcm.type]).toEqual([
      'audio/mpeg',
      'audio/wav',
      'audio/flac',
      'audio/pcm',
    ])
  })

  test('is spoken as events', async () => {
    const response = await client.audio.speech.create({
      ...ask,
      response_format: 'wav',
      stream_format: 'sse',
    })
    const events = (await response.text())
      .split('\n\n')
      .filter((frame) => frame !== '')
      .map((frame) => JSON.parse(frame.slice('data: '.length)))
    const deltas = events.filter(({ type }) => type === 'speech.audio.delta')
    const bytes = Buffer.concat(deltas.map(({ audio }) => Buffer.from(audio, 'base64')))
    expect(seeWav(new Uint8Array(bytes)).seconds).toBeCloseTo(seconds, 3)
    expect(events.at(-1)).toMatchObject({ type: 'speech.audio.done' })
    await paidLater(cost, response)
  })

  describe('that is heard', () => {
    const model = 'sandbox/transcription'
    const inputCost = BigInt(Math.ceil(seconds)) * second
    const file = async () => {
      const { bytes } = await speak('wav')
      return toFile(bytes, 'fox.wav', { type: 'audio/wav' })
    }

    test('is written down as JSON, and with every word', async () => {
      const create = async () => ({ model, file: await file() })
      const plain = await paid(inputCost, client.audio.transcriptions.create(await create()))
      const { text, duration, segments, words } = await paid(
        inputCost,
        client.audio.transcriptions.create({
          ...(await create()),
          response_format: 'verbose_json',
          timestamp_granularities: ['segment', 'word'],
        }),
      )
      expect(text).toBe(plain.text)
      expect(Number(duration)).toBeCloseTo(seconds, 3)
      expect(segments?.at(-1)?.end).toBeCloseTo(seconds, 3)
      expect(words?.map(({ word }) => word).join(' ')).toBe(text)
      expect(words?.at(-1)?.end).toBeCloseTo(seconds, 3)
    })

    test.each(['srt', 'vtt'] as const)('has subtitles: %s', async (response_format) => {
      const body = { model, file: await file(), response_format }
      const subtitles = await paid(inputCost, client.audio.transcriptions.create(body))
      const [comma] = response_format === 'srt' ? [','] : ['.']
      const times = [...subtitles.matchAll(/(\d\d):(\d\d):(\d\d)[,.](\d{3})/g)].map(
        ([, hours, minutes, rest, millis]) =>
          Number(hours) * 3_600 + Number(minutes) * 60 + Number(rest) + Number(millis) / 1_000,
      )
      expect(subtitles).toContain(comma ?? '')
      expect(subtitles.startsWith(response_format === 'srt' ? '1\n' : 'WEBVTT')).toBe(true)
      expect(times[0]).toBe(0)
      expect(times.at(-1)).toBeCloseTo(seconds, 3)
      expect(times).toEqual(times.toSorted((a, b) => a - b))
    })

    test('is written down as text, by speaker, and as events', async () => {
      const form = async () => ({ model, file: await file() })
      const create = client.audio.transcriptions
      const text = await paid(
        inputCost,
        create.create({ ...(await form()), response_format: 'text' }),
      )
      const said = String(text).trim()
      const diarized = await paid(
        inputCost,
        create.create({ ...(await form()), response_format: 'diarized_json' }),
      )
      const { segments } = diarized as unknown as OpenAI.Audio.TranscriptionDiarized
      expect(segments.map(({ speaker }) => speaker).join('')).toBe('A')
      const { data: stream, response } = await create
        .create({ ...(await form()), stream: true })
        .withResponse()
      let streamed = ''
      let done = ''
      for await (const event of stream) {
        if (event.type === 'transcript.text.delta') streamed += event.delta
        if (event.type === 'transcript.text.done') done = event.text
      }
      expect([streamed, done]).toEqual([said, said])
      await paidLater(inputCost, response)
    })

    test('is translated', async () => {
      const body = { model, file: await file() }
      const { text } = await paid(inputCost, client.audio.translations.create(body))
      expect(text).toStartWith('The sandbox of Tollgate translates fox.wav')
    })
  })
})

test('moderations', async () => {
  const input = ['I like you', 'I will kill you']
  const asked = client.moderations.create({ model: 'sandbox/moderation', input })
  const { results } = await paid(10_000n, asked)
  expect(results.map(({ flagged }) => flagged)).toEqual([false, true])
  expect(results[1]?.categories.violence).toBe(true)
})

test('each of its models is listed, and refused where another kind is asked', async () => {
  const listed: string[] = []
  for await (const { id } of client.models.list()) listed.push(id)
  for (const name of ['image', 'transcription', 'speech', 'moderation', 'video'])
    expect(listed).toContain(`sandbox/${name}`)
  const wrong = await client.images
    .generate({ model: 'sandbox/speech', prompt: 'a cat' })
    .catch((reason: unknown) => reason)
  expect(wrong).toMatchObject({ status: 400, param: 'model' })
})

test('its faults are those of a vendor: nothing is charged', async () => {
  const error = await client.images
    .generate({ model: 'sandbox/image+fault=503', prompt: 'a cat' })
    .catch((reason: unknown) => reason)
  if (!(error instanceof OpenAI.APIError)) throw error
  expect(error.status).toBe(503)
  const row = await gateway.row(error.requestID ?? 'none')
  expect([row.chargeNano, row.errorCode]).toEqual([0n, 'service_unavailable'])
})

test('a video is made, seen and paid for by the second', async () => {
  const ask = {
    model: 'sandbox/video',
    prompt: 'a red cat',
    seconds: '4',
    size: '720x1280',
  } as const
  const { data: begun, request_id: id } = await client.videos.create(ask).withResponse()
  const made = await eventually(async () => {
    const video = await client.videos.retrieve(begun.id)
    return video.status === 'completed' ? video : undefined
  })
  expect(made).toMatchObject({ seconds: '4', size: '720x1280' })
  const film = await bytesOf(await client.videos.downloadContent(made.id))
  expect(seeMp4(film)).toMatchObject({ width: 720, height: 1280, seconds: 4 })
  // $0.001 a second.
  expect((await gateway.row(id ?? 'none')).chargeNano).toBe(4_000_000n)
})
