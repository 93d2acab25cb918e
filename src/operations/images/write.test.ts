// Tests images in the forms that clients ask for: base64, addresses, events; and results that are not images.

import { describe, expect, test } from 'bun:test'
import type { Results } from '../../blobs/results.ts'
import { NotFetched } from '../../safe-fetch/safe-fetch.ts'
import type { MediaCall, Payload, Picture, Spool } from '../../vendors/media.ts'
import { MediaFault } from '../../vendors/media.ts'
import { writeImages } from './write.ts'

const bytes = Buffer.alloc(500_000, 7)

function held(type = 'image/png'): Payload {
  return { type, size: bytes.length, read: (start, end) => bytes.subarray(start, end) }
}

const spool: Spool = {
  keeper: () => {
    throw new Error('nothing is kept')
  },
  inMemory: () => held(),
  close: () => undefined,
}

function rooms(results: Partial<Results> = {}) {
  const nobody = () => Promise.reject(new Error('not asked for'))
  return {
    results: { host: nobody, fetchInto: nobody, judge: nobody, ...results },
    spool,
    account: 'acme',
    createdAt: 1_700_000_000,
  }
}

function call(fields: MediaCall['fields'], more: Partial<MediaCall> = {}): MediaCall {
  return { dialect: 'openai-images', model: 'm', fields, uploads: [], stream: false, ...more }
}

async function written(
  images: readonly Picture[],
  asked: MediaCall,
  results: Partial<Results> = {},
  said = {},
) {
  const usage = { input_tokens: 3, output_tokens: 4, total_tokens: 7 }
  const reply = { kind: 'images', images, usage, said } as const
  const { type, chunks } = await writeImages(reply, asked, rooms(results))
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return { type, text: Buffer.concat(parts).toString(), usage }
}

const hosting: Partial<Results> = {
  host: async (payload, account) => `https://gate/files/${account}/${payload.size}`,
}

describe('as it was asked for', () => {
  test('base64 of bytes, with what the vendor said', async () => {
    const asked = call({ response_format: 'b64_json' })
    const images = [{ payload: held(), revisedPrompt: 'a "cat"' }, { payload: held() }]
    const { type, text, usage } = await written(images, asked, {}, { size: '1x1' })
    expect(type).toBe('application/json')
    const b64_json = bytes.toString('base64')
    expect(JSON.parse(text)).toEqual({
      created: 1_700_000_000,
      data: [{ revised_prompt: 'a "cat"', b64_json }, { b64_json }],
      size: '1x1',
      usage,
    })
  })

  test.each([
    ['url', 'flux-pro', 'url'],
    [null, 'flux-pro', 'url'],
    [undefined, 'dall-e-3', 'url'],
    [undefined, 'gpt-image-1', 'b64_json'],
    ['url', 'gpt-image-1', 'url'],
    ['b64_json', 'dall-e-3', 'b64_json'],
  ])('response_format %p of %s: %s', async (format, model, member) => {
    const fields = format === undefined ? {} : { response_format: format }
    const { text } = await written([{ payload: held() }], call(fields, { model }), hosting)
    expect(Object.keys(JSON.parse(text).data[0])).toEqual([member])
    if (member === 'url')
      expect(JSON.parse(text).data[0].url).toBe('https://gate/files/acme/500000')
  })

  test.each(['url', 'b64_json'])('what is behind an address is fetched for %s', async (format) => {
    const asked: string[] = []
    const fetchInto = async (url: string) => {
      asked.push(url)
      return held()
    }
    const images = [{ url: 'https://vendor/a.png' }]
    const reply = await written(images, call({ response_format: format }), {
      ...hosting,
      fetchInto,
    })
    expect(asked).toEqual(['https://vendor/a.png'])
    expect(Object.keys(JSON.parse(reply.text).data[0])).toEqual([format])
    expect(reply.text).not.toContain('https://vendor')
  })
})

test('in a stream each image is one event, the last with what was used', async () => {
  const asked = call({ size: '1024x1024' }, { stream: true, dialect: 'openai-image-edits' })
  const { type, text, usage } = await written([{ payload: held() }, { payload: held() }], asked)
  expect(type).toBe('text/event-stream')
  const frames = text.split('\n\n').slice(0, -1)
  const events = frames.map((frame) => JSON.parse(frame.split('\ndata: ')[1] ?? ''))
  expect(frames.map((frame) => frame.split('\n')[0])).toEqual([
    'event: image_edit.completed',
    'event: image_edit.completed',
  ])
  expect(events[0].usage.total_tokens).toBe(0)
  expect(events[1]).toMatchObject({
    type: 'image_edit.completed',
    b64_json: bytes.toString('base64'),
    created_at: 1_700_000_000,
    size: '1024x1024',
    quality: 'auto',
    background: 'auto',
    output_format: 'png',
    usage,
  })
})

describe('what cannot be had is a fault of the vendor', () => {
  const b64 = call({ response_format: 'b64_json' })
  test.each([
    ['no image', [], {}],
    ['neither bytes nor address', [{}], {}],
    ['something else', [{ payload: held('text/html') }], {}],
    [
      'not fetched',
      [{ url: 'https://vendor/gone.png' }],
      { fetchInto: () => Promise.reject(new NotFetched('it answers 404')) },
    ],
  ] as [string, Picture[], Partial<Results>][])('%s', async (_name, images, results) => {
    const failure = written(images, b64, results)
    await expect(failure).rejects.toBeInstanceOf(MediaFault)
    await expect(failure).rejects.toMatchObject({ fault: { kind: 'unreadable' } })
  })
})
