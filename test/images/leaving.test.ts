// Tests clients that take pictures sold by tokens and leave before the usage, which comes last.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { authorized, eventually } from '../support/clients.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { billed } from '../support/price-oracle.ts'
import { png } from '../support/samples.ts'
import { portOf, post, RawClient } from '../support/socket.ts'
import {
  chunk,
  event,
  hang,
  head,
  json,
  send,
  sseHead,
  startUpstream,
  type Upstream,
} from '../support/upstream.ts'

const prices = { input: '5', imageInput: '10', imageOutput: '40' }
/** What OpenAI states for a high quality of this size. */
const [size, quality, tokensEach] = ['1024x1536', 'high', 6_240] as const
let upstream: Upstream
let gateway: Gateway

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({
    config: {
      channels: [
        {
          id: 'c',
          vendor: 'openai-compatible',
          baseUrl: upstream.url,
          key: 'sk-c',
          models: ['m-*'],
        },
        {
          id: 'g',
          vendor: 'google',
          baseUrl: upstream.url.replace(/\/v1$/, ''),
          key: 'sk-g',
          models: ['gemini-2.5-flash-image'],
        },
      ],
      models: {
        'm-*': { kind: 'image', prices },
        'gemini-2.5-flash-image': { kind: 'image', prices },
      },
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})

async function begin(body: object): Promise<RawClient> {
  const client = await RawClient.open(portOf(gateway.url))
  const text = JSON.stringify({ prompt: 'a cat', size, quality, ...body })
  client.send(post('/v1/images/generations', authorized(gateway.key), text))
  return client
}

async function rowOf(model: string) {
  const row = await eventually(async () =>
    (await gateway.usage()).find(({ modelAsked }) => modelAsked === model),
  )
  const { input, imageInput, imageOutput } = row
  const tokens = { input, imageInput, imageOutput }
  expect(row.chargeNano).toBe(billed({ prices, multiplier: '1', tokens }))
  return row
}

test('a stream left after its partial pictures costs the picture', async () => {
  const partial = { type: 'image_generation.partial_image', b64_json: 'A'.repeat(50_000) }
  upstream.on('m-partial', [
    send(sseHead),
    ...[0, 1, 2].map((at) => send(event({ ...partial, partial_image_index: at }))),
    hang,
  ])
  const client = await begin({ model: 'm-partial', stream: true, partial_images: 3 })
  await client.until((received) => received.includes('"partial_image_index":2'))
  client.socket.destroy()
  expect(await rowOf('m-partial')).toMatchObject({
    ...{ status: 499, usageSource: 'counted', imageOutput: tokensEach + 300, output: 0 },
  })
})

test('a stream left after the first of four pictures costs all four', async () => {
  const usage = { input_tokens: 8, output_tokens: 5_000, total_tokens: 5_008 }
  const first = { type: 'image_generation.completed', b64_json: 'A'.repeat(50_000), usage }
  upstream.on('m-first', [send(sseHead), send(event(first)), hang])
  const client = await begin({ model: 'm-first', stream: true, n: 4 })
  await client.until((received) => received.includes('"total_tokens"'))
  client.socket.destroy()
  expect(await rowOf('m-first')).toMatchObject({
    ...{ status: 499, usageSource: 'counted', input: 8, imageOutput: 20_000, output: 0 },
  })
})

test('pictures that an adapter has whole cost the same to who leaves as to who stays', async () => {
  const image = Buffer.concat([png(64, 64), Buffer.alloc(3 << 20, 7)]).toString('base64')
  const parts = [{ inlineData: { mimeType: 'image/png', data: image } }]
  const usageMetadata = {
    promptTokenCount: 10,
    candidatesTokenCount: 1_290,
    candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1_290 }],
  }
  const drawn = json(200, { candidates: [{ content: { parts } }], usageMetadata })
  upstream.on('*', [drawn])
  for (const stream of [false, true]) {
    const client = await begin({
      ...{ model: 'gemini-2.5-flash-image', n: 5, stream, size: '1024x1024', quality: undefined },
      response_format: 'b64_json',
    })
    await client.until((received) => received.length > 2 << 20)
    client.socket.destroy()
  }
  const rows = await eventually(async () => {
    const usage = await gateway.usage()
    const left = usage.filter(({ modelAsked }) => modelAsked === 'gemini-2.5-flash-image')
    return left.length === 2 ? left : undefined
  })
  for (const row of rows)
    expect(row).toMatchObject({ status: 499, usageSource: 'reported', imageOutput: 6_450 })
})

test('a whole reply left before its end costs all pictures', async () => {
  upstream.on('m-whole', [
    send(head(200, 'content-type: application/json', 'transfer-encoding: chunked')),
    send(chunk(`{"created":1,"data":[{"b64_json":"${'A'.repeat(3 << 20)}`)),
    hang,
  ])
  const client = await begin({ model: 'm-whole', n: 4 })
  await client.until((received) => received.length > 1 << 20)
  client.socket.destroy()
  expect(await rowOf('m-whole')).toMatchObject({
    ...{ status: 499, usageSource: 'counted', imageOutput: 4 * tokensEach },
  })
})

test('a reply without usage costs what was asked for', async () => {
  upstream.on('m-silent', [json(200, { created: 1, data: [{ b64_json: 'AAAA' }] })])
  const client = await begin({ model: 'm-silent' })
  await client.until((received) => received.includes('b64_json'))
  client.socket.destroy()
  expect(await rowOf('m-silent')).toMatchObject({
    ...{ status: 200, usageSource: 'counted', imageOutput: tokensEach },
  })
})

test('pictures of a form that is left count as well', async () => {
  upstream.on('*', [send(sseHead), send(event({ type: 'image_edit.partial_image' })), hang])
  const form = new FormData()
  for (const [name, value] of Object.entries({ model: 'm-edit', prompt: 'a hat', stream: 'true' }))
    form.append(name, value)
  form.append('image', new File([new Uint8Array(png(64, 64))], 'cat.png', { type: 'image/png' }))
  const stop = new AbortController()
  const headers = { authorization: `Bearer ${gateway.key}` }
  const reply = await fetch(`${gateway.url}/v1/images/edits`, {
    ...{ method: 'POST', body: form, headers, signal: stop.signal },
  })
  expect(reply.status).toBe(200)
  stop.abort()
  const row = await rowOf('m-edit')
  expect(row).toMatchObject({ status: 499, usageSource: 'counted', imageOutput: tokensEach })
  expect(row.imageInput).toBeGreaterThan(1_000)
})
