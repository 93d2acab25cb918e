// Tests when old usage rows are removed, and when not.

import { afterEach, beforeEach, expect, jest, test } from 'bun:test'
import { keepUsageFor } from './retention.ts'

const dayMs = 86_400_000
const nowMs = Date.parse('2026-11-22T12:00:00Z')

beforeEach(() => {
  jest.useFakeTimers({ now: nowMs })
})
afterEach(() => {
  jest.useRealTimers()
})

const right = { problem: async () => null }

/** Runs the due work and the promises it waits for. */
async function pass(ms: number): Promise<void> {
  jest.advanceTimersByTime(ms)
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve()
}

test('nothing is removed unless it is said how long rows are kept, and then without a restart', async () => {
  const asked: number[] = []
  let days: number | null = null
  const kept = keepUsageFor({
    clock: right,
    keepDays: () => days,
    keepRefusalsDays: () => 3_650,
    archive: () => null,
    prune: async ({ what, before }) => {
      if (what === 'all') asked.push(before)
      return 0
    },
    onError: (error) => expect.unreachable(String(error)),
  })
  await pass(5_000)
  await pass(600_000)
  expect(asked).toEqual([])
  days = 30
  await pass(60_000)
  expect(asked).toEqual([nowMs + 665_000 - 30 * dayMs])
  kept.close()
  await pass(600_000)
  expect(asked).toHaveLength(1)
})

test('full batches follow each other soon, and a failure is told and tried again', async () => {
  const results = [500, 500, 3, new Error('away'), 0]
  const errors: unknown[] = []
  let calls = 0
  const kept = keepUsageFor({
    clock: right,
    keepDays: () => 1,
    keepRefusalsDays: () => 7,
    archive: () => null,
    prune: async () => {
      const result = results[calls] ?? 0
      calls += 1
      if (result instanceof Error) throw result
      return result
    },
    onError: (error) => errors.push(error),
  })
  await pass(5_000)
  expect(calls).toBe(1)
  await pass(100)
  await pass(100)
  expect(calls).toBe(3)
  await pass(59_999)
  expect(calls).toBe(3)
  await pass(1)
  expect([calls, errors]).toEqual([4, [results[3]]])
  await pass(60_000)
  expect(calls).toBe(5)
  kept.close()
})

test('where rows are archived, whole days in UTC are, and nothing is removed beside that', async () => {
  const archived: number[] = []
  const kept = keepUsageFor({
    clock: right,
    keepDays: () => 30,
    keepRefusalsDays: () => 30,
    archive: () => async (before) => {
      archived.push(before)
    },
    prune: () => expect.unreachable('rows were removed without being archived'),
    onError: (error) => expect.unreachable(String(error)),
  })
  await pass(5_000)
  await pass(60_000)
  const day = Date.parse('2026-10-23T00:00:00Z')
  expect(archived).toEqual([day, day])
  kept.close()
})

test('refusals go sooner than the rest, never later, and also where the rest is kept for ever', async () => {
  let days: number | null = null
  const asked: string[] = []
  const kept = keepUsageFor({
    clock: right,
    keepDays: () => days,
    keepRefusalsDays: () => 7,
    archive: () => null,
    prune: async ({ what, before }) => {
      asked.push(`${what} ${(Date.now() - before) / dayMs}`)
      // There is more than one batch of refusals, so the next look comes soon.
      return what === 'refusals' && asked.length === 1 ? 500 : 0
    },
    onError: (error) => expect.unreachable(String(error)),
  })
  await pass(5_000)
  await pass(100)
  expect(asked.splice(0)).toEqual(['refusals 7', 'refusals 7'])
  days = 30
  await pass(60_000)
  expect(asked.splice(0)).toEqual(['refusals 7', 'all 30'])
  days = 5
  await pass(60_000)
  expect(asked.splice(0)).toEqual(['all 5'])
  kept.close()
})

test('while the clock is ahead nothing is removed or archived, and each look says why', async () => {
  let problem: string | null = 'the clock is ahead'
  let archives = false
  const done: string[] = []
  const errors: string[] = []
  const kept = keepUsageFor({
    clock: { problem: async () => problem },
    keepDays: () => 30,
    keepRefusalsDays: () => 7,
    archive: () => (archives ? async () => void done.push('archive') : null),
    prune: async ({ what }) => {
      done.push(what)
      return 0
    },
    onError: (error) => errors.push(String(error)),
  })
  await pass(5_000)
  archives = true
  await pass(60_000)
  const reported = 'Error: the clock is ahead'
  expect([done, errors]).toEqual([[], [reported, reported]])
  problem = null
  await pass(60_000)
  expect(done).toEqual(['refusals', 'archive'])
  kept.close()
})
