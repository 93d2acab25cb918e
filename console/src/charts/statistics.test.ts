// Tests converting answers of the statistics API to charts.

import { expect, test } from 'bun:test'
import { bucketsOf, coloursOf, groupId, otherId, seriesOf } from './statistics.ts'

test('a group keeps its colour while filters change, and others take what is free', () => {
  const ranked = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  expect([...coloursOf(ranked, ['a', 'b', otherId])]).toEqual([
    ['a', 1],
    ['b', 2],
    [otherId, 'other'],
  ])
  expect([...coloursOf(ranked, ['g', 'c'])]).toEqual([
    ['c', 3],
    ['g', 1],
  ])
  const all = coloursOf([], ['a', 'b', 'c', 'd', 'e', 'f', 'g'])
  expect([...all.values()]).toEqual([1, 2, 3, 4, 5, 6, 'other'])
})

const statistics = {
  metric: 'spend',
  unit: 'nano',
  currency: 'USD',
  timeZone: 'UTC',
  by: ['model'],
  interval: 'day',
  since: '2026-11-20T00:00:00Z',
  until: '2026-11-21T12:00:00Z',
  intervals: ['2026-11-20T00:00:00Z', '2026-11-21T00:00:00Z'],
  series: [
    { group: { model: 'small' }, valuesNano: ['5', '0'], totalNano: '5' },
    { group: {}, otherGroups: 3, valuesNano: ['1', '1'], totalNano: '2' },
  ],
  total: { valuesNano: ['6', '1'], totalNano: '7' },
  previous: null,
}
const colours = coloursOf(['large', 'small'], ['small', otherId])
const words = { allName: 'All', otherName: 'Other', colours }

test('series have their values, names and colours; the last bucket ends with the range', () => {
  const nameOf = ({ model = '' }) => model.toUpperCase()
  expect(seriesOf({ statistics, nameOf, ...words })).toEqual([
    { id: 'small', name: 'SMALL', colour: 2, values: [5, 0] },
    { id: otherId, name: 'Other', colour: 'other', values: [1, 1] },
  ])
  expect(bucketsOf(statistics).at(-1)).toEqual({
    start: '2026-11-21T00:00:00Z',
    end: '2026-11-21T12:00:00Z',
  })
})

test('errors have their own colour, alone and by class of status', () => {
  const nameOf = () => ''
  const alone = { ...statistics, metric: 'errors', by: [], total: { values: [1, null], total: 1 } }
  expect(seriesOf({ statistics: alone, nameOf, ...words })).toEqual([
    { id: '', name: 'All', colour: 'danger', values: [1, null] },
  ])
  const group = { statusClass: '5xx' }
  const classes = { ...statistics, by: ['statusClass'], series: [{ group, values: [1, 2] }] }
  expect(seriesOf({ statistics: classes, nameOf, ...words })[0]?.colour).toBe('danger')
})

test('two dimensions make one group', () => {
  expect(groupId({ model: 'a', key: 'k' }, ['key', 'model'])).toBe('k\na')
  expect(groupId({}, ['key', 'model'])).toBe(otherId)
  expect(groupId({}, [])).toBe('')
})
