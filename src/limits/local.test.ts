// Compares local limits with a simple model that counts everything again from the start at each step.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { LimitSettings } from '../config/types.ts'
import { Book, partOf } from './book.ts'
import type { Admitted, LimitScope } from './limiter.ts'
import { createLocalLimiter, free } from './local.ts'

const minute = 60_000

type Step =
  | { kind: 'ask'; tokens: number; scopes: number }
  | { kind: 'finish'; which: number; tokens: number }
  | { kind: 'wait'; ms: number }

const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('ask' as const),
      tokens: fc.nat(40),
      scopes: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('finish' as const),
      which: fc.nat(20),
      tokens: fc.nat(60),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      ms: fc.oneof(fc.integer({ min: -50, max: 3_000 }), fc.nat(90_000)),
    }),
  },
)

const limitArbitrary = fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined })
const limitsArbitrary = fc
  .record({
    r: limitArbitrary,
    t: fc.option(fc.integer({ min: 1, max: 100 }), { nil: undefined }),
    c: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
  })
  .map(
    ({ r, t, c }): LimitSettings => ({
      ...(r !== undefined && { requestsPerMinute: r }),
      ...(t !== undefined && { tokensPerMinute: t }),
      ...(c !== undefined && { concurrentRequests: c }),
    }),
  )

interface Charge {
  readonly at: number
  /** In units of 1/60000 of an item. */
  readonly units: bigint
}

/** The use at `now`, calculated from the whole history without kept state, in exact arithmetic. */
function inUse(charges: readonly Charge[], perMinute: number, now: number): bigint {
  let used = 0n
  let at = 0
  for (const charge of [...charges, { at: now, units: 0n }]) {
    used -= BigInt(charge.at - at) * BigInt(perMinute)
    if (used < 0n) used = 0n
    used += charge.units
    if (used < 0n) used = 0n
    at = charge.at
  }
  return used
}

class Model {
  readonly requests: Charge[] = []
  readonly tokens: Charge[] = []
  inFlight = 0
  readonly limits: LimitSettings
  constructor(limits: LimitSettings) {
    this.limits = limits
  }
  charge(tokens: number): bigint {
    return BigInt(Math.min(tokens, this.limits.tokensPerMinute ?? 0)) * 60_000n
  }
  admits(tokens: number, now: number): boolean {
    const { requestsPerMinute: r, tokensPerMinute: t, concurrentRequests: c } = this.limits
    if (r !== undefined && inUse(this.requests, r, now) + 60_000n > BigInt(r) * 60_000n)
      return false
    if (t !== undefined && inUse(this.tokens, t, now) + this.charge(tokens) > BigInt(t) * 60_000n)
      return false
    return c === undefined || this.inFlight < c
  }
}

test('decides as the model does, whatever the order of asking, finishing and waiting', () => {
  fc.assert(
    fc.property(
      fc.tuple(limitsArbitrary, limitsArbitrary),
      fc.array(stepArbitrary, { maxLength: 80, size: 'max' }),
      (limits, steps) => {
        const limiter = createLocalLimiter()
        const models = limits.map((each) => new Model(each))
        const scopes: LimitScope[] = limits.map((each, index) => ({
          id: `key:${index}`,
          limits: each,
        }))
        const open: { admitted: Admitted; taken: number; used: number[] }[] = []
        let clock = 1_000_000
        let now = clock
        for (const step of steps) {
          if (step.kind === 'wait') {
            clock += step.ms
            now = Math.max(now, clock)
          } else if (step.kind === 'ask') {
            const used = [0, 1].filter((index) => (step.scopes & (1 << index)) !== 0)
            const expected = used.every((index) => models[index]?.admits(step.tokens, now))
            const decision = limiter.admit(
              used.flatMap((index) => scopes[index] ?? []),
              step.tokens,
              clock,
            )
            expect(decision.admitted).toBe(expected)
            if (!decision.admitted) expect(decision.retryAfterMs).toBeGreaterThan(0)
            else {
              for (const index of used) {
                const model = models[index]
                if (model === undefined) continue
                model.requests.push({ at: now, units: 60_000n })
                model.tokens.push({ at: now, units: model.charge(step.tokens) })
                model.inFlight += 1
              }
              open.push({ admitted: decision, taken: step.tokens, used })
            }
          } else if (open.length > 0) {
            const [ended] = open.splice(step.which % open.length, 1)
            ended?.admitted.finish(step.tokens, clock)
            ended?.admitted.finish(step.tokens, clock)
            for (const index of ended?.used ?? []) {
              const model = models[index]
              if (model === undefined || ended === undefined) continue
              model.inFlight -= 1
              const units = BigInt(step.tokens) * 60_000n - model.charge(ended.taken)
              if (model.limits.tokensPerMinute !== undefined) model.tokens.push({ at: now, units })
            }
          }
        }
      },
    ),
    { numRuns: 500 },
  )
})

test('no window holds more requests than the burst and its even refill', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.array(fc.nat(4_000), { minLength: 1, maxLength: 150, size: 'max' }),
      (limit, gaps) => {
        const limiter = createLocalLimiter()
        const scopes = [{ id: 'key:a', limits: { requestsPerMinute: limit } }]
        const times: number[] = []
        let now = 0
        for (const gap of gaps) {
          now += gap
          if (limiter.admit(scopes, 0, now).admitted) times.push(now)
        }
        for (const [from, start] of times.entries())
          for (const [to, end] of times.entries())
            if (to >= from)
              expect(to - from + 1).toBeLessThanOrEqual(
                limit + Math.floor(((end - start) * limit) / minute),
              )
      },
    ),
  )
})

test('a refusal names the wait after which the same request passes, and not a millisecond earlier', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 100_000 }),
      fc.integer({ min: 1, max: 2_000 }),
      (limit, tokens) => {
        const limiter = createLocalLimiter()
        const scopes = [{ id: 'key:a', limits: { tokensPerMinute: limit } }]
        let decision = limiter.admit(scopes, tokens, 0)
        for (let n = 0; decision.admitted && n < 100_001; n += 1)
          decision = limiter.admit(scopes, tokens, 0)
        if (decision.admitted) throw new Error('never refused')
        expect(decision.kind).toBe('tokens')
        expect(limiter.admit(scopes, tokens, decision.retryAfterMs - 1).admitted).toBe(false)
        expect(limiter.admit(scopes, tokens, decision.retryAfterMs).admitted).toBe(true)
      },
    ),
    { numRuns: 50 },
  )
})

test('nothing is taken from any scope when one refuses', () => {
  const limiter = createLocalLimiter()
  const group = { id: 'group:g', limits: { requestsPerMinute: 10 } }
  const key = { id: 'key:k', limits: { requestsPerMinute: 1 } }
  expect(limiter.admit([key, group], 0, 0).admitted).toBe(true)
  for (let n = 0; n < 50; n += 1) expect(limiter.admit([group, key], 0, 0).admitted).toBe(false)
  const decision = limiter.admit([group], 0, 0)
  expect(decision.state.requests).toEqual({ limit: 10, remaining: 8, resetMs: 12_000 })
})

test('the state is that of the tightest scope, and a debt shows as nothing left', () => {
  const limiter = createLocalLimiter()
  const scopes = [
    { id: 'key:k', limits: { requestsPerMinute: 60, tokensPerMinute: 600 } },
    { id: 'group:g', limits: { requestsPerMinute: 30, tokensPerMinute: 6_000 } },
  ]
  const first = limiter.admit(scopes, 100, 0)
  expect(first.state).toEqual({
    requests: { limit: 30, remaining: 29, resetMs: 2_000 },
    tokens: { limit: 600, remaining: 500, resetMs: 10_000 },
  })
  if (!first.admitted) throw new Error('refused')
  first.finish(1_200, 0)
  const second = limiter.admit(scopes, 1, 0)
  expect(second).toMatchObject({ admitted: false, kind: 'tokens', scope: 'key:k' })
  expect(second.state.tokens).toEqual({ limit: 600, remaining: 0, resetMs: 120_000 })
  expect(limiter.admit(scopes, 0, 60_000).admitted).toBe(true)
})

test('an estimate above the whole limit passes against a full allowance only', () => {
  const limiter = createLocalLimiter()
  const scopes = [{ id: 'key:k', limits: { tokensPerMinute: 100 } }]
  const first = limiter.admit(scopes, 128_000, 0)
  if (!first.admitted) throw new Error('refused')
  expect(first.state.tokens?.remaining).toBe(0)
  first.finish(40, 0)
  expect(limiter.admit(scopes, 128_000, 0).admitted).toBe(false)
  expect(limiter.admit(scopes, 60, 0).admitted).toBe(true)
})

test('without limits the answer is one shared object', () => {
  const limiter = createLocalLimiter()
  const decision = limiter.admit([{ id: 'key:k', limits: {} }], 5, 0)
  expect(decision).toBe(free)
  expect(limiter.admit([], 5, 0)).toBe(free)
})

test('a limit of nothing refuses all, with a wait that is finite', () => {
  const limiter = createLocalLimiter()
  const decision = limiter.admit([{ id: 'key:k', limits: { requestsPerMinute: 0 } }], 0, 0)
  expect(decision).toMatchObject({ admitted: false, kind: 'requests', retryAfterMs: 60_000 })
})

test('one of several processes keeps to its part of every limit', () => {
  const limiter = createLocalLimiter({ workers: 4 })
  const scopes = [
    { id: 'key:k', limits: { requestsPerMinute: 10 } },
    { id: 'group:g', limits: { concurrentRequests: 3, tokensPerMinute: 400 } },
  ]
  const first = limiter.admit(scopes, 10, 0)
  expect(first.state.requests).toMatchObject({ limit: 2, remaining: 1 })
  expect(first.state.tokens).toMatchObject({ limit: 100, remaining: 90 })
  expect(limiter.admit(scopes, 0, 0)).toMatchObject({ admitted: false, kind: 'concurrent' })
  if (first.admitted) first.finish(10, 0)
  expect(limiter.admit(scopes, 10, 0)).toMatchObject({ admitted: true })
  expect(limiter.admit(scopes, 10, 0)).toMatchObject({ admitted: false, scope: 'key:k' })
})

test('idle scopes are forgotten', () => {
  const book = new Book()
  const limiter = createLocalLimiter({ book })
  for (let n = 0; n < 100_000; n += 1) {
    const scope = { id: `key:${n}`, limits: { requestsPerMinute: 60, concurrentRequests: 2 } }
    const decision = limiter.admit([scope], 0, n * 10)
    if (decision.admitted) decision.finish(0, n * 10)
  }
  expect(book.size).toBeLessThan(2_100)
})

test('parts of a limit add up to no more than the whole, and none is nothing', () => {
  fc.assert(
    fc.property(fc.nat(1_000), fc.integer({ min: 1, max: 20 }), (limit, nodes) => {
      const part = partOf({ requestsPerMinute: limit }, nodes).requestsPerMinute ?? -1
      expect(part * nodes <= limit || part === 1).toBe(true)
      expect(part > 0).toBe(limit > 0)
    }),
  )
})

test('a request that began before a limit was added leaves its meter as it is', () => {
  const limiter = createLocalLimiter()
  const before: LimitScope = { id: 'key:a', limits: { requestsPerMinute: 100 } }
  const after: LimitScope = {
    id: 'key:a',
    limits: { requestsPerMinute: 100, tokensPerMinute: 1_000 },
  }
  const old = limiter.admit([before], 10, 1)
  expect(limiter.admit([after], 1_000, 2).admitted).toBe(true)
  expect(limiter.admit([after], 1_000, 3).admitted).toBe(false)
  if (old.admitted) old.finish(50_000, 4)
  expect(limiter.admit([after], 1_000, 5).admitted).toBe(false)
})
