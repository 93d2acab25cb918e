// Tests that a model's name longer than any is answered 404 in short, in every format, and is kept nowhere.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Gateway, startGateway } from '../support/gateway.ts'

let gateway: Gateway

beforeAll(async () => {
  gateway = await startGateway({
    config: {
      channels: [
        { id: 'any', vendor: 'openai', baseUrl: 'http://127.0.0.1:9', key: 'k', models: ['*'] },
      ],
    },
  })
})
afterAll(async () => {
  await gateway.stop()
})

const name = `eyJ-${'x'.repeat(100_000)}`
const messages = [{ role: 'user', content: 'Hi' }]

test.each<[string, unknown]>([
  ['/v1/chat/completions', { model: name, messages }],
  ['/v1/messages', { model: name, messages, max_tokens: 9 }],
  ['/v1/responses', { model: name, input: 'Hi' }],
  ['/v1/embeddings', { model: name, input: 'Hi' }],
  ['/v1/images/generations', { model: name, prompt: 'Hi' }],
  ['/v1/rerank', { model: name, query: 'Hi', documents: ['Hi'] }],
])('%s', async (path, body) => {
  const answer = await gateway.post(path, body)
  const text = await answer.text()
  expect([answer.status, text]).toEqual([404, expect.stringContaining('eyJ-xxx')])
  expect(text.length).toBeLessThan(1_000)
  const row = await gateway.row(answer.headers.get('x-request-id') ?? '')
  expect([row.modelAsked, row.errorCode]).toEqual(['', 'model_not_found'])
})

test('a name of 512 characters is only unknown where no channel has it', async () => {
  const model = 'm'.repeat(512)
  const answer = await gateway.post('/v1/chat/completions', { model, messages })
  expect(answer.status).not.toBe(404)
  expect(await gateway.metrics()).not.toContain('xxxxxxxxxx')
})
