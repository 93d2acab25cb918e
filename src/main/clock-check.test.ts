// Tests when a clock counts as being ahead.

import { expect, test } from 'bun:test'
import { createClockCheck } from './clock-check.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** A machine whose clock may be set, with a database on another machine that is always right. */
function machine(databaseAheadMs = 0) {
  let passedMs = 0
  let offMs = 0
  const check = createClockCheck({
    databaseMs: async () => 1_000 * dayMs + passedMs + databaseAheadMs,
    wallMs: () => 1_000 * dayMs + passedMs + offMs,
    monotonicMs: () => passedMs,
  })
  return {
    problem: () => check.problem(),
    pass: (ms: number) => {
      passedMs += ms
    },
    set: (ms: number) => {
      offMs = ms
    },
  }
}

test('a clock more than a minute ahead of the database is named, one behind it is not', async () => {
  const { problem, set } = machine()
  set(60_000)
  expect(await problem()).toBeNull()
  set(3 * hourMs)
  expect(await problem()).toBe("the clock of this machine is 10800 s ahead of the database's")
  set(-3 * hourMs)
  expect(await problem()).toBeNull()
})

test('a leap of more than a day counts for a day, or until the clock is set back', async () => {
  // The database is on the same machine.
  const offMs = 400 * dayMs
  const { problem, set, pass } = machine(offMs)
  const leap = expect.stringContaining('more than a day at once')
  set(20 * hourMs)
  expect(await problem()).toBeNull()
  set(offMs)
  expect(await problem()).toEqual(leap)
  pass(23 * hourMs)
  expect(await problem()).toEqual(leap)
  set(0)
  expect(await problem()).toBeNull()
  set(offMs)
  expect(await problem()).toEqual(leap)
  pass(dayMs)
  expect(await problem()).toBeNull()
})

test('time that passes between two looks is no leap', async () => {
  const { problem, pass } = machine()
  pass(3 * dayMs)
  expect(await problem()).toBeNull()
})
