// Tests ids of spans.

import { expect, test } from 'bun:test'
import { finishedRequest } from '../../test/support/finished.ts'
import { traceIdOfRow } from './request-spans.ts'

const id = 'req_01a2245ebd0d0000011c912c9dfd'

test('all records of a session belong to one trace, whose id is 32 hex digits', () => {
  const traces = [id, `${id}-2`, `${id}-1000`].map((requestId) =>
    traceIdOfRow({ ...finishedRequest({ requestId }).row, traceId: null }),
  )
  expect(new Set(traces)).toEqual(new Set(['01a2245ebd0d0000011c912c9dfd0000']))
})
