// Tests that spans leave within a second whatever the collector did before.

import { afterEach, beforeEach, expect, jest, test } from 'bun:test'
import { finishedRequest } from '../../test/support/finished.ts'
import type { Settlement } from '../billing/settlement.ts'
import type { Collector } from './otlp-collector.ts'
import { SpanQueue } from './traces.ts'

beforeEach(() => {
  jest.useFakeTimers()
})
afterEach(() => {
  jest.useRealTimers()
})

test('after a batch that took longer than the next waits, spans leave as before', async () => {
  const replies: ((isTaken: boolean) => void)[] = []
  const send = () => {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    replies.push(resolve)
    return promise
  }
  const collector: Collector = { resource: {}, scope: { name: 'x', version: '1' }, send }
  const queue = new SpanQueue(collector, 1)
  const { row } = finishedRequest({ requestId: 'req_1' })
  const request = { caller: { traceparent: null }, dialect: { client: {} } }
  const settlement = { request, summary: null }
  const note = () => queue.note(settlement as unknown as Settlement, row)

  note()
  jest.advanceTimersByTime(1_000)
  expect(replies).toHaveLength(1)
  note()
  jest.advanceTimersByTime(1_000)
  const flushed = queue.flush()
  replies[0]?.(true)
  while (replies.length < 2) await Promise.resolve()
  replies[1]?.(true)
  await flushed
  expect(queue.counts.sent).toBe(2)

  note()
  jest.advanceTimersByTime(1_000)
  expect(replies).toHaveLength(3)
})
