// How often one account is let through, by a clock of the test's.

import { expect, test } from 'bun:test'
import { createPace } from './pace.ts'
import { ControlError } from './problem.ts'

const startMs = 1_800_000_000_000

test('so many at once, then evenly, and each by itself', () => {
  const pace = createPace(3, 'too often')
  const refusal = (who: string, afterMs: number) => {
    try {
      pace(who, startMs + afterMs)
      return null
    } catch (error) {
      return error instanceof ControlError ? [error.code, error.headers['retry-after']] : error
    }
  }
  for (const _ of [1, 2, 3]) expect(refusal('ann', 0)).toBeNull()
  expect(refusal('ann', 0)).toEqual(['limited', '20'])
  expect(refusal('ann', 18_500)).toEqual(['limited', '2'])
  expect(refusal('bob', 0)).toBeNull()
  expect(refusal('ann', 20_000)).toBeNull()
  expect(refusal('ann', 20_000)).toEqual(['limited', '20'])
})
