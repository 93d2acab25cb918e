// Tests vendors with their own image formats behind a real gateway: the official SDK's results, money, faults.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import { generateImage } from 'ai'
import type OpenAI from 'openai'
import { toFile } from 'openai'
import { aiProvider, eventually, openaiClient } from '../support/clients.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { billed } from '../support/price-oracle.ts'
import { expectRefusal } from '../support/requests.ts'
import { png } from '../support/samples.ts'
import {
  hang,
  json,
  type Received,
  reply,
  type Step,
  startUpstream,
  type Upstream,
} from '../support/upstream.ts'

const secret = 'key-of-the-vendors-4711-secret'
const tokens = { input: '0.3', output: '2.5', imageOutput: '30' }
const models = {
  'gemini-2.5-flash-image': { vendor: 'google', prices: tokens },
  'flux-dev': { vendor: 'bfl', prices: { image: '25000' } },
  'grok-imagine-image': { vendor: 'xai', prices: { image: '20000' } },
  'stable-image-core': { vendor: 'stability', prices: { image: '30000' } },
  'qwen-image': { vendor: 'dashscope', prices: { image: '35000' } },
  'local-bfl': { vendor: 'bfl', prices: { image: '25000' } },
  'local-flux': { vendor: 'openai-compatible', prices: { image: '5' } },
  'fal-ai/flux/dev': { vendor: 'fal', prices: { 'image/1024x1024': '25000', image: '100000' } },
} as const
type Name = keyof typeof models

let upstream: Upstream
let gateway: Gateway
let client: OpenAI
/** The vendor's answer to each request. */
let vendor: (request: Received) => Step

beforeAll(async () => {
  upstream = await startUpstream()
  upstream.on('*', [(turn) => vendor(turn.request)(turn)])
  for (const name of Object.keys(models)) upstream.on(name, [(turn) => vendor(turn.request)(turn)])
  const base = upstream.url.replace(/\/v1$/, '')
  gateway = await startGateway({
    config: {
      timeouts: { replyMs: 2_500 },
      channels: Object.entries(models).map(([name, each]) => ({
        id: name,
        vendor: each.vendor,
        baseUrl: each.vendor === 'dashscope' ? `${base}/compatible-mode/v1` : base,
        key: secret,
        models: [name],
      })),
      models: Object.fromEntries(
        Object.entries(models).map(([name, { prices }]) => [name, { kind: 'image', prices }]),
      ),
    },
  })
  client = openaiClient(gateway.url)
})
afterAll(async () => {
  expect(gateway.stderr).not.toContain(secret)
  expect(gateway.stderr).not.toContain('internal error:')
  await gateway.stop()
  await upstream.close()
})

const picture = png(1248, 832)
const b64 = picture.toString('base64')
let asked = 0
beforeEach(() => {
  asked = upstream.requests.length
})

const gemini = json(200, {
  candidates: [
    {
      content: { parts: [{ inlineData: { mimeType: 'image/png', data: b64 } }] },
      finishReason: 'STOP',
    },
  ],
  usageMetadata: {
    promptTokenCount: 8,
    candidatesTokenCount: 1_290,
    candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1_290 }],
  },
})

function dimensions(bytes: Uint8Array): [number, number] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return [view.getUint32(16), view.getUint32(20)]
}

async function charged(requestId: string | null | undefined, model: Name) {
  const row = await gateway.row(requestId ?? '')
  const { input, output, imageInput, imageOutput, units } = row
  const counts = { input, output, imageInput, imageOutput }
  const { prices } = models[model]
  expect(BigInt(row.chargeNano)).toBe(
    billed({ prices, multiplier: '1', tokens: counts, units: units ?? {} }),
  )
  expect(row.status).toBe(200)
  return { counts, units, nano: String(row.chargeNano) }
}

function generate(model: Name, more: object = {}): Promise<Response> {
  return gateway.post('/v1/images/generations', { model, prompt: 'a cat', ...more })
}

describe('Gemini', () => {
  test('several images, hosted; tokens of all calls', async () => {
    vendor = () => gemini
    const { data: reply, request_id } = await client.images
      .generate({ model: 'gemini-2.5-flash-image', prompt: 'a cat', n: 2, size: '1536x1024' })
      .withResponse()
    expect(upstream.requests.length - asked).toBe(2)
    expect(upstream.requests.at(-1)?.headers.get('x-goog-api-key')).toBe(secret)
    expect(reply.data).toHaveLength(2)
    for (const { url = '' } of reply.data ?? []) {
      expect(url).toStartWith(gateway.url)
      const bytes = await (await fetch(url)).bytes()
      expect(picture.equals(bytes)).toBe(true)
      expect(dimensions(bytes)).toEqual([1248, 832])
    }
    expect(reply.usage).toMatchObject({ input_tokens: 16, output_tokens: 2_580 })
    const { counts, nano } = await charged(request_id, 'gemini-2.5-flash-image')
    expect(counts).toEqual({ input: 16, imageInput: 0, output: 0, imageOutput: 2_580 })
    expect(nano).toBe('77404800')
  })

  test('what it has no word for is named', async () => {
    vendor = () => gemini
    const more = { style: 'vivid', user: 'u', background: 'auto', quality: 'hd' }
    const response = await generate('gemini-2.5-flash-image', more)
    expect(response.status).toBe(200)
    expect(response.headers.get('x-tollgate-dropped')).toBe('style, user, quality')
    await response.bytes()
  })

  test('edits by form, as base64', async () => {
    vendor = () => gemini
    const image = await toFile(picture, 'cat.png', { type: 'image/png' })
    const reply = await client.images.edit({
      model: 'gemini-2.5-flash-image',
      prompt: 'a hat',
      image,
      response_format: 'b64_json',
    })
    expect(reply.data?.[0]?.b64_json).toBe(b64)
    const { contents } = JSON.parse(upstream.requests.at(-1)?.body.toString() ?? '')
    const data = Buffer.from(contents[0].parts[0].inlineData.data, 'base64')
    expect(picture.equals(data)).toBe(true)
    expect(contents[0].parts[1]).toEqual({ text: 'a hat' })
  })

  test('a stream has an event for each image', async () => {
    vendor = () => gemini
    const { data: stream, request_id } = await client.images
      .generate({ model: 'gemini-2.5-flash-image', prompt: 'a cat', n: 2, stream: true })
      .withResponse()
    const totals: number[] = []
    for await (const each of stream) {
      if (each.type !== 'image_generation.completed') throw new Error(each.type)
      expect(each.b64_json).toBe(b64)
      expect(each.output_format).toBe('png')
      totals.push(each.usage.total_tokens)
    }
    expect(totals).toEqual([0, 2_596])
    const { counts } = await charged(request_id, 'gemini-2.5-flash-image')
    expect(counts).toMatchObject({ input: 16, imageOutput: 2_580 })
  })

  test('what it refuses is refused', async () => {
    vendor = () => json(200, { promptFeedback: { blockReason: 'SAFETY' } })
    const response = await generate('gemini-2.5-flash-image')
    await expectRefusal(response, 400, 'content_policy_violation')
  })

  test('its own errors are read as such', async () => {
    const error = { code: 400, status: 'INVALID_ARGUMENT', message: 'the prompt is too long' }
    vendor = () => json(400, { error })
    const response = await generate('gemini-2.5-flash-image')
    const refusal = await expectRefusal(response, 400, 'invalid_request_error')
    expect(refusal.message).toContain('the prompt is too long')
  })
})

describe('other vendors', () => {
  test('Stability and xAI: bytes hosted, or as base64', async () => {
    vendor = ({ target }) =>
      target.startsWith('/v2beta')
        ? json(200, { image: b64, finish_reason: 'SUCCESS' })
        : json(200, { data: [{ b64_json: b64 }] })
    for (const model of ['stable-image-core', 'grok-imagine-image'] as const) {
      const { data: hosted, request_id } = await client.images
        .generate({ model, prompt: 'a cat', size: '1536x1024' })
        .withResponse()
      const bytes = await (await fetch(hosted.data?.[0]?.url ?? '')).bytes()
      expect(dimensions(bytes)).toEqual([1248, 832])
      const { units } = await charged(request_id, model)
      expect(units).toEqual({ 'image/1536x1024': 1 })
      const asBase64 = { model, prompt: 'a cat', response_format: 'b64_json' } as const
      expect((await client.images.generate(asBase64)).data?.[0]?.b64_json).toBe(b64)
    }
    const [stability, , xai] = upstream.requests.slice(asked)
    expect(stability?.headers.get('authorization')).toBe(`Bearer ${secret}`)
    expect(stability?.headers.get('accept')).toBe('application/json')
    expect(stability?.headers.get('content-type')).toStartWith('multipart/form-data; boundary=')
    expect(JSON.parse(xai?.body.toString() ?? '')).toMatchObject({ aspect_ratio: '3:2' })
  })

  test('a server that knows no streams answers in one piece, which becomes events', async () => {
    const whole = json(200, { created: 1, data: [{ b64_json: b64 }] })
    const event = { type: 'image_generation.completed', b64_json: b64 }
    const frame = `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
    const events = reply(200, frame, 'content-type: text/event-stream; charset=utf-8')
    for (const answer of [whole, events]) {
      vendor = () => answer
      const { data: stream, request_id } = await client.images
        .generate({ model: 'local-flux', prompt: 'a cat', stream: true })
        .withResponse()
      const seen: string[] = []
      for await (const each of stream) if (each.b64_json === b64) seen.push(each.type)
      expect(seen).toEqual(['image_generation.completed'])
      expect((await charged(request_id, 'local-flux')).nano).toBe('5000')
    }
    vendor = () => json(400, { error: { message: 'no streams here', type: 'x', code: null } })
    const response = await generate('local-flux', { stream: true })
    const refusal = await expectRefusal(response, 400, 'invalid_request_error')
    expect(refusal.message).toContain('no streams here')
  })

  test('the ai package makes images', async () => {
    vendor = () => gemini
    const { image } = await generateImage({
      model: aiProvider(gateway.url).imageModel('gemini-2.5-flash-image'),
      prompt: 'a cat',
      size: '1536x1024',
    })
    expect(dimensions(image.uint8Array)).toEqual([1248, 832])
  })

  test('fal: a job, its image inside its result', async () => {
    const root = upstream.url.replace(/\/v1$/, '/requests/1')
    vendor = ({ method, target }) => {
      if (method === 'POST') return json(200, { status_url: `${root}/status`, response_url: root })
      if (target.endsWith('/status')) return json(200, { status: 'COMPLETED' })
      return json(200, { images: [{ url: `data:image/png;base64,${b64}` }] })
    }
    const { data: reply, request_id } = await client.images
      .generate({ model: 'fal-ai/flux/dev', prompt: 'a cat' })
      .withResponse()
    expect(picture.equals(await (await fetch(reply.data?.[0]?.url ?? '')).bytes())).toBe(true)
    expect(upstream.requests.at(-1)?.headers.get('authorization')).toBe(`Key ${secret}`)
    const { nano } = await charged(request_id, 'fal-ai/flux/dev')
    expect(nano).toBe('25000000')
  })
})

describe('faults', () => {
  const job = (state: object) => (request: Received) =>
    request.method === 'POST'
      ? json(200, { id: 'j', polling_url: `${upstream.url}/get_result` })
      : json(200, state)
  const gone = { status: 'Ready', result: { sample: 'http://127.0.0.1:1/secret.png' } }
  const metadata = {
    status: 'Ready',
    result: { sample: 'http://169.254.169.254/latest/meta-data' },
  }

  test.each([
    ['moderated', job({ status: 'Request Moderated' }), 400, 'content_policy_violation'],
    ['failed', job({ status: 'Failed' }), 500, 'server_error'],
    ['never ending', job({ status: 'Pending' }), 503, 'service_unavailable'],
    ['without a result', job({ status: 'Ready', result: {} }), 503, 'service_unavailable'],
    ['with a result inside', job(gone), 503, 'service_unavailable'],
    ['with a result of the host', job(metadata), 503, 'service_unavailable'],
    ['that is a page', () => json(200, '<html>'), 503, 'service_unavailable'],
    [
      'at nobody’s address',
      () => json(200, { id: 'j', polling_url: 'http://10.0.0.1/' }),
      503,
      'service_unavailable',
    ],
    ['whose vendor says nothing', () => hang, 503, 'service_unavailable'],
    [
      'whose vendor refuses the key',
      () => json(403, { detail: secret }),
      503,
      'service_unavailable',
    ],
  ] as const)('a job %s', async (_what, answers, status, code) => {
    vendor = answers
    const response = await generate('flux-dev', { response_format: 'b64_json' })
    expect(upstream.requests.length).toBeGreaterThan(asked)
    const refusal = await expectRefusal(response, status, code)
    expect(refusal.message).not.toContain(secret)
    expect(refusal.message).not.toContain('127.0.0.1')
    const row = await gateway.row(response.headers.get('x-request-id') ?? '')
    expect(String(row.chargeNano)).toBe('0')
  })

  test('a client that leaves: the vendor is asked no more, and nothing is owed', async () => {
    vendor = job({ status: 'Pending' })
    const leaving = new AbortController()
    const asking = gateway.post(
      '/v1/images/generations',
      { model: 'local-bfl', prompt: 'a cat' },
      { signal: leaving.signal },
    )
    await upstream.arrived(asked + 2)
    leaving.abort()
    await expect(asking).rejects.toThrow()
    const row = await eventually(async () =>
      (await gateway.usage()).find(
        ({ modelAsked, status }) => modelAsked === 'local-bfl' && status === 499,
      ),
    )
    expect(String(row.chargeNano)).toBe('0')
  })

  test('nothing stays held for any of them', async () => {
    const headers = { authorization: `Bearer ${gateway.key}` }
    const heldNano = await eventually(async () => {
      const reply = await fetch(`${gateway.url}/api/me/balance`, { headers })
      const balance = (await reply.json()) as { heldNano: string }
      return balance.heldNano === '0' ? balance.heldNano : undefined
    })
    expect(heldNano).toBe('0')
  })
})
