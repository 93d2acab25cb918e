// Tests whose choice decides what message history keeps.

import { expect, test } from 'bun:test'
import type { HistoryMode } from '../config/types.ts'
import { policyOf } from './policy.ts'

const modes: readonly HistoryMode[] = ['off', 'metadata', 'sealed', 'full']
const dayMs = 86_400_000
const days = { maxDays: 90, keepDays: 30 }

test('nobody has more kept than the operator allows, nor open what is to be sealed', () => {
  const kept: readonly unknown[] = modes.map((maxMode) =>
    modes.map((wanted) =>
      [null, 'a key'].map(
        (publicKey) =>
          policyOf(wanted, { retentionDays: null, publicKey }, { ...days, maxMode })?.mode ?? 'off',
      ),
    ),
  )
  const [off, metadata, sealed, full] = [
    ['off', 'off'],
    ['metadata', 'metadata'],
    ['metadata', 'sealed'],
    ['full', 'full'],
  ]
  expect(kept).toEqual([
    [off, off, off, off],
    [off, metadata, metadata, metadata],
    [off, metadata, sealed, sealed],
    [off, metadata, sealed, full],
  ])
})

test('it is kept for as long as its account has chosen, else as usual, and never longer than is allowed', () => {
  const keepMs = (retentionDays: number | null, rules = days) =>
    policyOf('full', { retentionDays, publicKey: null }, { ...rules, maxMode: 'full' })?.keepMs
  expect(keepMs(7)).toBe(7 * dayMs)
  expect(keepMs(null)).toBe(30 * dayMs)
  expect(keepMs(365)).toBe(90 * dayMs)
  expect(keepMs(null, { maxDays: 10, keepDays: 30 })).toBe(10 * dayMs)
  expect(policyOf('full', undefined, { ...days, maxMode: 'full' })).toEqual({
    mode: 'full',
    keepMs: 30 * dayMs,
    publicKey: null,
  })
})
