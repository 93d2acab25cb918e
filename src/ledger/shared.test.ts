// Tests the state that the serving thread must know at each call, before any message of the worker has arrived.

import { expect, test } from 'bun:test'
import { monotonicMs, SharedState } from './shared.ts'

test('a node that was closed is stalled until that is known, though it is open anew and renewed', () => {
  const state = new SharedState()
  state.renewedMs = monotonicMs()
  expect(state.isStalled(0, 60_000)).toBe(false)
  expect(state.noteFenced()).toBe(1)
  state.renewedMs = monotonicMs()
  expect(state.isStalled(0, 60_000)).toBe(true)
  expect(state.isStalled(1, 60_000)).toBe(false)
  state.renewedMs = monotonicMs() - 60_001
  expect(state.isStalled(1, 60_000)).toBe(true)
})
