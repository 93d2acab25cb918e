// Tests the specification's tables other than text, row by row: sizes, qualities, counts and forms of images, videos,
// and the catalogue by kind.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import OpenAI, { toFile } from 'openai'
import { bflImages, geminiImages, openaiImages } from '../conformance/media/images.ts'
import { given } from '../conformance/media/made.ts'
import { startOpenaiVideos } from '../conformance/media/others.ts'
import { type MediaVendors, startMediaVendors, vendorKey } from '../conformance/media/server.ts'
import { openaiClient } from '../support/clients.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { pngSize } from '../support/pictures.ts'

const imageModels = {
  openai: ['dall-e-3', 'dall-e-2', 'gpt-image-1'],
  bfl: ['flux-pro-1.1', 'flux-dev'],
  google: ['gemini-3-pro-image'],
}
const filmModels = ['film-portrait', 'film-landscape']

const films = startOpenaiVideos()
let vendors: MediaVendors
let gateway: Gateway
let client: OpenAI

beforeAll(async () => {
  vendors = startMediaVendors({
    openai: openaiImages,
    bfl: bflImages(),
    google: geminiImages,
    films: films.service,
  })
  const channel = (id: string, vendor: string, below: string, models: unknown) => ({
    id,
    vendor,
    baseUrl: vendors.place(id) + below,
    key: vendorKey,
    models,
  })
  const drawn = Object.values(imageModels).flat()
  const drawing = { kind: 'image', prices: { image: '40000', input: '5', imageOutput: '40' } }
  const filming = { kind: 'video', prices: { second: '100000' } }
  gateway = await startGateway({
    config: {
      channels: [
        channel('openai', 'openai', '/v1', imageModels.openai),
        channel('bfl', 'bfl', '/v1', imageModels.bfl),
        channel('google', 'google', '/v1beta', imageModels.google),
        channel(
          'films',
          'openai',
          '/v1',
          Object.fromEntries(filmModels.map((name) => [name, 'sora-2'])),
        ),
      ],
      models: Object.fromEntries([
        ...drawn.map((name) => [name, drawing]),
        ...filmModels.map((name) => [name, filming]),
      ]),
    },
  })
  client = openaiClient(gateway.url)
})
afterAll(async () => {
  await gateway.stop()
  await vendors[Symbol.asyncDispose]()
  await films[Symbol.asyncDispose]()
})

const places = ['openai', 'bfl', 'google', 'films']
const sent = () => places.reduce((sum, place) => sum + vendors.asked(place), 0)

/** 400 for this field; no vendor gets the request, nothing is held, nothing is charged. */
async function refused(asked: Promise<unknown>, param: string): Promise<string> {
  const before = sent()
  const error = await asked.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof OpenAI.BadRequestError)) throw new Error(`no 400: ${String(error)}`)
  expect({ code: error.code, type: error.type, param: error.param }).toEqual({
    code: 'invalid_request_error',
    type: 'invalid_request_error',
    param,
  })
  expect(error.headers?.get('retry-after')).toBeNull()
  expect(sent()).toBe(before)
  const row = await gateway.row(error.requestID ?? '')
  // Only admitted requests have a price, and only priced requests are held for.
  expect(row).toMatchObject({ status: 400, priceVersion: null, chargeNano: 0n, attempts: 0 })
  return error.message
}

async function sizesOf({ data = [] }: OpenAI.ImagesResponse): Promise<string[]> {
  const files = data.map(async ({ b64_json, url }) =>
    b64_json === undefined
      ? new Uint8Array(await (await fetch(url ?? '')).arrayBuffer())
      : Buffer.from(b64_json, 'base64'),
  )
  return (await Promise.all(files)).map(pngSize)
}

type Operation = 'generations' | 'edits' | 'variations'
type More = Readonly<Record<string, unknown>>

/** The request as a client may send it, whatever its types say. */
async function draw(
  operation: Operation,
  model: string,
  more: More,
): Promise<OpenAI.ImagesResponse> {
  const body = { model, prompt: 'a cat', ...more }
  if (operation === 'generations')
    return client.images.generate(body as OpenAI.ImageGenerateParamsNonStreaming)
  const image = await toFile(given, 'cat.png', { type: 'image/png' })
  if (operation === 'edits')
    return client.images.edit({ ...body, image } as OpenAI.ImageEditParamsNonStreaming)
  const { prompt: _none, ...rest } = body
  return client.images.createVariation({ ...rest, image } as OpenAI.ImageCreateVariationParams)
}

/** Limits, "Supported image sizes"; M2 "supports edit and variants". */
const m1 = { model: 'dall-e-3', sizes: ['1024x1024', '1792x1024', '1024x1792'] }
const m2 = { model: 'dall-e-2', sizes: ['256x256', '512x512', '1024x1024'] }
const m3 = { model: 'gpt-image-1', sizes: ['1024x1024', '1536x1024', '1024x1536'] }
const operations: readonly (readonly [Operation, typeof m1])[] = [
  ['generations', m1],
  ['generations', m2],
  ['generations', m3],
  ['edits', m2],
  ['edits', m3],
  ['variations', m2],
]
const others = ['2048x2048', '1x1', '1024', '1024X1024', ' 1024x1024', 'large']
const everySize = [...new Set([...m1.sizes, ...m2.sizes, ...m3.sizes, ...others])]

describe('sizes of M1, M2 and M3', () => {
  const rows = operations.flatMap(([operation, { model, sizes }]) =>
    everySize.map((size) => [operation, model, size, sizes] as const),
  )

  test.each(rows)('%s %s %s', async (operation, model, size, sizes) => {
    const asked = draw(operation, model, { size, response_format: 'b64_json' })
    if (sizes.includes(size)) {
      expect(await sizesOf(await asked)).toEqual([size])
      return
    }
    const message = await refused(asked, 'size')
    expect([...(message.match(/\d+x\d+/g) ?? [])]).toEqual(sizes)
  })

  test.each([
    ['edits', 'dall-e-3'],
    ['variations', 'dall-e-3'],
    ['variations', 'gpt-image-1'],
  ] as const)('%s are not made by %s, and it says which are', async (operation, model) => {
    expect(await refused(draw(operation, model, {}), 'model')).toContain('/v1/images/generations')
  })
})

describe('the other image models', () => {
  test.each([
    ['flux-pro-1.1', '1024x1024', '1024x1024'],
    ['flux-pro-1.1', '1440x1440', '1440x1440'],
    ['flux-pro-1.1', '768x1344', '768x1344'],
    ['flux-dev', '1344x768', '1344x768'],
    ['flux-dev', '256x256', '256x256'],
    ['gemini-3-pro-image', '1024x1024', '1024x1024'],
    ['gemini-3-pro-image', '2048x2048', '2048x2048'],
    ['gemini-3-pro-image', '4096x4096', '4096x4096'],
    ['gemini-3-pro-image', '1536x1024', '1248x832'],
    ['gemini-3-pro-image', '1920x1080', '1344x768'],
    ['gemini-3-pro-image', '1080x1920', '768x1344'],
  ])('%s makes %s', async (model, size, comes) => {
    const made = await draw('generations', model, { size, response_format: 'b64_json' })
    expect(await sizesOf(made)).toEqual([comes])
  })

  test.each([
    ['flux-pro-1.1', '1000x1000', 'multiples of 32'],
    ['flux-dev', '2048x2048', '256 to 1440'],
    ['gemini-3-pro-image', '8192x8192', '4K'],
    ['gemini-3-pro-image', '4000x1000', '21:9'],
  ])('%s refuses %s', async (model, size, says) => {
    expect(await refused(draw('generations', model, { size }), 'size')).toContain(says)
  })

  test('the one of 4K edits', async () => {
    const made = await draw('edits', 'gemini-3-pro-image', { response_format: 'b64_json' })
    expect(await sizesOf(made)).toEqual(['1024x1024'])
  })
})

describe('quality', () => {
  test.each([
    ['dall-e-3', 'standard'],
    ['dall-e-3', 'hd'],
    ['dall-e-2', 'standard'],
    ['dall-e-2', 'hd'],
    ['gpt-image-1', 'standard'],
    ['gpt-image-1', 'hd'],
    ['gemini-3-pro-image', 'standard'],
    ['gemini-3-pro-image', 'hd'],
    ['flux-dev', 'hd'],
    ['gpt-image-1', 'low'],
    ['gpt-image-1', 'high'],
  ])('%s %s', async (model, quality) => {
    expect(await sizesOf(await draw('generations', model, { quality }))).toHaveLength(1)
  })

  test.each([
    ['dall-e-3', 'high', 'standard, hd'],
    ['dall-e-3', 'HD', 'standard, hd'],
    ['dall-e-2', 'high', 'standard'],
    ['gpt-image-1', 'xhigh', 'low, medium, high'],
  ])('%s refuses %s', async (model, quality, says) => {
    expect(await refused(draw('generations', model, { quality }), 'quality')).toContain(says)
  })
})

describe('n', () => {
  test.each([
    ['dall-e-3', {}, 1],
    ['dall-e-2', {}, 1],
    ['dall-e-2', { n: null }, 1],
    ['dall-e-2', { n: 10 }, 10],
    ['gpt-image-1', {}, 1],
    ['gpt-image-1', { n: 3 }, 3],
    ['flux-dev', { n: 2, size: '256x256' }, 2],
  ])('%s %j: %p', async (model, more, count) => {
    const small = model === 'dall-e-2' ? { size: '256x256' } : {}
    expect(await sizesOf(await draw('generations', model, { ...small, ...more }))).toHaveLength(
      count,
    )
  })

  test.each([
    ['dall-e-3', 2],
    ['dall-e-2', 0],
    ['dall-e-2', -1],
    ['dall-e-2', 11],
    ['gpt-image-1', 1.5],
    ['gpt-image-1', '1'],
  ])('%s refuses %p', async (model, n) => {
    await refused(draw('generations', model, { n }), 'n')
  })
})

describe('response_format', () => {
  const models = ['dall-e-3', 'dall-e-2', 'gpt-image-1', 'flux-dev', 'gemini-3-pro-image']
  const rows = models.flatMap((model) =>
    (['url', 'b64_json'] as const).map((format) => [model, format] as const),
  )

  test.each(rows)('%s as %s, and as nothing else', async (model, response_format) => {
    const size = '1024x1024'
    const made = await draw('generations', model, { size, response_format })
    expect(made.created).toBeInteger()
    for (const image of made.data ?? []) {
      expect(image[response_format]).toBeString()
      expect(image[response_format === 'url' ? 'b64_json' : 'url']).toBeUndefined()
    }
    expect(await sizesOf(made)).toEqual([size])
  })

  test.each(['png', 'URL', '', 1])('%p is refused', async (response_format) => {
    const asked = draw('generations', 'dall-e-3', { response_format })
    const message = await refused(asked, 'response_format')
    if (typeof response_format === 'string') expect(message).toMatch(/url.*b64_json/)
  })
})

describe('two video models, one portrait and one landscape', () => {
  const begin = (model: string, size?: string) =>
    client.videos.create({
      model,
      prompt: 'a cat',
      ...(size !== undefined && { size }),
    } as OpenAI.Videos.VideoCreateParams)

  test.each([
    ['film-portrait', undefined, '720x1280'],
    ['film-portrait', '720x1280', '720x1280'],
    ['film-landscape', undefined, '1280x720'],
    ['film-landscape', '1280x720', '1280x720'],
  ])('%s %s', async (model, size, comes) => {
    const video = await begin(model, size)
    expect(video).toMatchObject({ object: 'video', model, size: comes, seconds: '4' })
  })

  test.each([
    ['film-portrait', '1280x720', '720x1280'],
    ['film-landscape', '720x1280', '1280x720'],
    ['film-portrait', '640x640', '720x1280'],
  ])('%s refuses %s', async (model, size, says) => {
    expect(await refused(begin(model, size), 'size')).toContain(says)
  })
})
