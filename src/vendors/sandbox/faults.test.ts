// Tests how the sandbox fails if its model name asks for it.

import { expect, test } from 'bun:test'
import type { TransportFault } from '../transport.ts'
import { sandboxFaults } from './settings.ts'
import { call, say } from './testing.ts'

/** The result of each fault on a stream of three tokens: status, frames of content, transport fault. */
const faults: Readonly<
  Record<
    string,
    readonly [status: number | null, tokens: number, fault: TransportFault['kind'] | null]
  >
> = {
  '400': [400, 0, null],
  '401': [401, 0, null],
  '403': [403, 0, null],
  '404': [404, 0, null],
  '429': [429, 0, null],
  '500': [500, 0, null],
  '503': [503, 0, null],
  quota: [429, 0, null],
  unreachable: [null, 0, 'unreachable'],
  reset: [null, 0, 'reset'],
  slow: [200, 3, null],
  empty: [200, 0, null],
  cut: [200, 1, 'cut'],
  invalid: [200, 1, null],
  'error-event': [200, 1, null],
  split: [200, 3, null],
  'no-done': [200, 3, null],
  'no-usage': [200, 3, null],
}

test.each(Object.entries(faults))('fault=%s on a stream', async (fault, [status, tokens, kind]) => {
  const model = `sandbox/chat+tokens=3+first=0+fault=${fault}`
  const reply = await call('openai-chat', {
    model,
    messages: say,
    stream: true,
    stream_options: { include_usage: true },
  })
  expect([reply.status, reply.fault?.kind ?? null]).toEqual([status, kind])
  expect(reply.text.match(/"content":"[^"]/g)?.length ?? 0).toBe(tokens)
  expect(reply.text.includes('[DONE]')).toBe(
    ['slow', 'split', 'no-usage', 'invalid'].includes(fault),
  )
  expect(reply.text.includes('"prompt_tokens"')).toBe(['slow', 'split', 'no-done'].includes(fault))
  if (status === 429 && fault === '429') expect(reply.header('retry-after')).toBe('1')
})

test('every fault of the list is tested', () => {
  // `hang` and `stall` never end: the tests of the playback cover them.
  expect(new Set([...Object.keys(faults), 'hang', 'stall'])).toEqual(new Set(sandboxFaults))
})

test('a fault in the middle comes after as many events as asked for', async () => {
  const reply = await call('openai-chat', {
    model: 'sandbox/chat+tokens=9+fault=cut+after=4',
    messages: say,
    stream: true,
  })
  expect(reply.text.match(/"content":"[^"]/g)).toHaveLength(4)
  const before = await call('openai-chat', {
    model: 'sandbox/chat+tokens=9+fault=cut+after=0',
    messages: say,
    stream: true,
  })
  expect([before.status, before.text]).toEqual([200, ''])
})

test('whole replies break in the same ways', async () => {
  const ask = (fault: string) =>
    call('openai-chat', { model: `sandbox/chat+fault=${fault}`, messages: say })
  const cut = await ask('cut')
  expect([cut.status, cut.fault?.kind]).toEqual([200, 'cut'])
  expect(() => JSON.parse(cut.text)).toThrow()
  expect(cut.text.length).toBeGreaterThan(10)
  expect((await ask('invalid')).text).toContain('not JSON')
  expect(JSON.parse((await ask('error-event')).text)).toHaveProperty('error.code', 'server_error')
  expect(JSON.parse((await ask('no-usage')).text)).not.toHaveProperty('usage')
  expect((await ask('empty')).text).toBe('')
})
