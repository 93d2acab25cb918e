// The recorder: batches, retries, rows that cannot be kept, the bound, and the end.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { RowRefused, type UsageRow, type UsageTable } from '../store/store.ts'
import { createRecorder, type RecorderOptions } from './recorder.ts'

function usageRow(requestId: string): UsageRow {
  return {
    requestId,
    at: 1,
    account: 'ann',
    key: 'key_1',
    keyName: 'laptop',
    group: 'default',
    operation: 'chat',
    modelAsked: 'm',
    modelServed: null,
    channel: null,
    vendor: null,
    attempts: 1,
    stream: false,
    input: 1,
    cachedInput: 0,
    cacheWrite: 0,
    output: 1,
    reasoning: 0,
    usageSource: 'reported',
    ttftMs: null,
    durationMs: 1,
    status: 200,
    errorCode: null,
    errorCause: null,
  }
}

/** A table in memory that can be made to fail, to be slow, or to refuse rows by id. */
function setUp(options: Partial<RecorderOptions> = {}, poison: ReadonlySet<string> = new Set()) {
  const kept = new Map<string, UsageRow>()
  const batches: number[] = []
  const seen = {
    errors: [] as unknown[],
    retries: [] as number[],
    dropped: 0,
    refused: [] as string[],
  }
  const state = { failures: 0, running: 0, gate: Promise.resolve(), twoAtOnce: false }
  const usage: UsageTable = {
    async append(rows) {
      state.running += 1
      state.twoAtOnce ||= state.running > 1
      await state.gate
      state.running -= 1
      batches.push(rows.length)
      if (state.failures > 0) {
        state.failures -= 1
        throw new Error('away')
      }
      if (rows.some((row) => poison.has(row.requestId))) throw new RowRefused('poison')
      for (const row of rows) kept.set(row.requestId, row)
    },
    list: () => Promise.reject(new Error('not used')),
  }
  const recorder = createRecorder(usage, {
    flushMs: 1,
    onError: (error, retryMs) => {
      seen.errors.push(error)
      seen.retries.push(retryMs)
    },
    onDropped: (_, total) => {
      seen.dropped = total
    },
    onRefused: (row) => seen.refused.push(row.requestId),
    ...options,
  })
  const record = (from: number, to: number) => {
    for (let index = from; index < to; index += 1) recorder.record(usageRow(`req_${index}`))
  }
  return { recorder, record, kept, batches, seen, state }
}

async function empty(recorder: { readonly depth: number }): Promise<void> {
  const deadline = performance.now() + 5000
  while (recorder.depth > 0) {
    if (performance.now() > deadline) throw new Error('still not written')
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

test('rows of one moment are one batch, written without being asked', async () => {
  const { recorder, record, kept, batches } = setUp()
  record(0, 30)
  expect([recorder.depth, batches.length]).toEqual([30, 0])
  await empty(recorder)
  expect(batches).toEqual([30])
  expect([...kept.keys()]).toEqual(Array.from({ length: 30 }, (_, index) => `req_${index}`))
})

test('batches are bounded and one append runs at a time', async () => {
  const { recorder, record, kept, batches, state } = setUp({ maxBatch: 10 })
  record(0, 35)
  await empty(recorder)
  expect(batches).toEqual([10, 10, 10, 5])
  record(35, 40)
  await Promise.all([recorder.drain(), recorder.drain()])
  expect(kept.size).toBe(40)
  expect(state.twoAtOnce).toBe(false)
})

test('a failed append keeps its rows and is tried again, each time later', async () => {
  const { recorder, record, kept, seen, state } = setUp()
  state.failures = 4
  record(0, 5)
  await empty(recorder)
  expect(kept.size).toBe(5)
  expect(seen.errors).toHaveLength(4)
  expect(seen.retries).toEqual([2, 4, 8, 16])
  expect(seen.refused).toEqual([])
})

test('rows the store refuses are set aside by name, all others are kept', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 60 }),
      fc.uniqueArray(fc.integer({ min: 0, max: 59 }), { maxLength: 8 }),
      fc.integer({ min: 0, max: 6 }),
      async (count, places, failures) => {
        const poison = new Set(
          places.filter((place) => place < count).map((place) => `req_${place}`),
        )
        const { recorder, record, kept, seen, state } = setUp({ maxBatch: 16 }, poison)
        state.failures = failures
        record(0, count)
        expect(await recorder.drain()).toBe(0)
        expect(kept.size).toBe(count - poison.size)
        expect(seen.refused.toSorted()).toEqual([...poison].toSorted())
        expect(seen.errors).toHaveLength(failures)
      },
    ),
    { numRuns: 50 },
  )
})

test('past the bound rows are dropped and counted, those before are kept', async () => {
  const { recorder, record, kept, seen } = setUp({ maxQueue: 20 })
  record(0, 27)
  expect(recorder.depth).toBe(20)
  await empty(recorder)
  expect(seen.dropped).toBe(7)
  expect(kept.size).toBe(20)
})

test('drain writes what waits at once, and gives up at its limit with the number left', async () => {
  const quick = setUp({ flushMs: 60_000 })
  quick.record(0, 3)
  expect(await quick.recorder.drain()).toBe(0)
  expect(quick.kept.size).toBe(3)

  const hung = setUp()
  hung.state.gate = new Promise(() => undefined)
  hung.record(0, 3)
  expect(await hung.recorder.drain(20)).toBe(3)

  const away = setUp({ flushMs: 1 })
  away.state.failures = Number.POSITIVE_INFINITY
  away.record(0, 3)
  expect(await away.recorder.drain(20)).toBe(3)
})
