// Tests web searches that a vendor makes for a chat: counted if it reports them, priced, and held for if they are
// requested.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'
import {
  event,
  json,
  lastChunk,
  send,
  sseHead,
  startUpstream,
  type Upstream,
} from '../support/upstream.ts'

const poor = 'sk-of-a-small-wallet'
const searchNano = 10_000_000n
const user = { role: 'user', content: 'Who won?' }
const tool = { type: 'web_search_20250305', name: 'web_search' }
/** 1,000 tokens of prompt at 1 and 100 of output at 2, a million. */
const tokensNano = 1_200_000n

let upstream: Upstream
let gateway: Gateway
beforeAll(async () => {
  upstream = await startUpstream()
  const base = upstream.url
  const card = { input: '1', output: '2', webSearch: '10000' }
  gateway = await startGateway({
    config: {
      channels: [
        { id: 'a', vendor: 'anthropic', baseUrl: base, key: 'k', models: ['claude', 'cheap'] },
        { id: 'o', vendor: 'openai', baseUrl: base, key: 'k', models: ['gpt'] },
        { id: 'c', vendor: 'openai-compatible', baseUrl: base, key: 'k', models: ['sonar'] },
      ],
      models: { claude: { prices: card }, gpt: { prices: card }, sonar: { prices: card } },
      keys: [
        { name: 'test', secret: testKey },
        { name: 'poor', secret: poor, account: 'poor' },
      ],
      accounts: { poor: { credit: '0.05' } },
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude',
  content: [{ type: 'text', text: 'They did.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
}
const counts = { input_tokens: 1_000, output_tokens: 100 }
const made = (count: number) => ({ ...counts, server_tool_use: { web_search_requests: count } })
const said = [{ type: 'output_text', text: 'They did.', annotations: [] }]
const response = {
  id: 'resp_1',
  object: 'response',
  created_at: 5,
  status: 'completed',
  model: 'gpt',
  output: [{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: said }],
  usage: { ...counts, total_tokens: 1_100 },
  tool_usage: { web_search: { num_requests: 2 } },
}
const sonar = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 }
const completion = (usage: object) => ({
  id: 'c',
  object: 'chat.completion',
  created: 5,
  model: 'sonar',
  choices: [
    { index: 0, message: { role: 'assistant', content: 'They did.' }, finish_reason: 'stop' },
  ],
  usage,
})
const named = (type: string, more: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`
const streamed = [
  named('message_start', { message: { ...message, content: [], usage: made(0) } }),
  named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  named('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'They did.' } }),
  named('content_block_stop', { index: 0 }),
  named('message_delta', { delta: { stop_reason: 'end_turn' }, usage: made(2) }),
  named('message_stop', {}),
].join('')

function stream(text: string) {
  const bytes = Buffer.from(text)
  const chunk = Buffer.concat([
    Buffer.from(`${bytes.length.toString(16)}\r\n`),
    bytes,
    Buffer.from('\r\n'),
  ])
  return [send(sseHead), send(chunk), send(lastChunk)]
}

async function rowOf(path: string, body: object, script: Parameters<Upstream['on']>[1]) {
  upstream.on((body as { model: string }).model, script)
  const reply = await gateway.post(path, body)
  expect({ status: reply.status, text: await reply.text() }).toMatchObject({ status: 200 })
  return gateway.row(reply.headers.get('x-request-id') ?? '')
}

const asked = { model: 'claude', max_tokens: 100, messages: [user], tools: [tool] }
const ways: readonly (readonly [string, string, object, Parameters<Upstream['on']>[1]])[] = [
  ['a message', '/v1/messages', asked, [json(200, { ...message, usage: made(2) })]],
  ['a streamed message', '/v1/messages', { ...asked, stream: true }, stream(streamed)],
  [
    'a message told as a chat',
    '/v1/chat/completions',
    { model: 'claude', messages: [user] },
    [json(200, { ...message, usage: made(2) })],
  ],
  [
    'a response',
    '/v1/responses',
    { model: 'gpt', input: 'Who won?', store: false, tools: [{ type: 'web_search' }] },
    [json(200, response)],
  ],
  [
    'a chat told as a message',
    '/v1/messages',
    { model: 'gpt', max_tokens: 100, messages: [user] },
    [json(200, completion({ ...sonar, server_side_tool_usage_details: { web_search_calls: 2 } }))],
  ],
  [
    'a chat',
    '/v1/chat/completions',
    { model: 'sonar', messages: [user] },
    [json(200, completion({ ...sonar, num_search_queries: 2 }))],
  ],
  [
    'a streamed chat',
    '/v1/chat/completions',
    { model: 'sonar', messages: [user], stream: true },
    stream(
      [
        event({
          ...completion({}),
          object: 'chat.completion.chunk',
          usage: null,
          choices: [{ index: 0, delta: { role: 'assistant', content: 'Hi' }, finish_reason: null }],
        }),
        event({
          ...completion({}),
          object: 'chat.completion.chunk',
          choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
          usage: { ...sonar, num_search_queries: 2 },
        }),
        event('[DONE]'),
      ].join(''),
    ),
  ],
]

test.each(ways)('%s is charged for each', async (_, path, body, script) => {
  const row = await rowOf(path, body, script)
  expect(row).toMatchObject({ usageSource: 'reported', units: { webSearch: 2 } })
  expect(row.chargeNano + row.writeoffNano).toBe(tokensNano + 2n * searchNano)
})

test('none is charged where the model has no price for them, nor where none was made', async () => {
  const free = { ...asked, model: 'cheap' }
  const unpriced = await rowOf('/v1/messages', free, [json(200, { ...message, usage: made(2) })])
  expect([unpriced.units, unpriced.chargeNano]).toEqual([null, tokensNano])
  const none = await rowOf('/v1/messages', asked, [json(200, { ...message, usage: made(0) })])
  expect([none.units, none.chargeNano]).toEqual([null, tokensNano])
})

test('more than anybody makes are not believed, and the gateway counts for itself', async () => {
  const mad = { ...message, usage: made(1_000_000) }
  const row = await rowOf('/v1/messages', asked, [json(200, mad)])
  expect(row).toMatchObject({ usageSource: 'counted', units: null })
})

describe('a wallet that ten do not fit', () => {
  const ask = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${poor}` }
    return (await gateway.post(path, body, { headers })).status
  }

  test('is refused them before the work, in the words of each format', async () => {
    expect(await ask('/v1/messages', asked)).toBe(402)
    const tools = [{ type: 'web_search_preview' }]
    expect(
      await ask('/v1/responses', { model: 'gpt', input: 'Hi', max_output_tokens: 9, tools }),
    ).toBe(429)
    const chat = { model: 'sonar', messages: [user], max_tokens: 9, web_search_options: {} }
    expect(await ask('/v1/chat/completions', chat)).toBe(429)
  })

  test('is served without them, whatever its own tools are called and its texts say', async () => {
    upstream.on('claude', [json(200, { ...message, usage: counts })])
    const own = {
      name: 'web_search',
      description: '"type":"web_search"',
      input_schema: { type: 'object' },
    }
    expect(await ask('/v1/messages', { ...asked, tools: [own] })).toBe(200)
    expect(await ask('/v1/messages', { ...asked, model: 'cheap' })).toBe(200)
  })
})
