// Tests which header says how long to wait, in which unit, and which values are ignored.

import { expect, test } from 'bun:test'
import { goDurationMs, retryAfterMs } from './retry-after.ts'

const nowMs = Date.parse('2026-11-21T09:00:00Z')

function wait(headers: Record<string, string>): number | null {
  return retryAfterMs((name) => headers[name] ?? null, nowMs)
}

test.each<[Record<string, string>, number | null]>([
  [{}, null],
  [{ 'retry-after-ms': '250' }, 250],
  [{ 'retry-after-ms': '250', 'retry-after': '9' }, 250],
  [{ 'retry-after-ms': 'x', 'retry-after': '9' }, 9000],
  [{ 'retry-after': '1.5' }, 1500],
  [{ 'retry-after': '0' }, 0],
  [{ 'retry-after': '-1' }, 0],
  [{ 'retry-after': '86400' }, 60_000],
  [{ 'retry-after': '1e99' }, null],
  [{ 'retry-after': 'Sat, 21 Nov 2026 09:00:05 GMT' }, 5000],
  [{ 'retry-after': 'Sat, 21 Nov 2026 08:00:00 GMT' }, 0],
  [{ 'retry-after': 'soon' }, null],
  [{ 'x-ratelimit-reset-requests': '6m0s' }, 60_000],
  [{ 'x-ratelimit-reset-requests': '120ms', 'x-ratelimit-reset-tokens': '1.2s' }, 1200],
  [
    {
      'x-ratelimit-reset-requests': '120ms',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-tokens': '1m',
      'x-ratelimit-remaining-tokens': '9',
    },
    120,
  ],
  [{ 'x-ratelimit-reset': '3' }, 3000],
  [{ 'x-ratelimit-reset': String(nowMs + 4000) }, 4000],
  [{ 'x-ratelimit-reset': String(nowMs / 1000 + 4) }, 4000],
  [{ 'x-ratelimit-reset-tokens': '-1' }, 0],
  [{ 'x-ratelimit-reset-tokens': '2026-11-21T09:00:02Z' }, 2000],
])('%j waits %p ms', (headers, ms) => {
  expect(wait(headers)).toBe(ms)
})

test('durations as Go prints them', () => {
  expect(['1h2m3.5s', '7.66s', '2ms', '1µs', '0s'].map(goDurationMs)).toEqual([
    3_723_500, 7660, 2, 0.001, 0,
  ])
  expect(['', '5', 's', '1d', '-1s', '1 s'].map(goDurationMs)).toEqual(Array(6).fill(null))
})
