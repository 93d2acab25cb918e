/** Which Tollgate the published page compares with the targets if several were measured. */
import { expect, test } from 'bun:test'
import { readOptions } from './options.ts'
import { type Column, type Run, tableRows, verdictRows } from './report.ts'

const figures: Record<string, number> = { haproxy: 10, 'tollgate:../before': 60, tollgate: 25 }

function runOf(names: string[]): Run {
  const options = readOptions([])
  if (options === undefined) throw new Error('no options')
  return {
    date: '2026-01-02T03:04:05',
    options,
    columns: names.map((name): Column => ({ name, label: name.toUpperCase() })),
    samples: names.map((gateway) => ({
      gateway,
      round: 1,
      figures: { 'w1.cpuUs': figures[gateway] ?? Number.NaN },
    })),
    missing: [],
    notes: [],
    versions: {},
    busy: { loadBefore: 0, busyShare: 0, stolenShare: 0 },
  }
}

test('this checkout is judged, and another one stands beside it as before', () => {
  const run = runOf(['haproxy', 'tollgate:../before', 'tollgate'])
  expect(verdictRows(run)).toEqual([
    ['figure', 'target', 'TOLLGATE:../BEFORE', 'measured', 'verdict'],
    [
      '1 KB request, whole reply, 64 connections: CPU',
      'at most 3 x HAProxy',
      '6.000 x HAProxy',
      '2.500 x HAProxy',
      'met',
    ],
  ])
  expect(tableRows(run)[1]?.at(-1)).toBe('2.50')
})

test('where this checkout was not measured the first Tollgate is judged', () => {
  const rows = verdictRows(runOf(['tollgate:../before', 'haproxy']))
  expect(rows[1]?.at(-1)).toBe('not met')
  expect(verdictRows(runOf(['haproxy']))).toEqual([])
})
