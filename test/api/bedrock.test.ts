// Tests what clients of every format may ask of models at Bedrock, and what is sent there.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { json, startUpstream, type Upstream } from '../support/upstream.ts'

const claude = 'anthropic.claude-sonnet-4-5-20250929-v1:0'
let upstream: Upstream
let gateway: Gateway

function reply(...content: readonly object[]) {
  return {
    output: { message: { role: 'assistant', content } },
    stopReason: 'end_turn',
    usage: { inputTokens: 7, outputTokens: 5, totalTokens: 12 },
  }
}

beforeAll(async () => {
  upstream = await startUpstream()
  upstream.on('*', [json(200, reply({ text: 'A cat.' }))])
  const at = { vendor: 'bedrock', baseUrl: upstream.url, key: 'k' }
  const options = { imageBuckets: 'open, second' }
  gateway = await startGateway({
    config: {
      channels: [
        { ...at, id: 'closed', models: { closed: claude } },
        { ...at, id: 'open', models: { open: claude }, options },
      ],
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})

function sent(): Record<string, unknown> {
  return JSON.parse(upstream.requests.at(-1)?.body.toString() ?? '') as Record<string, unknown>
}

test.each([
  ['closed', 's3://open/cat.png', false],
  ['open', 's3://open/cat.png', true],
  ['open', 's3://second/a/cat.jpg', true],
  ['open', 's3://other/open/cat.png', false],
  ['open', 's3://open.other/cat.png', false],
])('channel %s: a picture at %s is read with its rights: %p', async (model, url, taken) => {
  const before = upstream.requests.length
  const fileData = { mimeType: 'image/png', fileUri: url }
  const replies = [
    await gateway.post('/v1/messages', {
      model,
      max_tokens: 9,
      messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url } }] }],
    }),
    await gateway.post(`/v1beta/models/${model}:generateContent`, {
      contents: [{ role: 'user', parts: [{ fileData }] }],
    }),
  ]
  expect(replies.map(({ status }) => status)).toEqual(taken ? [200, 200] : [400, 400])
  expect(upstream.requests.length - before).toBe(taken ? 2 : 0)
  if (taken) expect(JSON.stringify(sent())).toContain(`{"s3Location":{"uri":"${url}"}}`)
})
