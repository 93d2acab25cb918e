// Tests that the measured lag is the time for which the loop was busy.

import { expect, jest, test } from 'bun:test'
import { startLoopLag } from './loop-lag.ts'

test('a loop kept busy is seen while it is stuck and after, and an idle one is not', () => {
  let nowMs = 1_000
  jest.useFakeTimers()
  try {
    const lag = startLoopLag({ clock: () => nowMs })
    expect(lag.lagMs()).toBe(0)
    // Busy: time passes, and no timer fires.
    nowMs += 900
    expect(lag.lagMs()).toBe(400)
    jest.advanceTimersByTime(500)
    expect(lag.lagMs()).toBe(400)
    // Idle for the two seconds that the measurement covers.
    for (let sample = 0; sample < 4; sample += 1) {
      nowMs += 500
      jest.advanceTimersByTime(500)
    }
    expect(lag.lagMs()).toBe(0)
    lag.stop()
  } finally {
    jest.useRealTimers()
  }
})

test('sampling does not keep a process alive', async () => {
  const path = JSON.stringify(`${import.meta.dir}/loop-lag.ts`)
  const child = Bun.spawn([
    process.execPath,
    '-e',
    `import { startLoopLag } from ${path}; startLoopLag()`,
  ])
  expect(await child.exited).toBe(0)
})
