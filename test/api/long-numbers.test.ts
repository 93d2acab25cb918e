// Tests that ids of 19 digits in tools' arguments and answers arrive as they were sent, between formats.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Gateway, startGateway } from '../support/gateway.ts'

let gateway: Gateway
let upstream: Bun.Server<undefined>
let asked = ''
let reply = { type: 'application/json', body: '' }

beforeAll(async () => {
  upstream = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      asked = await request.text()
      return new Response(reply.body, { headers: { 'content-type': reply.type } })
    },
  })
  const common = { baseUrl: `http://127.0.0.1:${upstream.port}`, key: 'k' }
  gateway = await startGateway({
    config: {
      channels: [
        { id: 'o', vendor: 'openai', ...common, models: { o: 'gpt-5.1' } },
        { id: 'a', vendor: 'anthropic', ...common, models: { a: 'claude-sonnet-4-5' } },
        { id: 'g', vendor: 'google', ...common, models: { g: 'gemini-2.5-flash' } },
      ],
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop(true)
})

const args = '{"id":1234567890123456789,"ids":[9007199254740993],"x":1.5}'
const claude = `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"toolu_1","name":"f","input":${args}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":5}}`
const gemini = `{"responseId":"r","modelVersion":"m","candidates":[{"index":0,"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":${args}}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":5,"totalTokenCount":8}}`
const openai = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: args } }],
      },
      finish_reason: 'tool_calls',
    },
  ],
  usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
})
const user = { role: 'user', content: 'Go.' }

async function post(path: string, body: unknown): Promise<string> {
  const answer = await gateway.post(path, body)
  const text = await answer.text()
  expect([answer.status, text]).toEqual([200, expect.any(String)])
  return text
}

const asText = JSON.stringify(args)

test.each([
  ['a', 'application/json', claude, false],
  ['g', 'application/json', gemini, false],
  ['g', 'text/event-stream', `data: ${gemini}\n\n`, true],
])('a reply of %s as %s keeps them in a chat', async (model, type, body, stream) => {
  reply = { type, body }
  const text = await post('/v1/chat/completions', { model, messages: [user], stream })
  expect(text).toContain(`"arguments":${asText}`)
})

test('a chat reply keeps them for clients of Anthropic and Google', async () => {
  reply = { type: 'application/json', body: openai }
  const path = '/v1/messages'
  expect(await post(path, { model: 'o', max_tokens: 9, messages: [user] })).toContain(args)
  const contents = [{ role: 'user', parts: [{ text: 'Go.' }] }]
  expect(await post('/v1beta/models/o:generateContent', { contents })).toContain(args)
})

test('a history keeps them on the way to a vendor of chats', async () => {
  reply = { type: 'application/json', body: openai }
  const call = `{"type":"tool_use","id":"toolu_1","name":"f","input":${args}}`
  const result = '{"type":"tool_result","tool_use_id":"toolu_1","content":"ok"}'
  await send(
    '/v1/messages',
    `{"model":"o","max_tokens":9,"messages":[{"role":"user","content":"Go."},{"role":"assistant","content":[${call}]},{"role":"user","content":[${result}]}]}`,
  )
  expect(asked).toContain(asText)
  const called = `{"functionCall":{"name":"f","args":${args}}}`
  const answered = `{"functionResponse":{"name":"f","response":${args}}}`
  await send(
    '/v1beta/models/o:generateContent',
    `{"contents":[{"role":"user","parts":[{"text":"Go."}]},{"role":"model","parts":[${called}]},{"role":"user","parts":[${answered}]}]}`,
  )
  expect(asked.split(asText)).toHaveLength(3)
})

/** Sends the text as it is: writing it by JSON.stringify would change its numbers. */
async function send(path: string, body: string): Promise<void> {
  const answer = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body,
  })
  expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)])
}
