// Tests that the marks with which Claude Code has prompts cached reach the vendors behind which something reads them.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { chatReply } from '../support/upstream.ts'

type Body = Record<string, unknown>

let gateway: Gateway
let upstream: Bun.Server<undefined>
let path = ''
let asked: Body = {}

const said = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'Done.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 7, output_tokens: 5, cache_read_input_tokens: 900 },
}

beforeAll(async () => {
  upstream = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      path = new URL(request.url).pathname
      asked = (await request.json()) as Body
      return Response.json(path === '/messages' ? said : chatReply())
    },
  })
  const common = { baseUrl: `http://127.0.0.1:${upstream.port}`, key: 'k' }
  gateway = await startGateway({
    config: {
      channels: [
        { id: 'router', vendor: 'openrouter', ...common, models: ['anthropic/*', 'openai/*'] },
        { id: 'qwen', vendor: 'dashscope', ...common, models: ['qwen3-max', 'deepseek-v3'] },
      ],
      models: { '*': { prices: { input: '1', output: '2' } } },
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop(true)
})

const long = { type: 'ephemeral', ttl: '1h' }
const short = { type: 'ephemeral' }
const turn = {
  max_tokens: 100,
  system: [{ type: 'text', text: 'Rules.', cache_control: long }],
  messages: [
    { role: 'user', content: 'Go.' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }] },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: 'Result.', cache_control: short },
      ],
    },
  ],
  tools: [{ name: 'f', input_schema: { type: 'object', properties: {} } }],
}

test('Claude at OpenRouter is asked in its own format, with the marks as they are', async () => {
  const body = { model: 'anthropic/claude-sonnet-4.5', ...turn }
  const reply = await gateway.post('/v1/messages', body)
  expect([reply.status, path]).toEqual([200, '/messages'])
  expect(asked).toEqual(body)
  expect(reply.headers.get('x-tollgate-dropped')).toBeNull()
  expect(await reply.json()).toMatchObject({ usage: { cache_read_input_tokens: 900 } })
})

test('other models at OpenRouter are asked in chats', async () => {
  const reply = await gateway.post('/v1/messages', { model: 'openai/gpt-5', ...turn })
  expect([reply.status, path]).toEqual([200, '/chat/completions'])
  expect(JSON.stringify(asked)).not.toContain('cache_control')
})

test('a chat for Qwen has the marks on its parts, for as long as Qwen keeps a prompt', async () => {
  const reply = await gateway.post('/v1/messages', { model: 'qwen3-max', ...turn })
  expect(reply.status).toBe(200)
  expect(asked['messages']).toMatchObject([
    { role: 'system', content: [{ type: 'text', text: 'Rules.', cache_control: short }] },
    { role: 'user', content: 'Go.' },
    { role: 'assistant' },
    { role: 'tool', content: [{ type: 'text', text: 'Result.', cache_control: short }] },
  ])
  expect(reply.headers.get('x-tollgate-dropped')).toBeNull()
  const other = await gateway.post('/v1/messages', { model: 'deepseek-v3', ...turn })
  expect(JSON.stringify(asked)).not.toContain('cache_control')
  expect(other.headers.get('x-tollgate-dropped')).toContain('cache_control')
})
