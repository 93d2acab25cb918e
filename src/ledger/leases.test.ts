// Tests holds on leases: taken, grown, closed, fenced and given back; the test plays the ledger by hand.
import { describe, expect, test } from 'bun:test'
import { admitted, leased, scene } from '../../test/ledger/scene.ts'
import { maxNano } from '../money.ts'

test('what is counted on is held and free money, unknown while a grant is under way', async () => {
  const stage = scene()
  await leased(stage, 100n)
  const hold = admitted(stage.leases.hold('a', 'k', 30n))
  stage.leases.close(hold, 20n)
  expect(stage.leases.counted(['a', 'b'])).toEqual(
    new Map([
      ['a', 80n],
      ['b', 0n],
    ]),
  )
  const waiting = stage.leases.hold('a', 'k', 90n)
  expect(stage.leases.counted(['a', 'b'])).toEqual(new Map([['b', 0n]]))
  await stage.next().answer({ grantedNano: 50n, postedNano: 130n })
  admitted(await waiting)
  expect(stage.leases.counted(['a'])).toEqual(new Map([['a', 130n]]))
})

describe('a hold', () => {
  test('is covered until it is closed, or its epoch is over', async () => {
    const stage = scene()
    await leased(stage, 100n)
    const hold = admitted(stage.leases.hold('a', 'k', 30n))
    const other = admitted(stage.leases.hold('a', 'k', 30n))
    expect(stage.leases.covers(hold)).toBe(true)
    stage.leases.close(hold, 30n)
    expect([stage.leases.covers(hold), stage.leases.covers(other)]).toEqual([false, true])
    stage.leases.fence()
    stage.leases.open()
    expect(stage.leases.covers(other)).toBe(false)
  })

  test('waits for the first grant, and needs none where the lease covers it', async () => {
    const stage = scene()
    const first = stage.leases.hold('a', 'k', 30n)
    const grant = stage.next()
    expect(grant).toMatchObject({ account: 'a', needNano: 30n, wantNano: 30n })
    await grant.answer({ grantedNano: 100n, postedNano: 500n })
    expect(admitted(await first)).toMatchObject({ account: 'a', keyId: 'k', amountNano: 30n })
    expect(admitted(stage.leases.hold('a', 'k', 70n)).amountNano).toBe(70n)
    expect(stage.asked).toEqual([])
    expect(stage.leases.state('a')).toEqual({ freeNano: 0n, heldNano: 100n, holds: 2, waiting: 0 })
  })

  test('of nothing is admitted without a lease, while others wait and above every bound', () => {
    const stage = scene({ maxHeldPerAccountNano: 0n, maxHeldPerKeyNano: 0n })
    const hold = admitted(stage.leases.hold('a', 'k', 0n))
    expect(stage.asked).toEqual([])
    expect(stage.leases.close(hold, 5n)).toBe(0n)
  })

  test('asks for a fifth of the wallet, or for ten seconds of spending', async () => {
    const stage = scene()
    await leased(stage, 1_000n)
    stage.leases.tick(0)
    const spent = admitted(stage.leases.hold('a', 'k', 1_000n))
    stage.leases.close(spent, 1_000n)
    const second = stage.leases.hold('a', 'k', 10n)
    expect(stage.asked[0]).toMatchObject({ needNano: 10n, wantNano: 10n, spareNano: 200n })
    await stage.next().answer({ grantedNano: 10n, postedNano: 1_000n })
    stage.leases.close(admitted(await second), 10n)
    // 1,010 within 2 s, averaged over 10 s: 101 a second.
    stage.leases.tick(2_000)
    void stage.leases.hold('a', 'k', 10n)
    expect(stage.asked[0]).toMatchObject({ needNano: 10n, wantNano: 10n, spareNano: 1_010n })
  })

  test('throws below 0, and so do an extension and a charge', () => {
    const { leases } = scene()
    expect(() => leases.hold('a', 'k', -1n)).toThrow(RangeError)
    const hold = admitted(leases.hold('a', 'k', 0n))
    expect(() => leases.extend(hold, -1n)).toThrow(RangeError)
    expect(() => leases.close(hold, -1n)).toThrow(RangeError)
    expect(leases.state('a')?.holds).toBe(1)
  })

  test('of another ledger is not taken', () => {
    const { leases } = scene()
    const foreign = { account: 'a', keyId: 'k', amountNano: 5n }
    expect(() => leases.close(foreign, 0n)).toThrow(TypeError)
  })
})

describe('closing', () => {
  test('frees what the charge does not need', async () => {
    const stage = scene()
    await leased(stage, 100n)
    const hold = admitted(stage.leases.hold('a', 'k', 60n))
    expect(stage.leases.close(hold, 25n)).toBe(25n)
    expect(stage.leases.state('a')).toEqual({ freeNano: 75n, heldNano: 0n, holds: 0, waiting: 0 })
  })

  test('takes an overrun from what is free, never from what others hold', async () => {
    const stage = scene()
    await leased(stage, 100n)
    const other = admitted(stage.leases.hold('a', 'k', 70n))
    const hold = admitted(stage.leases.hold('a', 'k', 20n))
    expect(stage.leases.close(hold, 500n)).toBe(30n)
    expect(stage.leases.state('a')).toMatchObject({ freeNano: 0n, heldNano: 70n })
    expect(stage.leases.close(other, 70n)).toBe(70n)
  })

  test('tells what is held, and that it changed', async () => {
    const stage = scene()
    await leased(stage, 100n)
    const before = stage.leases.changed
    const hold = admitted(stage.leases.hold('a', 'k', 20n))
    expect(stage.leases.changed).toBeGreaterThan(before)
    expect([...stage.leases.held()]).toEqual([['a', 20n]])
    stage.leases.release(hold)
    expect([...stage.leases.held()]).toEqual([])
  })
})

describe('extending', () => {
  test('takes what is free at once', async () => {
    const stage = scene()
    await leased(stage, 100n)
    const hold = admitted(stage.leases.hold('a', 'k', 60n))
    expect(stage.leases.extend(hold, 40n)).toBe(true)
    expect(hold.amountNano).toBe(100n)
    expect(stage.leases.close(hold, 100n)).toBe(100n)
  })

  test('goes before requests that wait to begin', async () => {
    const stage = scene()
    await leased(stage, 10n)
    const running = admitted(stage.leases.hold('a', 'k', 10n))
    const hold = stage.leases.hold('a', 'k', 50n)
    const extension = stage.leases.extend(running, 50n)
    await stage.next().answer({ grantedNano: 50n, postedNano: 100n })
    expect(await extension).toBe(true)
    expect(stage.leases.state('a')?.waiting).toBe(1)
    stage.leases.close(running, 10n)
    expect(admitted(await hold).amountNano).toBe(50n)
  })

  test('is refused at once where the wallet is empty and only the request itself holds', async () => {
    const stage = scene()
    await leased(stage, 10n)
    const hold = admitted(stage.leases.hold('a', 'k', 10n))
    const extension = stage.leases.extend(hold, 1n)
    await stage.next().answer({ postedNano: 10n })
    expect(await extension).toBe(false)
    expect(stage.leases.close(hold, 11n)).toBe(10n)
  })

  test('of a hold that closes meanwhile fails, and takes nothing', async () => {
    const stage = scene()
    await leased(stage, 10n)
    const hold = admitted(stage.leases.hold('a', 'k', 10n))
    const extension = stage.leases.extend(hold, 20n)
    stage.leases.close(hold, 0n)
    await stage.next().answer({ grantedNano: 20n, postedNano: 30n })
    expect(await extension).toBe(false)
    expect(stage.leases.state('a')).toEqual({ freeNano: 30n, heldNano: 0n, holds: 0, waiting: 0 })
    expect(stage.leases.extend(hold, 1n)).toBe(false)
  })
})

describe('a fence', () => {
  test('forgets leases, refuses who waits, and closes old holds from the old lease alone', async () => {
    const stage = scene()
    stage.leases.open(7)
    await leased(stage, 100n)
    const hold = admitted(stage.leases.hold('a', 'k', 60n))
    const waiting = stage.leases.hold('a', 'k', 60n)
    const extension = stage.leases.extend(hold, 60n)
    stage.leases.fence()
    expect(await waiting).toEqual({ refused: 'closed' })
    expect(await extension).toBe(false)
    expect(stage.leases.hold('a', 'k', 0n)).toEqual({ refused: 'closed' })
    expect(stage.leases.held().size).toBe(0)
    // The grant that was on its way belonged to the old epoch.
    await stage.next().answer({ grantedNano: 80n, postedNano: 200n })
    stage.leases.open(8)
    expect(stage.leases.extend(hold, 1n)).toBe(false)
    expect(stage.leases.openHolds).toBe(0)
    expect([stage.leases.epochOf(hold), stage.leases.close(hold, 150n)]).toEqual([7, 100n])
    expect([stage.leases.openHolds, stage.leases.close(hold, 150n)]).toEqual([0, 0n])
    expect(stage.leases.state('a')).toBeNull()
    expect(stage.givenBack).toEqual([])
  })

  test('comes by itself where an answer says that the node is closed', async () => {
    const stage = scene()
    const hold = stage.leases.hold('a', 'k', 60n)
    await stage.next().answer({ fenced: true })
    expect(await hold).toEqual({ refused: 'closed' })
    expect(stage.leases.hold('a', 'k', 1n)).toEqual({ refused: 'closed' })
  })
})

describe('giving back', () => {
  test('is asked of others only where the wallet has run out', async () => {
    const stage = scene()
    const first = stage.leases.hold('a', 'k', 30n)
    void stage.leases.hold('a', 'k', 50n)
    await stage.next().answer({ grantedNano: 30n, postedNano: 500n, leasedElsewhereNano: 100n })
    expect(stage.recalls).toEqual([])
    await stage.next().answer({ grantedNano: 0n, postedNano: 500n, leasedElsewhereNano: 470n })
    expect(stage.recalls).toEqual(['a'])
    expect(admitted(await first).amountNano).toBe(30n)
  })

  test('a recall gives all that is free, and sizes later grants to the need for a while', async () => {
    const stage = scene()
    await leased(stage, 100n)
    const hold = admitted(stage.leases.hold('a', 'k', 40n))
    stage.leases.recall('a')
    stage.leases.recall('nobody')
    expect(stage.givenBack).toEqual([['a', 60n]])
    const next = stage.leases.hold('a', 'k', 7n)
    expect(stage.asked[0]).toMatchObject({ needNano: 7n, wantNano: 7n })
    await stage.next().answer({ grantedNano: 7n, postedNano: 100n })
    stage.leases.close(admitted(await next), 7n)
    stage.leases.close(hold, 40n)
    for (const nowMs of [0, 10_000]) stage.leases.tick(nowMs)
    void stage.leases.hold('a', 'k', 7n)
    expect(stage.asked[0]?.spareNano).toBeGreaterThan(7n)
  })

  test('a recall while others wait here does not make them hopeless', async () => {
    const stage = scene()
    await leased(stage, 40n)
    const hold = stage.leases.hold('a', 'k', 90n)
    await stage.next().answer({ postedNano: 100n, leasedElsewhereNano: 30n })
    stage.leases.recall('a')
    expect(stage.givenBack).toEqual([['a', 40n]])
    await stage.pulse()
    expect(stage.asked[0]).toMatchObject({ needNano: 90n, wantNano: 90n })
    await stage.next().answer({ grantedNano: 90n, postedNano: 100n })
    expect(admitted(await hold).amountNano).toBe(90n)
  })

  test('an answer older than what was given back refuses nobody', async () => {
    const stage = scene()
    await leased(stage, 257n)
    const hold = stage.leases.hold('a', 'k', 267n)
    const grant = stage.next()
    stage.leases.recall('a')
    expect(stage.givenBack).toEqual([['a', 257n]])
    await grant.answer({ grantedNano: 33n, postedNano: 368n, leasedElsewhereNano: 21n })
    await stage.next().answer({ grantedNano: 257n, postedNano: 368n, leasedElsewhereNano: 21n })
    expect(admitted(await hold).amountNano).toBe(267n)
  })

  test('an account somebody waits for, or whose grant is under way, is not forgotten', async () => {
    const stage = scene()
    const hold = stage.leases.hold('a', 'k', 30n)
    stage.leases.tick(0)
    await stage.next().answer({ postedNano: 100n, leasedElsewhereNano: 100n })
    stage.leases.tick(30_000)
    await stage.pulse()
    while (stage.timers.length > 0) await stage.pulse()
    expect(await hold).toEqual({ refused: 'in-flight' })
    stage.leases.tick(60_000)
    await stage.next().answer({ grantedNano: 30n, postedNano: 100n })
    expect(stage.leases.state('a')).toMatchObject({ freeNano: 30n, waiting: 0 })
  })

  test('a lease unused for 10 s keeps ten requests of the size seen', async () => {
    const stage = scene()
    await leased(stage, 1_000n)
    stage.leases.tick(0)
    const hold = admitted(stage.leases.hold('a', 'k', 10n))
    stage.leases.close(hold, 10n)
    stage.leases.tick(1_000)
    stage.leases.tick(10_999)
    expect(stage.givenBack).toEqual([])
    stage.leases.tick(11_000)
    expect(stage.givenBack).toEqual([['a', 890n]])
    expect(admitted(stage.leases.hold('a', 'k', 10n)).amountNano).toBe(10n)
  })

  test('a lease in use keeps what it has', async () => {
    const stage = scene()
    await leased(stage, 1_000n)
    for (let nowMs = 0; nowMs <= 60_000; nowMs += 5_000) {
      stage.leases.release(admitted(stage.leases.hold('a', 'k', 1n)))
      stage.leases.tick(nowMs)
    }
    expect(stage.givenBack).toEqual([])
  })

  test('an account without requests for 60 s is given back and forgotten', async () => {
    const stage = scene()
    await leased(stage, 100n)
    const hold = admitted(stage.leases.hold('a', 'k', 100n))
    for (const nowMs of [0, 60_000]) stage.leases.tick(nowMs)
    expect(stage.leases.state('a')?.holds).toBe(1)
    stage.leases.close(hold, 100n)
    stage.leases.tick(119_999)
    expect(stage.leases.state('a')).not.toBeNull()
    stage.leases.tick(120_000)
    expect(stage.leases.state('a')).toBeNull()
  })

  test('ticks go round, so that one of them never visits more than 10,000 accounts', async () => {
    const stage = scene()
    for (let at = 0; at < 10_001; at += 1) stage.leases.hold(`account-${at}`, 'k', 0n)
    await leased(stage, 100n)
    // The second tick of each round looks at the account: it sees that it was used, and 60 s later that it was not used
    // again.
    for (const nowMs of [0, 30_000, 60_000]) stage.leases.tick(nowMs)
    expect(stage.givenBack).toEqual([])
    stage.leases.tick(90_000)
    expect(stage.givenBack).toEqual([['a', 100n]])
  })

  test('draining gives back what is free now and what comes free later', async () => {
    const stage = scene()
    await leased(stage, 100n)
    const hold = admitted(stage.leases.hold('a', 'k', 60n))
    const waiting = stage.leases.hold('a', 'k', 90n)
    stage.leases.drain()
    expect(await waiting).toEqual({ refused: 'closed' })
    expect(stage.leases.hold('a', 'k', 1n)).toEqual({ refused: 'closed' })
    expect(stage.leases.close(hold, 20n)).toBe(20n)
    await stage.next().answer({ grantedNano: 50n, postedNano: 150n })
    expect(stage.givenBack).toEqual([
      ['a', 40n],
      ['a', 40n],
      ['a', 50n],
    ])
  })
})

test('B2: a rich account holds like any other', async () => {
  const stage = scene()
  await leased(stage, 1_000_000n)
  for (let request = 0; request < 1_000; request += 1) {
    admitted(stage.leases.hold('a', 'k', 1_000n))
  }
  expect(stage.leases.hold('a', 'k', 1n)).toBeInstanceOf(Promise)
  expect(stage.leases.state('a')).toMatchObject({ freeNano: 0n, heldNano: 1_000_000n })
})

describe('B5: worst-case holds do not lock others out', () => {
  test('a bound per key leaves the rest of the wallet to other keys', async () => {
    const stage = scene({ maxHeldPerKeyNano: 60n })
    await leased(stage, 100n)
    const hold = admitted(stage.leases.hold('a', 'k', 50n))
    expect(stage.leases.hold('a', 'k', 20n)).toEqual({ refused: 'in-flight' })
    expect(stage.leases.extend(hold, 11n)).toBe(false)
    const other = admitted(stage.leases.hold('a', 'other', 20n))
    stage.leases.close(hold, 1n)
    expect(admitted(stage.leases.hold('a', 'k', 60n)).amountNano).toBe(60n)
    stage.leases.release(other)
  })

  test('a bound per account refuses what is above it, and forgets what has ended', async () => {
    const stage = scene({ maxHeldPerAccountNano: 60n })
    await leased(stage, 60n)
    const hold = admitted(stage.leases.hold('a', 'k', 60n))
    expect(stage.leases.hold('a', 'other', 1n)).toEqual({ refused: 'in-flight' })
    stage.leases.close(hold, 60n)
    void stage.leases.hold('a', 'other', 60n)
    expect(stage.asked).toHaveLength(1)
  })

  test('who waits when a bound is reached is refused for it', async () => {
    const stage = scene({ maxHeldPerAccountNano: 60n })
    const holds = [stage.leases.hold('a', 'k', 40n), stage.leases.hold('a', 'k', 40n)]
    await stage.next().answer({ grantedNano: 100n, postedNano: 100n })
    const [first, second] = await Promise.all(holds)
    expect(first).toMatchObject({ amountNano: 40n })
    expect(second).toEqual({ refused: 'in-flight' })
  })

  test('the refusal of an account that spent nothing says what pins its money, not that it has none', async () => {
    const stage = scene()
    await leased(stage, 25n)
    admitted(stage.leases.hold('a', 'k', 25n))
    const hold = stage.leases.hold('a', 'k', 1n)
    await stage.next().answer({ postedNano: 25n })
    while (stage.timers.length > 0) {
      await stage.pulse()
      await stage.asked.shift()?.answer({ postedNano: 25n })
    }
    expect(await hold).toEqual({ refused: 'in-flight' })
  })
})

describe('B12: a request that breaks off leaves nothing held', () => {
  test('wherever it throws, releasing in the end frees everything', async () => {
    const stage = scene()
    await leased(stage, 100n)
    const steps = ['before work', 'after extending', 'while closing', 'after closing']
    for (const breaksAt of steps) {
      const hold = admitted(stage.leases.hold('a', 'k', 10n))
      const step = (name: string) => {
        if (name === breaksAt) throw new Error(name)
      }
      const request = () => {
        try {
          step('before work')
          stage.leases.extend(hold, 5n)
          step('after extending')
          stage.leases.close(hold, breaksAt === 'while closing' ? -1n : 0n)
          step('after closing')
        } finally {
          stage.leases.release(hold)
        }
      }
      expect(request).toThrow()
      expect(stage.leases.state('a')).toEqual({
        freeNano: 100n,
        heldNano: 0n,
        holds: 0,
        waiting: 0,
      })
    }
  })

  test('a client that left while its hold waited gets the hold to release', async () => {
    const stage = scene()
    const hold = stage.leases.hold('a', 'k', 30n)
    await stage.next().answer({ grantedNano: 30n, postedNano: 30n })
    stage.leases.release(admitted(await hold))
    expect(stage.leases.state('a')).toMatchObject({ freeNano: 30n, heldNano: 0n, holds: 0 })
  })
})

test('B13: a hold closed again, in whatever way, gives nothing back twice', async () => {
  const stage = scene({ maxHeldPerKeyNano: 100n })
  await leased(stage, 100n)
  const other = admitted(stage.leases.hold('a', 'k', 30n))
  const hold = admitted(stage.leases.hold('a', 'k', 50n))
  expect(stage.leases.close(hold, 20n)).toBe(20n)
  const after = { freeNano: 50n, heldNano: 30n, holds: 1, waiting: 0 }
  expect(stage.leases.close(hold, 20n)).toBe(0n)
  stage.leases.release(hold)
  expect(stage.leases.close(hold, 0n)).toBe(0n)
  expect(stage.leases.extend(hold, 1n)).toBe(false)
  expect(stage.leases.state('a')).toEqual(after)
  stage.leases.release(other)
  stage.leases.release(other)
  expect(stage.leases.state('a')).toMatchObject({ freeNano: 80n, heldNano: 0n, holds: 0 })
})

describe('B16: amounts above every wallet', () => {
  test('are refused without asking a ledger that could not hold them', async () => {
    const stage = scene()
    expect(await stage.leases.hold('a', 'k', maxNano + 1n)).toEqual({ refused: 'insufficient' })
    expect(await stage.leases.hold('a', 'k', 2n ** 200n)).toEqual({ refused: 'insufficient' })
    const hold = admitted(stage.leases.hold('a', 'k', 0n))
    expect(await stage.leases.extend(hold, 2n ** 64n)).toBe(false)
    expect(stage.asked).toEqual([])
  })

  test('together never want more than the ledger can hold, nor lose a digit', async () => {
    const stage = scene()
    const holds = [maxNano, maxNano].map((amount) => stage.leases.hold('a', 'k', amount))
    await stage.next().answer({ grantedNano: maxNano, postedNano: maxNano })
    expect(stage.asked[0]).toMatchObject({ needNano: maxNano, wantNano: maxNano })
    const [first] = holds
    if (first === undefined) throw new Error('no hold')
    expect(stage.leases.close(admitted(await first), maxNano - 1n)).toBe(maxNano - 1n)
    expect(stage.leases.state('a')).toMatchObject({ freeNano: 1n, heldNano: 0n })
  })
})
