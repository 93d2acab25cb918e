// Tests the order of attempts: by properties, and by statistics with seeded random numbers.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { seeded } from '../../test/support/seeded.ts'
import { byRank } from './facts.ts'
import { plan } from './plan.ts'
import type { Block, Candidate } from './route.ts'

const candidate = (channelId: string, more: Partial<Candidate> = {}): Candidate => ({
  channelId,
  model: 'm',
  dialect: 'openai-chat',
  identity: true,
  priority: 0,
  weight: 1,
  ...more,
})

type Blocks = Readonly<Record<string, { block: Block; waitMs: number }>>

const view = (blocks: Blocks = {}) => ({
  usable: (id: string) => blocks[id] === undefined,
  blocked: (id: string) => blocks[id]?.block ?? null,
  waitMs: (id: string) => blocks[id]?.waitMs ?? 0,
})

const ids = (made: { attempts: readonly Candidate[] }) =>
  made.attempts.map((each) => each.channelId)
const many = { maxAttempts: 99 }

const candidatesArbitrary = fc
  .array(
    fc.record({
      identity: fc.boolean(),
      priority: fc.integer({ min: -2, max: 2 }),
      weight: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 10 })),
    }),
    { maxLength: 12 },
  )
  .map((list) => list.map((each, index) => candidate(`c${index}`, each)))
const blocksArbitrary = fc
  .array(
    fc.option(
      fc.record({
        block: fc.constantFrom<Block[]>('breaker', 'rate_limited', 'quota', 'credentials'),
        waitMs: fc.integer({ min: 1, max: 120_000 }),
      }),
      { nil: undefined },
    ),
    { minLength: 12, maxLength: 12 },
  )
  .map((list) => Object.fromEntries(list.flatMap((each, i) => (each ? [[`c${i}`, each]] : []))))

test('whatever the health: ordered, no duplicates, at most half left out by breakers', () => {
  fc.assert(
    fc.property(
      candidatesArbitrary,
      blocksArbitrary,
      fc.integer(),
      fc.integer({ min: 0, max: 5 }),
      (candidates, blocks, seed, maxAttempts) => {
        const before = JSON.stringify(candidates)
        const made = plan(candidates, view(blocks), 0, seeded(seed), many)
        expect(JSON.stringify(candidates)).toBe(before)
        expect(plan(candidates, view(blocks), 0, seeded(seed), many)).toEqual(made)
        expect(ids(plan(candidates, view(blocks), 0, seeded(seed), { maxAttempts }))).toEqual(
          ids(made).slice(0, maxAttempts),
        )
        expect(new Set(ids(made)).size).toBe(made.attempts.length)

        const blockOf = (each: Candidate) => blocks[each.channelId]?.block ?? null
        const usable = candidates.filter((each) => blockOf(each) === null)
        const open = candidates.filter((each) => blockOf(each) === 'breaker')
        const tried = made.attempts.filter((each) => blockOf(each) === 'breaker')
        expect(new Set(ids(made).slice(0, usable.length))).toEqual(
          new Set(usable.map((each) => each.channelId)),
        )
        expect(open.length - tried.length).toBeLessThanOrEqual(candidates.length / 2)
        expect(made.attempts.length).toBe(usable.length + tried.length)
        const waits = tried.map((each) => blocks[each.channelId]?.waitMs ?? 0)
        expect(waits).toEqual([...waits].sort((a, b) => a - b))

        const rank = (each: Candidate) => [
          each.weight > 0 ? 0 : 1,
          each.priority,
          each.identity ? 0 : 1,
        ]
        const ranks = made.attempts.slice(0, usable.length).map(rank)
        const sorted = [...ranks].sort(
          (a, b) =>
            (a[0] ?? 0) - (b[0] ?? 0) || (a[1] ?? 0) - (b[1] ?? 0) || (a[2] ?? 0) - (b[2] ?? 0),
        )
        expect(ranks).toEqual(sorted)

        const allLimited =
          candidates.length > 0 && candidates.every((each) => blockOf(each) === 'rate_limited')
        const shortest = Math.min(...candidates.map((each) => blocks[each.channelId]?.waitMs ?? 0))
        const noneAllowed = candidates.length > 0 && made.attempts.length === 0
        expect(made.blocked?.retryAfterMs ?? null).toBe(noneAllowed ? shortest : null)
        expect(made.blocked?.why === 'rate_limited').toBe(allLimited)
      },
    ),
    { numRuns: 500 },
  )
})

test('the first place goes by weight, and so does the second among the rest', () => {
  const candidates = [
    candidate('a', { weight: 1 }),
    candidate('b', { weight: 3 }),
    candidate('c', { weight: 6 }),
  ]
  const random = seeded(7)
  const runs = 40_000
  const first: Record<string, number> = {}
  let secondAfterC = 0
  for (let n = 0; n < runs; n += 1) {
    const [one = '', two] = ids(plan(candidates, view(), 0, random, many))
    first[one] = (first[one] ?? 0) + 1
    if (one === 'c' && two === 'b') secondAfterC += 1
  }
  expect(Math.abs((first.a ?? 0) / runs - 0.1)).toBeLessThan(0.01)
  expect(Math.abs((first.b ?? 0) / runs - 0.3)).toBeLessThan(0.01)
  expect(Math.abs((first.c ?? 0) / runs - 0.6)).toBeLessThan(0.01)
  expect(Math.abs(secondAfterC / (first.c ?? 1) - 0.75)).toBeLessThan(0.015)
})

test('a single channel is tried although its breaker is open, but not while it cools or is disabled', () => {
  const one = [candidate('a')]
  expect(
    ids(plan(one, view({ a: { block: 'breaker', waitMs: 120_000 } }), 0, Math.random, many)),
  ).toEqual(['a'])
  for (const block of ['quota', 'credentials', 'rate_limited'] as const)
    expect(ids(plan(one, view({ a: { block, waitMs: 9 } }), 0, Math.random, many))).toEqual([])
})

test('no candidates, no plan', () => {
  expect(plan([], view(), 0, Math.random, many)).toEqual({ attempts: [], blocked: null })
})

const crowd = (count: number, of: (index: number) => Partial<Candidate> = () => ({})) =>
  Array.from({ length: count }, (_, index) => candidate(`c${index}`, of(index)))

test('of many, the places go by weight too, and the second among the rest', () => {
  // One has the weight of all the others together.
  const candidates = crowd(51, (index) => ({ weight: index === 0 ? 50 : 1 }))
  const random = seeded(11)
  const runs = 40_000
  let first = 0
  let second = 0
  for (let n = 0; n < runs; n += 1) {
    const [one, two] = ids(plan(candidates, view(), 0, random, { maxAttempts: 2 }))
    if (one === 'c0') first += 1
    else if (two === 'c0') second += 1
  }
  expect(Math.abs(first / runs - 0.5)).toBeLessThan(0.01)
  expect(Math.abs(second / (runs - first) - 50 / 99)).toBeLessThan(0.015)
})

test('of many, the first places are of those that may be asked, by rank, none twice, however few are left', () => {
  const blocks = fc.record({
    block: fc.constantFrom<Block[]>('breaker', 'quota'),
    waitMs: fc.nat(),
  })
  const each = fc.record({
    identity: fc.boolean(),
    priority: fc.integer({ min: 0, max: 2 }),
    weight: fc.integer({ min: 0, max: 1_000 }),
    block: fc.option(blocks, { freq: 2, nil: undefined }),
  })
  const list = fc.array(each, { minLength: 17, maxLength: 60 })
  const most = fc.integer({ min: 1, max: 5 })
  fc.assert(
    fc.property(list, fc.integer(), most, (given, seed, maxAttempts) => {
      const candidates = crowd(given.length, (index) => ({ ...given[index] }))
      const blocked: Blocks = Object.fromEntries(
        given.flatMap(({ block }, index) => (block ? [[`c${index}`, block]] : [])),
      )
      const { attempts } = plan(candidates, view(blocked), 0, seeded(seed), { maxAttempts })
      const usable = candidates.filter(({ channelId }) => blocked[channelId] === undefined)
      const places = attempts.slice(0, usable.length)
      expect(places.every((place) => usable.includes(place))).toBeTrue()
      expect(new Set(attempts).size).toBe(attempts.length)
      expect(places).toHaveLength(Math.min(maxAttempts, usable.length))
      const rest = usable.filter((one) => !places.includes(one))
      for (const [index, place] of places.entries())
        for (const later of [...places.slice(index + 1), ...rest])
          expect(byRank(place, later)).toBeLessThanOrEqual(0)
    }),
    { numRuns: 300 },
  )
})

test('of a thousand, only those that are drawn are looked at', () => {
  const candidates = crowd(1_000)
  let looks = 0
  const counting = { ...view(), usable: () => ++looks > 0 }
  const { attempts } = plan(candidates, counting, 0, seeded(3), { maxAttempts: 3 })
  expect(attempts).toHaveLength(3)
  expect(looks).toBe(3)
})
