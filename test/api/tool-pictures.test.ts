// Tests pictures that a model has made by OpenAI's own tool: priced apart from its tokens, and held for if offered.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'
import { json, startUpstream, type Upstream } from '../support/upstream.ts'

const poor = 'sk-of-a-small-wallet'
let upstream: Upstream
let gateway: Gateway
beforeAll(async () => {
  upstream = await startUpstream()
  const prices = { input: '1', output: '2', toolImageInput: '10', toolImageOutput: '40' }
  gateway = await startGateway({
    config: {
      channels: [
        {
          id: 'o',
          vendor: 'openai',
          baseUrl: upstream.url,
          key: 'k',
          models: ['gpt'],
        },
      ],
      models: { gpt: { prices } },
      keys: [
        { name: 'test', secret: testKey },
        { name: 'poor', secret: poor, account: 'poor' },
      ],
      accounts: { poor: { credit: '0.02' } },
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})

const tool = { type: 'image_generation', quality: 'high' }
const usage = { input_tokens: 1_000, output_tokens: 100, total_tokens: 1_100 }
const picture = { input_tokens: 50, output_tokens: 6_240, total_tokens: 6_290 }
function response(id: string, image_gen: object): object {
  const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' }
  return {
    id,
    object: 'response',
    status: 'completed',
    model: 'gpt',
    output: [{ ...message, content: [{ type: 'output_text', text: 'Done.', annotations: [] }] }],
    usage,
    tool_usage: { image_gen },
  }
}

async function draw(model: string, more: object = {}) {
  const body = { model, input: 'Draw a cat.', max_output_tokens: 100, tools: [tool], ...more }
  return await gateway.post('/v1/responses', body)
}

test('they are charged at prices of their own', async () => {
  upstream.on('gpt', [json(200, response('resp_1', picture))])
  const answer = await draw('gpt')
  expect(answer.status).toBe(200)
  const row = await gateway.row(answer.headers.get('x-request-id') ?? '')
  expect(row).toMatchObject({
    input: 1_000,
    output: 100,
    units: { toolImageInput: 50, toolImageOutput: 6_240 },
  })
  // 50 tokens at 10 and 6,240 at 40 a million.
  expect(row.chargeNano).toBe(1_200_000n + 500_000n + 249_600_000n)
})

test('none made, none charged', async () => {
  upstream.on('gpt', [json(200, response('resp_2', { input_tokens: 0, output_tokens: 0 }))])
  const answer = await draw('gpt')
  const row = await gateway.row(answer.headers.get('x-request-id') ?? '')
  expect([row.chargeNano, row.units]).toEqual([1_200_000n, null])
})

test('a wallet that cannot pay for one is refused where the tool is offered', async () => {
  const headers = { authorization: `Bearer ${poor}` }
  const ask = async (tools: object[]) => {
    const body = { model: 'gpt', input: 'Hi', max_output_tokens: 100, tools }
    const answer = await gateway.post('/v1/responses', body, { headers })
    await answer.text()
    return answer.status
  }
  upstream.on('gpt', [json(200, response('resp_3', {}))])
  expect(await ask([tool])).toBe(429)
  expect(await ask([])).toBe(200)
})
