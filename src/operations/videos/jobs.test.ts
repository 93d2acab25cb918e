// Tests when videos are looked for: each second while one is being made, and rarely otherwise.

import { afterEach, beforeEach, expect, jest, test } from 'bun:test'
import type { VideoTable } from '../../store/video-table.ts'
import { VideoJobs } from './jobs.ts'

let looks = 0
let nextAt: number | null = null
let running = false
/** The promise that a look waits for. */
let gate: Promise<void> = Promise.resolve()
let jobs: VideoJobs

const unused = (): never => {
  throw new Error('not asked here')
}

const table: VideoTable = {
  apply: unused,
  find: unused,
  list: unused,
  clean: unused,
  async nextPollAt() {
    looks += 1
    const seen = nextAt
    await gate
    return seen
  },
  isAnyRunning: async () => running,
}

beforeEach(() => {
  jest.useFakeTimers()
  looks = 0
  nextAt = null
  running = false
  gate = Promise.resolve()
  const nothing = () => undefined
  const log = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing }
  jobs = new VideoJobs({
    relay: unused,
    openSpool: unused,
    table,
    change: async () => {
      nextAt = null
      return {
        state: 'unchanged',
        rows: [],
        settled: { settled: 0, chargedNano: 0n, writtenOffNano: 0n },
      }
    },
    prices: unused,
    longestMs: () => 3_600_000,
    log: log as unknown as ConstructorParameters<typeof VideoJobs>[0]['log'],
  })
  jobs.start()
})

afterEach(() => {
  jest.useRealTimers()
})

/** Advances the time, and waits for the promises of a look. */
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 100) {
    jest.advanceTimersByTime(100)
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
  }
}

test('while no video is under way they are looked for four times a minute', async () => {
  await pass(60_000)
  expect(looks).toBeLessThanOrEqual(5)
  expect(looks).toBeGreaterThanOrEqual(4)
})

test('while another process asks for one they are looked for each second', async () => {
  running = true
  await pass(10_000)
  expect(looks).toBeGreaterThanOrEqual(9)
})

test('one that begins here is asked for when it is due', async () => {
  await pass(3_000)
  const before = looks
  nextAt = Date.now() + 1_000
  running = true
  jobs.wake(nextAt)
  await pass(1_200)
  expect(looks).toBeGreaterThan(before)
})

test('one that begins during a look that does not see it is asked for when it is due', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  await pass(3_000)
  gate = promise
  await pass(15_000)
  const before = looks
  nextAt = Date.now() + 1_000
  jobs.wake(nextAt)
  gate = Promise.resolve()
  resolve()
  await pass(1_500)
  expect(looks).toBeGreaterThan(before)
})
