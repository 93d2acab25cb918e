// Tests when the ledger's worker stops looking for recalls by other nodes: only while nothing is leased.

import { expect, test } from 'bun:test'
import { LeasesRest } from './worker-rest.ts'

test('recalls are looked for as long as a request holds something, however quiet it is', async () => {
  const rest = new LeasesRest(new AbortController().signal, -1)
  rest.granted('ann')
  const rested = rest.untilLeased()
  expect(rested).not.toBeNull()
  rest.holds(true)
  await rested
  expect(rest.untilLeased()).toBeNull()
  rest.holds(false)
  expect(rest.untilLeased()).not.toBeNull()
})

test('a lease that is not used is looked after for a while', () => {
  const rest = new LeasesRest(new AbortController().signal)
  expect(rest.untilLeased()).not.toBeNull()
  rest.granted('ann')
  expect(rest.untilLeased()).toBeNull()
  rest.forgotten('ann')
  expect(rest.untilLeased()).not.toBeNull()
})
