// The lag seen is the time the loop was kept busy.

import { expect, test } from 'bun:test'
import { startLoopLag } from './loop-lag.ts'

test('a loop kept busy is seen while it is stuck and after, and an idle one is not', async () => {
  const lag = startLoopLag()
  expect(lag.lagMs()).toBeLessThan(50)
  const until = performance.now() + 900
  while (performance.now() < until);
  const during = lag.lagMs()
  expect(during).toBeWithin(350, 700)
  // A timer set later fires after the sampler's, which is overdue.
  await new Promise((resolve) => setTimeout(resolve, 1))
  expect(lag.lagMs()).toBeWithin(350, 700)
  lag.stop()
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
