// Tests that output which its client does not see before it is complete is paid for as it comes.

import { expect, test } from 'bun:test'
import { openShop, outputNano } from '../money/shop.ts'
import { testKey } from '../support/gateway.ts'
import { delta, event, forever, send, sseHead } from '../support/upstream.ts'

const quantumNano = 256n * outputNano

/** A piece of a call's arguments, with what begins the call. */
const called = (text: string, head: object = {}) =>
  event(
    delta({ tool_calls: [{ index: 0, ...head, function: { name: 'write', arguments: text } }] }),
  )

test("a call's input that never ends is stopped where the balance ends", async () => {
  await using shop = await openShop({ credit: '3' })
  const start = called('{"text":"', { id: 'call_1', type: 'function' })
  shop.first.on('m', [send(sseHead), send(start), forever(called('x'.repeat(256)), 1)])
  const reply = await fetch(`${shop.gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': testKey, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'm',
      max_tokens: 100_000,
      stream: true,
      messages: [{ role: 'user', content: 'Write.' }],
      tools: [{ name: 'write', input_schema: { type: 'object' } }],
    }),
  })
  const text = await reply.text()
  await shop.first.of('m')[0]?.gone
  expect(text).toContain('"name":"write"')
  expect(text).not.toContain('input_json_delta')
  expect(text).toContain('event: error')
  const row = await shop.rowOf('m')
  expect(row).toMatchObject({ errorCode: 'insufficient_quota', usageSource: 'counted' })
  expect(row.writeoffNano).toBeLessThanOrEqual(quantumNano)
  await shop.checkBooks()
  // A heartbeat, which is written to the client after 15 s, comes too late to notice.
}, 12_000)
