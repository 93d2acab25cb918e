// Tests that the table of usage columns and the values written out beside it are the same list.

import { expect, test } from 'bun:test'
import { columnValues, type UsageRow, usageColumns } from './usage-row.ts'

test('values stand in the order of the columns', () => {
  const fields = usageColumns.map(({ field }) => field)
  const row = Object.fromEntries(fields.map((field) => [field, field])) as unknown as UsageRow
  expect(columnValues(row) as unknown[]).toEqual(fields)
})
