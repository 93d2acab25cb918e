// Tests that keys never hold and spend more than their limit on one node; the test plays the leases and the ledger by
// hand.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Nano } from '../money.ts'
import type { SpendLimit } from '../store/keys.ts'
import type { KeyClaim, SpentRange } from '../store/ledger.ts'
import { KeyBudgets } from './key-budgets.ts'
import type { Hold, NoHold } from './ledger.ts'

interface PlayedHold extends Hold {
  amountNano: Nano
}

/** Leases all that other nodes do not. */
function roomFor(claim: KeyClaim, spent: readonly Nano[], elsewhereNano: Nano): Nano {
  const { limitNano, spentBeforeNano, keptNano, roomNano, needNano } = claim
  const spentNano = spent.reduce((sum, each) => sum + each, spentBeforeNano)
  const freeNano = limitNano - spentNano - keptNano - elsewhereNano
  if (needNano === 0n) return 0n
  return freeNano >= needNano && freeNano > roomNano ? freeNano : roomNano
}

function play(amountNano: Nano, change: Partial<SpendLimit> = {}, idleMs = 60_000) {
  const limit = { account: 'ann', amountNano, period: 'day' as const, timeZone: null, ...change }
  const limits = new Map(['key_1', 'key_2'].map((key) => [key, limit]))
  const clock = { nowMs: Date.UTC(2026, 10, 22, 12) }
  const ledger = {
    nano: 0n,
    reached: 0,
    /** What other nodes lease. */
    elsewhereNano: 0n,
    fails: false,
    asked: [] as SpentRange[],
    claims: [] as KeyClaim[],
    gaveBack: [] as (readonly string[])[],
  }
  // Spend of long ago was not made here.
  const spentIn = (ranges: readonly SpentRange[]) => {
    ledger.asked.push(...ranges)
    if (ledger.fails) throw new Error('away')
    return ranges.map(({ untilMs }) => ((untilMs ?? Infinity) > clock.nowMs ? ledger.nano : 0n))
  }
  const errors: unknown[] = []
  let records = 0
  const budgets = new KeyBudgets({
    holds: {
      hold: (account, keyId, nano) => ({ account, keyId, amountNano: nano }),
      extend(hold, byNano) {
        ;(hold as PlayedHold).amountNano += byNano
        return true
      },
      close: () => 0n,
      release: () => undefined,
      covers: () => true,
    },
    limits: () => limits,
    spent: async (ranges) => ({ nano: spentIn(ranges), reached: ledger.reached }),
    async claim(claim) {
      ledger.claims.push(claim)
      const nano = spentIn(claim.ranges)
      const roomNano = roomFor(claim, nano, ledger.elsewhereNano)
      return { nano, reached: ledger.reached, roomNano }
    },
    giveBack: async (keyIds) => ledger.gaveBack.push(keyIds),
    recordNumber: () => records,
    idleMs,
    onError: (error) => errors.push(error),
    nowMs: () => clock.nowMs,
  })
  return {
    budgets,
    limits,
    ledger,
    clock,
    errors,
    hold: (nano: Nano) => budgets.hold('ann', 'key_1', nano),
    close(hold: Hold, chargeNano: Nano) {
      records += 1
      budgets.close(hold, chargeNano)
    },
    /** Resolves when the figures have been read again. */
    async look() {
      budgets.refresh()
      for (let turn = 0; turn < 10; turn += 1) await Promise.resolve()
    },
    /** All requests that have ended are in the ledger. */
    settle(chargedNano: Nano) {
      ledger.nano = chargedNano
      ledger.reached = records
    },
  }
}

function held(result: Hold | NoHold): Hold {
  if ('refused' in result) throw new Error(`refused: ${result.refused}`)
  return result
}

test('what has ended and what runs count together, before the ledger has it and after, once', async () => {
  const stage = play(100n)
  const one = held(await stage.hold(60n))
  expect(await stage.hold(41n)).toMatchObject({
    refused: 'spend-limit',
    leftNano: 100n,
    isHeld: true,
  })
  const two = held(await stage.hold(40n))
  stage.close(one, 50n)
  stage.close(two, 40n)
  expect(await stage.hold(11n)).toMatchObject({
    refused: 'spend-limit',
    leftNano: 10n,
    isHeld: false,
  })
  stage.settle(90n)
  await stage.look()
  const last = held(await stage.hold(10n))
  stage.close(last, 10n)
  expect(await stage.hold(1n)).toEqual({
    refused: 'spend-limit',
    limitNano: 100n,
    period: 'day',
    leftNano: 0n,
    isHeld: false,
    resetsAt: Date.UTC(2026, 10, 23),
  })
  held(await stage.hold(0n))
})

test('a stream grows up to the limit and no further', async () => {
  const stage = play(100n)
  const hold = held(await stage.hold(60n))
  expect(stage.budgets.extend(hold, 41n)).toBe(false)
  expect(stage.budgets.extend(hold, 40n)).toBe(true)
  expect(stage.budgets.extend(hold, 1n)).toBe(false)
  stage.budgets.release(hold)
  held(await stage.hold(100n))
})

test('what other nodes have settled counts with the next look', async () => {
  const stage = play(100n)
  held(await stage.hold(10n))
  stage.ledger.nano = 85n
  await stage.look()
  expect(await stage.hold(6n)).toMatchObject({ refused: 'spend-limit', leftNano: 15n })
  held(await stage.hold(5n))
})

test('in the next period nothing is spent, and a limit that never resets is for all time', async () => {
  const daily = play(100n)
  daily.close(held(await daily.hold(100n)), 100n)
  daily.settle(100n)
  await daily.look()
  expect(await daily.hold(1n)).toMatchObject({ refused: 'spend-limit' })
  daily.clock.nowMs += 12 * 3_600_000
  daily.ledger.nano = 0n
  held(await daily.hold(100n))
  const always = play(100n, { period: 'never' })
  always.close(held(await always.hold(100n)), 100n)
  always.clock.nowMs += 1_000 * 86_400_000
  expect(await always.hold(1n)).toMatchObject({ refused: 'spend-limit', resetsAt: null })
  expect(always.ledger.asked.at(-1)).toMatchObject({ sinceMs: 0 })
})

test('a clock that was ahead and is set back returns to what was spent before', async () => {
  const stage = play(100n)
  stage.close(held(await stage.hold(90n)), 90n)
  stage.settle(90n)
  await stage.look()
  stage.clock.nowMs += 86_400_000
  stage.ledger.nano = 0n
  stage.budgets.release(held(await stage.hold(50n)))
  await stage.look()
  stage.clock.nowMs -= 86_400_000
  stage.ledger.nano = 90n
  expect(await stage.hold(11n)).toMatchObject({ refused: 'spend-limit', leftNano: 10n })
  held(await stage.hold(10n))
})

test('a limit that is raised counts at once, another period is read anew', async () => {
  const stage = play(10n)
  expect(await stage.hold(11n)).toMatchObject({ refused: 'spend-limit' })
  stage.limits.set('key_1', { account: 'ann', amountNano: 11n, period: 'day', timeZone: null })
  held(await stage.hold(11n))
  const month = { account: 'ann', amountNano: 20n, period: 'month', timeZone: null } as const
  stage.limits.set('key_1', month as never)
  stage.ledger.nano = 15n
  expect(await stage.hold(6n)).toMatchObject({ refused: 'spend-limit', leftNano: 5n })
  expect(stage.ledger.asked.at(-1)).toMatchObject({ sinceMs: Date.UTC(2026, 10, 1) })
})

test('a key that was moved to another account counts what it spends there', async () => {
  const stage = play(100n)
  stage.close(held(await stage.hold(60n)), 60n)
  stage.settle(60n)
  await stage.look()
  const limit = stage.limits.get('key_1')
  if (limit !== undefined) stage.limits.set('key_1', { ...limit, account: 'bob' })
  stage.settle(0n)
  held(await stage.hold(100n))
  expect(stage.ledger.asked.at(-1)?.account).toBe('bob')
})

test('a ledger that is away refuses who was never known, and later the last figure goes on to hold', async () => {
  const stage = play(100n)
  stage.ledger.fails = true
  expect(await stage.hold(1n)).toEqual({ refused: 'closed' })
  expect(stage.errors).toHaveLength(1)
  stage.ledger.fails = false
  await stage.look()
  stage.close(held(await stage.hold(70n)), 70n)
  stage.ledger.fails = true
  await stage.look()
  expect(await stage.hold(31n)).toMatchObject({ refused: 'spend-limit', leftNano: 30n })
  held(await stage.hold(30n))
})

test('keys without a limit are never looked up', () => {
  const stage = play(1n)
  expect(stage.budgets.hold('ann', 'key_3', 1_000n)).toMatchObject({ amountNano: 1_000n })
  expect(stage.ledger.asked).toEqual([])
})

test('what other nodes lease is waited for, then refused as held', async () => {
  const stage = play(100n)
  stage.ledger.elsewhereNano = 60n
  held(await stage.hold(40n))
  const waiting = stage.hold(30n)
  expect(await waiting).toMatchObject({ refused: 'spend-limit', leftNano: 100n, isHeld: true })
  const served = stage.hold(30n)
  stage.ledger.elsewhereNano = 30n
  held(await served)
})

test('a recall gives back all but what requests hold and have spent', async () => {
  const stage = play(100n)
  const one = held(await stage.hold(30n))
  stage.close(one, 20n)
  held(await stage.hold(15n))
  stage.budgets.recall('key_1')
  await stage.look()
  expect(stage.ledger.claims.at(-1)).toMatchObject({ keptNano: 35n, roomNano: 0n, needNano: 0n })
  const claims = stage.ledger.claims.length
  held(await stage.hold(1n))
  expect(stage.ledger.claims).toHaveLength(claims + 1)
})

test('an unused key gives back its lease once, as does a key whose limit is removed', async () => {
  const stage = play(100n, {}, -1)
  stage.close(held(await stage.hold(30n)), 20n)
  await stage.look()
  expect(stage.budgets.hasLeases).toBe(true)
  stage.settle(20n)
  await stage.look()
  await stage.look()
  await stage.look()
  expect(stage.ledger.gaveBack).toEqual([['key_1']])
  expect(stage.budgets.hasLeases).toBe(false)
  const other = play(100n)
  const running = held(await other.hold(30n))
  other.limits.clear()
  await other.look()
  expect(other.ledger.claims.at(-1)).toMatchObject({ keptNano: 30n, roomNano: 0n, needNano: 0n })
  other.close(running, 30n)
  other.settle(30n)
  await other.look()
  await other.look()
  expect(other.budgets.hasLeases).toBe(false)
})

test('keys that become idle together give their leases back by one question, and are leased anew behind it', async () => {
  const stage = play(100n, {}, -1)
  for (const key of ['key_1', 'key_2'])
    stage.budgets.release(held(await stage.budgets.hold('ann', key, 30n)))
  await stage.look()
  const claims = stage.ledger.claims.length
  stage.budgets.refresh()
  const next = stage.hold(30n)
  expect(stage.ledger.gaveBack).toEqual([['key_1', 'key_2']])
  expect(stage.ledger.claims).toHaveLength(claims)
  held(await next)
  expect(stage.ledger.claims).toHaveLength(claims + 1)
})

test('a recall that the ledger may not have received leaves nothing to hold without it', async () => {
  const stage = play(100n)
  held(await stage.hold(30n))
  stage.ledger.fails = true
  stage.budgets.recall('key_1')
  await stage.look()
  expect(await stage.hold(1n)).toEqual({ refused: 'closed' })
})

test('after the end of an epoch nothing of its lease is used, also not what its requests give back', async () => {
  const stage = play(100n)
  const before = held(await stage.hold(60n))
  stage.budgets.fence()
  stage.ledger.fails = true
  expect(await stage.hold(10n)).toEqual({ refused: 'closed' })
  stage.close(before, 5n)
  expect(await stage.hold(10n)).toEqual({ refused: 'closed' })
  stage.ledger.fails = false
  held(await stage.hold(95n))
  expect(stage.ledger.claims.at(-1)).toMatchObject({ keptNano: 5n, roomNano: 0n, needNano: 95n })
})

const step = fc.oneof(
  fc.record({ do: fc.constant('hold' as const), nano: fc.bigInt(0n, 60n) }),
  fc.record({ do: fc.constant('extend' as const), nano: fc.bigInt(1n, 40n) }),
  fc.record({ do: fc.constant('end' as const), nano: fc.bigInt(0n, 100n) }),
  fc.record({ do: fc.constant('settle' as const), nano: fc.constant(0n) }),
  fc.record({ do: fc.constant('look' as const), nano: fc.constant(0n) }),
)

test('on one node a key never passes its limit, in whatever order requests come, grow, end and are settled', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const stage = play(100n)
      const running: Hold[] = []
      let spentNano = 0n
      for (const { do: what, nano } of steps) {
        const hold = running[0]
        if (what === 'hold') {
          const result = await stage.hold(nano)
          if (!('refused' in result)) running.push(result)
        } else if (what === 'settle') stage.settle(spentNano)
        else if (what === 'look') {
          await stage.look()
        } else if (hold !== undefined && what === 'extend') await stage.budgets.extend(hold, nano)
        else if (hold !== undefined) {
          running.shift()
          const chargeNano = nano < hold.amountNano ? nano : hold.amountNano
          spentNano += chargeNano
          stage.close(hold, chargeNano)
        }
        const heldNano = running.reduce((sum, { amountNano }) => sum + amountNano, 0n)
        expect(spentNano + heldNano).toBeLessThanOrEqual(100n)
      }
    }),
    { numRuns: 200 },
  )
})
