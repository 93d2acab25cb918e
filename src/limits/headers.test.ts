// Tests the exact text of the headers.

import { expect, test } from 'bun:test'
import { goDuration, limitHeaders } from './headers.ts'

test.each([
  [0, '0s'],
  [0.2, '1ms'],
  [12, '12ms'],
  [999, '999ms'],
  [1_000, '1s'],
  [8_640, '8.64s'],
  [59_999, '59.999s'],
  [60_000, '1m0s'],
  [360_000, '6m0s'],
  [90_500, '1m30.5s'],
  [3_600_000, '1h0m0s'],
  [86_400_000, '24h0m0s'],
  [-5, '0s'],
])('%d ms is %s', (ms, text) => {
  expect(goDuration(ms)).toBe(text)
})

test('a gauge becomes three headers, an absent one none', () => {
  expect(limitHeaders({ requests: null, tokens: null })).toEqual([])
  expect(
    limitHeaders({ requests: { limit: 60, remaining: 59, resetMs: 1_000 }, tokens: null }),
  ).toEqual([
    ['x-ratelimit-limit-requests', '60'],
    ['x-ratelimit-remaining-requests', '59'],
    ['x-ratelimit-reset-requests', '1s'],
  ])
  const tokens = { limit: 1_000, remaining: 0, resetMs: 360_000 }
  expect(limitHeaders({ requests: null, tokens }).map(([name]) => name)).toEqual([
    'x-ratelimit-limit-tokens',
    'x-ratelimit-remaining-tokens',
    'x-ratelimit-reset-tokens',
  ])
})
