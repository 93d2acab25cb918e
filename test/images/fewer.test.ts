// Tests streams of images that bring fewer than were asked for: what came is delivered and charged.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { png } from '../support/samples.ts'
import {
  event,
  json,
  reset,
  type Script,
  send,
  sseHead,
  startUpstream,
  type Upstream,
} from '../support/upstream.ts'

const b64 = png(64, 64).toString('base64')
const completed = { type: 'image_generation.completed', b64_json: b64 }
const partial = { type: 'image_generation.partial_image', b64_json: b64, partial_image_index: 0 }
let upstream: Upstream
let gateway: Gateway

beforeAll(async () => {
  upstream = await startUpstream()
  const channel = { vendor: 'openai-compatible', baseUrl: upstream.url, key: 'sk-c' }
  gateway = await startGateway({
    config: {
      channels: [
        { ...channel, id: 'c', models: ['m-*'] },
        { ...channel, id: 'o', vendor: 'openai', models: ['dall-e-2'] },
      ],
      models: {
        'm-*': { kind: 'image', prices: { image: '20000' } },
        'dall-e-2': { kind: 'image', prices: { image: '20000' } },
      },
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})

async function stream(model: string, n: number, script: Script) {
  upstream.on(model, script)
  const body = { model, n, prompt: 'a cat', stream: true }
  const response = await gateway.post('/v1/images/generations', body)
  const text = await response.text()
  const row = await gateway.row(response.headers.get('x-request-id') ?? '')
  return {
    images: text.split('"type":"image_generation.completed"').length - 1,
    failed: text.includes('"error"'),
    errorCode: row.errorCode,
    chargeNano: row.chargeNano,
    failedAttempts: row.failedAttempts?.length ?? 0,
  }
}

const well = { failed: false, errorCode: null, failedAttempts: 0 }
const cut = { failed: true, errorCode: 'service_unavailable', failedAttempts: 0 }

test('one of two, from a vendor that does not stream', async () => {
  const script = [json(200, { created: 1, data: [{ b64_json: b64 }] })]
  const seen = await stream('dall-e-2', 2, script)
  expect(seen).toEqual({ ...well, images: 1, chargeNano: 20_000_000n })
})

test('two of three, in events', async () => {
  const script = [send(sseHead), send(event(completed)), send(event(completed)), send('0\r\n\r\n')]
  const seen = await stream('m-fewer', 3, script)
  expect(seen).toEqual({ ...well, images: 2, chargeNano: 40_000_000n })
})

test('two of three before the connection breaks', async () => {
  const script = [send(sseHead), send(event(completed)), send(event(completed)), reset]
  const seen = await stream('m-reset', 3, script)
  expect(seen).toEqual({ ...cut, images: 2, chargeNano: 40_000_000n })
})

test('one of two, the second under way at the end', async () => {
  const script = [send(sseHead), send(event(completed)), send(event(partial)), send('0\r\n\r\n')]
  const seen = await stream('m-partial', 2, script)
  expect(seen).toEqual({ ...cut, images: 1, chargeNano: 20_000_000n })
})
