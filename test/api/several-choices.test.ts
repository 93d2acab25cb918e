// Tests that a stream of several choices is complete only when each that has begun has a finish reason.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Gateway, startGateway } from '../support/gateway.ts'

let gateway: Gateway
let upstream: Bun.Server<undefined>
let frames: readonly string[] = []

beforeAll(async () => {
  upstream = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () =>
      new Response(frames.map((frame) => `data: ${frame}\n\n`).join(''), {
        headers: { 'content-type': 'text/event-stream' },
      }),
  })
  gateway = await startGateway({
    config: {
      channels: [
        {
          id: 'o',
          vendor: 'openai',
          baseUrl: `http://127.0.0.1:${upstream.port}`,
          key: 'k',
          models: { m: 'gpt-4.1' },
        },
      ],
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop(true)
})

function chunk(...choices: readonly unknown[]): string {
  return JSON.stringify({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices,
  })
}
const text = (index: number, content: string) => ({
  index,
  delta: { content },
  finish_reason: null,
})
const end = (index: number) => ({ index, delta: {}, finish_reason: 'stop' })
const usage =
  '{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":5,"total_tokens":8}}'

async function ask(n: number): Promise<string> {
  const messages = [{ role: 'user', content: 'Hi' }]
  const answer = await gateway.post('/v1/chat/completions', {
    model: 'm',
    messages,
    stream: true,
    n,
  })
  return await answer.text()
}

test.each([
  ['before its end', ['[DONE]']],
  ['at the close of the connection', []],
  ['with usage', [usage, '[DONE]']],
])('one choice cut off %s: the client is told', async (_, last) => {
  frames = [chunk(text(0, 'a')), chunk(text(1, 'b')), chunk(end(0)), ...last]
  const seen = await ask(2)
  expect(seen).toContain('"error"')
  expect(seen).not.toContain('[DONE]')
})

test.each([
  ['apart', [chunk(text(0, 'a')), chunk(text(1, 'b')), chunk(end(1)), chunk(end(0))]],
  ['in one chunk', [chunk(text(0, 'a'), text(1, 'b')), chunk(end(0), end(1))]],
  ['by a vendor that makes only one', [chunk(text(0, 'a')), chunk(end(0))]],
])('all choices ended, %s: the stream is complete', async (_, said) => {
  frames = [...said, usage, '[DONE]']
  const seen = await ask(2)
  expect(seen).toContain('[DONE]')
  expect(seen).not.toContain('"error"')
})
