/** How the published numbers are calculated: medians, added latency and verdicts. */
import { expect, test } from 'bun:test'
import { addAddedLatency, judge, type Sample, summarize } from './figures.ts'

const sample = (gateway: string, round: number, figures: Record<string, number>): Sample => ({
  gateway,
  round,
  figures,
})

test('a summary is the median with its range, and absent where nothing was measured', () => {
  const samples = [3, 100, 1, 2].map((value, round) => sample('tollgate', round, { a: value }))
  expect(summarize(samples, 'tollgate', 'a')).toEqual({ median: 2.5, min: 1, max: 100, count: 4 })
  expect(summarize(samples.slice(0, 3), 'tollgate', 'a')?.median).toBe(3)
  expect(summarize(samples, 'haproxy', 'a')).toBeUndefined()
  expect(summarize(samples, 'tollgate', 'b')).toBeUndefined()
})

test('added latency is taken from the direct column of the same round', () => {
  const samples = [
    sample('direct', 1, { 'w1.c1P50Us': 20, 'w1.c1P99Us': 40 }),
    sample('tollgate', 1, { 'w1.c1P50Us': 120, 'w1.c1P99Us': 240 }),
    sample('tollgate', 2, { 'w1.c1P50Us': 150, 'w1.c1P99Us': 250 }),
    sample('direct', 2, { 'w1.c1P50Us': 30, 'w1.c1P99Us': 60 }),
  ]
  addAddedLatency(samples)
  expect(summarize(samples, 'tollgate', 'w1.addedP50Us')).toMatchObject({ min: 100, max: 120 })
  expect(summarize(samples, 'tollgate', 'w1.addedP99Us')).toMatchObject({ min: 190, max: 200 })
  expect(summarize(samples, 'direct', 'w1.addedP50Us')).toBeUndefined()
})

test('a ratio is judged by medians, a bound by its worst sample, an absent peer not at all', () => {
  const samples = [
    sample('haproxy', 1, { 'w1.cpuUs': 20 }),
    sample('tollgate', 1, { 'w1.cpuUs': 50, 'w4.late': 0 }),
    sample('tollgate', 2, { 'w1.cpuUs': 52, 'w4.late': 1 }),
    sample('tollgate', 3, { 'w1.cpuUs': 48, 'w4.late': 0 }),
  ]
  const verdicts = judge(samples, 'tollgate').map(({ figure, measured, met }) => [
    figure.id,
    measured,
    met,
  ])
  expect(verdicts).toEqual([
    ['w1.cpuUs', 2.5, true],
    ['w4.late', 1, false],
  ])
})
