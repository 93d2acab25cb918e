// Tests the usual length of a reply: close to the true percentile, adapting to changes, with bounded memory.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createOutputEstimates } from './output-estimate.ts'

const key = {}

test('1024 until something longer was seen, and for another caller or model', () => {
  const estimates = createOutputEstimates()
  expect(estimates.usual(key, 'm')).toBe(1_024)
  estimates.note(key, 'm', 5_000)
  expect(estimates.usual(key, 'm')).toBe(5_793)
  estimates.note(key, 'near', 1_025)
  expect(estimates.usual(key, 'near')).toBe(1_448)
  expect([estimates.usual(key, 'other'), estimates.usual({}, 'm')]).toEqual([1_024, 1_024])
})

test('at most one in twenty was longer, and it is within half an octave of the least such length', () => {
  fc.assert(
    fc.property(
      fc
        .array(fc.nat(900_000), { minLength: 1, maxLength: 500 })
        .map((lengths) => lengths.map((length) => Math.max(1, length))),
      (lengths) => {
        const estimates = createOutputEstimates()
        for (const length of lengths) estimates.note(key, 'm', length)
        const usual = estimates.usual(key, 'm')
        const mayExceed = Math.floor(lengths.length / 20)
        expect(lengths.filter((length) => length > usual).length).toBeLessThanOrEqual(mayExceed)
        const exact = lengths.toSorted((a, b) => b - a)[mayExceed] ?? 0
        expect(usual).toBeLessThanOrEqual(Math.max(1_024, exact * Math.SQRT2 + 1))
      },
    ),
  )
})

test('what was long ago is forgotten', () => {
  const estimates = createOutputEstimates()
  for (let at = 0; at < 1_000; at++) estimates.note(key, 'm', 50_000)
  for (let at = 0; at < 2_500; at++) estimates.note(key, 'm', 100)
  expect(estimates.usual(key, 'm')).toBe(1_024)
})

test('counts that are none change nothing but the total', () => {
  const estimates = createOutputEstimates()
  for (const count of [0, -1, Number.NaN]) estimates.note(key, 'm', count)
  expect(estimates.usual(key, 'm')).toBe(1_024)
  estimates.note(key, 'm', Number.POSITIVE_INFINITY)
  expect(estimates.usual(key, 'm')).toBe(1_048_576)
})

test('of a caller with very many models the first are forgotten', () => {
  const estimates = createOutputEstimates()
  for (let at = 0; at < 65; at++) estimates.note(key, `m${at}`, 3_000)
  expect(estimates.usual(key, 'm0')).toBe(1_024)
  expect([estimates.usual(key, 'm1'), estimates.usual(key, 'm64')]).toEqual([4_096, 4_096])
})
