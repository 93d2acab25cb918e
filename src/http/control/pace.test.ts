// Tests how a use above the allowed rate is refused.

import { expect, test } from 'bun:test'
import type { PaceTable } from '../../store/pace.ts'
import { keepPace } from './pace.ts'
import { ControlError } from './problem.ts'

test('what is within its share passes, and what is not says in how many whole seconds there is one again', async () => {
  const refusal = async (waitMs: number) => {
    const pace = { take: async () => waitMs } as unknown as PaceTable
    const allowed = { count: 3, spanMs: 60_000, message: 'too often' }
    const error = await keepPace({ pace }, 'ann', allowed).catch((each: unknown) => each)
    return error instanceof ControlError
      ? [error.code, error.message, error.headers['retry-after']]
      : error
  }
  expect(await refusal(0)).toBeUndefined()
  expect(await refusal(1)).toEqual(['limited', 'too often', '1'])
  expect(await refusal(18_500)).toEqual(['limited', 'too often', '19'])
})
