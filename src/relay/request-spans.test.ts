// Tests ids and attributes of spans.

import { expect, test } from 'bun:test'
import { finishedRequest } from '../../test/support/finished.ts'
import type { Settlement } from '../billing/settlement.ts'
import type { UsageRow } from '../store/usage-row.ts'
import { dialects } from '../wire/dialects.ts'
import { realtime } from '../wire/openai-realtime/dialect.ts'
import { spansOf, tracedOf, traceIdOfRow } from './request-spans.ts'

const id = 'req_01a2245ebd0d0000011c912c9dfd'

function spans(change: Partial<UsageRow>) {
  const { row } = finishedRequest({ requestId: id })
  const traced = { traceparent: null, finishReason: null, sentAfterMs: 0, method: 'POST' } as const
  return spansOf({ ...traced, row: { ...row, attempts: 1, failedAttempts: null, ...change } })
}

const valueOf = (span: ReturnType<typeof spans>[number] | undefined, name: string) =>
  span?.attributes.find(({ key }) => key === name)?.value

test('all records of a session belong to one trace, whose id is 32 hex digits', () => {
  const traces = [id, `${id}-2`, `${id}-1000`].map((requestId) =>
    traceIdOfRow({ ...finishedRequest({ requestId }).row, traceId: null }),
  )
  expect(new Set(traces)).toEqual(new Set(['01a2245ebd0d0000011c912c9dfd0000']))
})

test('the label of a request is on its own span', () => {
  const [own, attempt] = spans({ tag: 'search' })
  expect(valueOf(own, 'tollgate.tag')).toEqual({ stringValue: 'search' })
  expect(valueOf(attempt, 'tollgate.tag')).toBeUndefined()
})

test.each([
  ['POST', dialects['openai-chat']],
  ['GET', realtime],
] as const)('the method of a request is that of its format: %s', (method, dialect) => {
  const { row } = finishedRequest({ requestId: id })
  const request: unknown = { dialect, caller: { traceparent: null } }
  const settlement: Partial<Settlement> = { request: request as Settlement['request'] }
  const [own] = spansOf(tracedOf(settlement as Settlement, row))
  expect(valueOf(own, 'http.request.method')).toEqual({ stringValue: method })
})
