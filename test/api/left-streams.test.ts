// Tests what a stream costs whose vendor reports usage at its beginning, and that does not reach its end.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Gateway, startGateway } from '../support/gateway.ts'
import {
  event,
  reset,
  send,
  sseHead,
  startUpstream,
  type Upstream,
  until,
} from '../support/upstream.ts'

let upstream: Upstream
let gateway: Gateway
beforeAll(async () => {
  upstream = await startUpstream()
  const prices = { input: '1', output: '2' }
  gateway = await startGateway({
    config: {
      channels: [
        { id: 'a', vendor: 'anthropic', baseUrl: upstream.url, key: 'k', models: ['claude'] },
      ],
      models: { claude: { prices } },
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})

const usage = { input_tokens: 1_000, output_tokens: 1 }
const started = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [] }
const start = { type: 'message_start', message: { ...started, stop_reason: null, usage } }
const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }
const delta = { type: 'text_delta', text: 'word '.repeat(800) }
const said = { type: 'content_block_delta', index: 0, delta }

test.each(['/v1/messages', '/v1/chat/completions'])(
  'cut off after %s had said 4,000 bytes: they are counted, the prompt is as reported',
  async (path) => {
    const arrived = Promise.withResolvers<void>()
    upstream.on('claude', [
      send(sseHead),
      send(event(start)),
      send(event(block)),
      send(event(said)),
      // What the client has not got when the vendor breaks off would be free.
      until(arrived.promise),
      reset,
    ])
    const messages = [{ role: 'user', content: 'Hi' }]
    const body = { model: 'claude', max_tokens: 2_000, stream: true, messages }
    const answer = await gateway.post(path, body)
    let text = ''
    try {
      for await (const bytes of answer.body ?? []) {
        text += Buffer.from(bytes).toString()
        if (text.includes('word')) arrived.resolve()
      }
    } catch {
      // A translated stream ends with an error, an identical one breaks off.
    }
    const row = await gateway.row(answer.headers.get('x-request-id') ?? '')
    expect(row).toMatchObject({ input: 1_000, output: 1_000, usageSource: 'counted' })
    expect(row.chargeNano).toBe(3_000_000n)
  },
)
