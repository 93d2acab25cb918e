// Tests exported statistics: their lines, and values that a spreadsheet must not execute.

import { expect, test } from 'bun:test'
import { noTokens } from '../config/prices.ts'
import type { BreakdownFigures } from './breakdown.ts'
import { breakdownCsv, seriesCsv } from './statistics-export.ts'

const range = { since: '2026-03-28T23:00:00.000Z', until: '2026-03-30T22:00:00.000Z' }

test('a series: a line for each interval with local time, a column for each group, totals last', () => {
  const lines = [
    ...seriesCsv({
      metric: 'spend',
      unit: 'nano',
      currency: 'EUR',
      timeZone: 'Europe/Berlin',
      interval: 'day',
      by: ['key', 'model'],
      ...range,
      intervals: ['2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
      series: [
        { group: { key: 'a,b', model: 'say "hi"' }, valuesNano: ['1', '0'], totalNano: '1' },
        { group: {}, otherGroups: 3, valuesNano: ['0', '2500000000'], totalNano: '2500000000' },
      ],
      total: { valuesNano: ['1', '2500000000'], totalNano: '2500000001' },
      previous: null,
    }),
  ]
  expect(lines).toEqual([
    'from,from (Europe/Berlin),"a,b / say ""hi""",(3 others),spend (EUR)\r\n',
    '2026-03-28T23:00:00.000Z,2026-03-29 00:00,0.000000001,0,0.000000001\r\n',
    '2026-03-29T22:00:00.000Z,2026-03-30 00:00,0,2.5,2.5\r\n',
    'total,,0.000000001,2.5,2.500000001\r\n',
  ])
})

test('what a spreadsheet would run is text', () => {
  const figures: BreakdownFigures = {
    requests: 1,
    success: 1,
    failed: 0,
    tokens: noTokens,
    spendNano: '0',
    share: null,
    errorRate: 0,
    cacheRate: 0,
  }
  const models = [
    '=1+1',
    '+1',
    '-1',
    '@SUM(A1)',
    '\tx',
    '\rx',
    'plain',
    '=HYPERLINK("http://x","y")',
  ]
  const rows = models.map((model) => ({ group: { model }, ...figures }))
  const totals = figures
  const lines = [
    ...breakdownCsv({ currency: 'USD', timeZone: 'UTC', by: ['model'], ...range, rows, totals }),
  ]
  expect(lines.slice(1, -1).map((line) => line.split(/,1,1,0,/, 1)[0])).toEqual([
    "'=1+1",
    "'+1",
    "'-1",
    "'@SUM(A1)",
    "'\tx",
    `"'\rx"`,
    'plain',
    `"'=HYPERLINK(""http://x"",""y"")"`,
  ])
  expect(lines.at(-1)?.startsWith('total,1,1,0,')).toBe(true)
  expect(new Set(lines.map((line) => line.replaceAll(/"[^"]*"/g, '').split(',').length)).size).toBe(
    1,
  )
})
