// Tests that the log stays short however many requests are refused, and that their number is logged.

import { expect, test } from 'bun:test'
import { type Denial, Denials } from './denials.ts'
import type { LogFields } from './log.ts'

const denial: Denial = {
  requestId: 'req_1',
  path: '/v1/chat/completions',
  clientAddress: '192.0.2.1',
  keyPrefix: 'sk-tg-',
  reason: 'The API key is not valid: unknown, disabled or expired.',
}

function scene() {
  const lines: LogFields[] = []
  const due: (() => void)[] = []
  const denials = new Denials({
    log: { warn: (fields) => lines.push(fields) },
    schedule: (run) => due.push(run),
  })
  return { lines, denials, minute: () => due.splice(0).forEach((run) => run()), due }
}

test('the first of an address is logged at once, the others as a number within a minute', () => {
  const { lines, denials, minute } = scene()
  for (let n = 0; n < 1_000; n += 1) denials.note(denial)
  expect(lines).toEqual([
    {
      request_id: 'req_1',
      status: 401,
      path: '/v1/chat/completions',
      client_address: '192.0.2.1',
      key_prefix: 'sk-tg-',
      reason: denial.reason,
    },
  ])
  minute()
  expect(lines.slice(1)).toEqual([{ refused: 999 }])
  denials.note(denial)
  expect(lines).toHaveLength(3)
})

test('from a hundred thousand addresses: twenty lines and one, of bounded length', () => {
  const { lines, denials, minute, due } = scene()
  const path = `/v1/${'x'.repeat(10_000)}`
  for (let n = 0; n < 100_000; n += 1) denials.note({ ...denial, path, clientAddress: `a${n}` })
  expect(lines).toHaveLength(20)
  expect(JSON.stringify(lines).length).toBeLessThan(20 * 500)
  expect(due).toHaveLength(1)
  minute()
  expect(lines.at(-1)).toEqual({ refused: 99_980 })
  // No timer runs while no request is refused.
  expect(due).toHaveLength(0)
})
