// Tests the bonus under any rule: within its cap, by the highest tier that is reached, and never above the stated
// maximum.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { bonusOf } from './bonus.ts'

type Rule = NonNullable<Parameters<typeof bonusOf>[0]>

const nano = 1_000_000_000n
const units = fc.integer({ min: 0, max: 10_000 })
const percent = fc.integer({ min: 0, max: 100 })

const rules: fc.Arbitrary<Rule> = fc.record({
  amount: fc.option(units.map(String)),
  percent: fc.option(percent.map(String)),
  max: fc.option(units.map(String)),
  minimum: units.map(String),
  tiers: fc.array(fc.record({ from: units.map(String), percent: percent.map(String) }), {
    maxLength: 4,
  }),
  days: fc.option(fc.integer({ min: 1, max: 365 })),
  spent: fc.constantFrom('first' as const, 'last' as const),
})

/** A second form of the rule: tiers in ascending order, where each tier that is reached replaces the one before. */
function expected(rule: Rule, paid: bigint): bigint {
  if (paid < BigInt(rule.minimum)) return 0n
  let share = BigInt(rule.percent ?? '0')
  const steps = new Map(rule.tiers.toReversed().map((tier) => [Number(tier.from), tier.percent]))
  for (const from of [...steps.keys()].sort((one, other) => one - other))
    if (paid >= BigInt(from)) share = BigInt(steps.get(from) ?? 0)
  const given = rule.amount === null ? (paid * nano * share) / 100n : BigInt(rule.amount) * nano
  const most = rule.max === null ? given : BigInt(rule.max) * nano
  return given < most ? given : most
}

test('is what the rule says of the payment, ends when it says, and is nothing below its minimum', () => {
  const property = fc.property(rules, units, fc.integer({ min: 0 }), (rule, paid, nowMs) => {
    const given = bonusOf(rule, BigInt(paid) * nano, nowMs)
    const amountNano = expected(rule, BigInt(paid))
    expect(given?.amountNano ?? 0n).toBe(amountNano)
    if (given === null) return
    expect(given.amountNano).toBeGreaterThan(0n)
    expect(given.expiresAt).toBe(rule.days === null ? null : nowMs + rule.days * 86_400_000)
    if (rule.max !== null) expect(given.amountNano).toBeLessThanOrEqual(BigInt(rule.max) * nano)
  })
  fc.assert(property, { numRuns: 500 })
  expect(bonusOf(null, nano, 0)).toBeNull()
})

test('more is never given for less, where tiers grow', () => {
  const growing = fc.array(fc.tuple(units, percent), { maxLength: 4 }).map((pairs) => {
    const shares = pairs.map(([, share]) => share).sort((one, other) => one - other)
    const froms = pairs.map(([from]) => from).sort((one, other) => one - other)
    return froms.map((from, at) => ({ from: String(from), percent: String(shares[at] ?? 0) }))
  })
  const property = fc.property(rules, growing, units, units, (rule, tiers, one, other) => {
    const plain = { ...rule, tiers, percent: '0', amount: null }
    const given = (paid: number) => bonusOf(plain, BigInt(paid) * nano, 0)?.amountNano ?? 0n
    expect(given(Math.min(one, other))).toBeLessThanOrEqual(given(Math.max(one, other)))
  })
  fc.assert(property, { numRuns: 500 })
})
