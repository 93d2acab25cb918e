// Tests the order of rows of which some arrived while the list was followed.

import { expect, test } from 'bun:test'
import { merged } from './merged.ts'

/** One a second; the last is the newest. */
const rows = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => {
    const at = new Date((last - index) * 1_000).toISOString()
    return { requestId: `req_${last - index}`, at }
  })

test('rows of a list that was read again stand above those that had arrived before', () => {
  expect(merged(rows(1, 80), rows(31, 130))).toEqual(rows(1, 130))
  expect(merged(rows(81, 130), rows(1, 100))).toEqual(rows(1, 130))
  expect(merged([], rows(1, 3))).toEqual(rows(1, 3))
})
