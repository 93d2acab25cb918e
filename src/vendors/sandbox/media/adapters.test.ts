// Tests the sandbox's results other than text: as requested, equal for equal requests, and faulty if a fault was
// requested.

import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../../wire/ir.ts'
import type { ImagesReply, MediaReply, TranscriptReply, Upload } from '../../media.ts'
import { png } from './png.ts'
import { sceneOf } from './scene.ts'
import { collect, payloadOf, serve, standIn } from './stand-in.ts'
import { seeFlac, seeJpeg, seeMp3, seePng, seeWav } from './testing.ts'

const text = (bytes: readonly Uint8Array[]) => new TextDecoder().decode(Buffer.concat(bytes))

function images(reply: MediaReply): ImagesReply {
  if (reply.kind !== 'images') throw new Error(`a reply of ${reply.kind}`)
  return reply
}

function bytesOf(reply: MediaReply, index = 0): Uint8Array {
  const payload = images(reply).images[index]?.payload
  if (payload === undefined) throw new Error('no bytes')
  return payload.read(0, payload.size)
}

async function sound(fields: JsonObject): Promise<Uint8Array> {
  const reply = await serve('openai-speech', { model: 'sandbox/speech', ...fields })
  if (reply.kind !== 'sound') throw new Error(`a reply of ${reply.kind}`)
  return Buffer.concat(await collect(reply.chunks))
}

const upload = (field: string, bytes: Uint8Array, type: string): Upload => ({
  field,
  name: 'a file',
  payload: payloadOf(bytes, type),
  seconds: null,
})

describe('images', () => {
  const ask = { model: 'sandbox/image', prompt: 'a cat' }

  test('have the size asked for, the usual one where none is, and are as many', async () => {
    const sizes = [
      [undefined, 1024, 1024],
      ['auto', 1024, 1024],
      ['1536x1024', 1536, 1024],
      ['256x512', 256, 512],
    ] as const
    for (const [size, width, height] of sizes) {
      const reply = await serve('openai-images', { ...ask, ...(size && { size }), n: 2 })
      expect(images(reply).images).toHaveLength(2)
      expect(seePng(bytesOf(reply))).toMatchObject({ width, height })
      expect(images(reply).said).toMatchObject({
        size: `${width}x${height}`,
        output_format: 'png',
      })
      expect(bytesOf(reply, 1)).not.toEqual(bytesOf(reply))
    }
  })

  test('are the same for the same request, JPEG or clear where asked, and PNG in place of webp', async () => {
    const of = async (more: JsonObject) =>
      await serve('openai-images', { ...ask, size: '64x64', ...more })
    expect(bytesOf(await of({}))).toEqual(bytesOf(await of({})))
    expect(seePng(bytesOf(await of({ background: 'transparent' }))).clear).toBe(true)
    const jpeg = await of({ output_format: 'jpeg' })
    expect(seeJpeg(bytesOf(jpeg))).toMatchObject({ width: 64, height: 64 })
    expect(images(jpeg).images[0]?.payload?.type).toBe('image/jpeg')
    const webp = await of({ output_format: 'webp' })
    expect(images(webp).said).toMatchObject({ output_format: 'png' })
  })

  test('of another size are refused, and the field is named', async () => {
    for (const size of ['0x10', '4097x10', 'large', '10', '10x10x10'])
      await expect(serve('openai-images', { ...ask, size })).rejects.toMatchObject({
        code: 'invalid_request_error',
        detail: { param: 'size' },
      })
  })

  test('made of another have its size, and depend on its bytes', async () => {
    const source = (name: string) => png(sceneOf(name), { width: 48, height: 32 })
    const edited = async (bytes: Uint8Array) =>
      bytesOf(
        await serve(
          'openai-image-edits',
          { ...ask, size: 'auto' },
          {
            uploads: [
              upload('image', bytes, 'image/png'),
              upload('mask', source('m'), 'image/png'),
            ],
          },
        ),
      )
    expect(seePng(await edited(source('a')))).toMatchObject({ width: 48, height: 32 })
    expect(await edited(source('a'))).not.toEqual(await edited(source('b')))
    const varied = await serve(
      'openai-image-variations',
      { model: 'sandbox/image', n: 2 },
      {
        uploads: [upload('image', Uint8Array.of(1, 2, 3), 'image/jpeg')],
      },
    )
    expect(images(varied).images).toHaveLength(2)
    expect(images(varied).usage).toMatchObject({
      input_tokens_details: { image_tokens: 256, text_tokens: 0 },
    })
  })

  test('as a stream come partly first, then whole, with what they cost at the end', async () => {
    const asked = { ...ask, size: '64x64', n: 2, stream: true, partial_images: 2 }
    const reply = await serve('openai-images', asked)
    if (reply.kind !== 'plain') throw new Error(`a reply of ${reply.kind}`)
    const events = text(await collect(reply.chunks))
      .split('\n\n')
      .filter((frame) => frame !== '')
      .map((frame) => JSON.parse(frame.split('\ndata: ')[1] ?? ''))
    const partial = 'image_generation.partial_image'
    const completed = 'image_generation.completed'
    expect(events.map(({ type }) => type)).toEqual([
      ...[partial, partial, completed],
      ...[partial, partial, completed],
    ])
    expect(events.map(({ partial_image_index: index }) => index)).toEqual([
      0,
      1,
      undefined,
      0,
      1,
      undefined,
    ])
    for (const { b64_json } of events)
      expect(seePng(Uint8Array.fromBase64(b64_json))).toMatchObject({ width: 64, height: 64 })
    expect(events[0].b64_json).not.toBe(events[2].b64_json)
    expect(events.filter(({ usage }) => usage !== undefined)).toHaveLength(1)
    expect(events.at(-1).usage.output_tokens).toBe(8)
  })
})

describe('speech', () => {
  const input = 'x'.repeat(150)

  test('lasts as long as the text takes, in the format asked for', async () => {
    expect(seeMp3(await sound({ input })).seconds).toBeCloseTo(10, 1)
    expect(seeWav(await sound({ input, response_format: 'wav' })).seconds).toBe(10)
    expect(seeFlac(await sound({ input, response_format: 'flac' })).seconds).toBe(10)
    expect((await sound({ input, response_format: 'pcm' })).length).toBe(480_000)
    expect(seeWav(await sound({ input, response_format: 'wav', speed: 2 })).seconds).toBe(5)
  })

  test('in a format that is not made here is refused, and those that are named', async () => {
    for (const response_format of ['opus', 'aac', 'ogg'])
      await expect(sound({ input, response_format })).rejects.toMatchObject({
        message: 'The sandbox makes sound as mp3, wav, flac, pcm',
        detail: { param: 'response_format' },
      })
  })
})

describe('transcripts', () => {
  const bytes = new Uint8Array(80_000)
  const file = (seconds: number | null): Upload => ({
    ...upload('file', bytes, 'audio/mpeg'),
    seconds,
  })
  const transcript = async (seconds: number | null, fields: JsonObject = {}) => {
    const ask = { model: 'sandbox/transcription', ...fields }
    const reply = await serve('openai-transcriptions', ask, { uploads: [file(seconds)] })
    return reply as TranscriptReply
  }

  test('spread over the time of the upload without a gap, word by word', async () => {
    for (const seconds of [0.3, 5, 61.234, 3_600]) {
      const { segments, words, text: said, usage, seconds: reported } = await transcript(seconds)
      expect(reported).toBe(seconds)
      expect(usage).toEqual({ type: 'duration', seconds: Math.ceil(seconds) })
      for (const parts of [segments ?? [], words ?? []]) {
        expect(parts[0]?.start).toBe(0)
        expect(parts.at(-1)?.end).toBe(seconds)
        for (const [at, part] of parts.entries())
          if (at > 0) expect(part.start).toBe(parts[at - 1]?.end ?? -1)
      }
      expect(segments?.map((each) => each.text).join(' ')).toBe(said)
      expect(words?.map((each) => each.word).join(' ')).toBe(said)
    }
  })

  test('of what does not say how long it is are guessed from its size', async () => {
    expect((await transcript(null)).seconds).toBe(10)
  })

  test('take turns, are in the language asked for, and in English where translated', async () => {
    const { segments, language } = await transcript(20, { language: 'de' })
    expect(segments?.map(({ speaker }) => speaker)).toEqual(['A', 'B', 'A', 'B', 'A'])
    expect(language).toBe('de')
    const ask = { model: 'sandbox/transcription', language: 'de' }
    const translated = await serve('openai-translations', ask, { uploads: [file(4)] })
    expect(translated).toMatchObject({ kind: 'transcript', language: 'english' })
  })

  test('without a file are refused', async () => {
    const ask = { model: 'sandbox/transcription' }
    await expect(serve('openai-transcriptions', ask)).rejects.toMatchObject({
      detail: { param: 'file' },
    })
  })
})

describe('faults', () => {
  const picture = (fault: string) => ({ model: `sandbox/image+fault=${fault}`, size: '8x8' })
  const said = { model: 'sandbox/speech+fault=', input: 'x'.repeat(60), response_format: 'pcm' }
  const spoken = async (fault: string, at = standIn()) => {
    const reply = await serve('openai-speech', { ...said, model: `${said.model}${fault}` }, { at })
    if (reply.kind !== 'sound') throw new Error(`a reply of ${reply.kind}`)
    return reply
  }

  test('of an answer are errors of the status asked for', async () => {
    for (const status of [400, 401, 403, 404, 429, 500, 503])
      await expect(serve('openai-images', picture(String(status)))).rejects.toMatchObject({
        fault: { status },
      })
    await expect(serve('openai-images', picture('quota'))).rejects.toMatchObject({
      fault: { message: expect.stringContaining('insufficient_quota') },
    })
  })

  test('of the connection are faults of that kind', async () => {
    for (const kind of ['unreachable', 'reset'])
      await expect(serve('openai-images', picture(kind))).rejects.toMatchObject({ fault: { kind } })
  })

  test('that hang last as long as the request', async () => {
    const at = standIn(5)
    await expect(serve('openai-images', picture('hang'), { at })).rejects.toThrow('has ended')
    expect(at.waits).toEqual([1_000, 1_000, 1_000, 1_000, 1_000])
  })

  test('of a whole reply put something else in its place', async () => {
    const body = async (fault: string) => {
      const reply = await serve('openai-images', picture(fault))
      if (reply.kind !== 'plain') throw new Error(`a reply of ${reply.kind}`)
      return text(await collect(reply.chunks))
    }
    expect(await body('empty')).toBe('')
    expect(await body('invalid')).toBe('<html>not JSON</html>')
    expect(JSON.parse(await body('error-event')).error.type).toBe('server_error')
    await expect(body('cut')).rejects.toMatchObject({ fault: { kind: 'cut' } })
    expect(images(await serve('openai-images', picture('no-usage'))).usage).toBeNull()
  })

  test('within sound come after as many pieces as asked', async () => {
    const { chunks } = await spoken('cut+after=2')
    const pieces: Uint8Array[] = []
    const take = async () => {
      for await (const chunk of chunks) pieces.push(chunk)
    }
    await expect(take()).rejects.toMatchObject({ fault: { kind: 'cut' } })
    expect(pieces.map(({ length }) => length)).toEqual([48_000, 48_000])
    expect(await collect((await spoken('empty')).chunks)).toEqual([])
    const halves = await collect((await spoken('split')).chunks)
    expect(halves.map(({ length }) => length)).toEqual(new Array(8).fill(24_000))
    expect((await spoken('no-usage')).usage()).toBeNull()
    const stalled = standIn(3)
    await expect(collect((await spoken('stall', stalled)).chunks)).rejects.toThrow('has ended')
    expect(stalled.waits).toEqual([1_000, 1_000, 1_000])
  })

  test('within events are an event that is none, or an error', async () => {
    const events = async (fault: string) => {
      const ask = { ...picture(fault), stream: true, partial_images: 2 }
      const reply = await serve('openai-images', ask)
      if (reply.kind !== 'plain') throw new Error(`a reply of ${reply.kind}`)
      return (await collect(reply.chunks)).map((chunk) => text([chunk]))
    }
    expect((await events('invalid+after=2')).at(-1)).toBe('data: {"type":\n\n')
    expect(await events('error-event')).toEqual([
      expect.stringContaining('partial_image'),
      expect.stringContaining('"server_error"'),
    ])
  })

  test('beside them the pace is kept: first, and between pieces', async () => {
    const at = standIn()
    const model = 'sandbox/speech+first=70+gap=30'
    const reply = await serve('openai-speech', { ...said, model }, { at })
    if (reply.kind !== 'sound') throw new Error(`a reply of ${reply.kind}`)
    await collect(reply.chunks)
    expect(at.waits).toEqual([70, 30, 30, 30])
  })

  test('an operation is answered by its own model alone', async () => {
    await expect(serve('openai-images', { model: 'sandbox/speech' })).rejects.toMatchObject({
      fault: { kind: 'unknown_model' },
    })
  })
})
