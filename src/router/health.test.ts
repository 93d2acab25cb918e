// Tests the health of channels through its interface, with time and chance as parameters.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { FaultKind } from '../errors.ts'
import { faultTable } from '../errors.ts'
import { createHealth } from './health.ts'
import { plan } from './plan.ts'
import type { Outcome } from './route.ts'

const ok: Outcome = { kind: 'ok' }
const fault = (kind: FaultKind, retryAfterMs?: number): Outcome => ({
  kind: 'fault',
  fault: { kind, message: 'said the vendor', ...(retryAfterMs !== undefined && { retryAfterMs }) },
})

function setup() {
  const alarms: string[] = []
  const health = createHealth({
    random: () => 0.5,
    onAlarm: (channelId, { kind }) => alarms.push(`${channelId} ${kind}`),
  })
  const attempt = (outcome: Outcome, nowMs: number, model = 'm') => {
    health.begin('c', model, nowMs)
    health.report('c', model, outcome, nowMs)
  }
  return { health, alarms, attempt }
}

const start = 1_000_000

test('five transport failures in a row open it for 10 s, and four do not', () => {
  for (const kind of ['unreachable', 'timeout', 'reset', 'cut'] as const) {
    const { health, attempt } = setup()
    for (let n = 0; n < 4; n += 1) attempt(fault(kind), start)
    attempt(ok, start)
    for (let n = 0; n < 4; n += 1) attempt(fault(kind), start)
    expect(health.usable('c', 'm', start)).toBe(true)
    attempt(fault(kind), start)
    expect(health.blocked('c', 'm', start)).toBe('breaker')
    expect(health.waitMs('c', 'm', start)).toBe(10_000)
    expect(health.usable('c', 'other', start)).toBe(true)
    expect(health.usable('c', 'm', start + 9_999)).toBe(false)
    expect(health.usable('c', 'm', start + 10_000)).toBe(true)
  }
})

test('half of twenty requests within 30 s open it, fewer requests or older failures do not', () => {
  const few = setup()
  for (let n = 0; n < 19; n += 1) few.attempt(fault('vendor_error'), start + n)
  expect(few.health.usable('c', 'm', start + 100)).toBe(true)
  few.attempt(ok, start + 100)
  few.attempt(fault('vendor_error'), start + 101)
  expect(few.health.usable('c', 'm', start + 101)).toBe(false)

  const good = setup()
  for (let n = 0; n < 100; n += 1) good.attempt(n % 5 < 2 ? fault('vendor_error') : ok, start + n)
  expect(good.health.usable('c', 'm', start + 100)).toBe(true)

  const old = setup()
  for (let n = 0; n < 19; n += 1) old.attempt(fault('vendor_error'), start)
  for (let n = 0; n < 19; n += 1) old.attempt(n < 5 ? fault('vendor_error') : ok, start + 35_000)
  old.attempt(fault('vendor_error'), start + 35_000)
  expect(old.health.usable('c', 'm', start + 35_000)).toBe(true)
})

test('open 10, 20, 40, 80, 120, 120 s; probes go one by one; three successes close it', () => {
  const { health, attempt } = setup()
  for (let n = 0; n < 5; n += 1) attempt(fault('reset'), start)
  let now = start
  for (const openMs of [10_000, 20_000, 40_000, 80_000, 120_000, 120_000]) {
    expect(health.waitMs('c', 'm', now)).toBe(openMs)
    now += openMs
    expect(health.usable('c', 'm', now)).toBe(true)
    health.begin('c', 'm', now)
    expect(health.blocked('c', 'm', now)).toBe('breaker')
    health.report('c', 'm', fault('vendor_error'), now)
  }
  now += 120_000
  for (let n = 0; n < 3; n += 1) {
    expect(health.state('c', now)).toBe(1)
    expect(health.usable('c', 'm', now)).toBe(true)
    health.begin('c', 'm', now)
    expect(health.usable('c', 'm', now)).toBe(false)
    health.report('c', 'm', ok, now)
  }
  expect(health.state('c', now)).toBe(0)
  for (let n = 0; n < 5; n += 1) attempt(fault('reset'), now)
  expect(health.waitMs('c', 'm', now)).toBe(10_000)
})

test('a probe that tells nothing, or never ends, does not shut the channel for good', () => {
  const { health, attempt } = setup()
  for (let n = 0; n < 5; n += 1) attempt(fault('reset'), start)
  const now = start + 10_000
  health.begin('c', 'm', now)
  health.report('c', 'm', { kind: 'none' }, now)
  expect(health.usable('c', 'm', now)).toBe(true)
  health.begin('c', 'm', now)
  expect(health.waitMs('c', 'm', now)).toBe(30_000)
  expect(health.usable('c', 'm', now + 30_000)).toBe(true)
})

test('the jitter stays within a tenth', () => {
  for (const [random, waitMs] of [
    [0, 9_000],
    [0.999_999, 11_000],
  ] as const) {
    const health = createHealth({ random: () => random, onAlarm: () => undefined })
    for (let n = 0; n < 5; n += 1) health.report('c', 'm', fault('reset'), start)
    expect(Math.round(health.waitMs('c', 'm', start))).toBe(waitMs)
  }
})

test('a 429 cools until retry-after, within bounds, and is no failure', () => {
  for (const [asked, waitMs] of [
    [undefined, 5_000],
    [2_000, 2_000],
    [90_000, 30_000],
  ] as const) {
    const { health, attempt, alarms } = setup()
    for (let n = 0; n < 30; n += 1) attempt(fault('rate_limited', asked), start)
    expect(health.waitMs('c', 'm', start)).toBe(waitMs)
    expect(health.blocked('c', 'm', start)).toBe('rate_limited')
    expect(health.usable('c', 'm', start + waitMs)).toBe(true)
    expect(alarms).toEqual([])
  }
})

test('no credit at the vendor cools for a minute, a refused key disables all its models; both alarm once', () => {
  const { health, attempt, alarms } = setup()
  attempt(fault('quota'), start)
  attempt(fault('quota'), start)
  expect(health.waitMs('c', 'm', start)).toBe(60_000)
  expect(health.blocked('c', 'm', start)).toBe('quota')
  attempt(fault('credentials'), start)
  attempt(fault('credentials'), start)
  expect(health.blocked('c', 'any', start)).toBe('credentials')
  expect(health.state('c', start)).toBe(3)
  expect(alarms).toEqual(['c quota', 'c credentials'])
  expect(health.usable('c', 'any', start + 60_000)).toBe(true)
  expect(health.state('c', start + 60_000)).toBe(0)
})

test('a refusal of the request itself says the channel is well', () => {
  const { health, attempt } = setup()
  for (let n = 0; n < 4; n += 1) attempt(fault('reset'), start)
  attempt(fault('rejected'), start)
  attempt(fault('reset'), start)
  expect(health.usable('c', 'm', start)).toBe(true)
  for (let n = 0; n < 100; n += 1) attempt(fault('unknown_model'), start)
  expect(health.state('c', start)).toBe(1)
  expect(health.usable('c', 'm', start)).toBe(true)
})

test('a model the vendor does not know alarms the operator once a minute, and the channel serves on', () => {
  const { health, alarms, attempt } = setup()
  for (let n = 0; n < 9; n += 1) attempt(fault('unknown_model'), start, `m-${n}`)
  expect(alarms).toEqual(['c unknown_model'])
  expect(health.usable('c', 'm-0', start)).toBe(true)
  attempt(fault('unknown_model'), start + 60_000)
  expect(alarms).toHaveLength(2)
})

test('what a caller can bring about at will never opens a breaker', () => {
  const { health, attempt } = setup()
  for (let n = 0; n < 100; n += 1) attempt(fault('transient'), start)
  expect(health.usable('c', 'm', start)).toBe(true)
})

test('retries take at most a fifth of what is in flight, three at least', () => {
  const { health } = setup()
  expect(health.mayRetry('c')).toBe(true)
  for (let n = 0; n < 3; n += 1) {
    expect(health.mayRetry('c')).toBe(true)
    health.begin('c', 'm', start, true)
  }
  expect(health.mayRetry('c')).toBe(false)
  for (let n = 0; n < 97; n += 1) health.begin('c', 'm', start)
  let retries = 3
  for (; health.mayRetry('c') && retries < 100; retries += 1) health.begin('c', 'm', start, true)
  // 97 first attempts and 25 retries: a fifth of 122 is 24.4.
  expect(retries).toBe(25)
  health.report('c', 'm', ok, start, true)
  expect(health.mayRetry('c')).toBe(true)
  expect(health.mayRetry('unknown')).toBe(true)
})

test('an open channel serves on as a last resort where it is the only one, and success closes it', () => {
  const { health, attempt } = setup()
  for (let n = 0; n < 5; n += 1) attempt(fault('reset'), start)
  const only = {
    channelId: 'c',
    model: 'm',
    dialect: 'openai-chat',
    identity: true,
    priority: 0,
    weight: 1,
  } as const
  for (let n = 0; n < 3; n += 1) {
    expect(plan([only], health, start + 1, Math.random, { maxAttempts: 3 }).attempts).toEqual([
      only,
    ])
    attempt(ok, start + 1)
  }
  expect(health.state('c', start + 1)).toBe(0)
})

test('whatever happens, it heals: after four quiet minutes everything may be tried', () => {
  const kinds = Object.keys(faultTable).filter((kind): kind is FaultKind => kind in faultTable)
  fc.assert(
    fc.property(
      fc.array(
        fc.tuple(
          fc.constantFrom<Outcome[]>(
            ok,
            { kind: 'none' },
            ...kinds.map((kind) => fault(kind, 99_000)),
          ),
          fc.nat(20_000),
        ),
        { maxLength: 100, size: 'max' },
      ),
      fc.integer({ min: 0, max: 999 }),
      (steps, random) => {
        const health = createHealth({ random: () => random / 1_000, onAlarm: () => undefined })
        let now = start
        for (const [outcome, gap] of steps) {
          now += gap - 1_000
          health.begin('c', 'm', now)
          health.report('c', 'm', outcome, now)
          const waitMs = health.waitMs('c', 'm', now)
          expect(waitMs).toBeGreaterThanOrEqual(0)
          expect(waitMs).toBeLessThanOrEqual(132_000)
          expect(health.usable('c', 'm', now)).toBe(waitMs === 0)
          expect(health.blocked('c', 'm', now) === null).toBe(waitMs === 0)
        }
        expect(health.usable('c', 'm', now + 240_000)).toBe(true)
      },
    ),
  )
})

test('names without end do not fill the memory', () => {
  const { health } = setup()
  const before = process.memoryUsage().heapUsed
  for (let n = 0; n < 100_000; n += 1) {
    health.begin('c', `m${n}`, start)
    health.report('c', `m${n}`, n % 2 ? ok : fault('rate_limited'), start)
  }
  Bun.gc(true)
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(20_000_000)
  expect(health.usable('c', 'm99998', start)).toBe(false)
})

test('a reset channel is tried at once, and faults of attempts from before the reset do not count', () => {
  const { health, attempt } = setup()
  const refused = fault('credentials')
  attempt(refused, start)
  attempt(fault('quota'), start, 'other')
  health.begin('c', 'm', start)
  health.begin('c', 'm', start)
  expect(health.blocked('c', 'm', start)).toBe('credentials')
  health.reset('c')
  expect(health.usable('c', 'm', start)).toBe(true)
  expect(health.usable('c', 'other', start)).toBe(true)
  health.report('c', 'm', refused, start)
  health.report('c', 'm', refused, start)
  expect(health.usable('c', 'm', start)).toBe(true)
  attempt(refused, start)
  expect(health.blocked('c', 'm', start)).toBe('credentials')
})

test('trouble says why and since when, and is over with the next well attempt', () => {
  const { health, attempt } = setup()
  expect(health.trouble('c', start)).toBeNull()
  attempt(fault('rejected'), start)
  expect(health.trouble('c', start)).toBeNull()
  attempt(fault('vendor_error'), start + 1)
  attempt(fault('timeout'), start + 2)
  expect(health.trouble('c', start + 3)).toEqual({
    reason: 'failing',
    fault: 'timeout',
    sinceMs: start + 1,
  })
  expect(health.trouble('c', start + 60_000)).toBeNull()
  attempt(fault('rate_limited', 5_000), start + 60_000)
  expect(health.trouble('c', start + 60_001)).toEqual({
    reason: 'rate_limited',
    fault: 'rate_limited',
    sinceMs: start + 60_000,
  })
  health.reset('c')
  expect(health.trouble('c', start + 60_001)).toBeNull()
})

test('a channel that has as much under way as it may is left alone until one has ended', () => {
  const { health } = setup()
  health.limit(new Map([['c', 2]]))
  health.begin('c', 'm', start)
  expect(health.usable('c', 'other', start)).toBe(true)
  health.begin('c', 'other', start)
  expect(health.blocked('c', 'm', start)).toBe('busy')
  expect(health.waitMs('c', 'm', start)).toBeGreaterThan(0)
  expect(health.usable('d', 'm', start)).toBe(true)
  expect(health.inFlight('c')).toBe(2)
  health.report('c', 'm', ok, start)
  expect(health.blocked('c', 'm', start)).toBeNull()
  health.begin('c', 'm', start)
  health.limit(new Map())
  expect(health.usable('c', 'm', start)).toBe(true)
})
