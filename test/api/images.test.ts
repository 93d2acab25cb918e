// Tests images in OpenAI's own format through a real gateway: sizes, forms of the reply, streams, and cost.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import type OpenAI from 'openai'
import { toFile } from 'openai'
import { openaiClient } from '../support/clients.ts'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'
import { billed } from '../support/price-oracle.ts'
import { expectRefusal } from '../support/requests.ts'
import { png } from '../support/samples.ts'
import { json, reply, type Step, startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let gateway: Gateway
let client: OpenAI

const models = {
  'dall-e-3': {
    'image/1024x1024/standard': '40000',
    'image/1024x1024/hd': '80000',
    'image/1792x1024/standard': '80000',
    'image/1792x1024/hd': '120000',
    'image/1024x1792/standard': '80000',
    'image/1024x1792/hd': '120000',
  },
  'dall-e-2': {
    'image/256x256': '16000',
    'image/512x512': '18000',
    'image/1024x1024': '20000',
  },
  'gpt-image-1': { input: '5', imageInput: '10', output: '40', imageOutput: '40' },
  'gpt-image-2': { input: '5', output: '30' },
  'half-priced': { 'image/1024x1024/standard': '40000' },
} as const
type Name = keyof typeof models

const poorKey = 'sk-poor-0123456789abcdef'

const names = Object.keys(models)

/** What the vendor answers next; set by each test. */
let answer: Step

beforeAll(async () => {
  upstream = await startUpstream()
  upstream.on('*', [(turn) => answer(turn)])
  gateway = await startGateway({
    config: {
      channels: [
        {
          id: 'main',
          vendor: 'openai',
          baseUrl: upstream.url,
          key: 'sk-images-vendor-secret',
          models: {
            ...Object.fromEntries(names.map((name) => [name, name])),
            drawn: 'dall-e-3',
            own: 'gpt-image-1',
          },
        },
      ],
      keys: [
        { name: 'test', secret: testKey },
        { name: 'poor', secret: poorKey, account: 'poor' },
      ],
      accounts: { poor: { credit: '0.1' } },
      models: Object.fromEntries(
        Object.entries(models).map(([name, prices]) => [name, { kind: 'image', prices }]),
      ),
    },
  })
  client = openaiClient(gateway.url)
})
afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})

const picture = png(1024, 1024)
const b64 = picture.toString('base64')
beforeEach(() => {
  answer = json(200, { created: 1, data: [{ b64_json: b64 }] })
})

/** Width and height from the PNG itself. */
function dimensions(bytes: Uint8Array): [number, number] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  expect(Buffer.from(bytes.subarray(1, 4)).toString('latin1')).toBe('PNG')
  return [view.getUint32(16), view.getUint32(20)]
}

function generate(body: object): Promise<Response> {
  return gateway.post('/v1/images/generations', { prompt: 'a cat', ...body })
}

/** The record of a request, whose charge must match the price list for its own counts. */
async function recorded(requestId: string | null | undefined, model: Name) {
  const row = await gateway.row(requestId ?? '')
  const { input, output, imageInput, imageOutput, units } = row
  const counts = { input, output, imageInput, imageOutput }
  const authorization = {
    prices: models[model],
    multiplier: '1',
    tokens: counts,
    units: units ?? {},
  }
  expect(BigInt(row.chargeNano)).toBe(billed(authorization))
  return { counts, units, row }
}

describe('sizes of the specification', () => {
  const squares = ['256x256', '512x512', '1024x1024']
  const table: Record<string, readonly string[]> = {
    'dall-e-3': ['1024x1024', '1792x1024', '1024x1792'],
    'dall-e-2': squares,
    'gpt-image-1': ['1024x1024', '1536x1024', '1024x1536'],
  }
  const all = [...new Set(Object.values(table).flat()), '2048x2048', '1024', 'large', '1024X1024']
  const rows = Object.entries(table).flatMap(([model, sizes]) =>
    all.map((size) => [model, size, sizes.includes(size)] as const),
  )

  test.each(rows)('%s %s: %p', async (model, size, allowed) => {
    const before = upstream.requests.length
    const response = await generate({ model, size })
    if (allowed) {
      expect(response.status).toBe(200)
      const asked = JSON.parse(upstream.requests.at(-1)?.body.toString() ?? '')
      expect(asked).toEqual({ model, size, prompt: 'a cat' })
      return
    }
    const error = await expectRefusal(response, 400, 'invalid_request_error')
    expect(error.param).toBe('size')
    for (const offered of table[model] ?? []) expect(error.message).toContain(offered)
    expect(upstream.requests.length).toBe(before)
  })

  test.each([
    ['dall-e-3', { quality: 'high' }, 'quality', /standard, hd/],
    ['dall-e-2', { quality: 'high' }, 'quality', /standard/],
    ['gpt-image-1', { quality: 'max' }, 'quality', /low, medium, high/],
    ['dall-e-3', { size: 'auto' }, 'size', /1792x1024/],
    ['dall-e-3', { n: 2 }, 'n', /at most 1/],
    ['gpt-image-1', { n: 11 }, 'n', /1 and 10/],
    ['gpt-image-2', { size: '1000x1000' }, 'size', /multiples of 16/],
    ['drawn', { size: '512x512' }, 'size', /1792x1024/],
  ])('%s refuses %j', async (model, body, param, says) => {
    const error = await expectRefusal(
      await generate({ model, ...body }),
      400,
      'invalid_request_error',
    )
    expect(error.param).toBe(param)
    expect(error.message).toMatch(says)
  })
})

describe("the older models' words for qualities", () => {
  const asked = () => upstream.requests.at(-1)
  test.each([
    ['gpt-image-1', 'standard', 'medium'],
    ['gpt-image-1', 'hd', 'high'],
    ['gpt-image-2', 'hd', 'high'],
    ['dall-e-2', 'hd', 'standard'],
    ['dall-e-3', 'hd', 'hd'],
    ['own', 'hd', 'high'],
  ])('%s %s goes out as %s, as JSON and in a form', async (model, quality, sent) => {
    const more = model === 'dall-e-2' ? { response_format: 'b64_json' } : {}
    const response = await generate({ model, quality, ...more })
    expect(await response.json()).toMatchObject({ data: [{ b64_json: b64 }] })
    expect(JSON.parse(asked()?.body.toString() ?? '')).toMatchObject({ quality: sent })
    if (model === 'dall-e-3') return
    const form = new FormData()
    for (const [name, value] of Object.entries({ model, quality, prompt: 'a hat', ...more }))
      form.set(name, value)
    form.set('image', new File([new Uint8Array(picture)], 'a.png', { type: 'image/png' }))
    const headers = { authorization: `Bearer ${gateway.key}` }
    const url = `${gateway.url}/v1/images/edits`
    const edited = await fetch(url, { method: 'POST', headers, body: form })
    expect(edited.status).toBe(200)
    const body = asked()?.body.toString('latin1') ?? ''
    expect(/name="quality"\r\n\r\n(\w+)/.exec(body)?.[1]).toBe(sent)
  })

  test('an image is held and charged by the quality it is made in', async () => {
    const { headers } = await generate({ model: 'dall-e-2', quality: 'hd', size: '256x256' })
    const seen = await recorded(headers.get('x-request-id'), 'dall-e-2')
    expect(seen.units).toEqual({ 'image/256x256/standard': 1 })
  })
})

describe('what is charged', () => {
  test.each([
    ['dall-e-3', { size: '1792x1024', quality: 'hd' }, { 'image/1792x1024/hd': 1 }, '120000000'],
    ['dall-e-3', {}, { 'image/1024x1024/standard': 1 }, '40000000'],
    [
      'dall-e-2',
      { size: '256x256', quality: 'standard' },
      { 'image/256x256/standard': 1 },
      '16000000',
    ],
  ] as const)('%s %j: %j', async (model, body, units, nano) => {
    const response = await generate({ model, ...body })
    expect(response.status).toBe(200)
    await response.bytes()
    const seen = await recorded(response.headers.get('x-request-id'), model)
    expect(seen.units).toEqual(units)
    expect(String(seen.row.chargeNano)).toBe(nano)
  })

  test('an image that the card has no price for is refused before the work', async () => {
    const before = upstream.requests.length
    const asked = { model: 'half-priced', size: '1024x1024', quality: 'hd' }
    const response = await generate(asked)
    const error = await expectRefusal(response, 503, 'service_unavailable')
    expect(error.message).toContain('image/1024x1024/hd')
    expect(upstream.requests.length).toBe(before)
    expect((await generate({ ...asked, quality: 'standard' })).status).toBe(200)
  })

  test('what is held grows with quality, size and number', async () => {
    const headers = { authorization: `Bearer ${poorKey}` }
    const ask = (more: object) =>
      gateway.post(
        '/v1/images/generations',
        { model: 'gpt-image-1', prompt: 'a cat', size: '1024x1024', ...more },
        { headers },
      )
    // 272, 1,056 and 4,160 tokens at 40 a million: 0.011, 0.042 and 0.166 of 0.1.
    const [low, medium] = [await ask({ quality: 'low' }), await ask({ quality: 'medium' })]
    expect([low.status, medium.status]).toEqual([200, 200])
    const before = upstream.requests.length
    for (const more of [{ quality: 'high' }, {}, { quality: 'medium', n: 3 }])
      await expectRefusal(await ask(more), 429, 'insufficient_quota')
    expect(upstream.requests.length).toBe(before)
  })

  test('as many as came, where fewer came than were asked for', async () => {
    answer = json(200, { created: 1, data: [{ b64_json: b64 }, { b64_json: b64 }] })
    const response = await generate({ model: 'dall-e-2', n: 3, size: '512x512' })
    await response.bytes()
    const seen = await recorded(response.headers.get('x-request-id'), 'dall-e-2')
    expect(seen.units).toEqual({ 'image/512x512/standard': 2 })
  })

  test('tokens of text and of images, as the vendor tells them', async () => {
    const usage = {
      input_tokens: 50,
      input_tokens_details: { text_tokens: 10, image_tokens: 40 },
      output_tokens: 4_160,
      total_tokens: 4_210,
    }
    answer = json(200, { created: 1, data: [{ b64_json: b64 }], usage })
    const response = await generate({ model: 'gpt-image-1', quality: 'high' })
    await response.bytes()
    const seen = await recorded(response.headers.get('x-request-id'), 'gpt-image-1')
    expect(seen.counts).toEqual({ input: 10, imageInput: 40, output: 0, imageOutput: 4_160 })
    expect(seen.row.usageSource).toBe('reported')
  })

  test('of a reply of megabytes: its usage at the end, its images counted as they pass', async () => {
    const large = Buffer.concat([picture, Buffer.alloc(1_500_000, 1)]).toString('base64')
    const usage = { input_tokens: 9, output_tokens: 8_320, total_tokens: 8_329 }
    const data = [{ b64_json: large }, { b64_json: large }]
    answer = json(200, { created: 1, data, quality: 'high', size: '1024x1024', usage })
    const response = await generate({ model: 'gpt-image-1', n: 4 })
    const body = (await response.json()) as { data: { b64_json: string }[] }
    expect(body.data.map(({ b64_json }) => b64_json === large)).toEqual([true, true])
    const seen = await recorded(response.headers.get('x-request-id'), 'gpt-image-1')
    expect(seen.counts).toMatchObject({ input: 9, imageOutput: 8_320 })
  })
})

describe('url and b64_json', () => {
  test('a GPT image model is never told of response_format', async () => {
    for (const response_format of ['b64_json', 'url']) {
      const response = await generate({ model: 'gpt-image-1', response_format, size: '1024x1024' })
      expect(response.status).toBe(200)
      await response.bytes()
      const asked = JSON.parse(upstream.requests.at(-1)?.body.toString() ?? '')
      expect(asked).toEqual({ model: 'gpt-image-1', prompt: 'a cat', size: '1024x1024' })
      expect(upstream.requests.at(-1)?.target).toBe('/v1/images/generations')
    }
  })

  test('an address of the gateway serves the very image', async () => {
    const usage = { input_tokens: 9, output_tokens: 4_160, total_tokens: 4_169 }
    answer = json(200, { created: 1, data: [{ b64_json: b64 }], quality: 'high', usage })
    const { data: reply, request_id } = await client.images
      .generate({ model: 'gpt-image-1', prompt: 'a cat', response_format: 'url' })
      .withResponse()
    const address = reply.data?.[0]?.url ?? ''
    expect(address).toStartWith(`${gateway.url}/`)
    expect(reply.data?.[0]?.b64_json).toBeUndefined()
    expect(reply).toMatchObject({ quality: 'high', usage })
    const fetched = await fetch(address)
    expect(fetched.headers.get('content-type')).toBe('image/png')
    const bytes = await fetched.bytes()
    expect(picture.equals(bytes)).toBe(true)
    expect(dimensions(bytes)).toEqual([1024, 1024])
    const seen = await recorded(request_id, 'gpt-image-1')
    expect(seen.counts).toMatchObject({ input: 9, imageOutput: 4_160 })
  })

  test('base64 asked of a GPT image model passes as it came', async () => {
    const large = Buffer.concat([picture, Buffer.alloc(3_000_000, 1)]).toString('base64')
    const usage = { input_tokens: 9, output_tokens: 4_160, total_tokens: 4_169 }
    answer = json(200, { created: 1, data: [{ b64_json: large }], usage })
    const { data: reply, request_id } = await client.images
      .generate({ model: 'gpt-image-1', prompt: 'a cat', response_format: 'b64_json' })
      .withResponse()
    expect(reply.data?.[0]?.b64_json === large).toBe(true)
    const seen = await recorded(request_id, 'gpt-image-1')
    expect(seen.counts).toMatchObject({ input: 9, imageOutput: 4_160 })
  })

  test('the older models are left to their own addresses', async () => {
    answer = json(200, { created: 1, data: [{ url: 'https://vendor.example/a.png' }] })
    const reply = await client.images.generate({ model: 'dall-e-2', prompt: 'a cat' })
    expect(reply.data?.[0]?.url).toBe('https://vendor.example/a.png')
  })

  test('an error of the vendor is told where the adapter asked', async () => {
    const error = {
      message: 'Your request was rejected by the safety system.',
      type: 'image_generation_user_error',
      param: null,
      code: 'moderation_blocked',
    }
    for (const response_format of ['b64_json', 'url']) {
      answer = json(400, { error })
      const response = await generate({ model: 'gpt-image-1', response_format })
      const refusal = await expectRefusal(response, 400, 'moderation_blocked')
      expect(refusal.message).toContain('safety system')
      const row = await gateway.row(response.headers.get('x-request-id') ?? '')
      expect(String(row.chargeNano)).toBe('0')
    }
  })
})

describe('streams', () => {
  const partial = (at: number) => ({
    type: 'image_generation.partial_image',
    b64_json: b64,
    created_at: 1,
    size: '1024x1024',
    quality: 'high',
    background: 'opaque',
    output_format: 'png',
    partial_image_index: at,
  })
  const usage = {
    input_tokens: 12,
    input_tokens_details: { text_tokens: 12, image_tokens: 0 },
    output_tokens: 4_360,
    total_tokens: 4_372,
  }
  const { partial_image_index: _index, ...head } = partial(0)
  const completed = { ...head, type: 'image_generation.completed', usage }
  const frames = (...events: readonly { readonly type: string }[]) =>
    reply(
      200,
      events.map((each) => `event: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`).join(''),
      'content-type: text/event-stream',
    )

  test('images on the way and the image, as the official SDK reads them', async () => {
    answer = frames(partial(0), partial(1), completed)
    const { data: stream, request_id } = await client.images
      .generate({ model: 'gpt-image-1', prompt: 'a cat', stream: true, partial_images: 2 })
      .withResponse()
    const seen: string[] = []
    for await (const each of stream) {
      seen.push(each.type)
      expect(dimensions(Buffer.from(each.b64_json, 'base64'))).toEqual([1024, 1024])
      if (each.type === 'image_generation.completed') expect(each.usage).toEqual(usage)
    }
    expect(seen).toEqual([
      'image_generation.partial_image',
      'image_generation.partial_image',
      'image_generation.completed',
    ])
    const { counts, row } = await recorded(request_id, 'gpt-image-1')
    expect(counts).toEqual({ input: 12, imageInput: 0, output: 0, imageOutput: 4_360 })
    expect(row).toMatchObject({ stream: true, status: 200, usageSource: 'reported' })
  })

  test('an image of megabytes in one event', async () => {
    const large = Buffer.concat([picture, Buffer.alloc(8_000_000, 1)]).toString('base64')
    answer = frames({ ...completed, b64_json: large } as typeof completed)
    const response = await generate({ model: 'gpt-image-1', stream: true })
    const text = await response.text()
    expect(JSON.parse(text.split('\ndata: ')[1] ?? '').b64_json === large).toBe(true)
    const { counts } = await recorded(response.headers.get('x-request-id'), 'gpt-image-1')
    expect(counts.imageOutput).toBe(4_360)
  })

  test('an image that breaks off in the middle ends in an error', async () => {
    const large = Buffer.alloc(2_000_000, 1).toString('base64')
    const text = `event: ${completed.type}\ndata: ${JSON.stringify({ ...completed, b64_json: large })}`
    answer = reply(200, text.slice(0, 1_500_000), 'content-type: text/event-stream')
    const response = await generate({ model: 'gpt-image-1', stream: true })
    const frames = (await response.text()).split('\n\n')
    expect(frames).toHaveLength(3)
    expect(JSON.parse(frames[1]?.slice('data: '.length) ?? '').error.code).toBe(
      'service_unavailable',
    )
    const { row } = await recorded(response.headers.get('x-request-id'), 'gpt-image-1')
    expect(String(row.chargeNano)).toBe('0')
  })

  test('one that breaks off before its image ends in an error', async () => {
    answer = frames(partial(0))
    const response = await generate({ model: 'gpt-image-1', stream: true })
    expect(await response.text()).toContain('"error"')
    const { row } = await recorded(response.headers.get('x-request-id'), 'gpt-image-1')
    expect(String(row.chargeNano)).toBe('0')
  })
})

describe('images that are given', () => {
  const cat = () => toFile(picture, 'cat.png', { type: 'image/png' })
  const form = async () => {
    const { headers, body } = upstream.requests.at(-1) ?? { headers: new Map(), body: Buffer.of() }
    const type = headers.get('content-type') ?? ''
    return new Response(Uint8Array.from(body), { headers: { 'content-type': type } }).formData()
  }

  test('edited by form, hosted', async () => {
    const reply = await client.images.edit({
      model: 'gpt-image-1',
      prompt: 'a hat',
      image: [await cat(), await cat()],
      mask: await cat(),
      response_format: 'url',
    })
    const fields = await form()
    expect([...new Set(fields.keys())].sort()).toEqual(['image[]', 'mask', 'model', 'prompt'])
    const [first] = fields.getAll('image[]') as File[]
    expect(picture.equals((await first?.bytes()) ?? Buffer.of())).toBe(true)
    const fetched = await fetch(reply.data?.[0]?.url ?? '')
    expect(picture.equals(await fetched.bytes())).toBe(true)
  })

  test('edited by JSON', async () => {
    const images = [{ image_url: `data:image/png;base64,${b64}` }]
    const response = await gateway.post('/v1/images/edits', {
      model: 'gpt-image-1',
      prompt: 'a hat',
      images,
    })
    expect(response.status).toBe(200)
    const asked = JSON.parse(upstream.requests.at(-1)?.body.toString() ?? '')
    expect(asked).toEqual({ model: 'gpt-image-1', prompt: 'a hat', images })
  })

  test('variations of one, by the model that makes them', async () => {
    const { request_id } = await client.images
      .createVariation({ model: 'dall-e-2', image: await cat(), n: 1, size: '256x256' })
      .withResponse()
    expect((await form()).get('size')).toBe('256x256')
    const { units } = await recorded(request_id, 'dall-e-2')
    expect(units).toEqual({ 'image/256x256/standard': 1 })
  })

  test.each([
    ['/v1/images/variations', 'gpt-image-1'],
    ['/v1/images/variations', 'dall-e-3'],
    ['/v1/images/edits', 'dall-e-3'],
  ])('%s refuses %s', async (path, model) => {
    const body = new FormData()
    body.set('model', model)
    body.set('prompt', 'a hat')
    body.set('image', new File([Uint8Array.from(picture)], 'cat.png', { type: 'image/png' }))
    const headers = { authorization: `Bearer ${gateway.key}` }
    const response = await fetch(`${gateway.url}${path}`, { method: 'POST', headers, body })
    expect((await expectRefusal(response, 400, 'invalid_request_error')).param).toBe('model')
  })
})
