// Tests that models that answer several kinds of request are accepted at each of their endpoints and refused at the
// others.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ask } from '../support/clients.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { chatReply, json, startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let gateway: Gateway
const painter = 'gemini-2.5-flash-image'
const hearer = 'gemini-2.5-flash'

beforeAll(async () => {
  upstream = await startUpstream()
  for (const name of [painter, hearer]) upstream.on(name, [json(200, chatReply('Hello'))])
  gateway = await startGateway({
    config: {
      channels: [
        {
          id: 'main',
          vendor: 'openai-compatible',
          baseUrl: upstream.url,
          key: 'sk-up',
          models: [painter, hearer, 'whisper-1'],
        },
      ],
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})

test.each([painter, hearer])('%s chats', async (model) => {
  const reply = await gateway.post('/v1/chat/completions', { model, messages: ask('Hello') })
  expect(reply.status).toBe(200)
})

test('what only listens does not chat, and says where it listens', async () => {
  const body = { model: 'whisper-1', messages: ask('Hello') }
  const reply = await gateway.post('/v1/chat/completions', body)
  expect(reply.status).toBe(400)
  expect(await reply.json()).toMatchObject({
    error: {
      message: "The model 'whisper-1' is not a chat model. Use /v1/audio/transcriptions.",
      param: 'model',
    },
  })
})

test('what chats and listens draws nothing', async () => {
  const body = { model: hearer, prompt: 'a cat' }
  const reply = await gateway.post('/v1/images/generations', body)
  expect(reply.status).toBe(400)
  expect(await reply.json()).toMatchObject({
    error: { message: expect.stringContaining('is not an image model'), param: 'model' },
  })
})
