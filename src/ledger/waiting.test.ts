// Tests requests that the lease does not cover: who waits, who is served, who is refused and why; the test plays the
// ledger by hand.
import { describe, expect, test } from 'bun:test'
import { admitted, leased, scene } from '../../test/ledger/scene.ts'

describe('a wallet that does not have it', () => {
  test('refuses at once where nothing could come free', async () => {
    const stage = scene()
    const hold = stage.leases.hold('a', 'k', 30n)
    await stage.next().answer({ postedNano: 29n })
    expect(await hold).toEqual({ refused: 'insufficient' })
    expect(stage.recalls).toEqual([])
  })

  test('refuses at once what is above the whole wallet, whatever runs', async () => {
    const stage = scene()
    await leased(stage, 50n)
    admitted(stage.leases.hold('a', 'k', 50n))
    const hold = stage.leases.hold('a', 'k', 60n)
    await stage.next().answer({ postedNano: 50n, leasedElsewhereNano: 40n })
    expect(await hold).toEqual({ refused: 'insufficient' })
  })

  test('serves who waits as soon as a request on this node ends', async () => {
    const stage = scene()
    await leased(stage, 50n)
    const running = admitted(stage.leases.hold('a', 'k', 50n))
    const hold = stage.leases.hold('a', 'k', 45n)
    await stage.next().answer({ postedNano: 50n })
    stage.leases.close(running, 5n)
    expect(admitted(await hold).amountNano).toBe(45n)
  })

  test('asks the other nodes, asks again three times within 300 ms, then refuses', async () => {
    const stage = scene()
    const hold = stage.leases.hold('a', 'k', 30n)
    const none = { postedNano: 100n, leasedElsewhereNano: 100n }
    await stage.next().answer(none)
    let waitedMs = 0
    for (let again = 0; again < 3; again += 1) {
      waitedMs += stage.timers[0]?.delayMs ?? 0
      await stage.pulse()
      await stage.next().answer(none)
    }
    expect(stage.leases.state('a')?.waiting).toBe(1)
    waitedMs += stage.timers[0]?.delayMs ?? 0
    await stage.pulse()
    expect(await hold).toEqual({ refused: 'in-flight' })
    expect(waitedMs).toBeLessThanOrEqual(300)
    expect(stage.recalls).toEqual(['a', 'a', 'a', 'a'])
    expect(stage.asked).toEqual([])
  })

  test('serves from what another node gave back', async () => {
    const stage = scene()
    const hold = stage.leases.hold('a', 'k', 30n)
    await stage.next().answer({ postedNano: 100n, leasedElsewhereNano: 100n })
    await stage.pulse()
    await stage.next().answer({ grantedNano: 30n, postedNano: 100n, leasedElsewhereNano: 70n })
    expect(admitted(await hold).amountNano).toBe(30n)
  })

  test('is asked again at once for who came after the question', async () => {
    const stage = scene()
    const first = stage.leases.hold('a', 'k', 30n)
    const second = stage.leases.hold('a', 'k', 5n)
    await stage.next().answer({ postedNano: 10n })
    expect(await first).toEqual({ refused: 'insufficient' })
    expect(stage.asked[0]).toMatchObject({ needNano: 5n })
    await stage.next().answer({ grantedNano: 5n, postedNano: 10n })
    expect(admitted(await second).amountNano).toBe(5n)
  })
})

describe('the line', () => {
  /** 100 leased, 80 held by one request, 20 free, and one request that waits for 90. */
  async function withLargeWaiter() {
    const stage = scene()
    await leased(stage, 100n)
    const running = admitted(stage.leases.hold('a', 'k', 80n))
    const large = stage.leases.hold('a', 'k', 90n)
    await stage.next().answer({ postedNano: 100n })
    return { stage, running, large }
  }

  test('lets the small pass while together they take a tenth of what the first waits for', async () => {
    const { stage, running, large } = await withLargeWaiter()
    const small = [5n, 4n].map((amount) => admitted(stage.leases.hold('a', 'k', amount)))
    expect(stage.leases.hold('a', 'k', 1n)).toBeInstanceOf(Promise)
    for (const hold of small) stage.leases.release(hold)
    stage.leases.close(running, 0n)
    expect(admitted(await large).amountNano).toBe(90n)
  })

  test('does not refuse the small because a large one before it does not fit', async () => {
    const { stage, large } = await withLargeWaiter()
    const medium = stage.leases.hold('a', 'k', 15n)
    for (let pulse = 0; pulse < 4; pulse += 1) {
      await stage.pulse()
      await stage.asked.shift()?.answer({ postedNano: 100n })
    }
    expect(await large).toEqual({ refused: 'in-flight' })
    expect(admitted(await medium).amountNano).toBe(15n)
  })

  test('asks once more for the modest one that the last answers say nothing of', async () => {
    const stage = scene()
    await leased(stage, 40n)
    const none = { postedNano: 200n, leasedElsewhereNano: 100n }
    const large = stage.leases.hold('a', 'k', 90n)
    const second = stage.leases.hold('a', 'k', 20n)
    const third = stage.leases.hold('a', 'k', 25n)
    await stage.next().answer(none)
    for (let pulse = 0; pulse < 3; pulse += 1) {
      await stage.pulse()
      expect(stage.asked[0]?.needNano).toBe(50n)
      await stage.next().answer(none)
    }
    await stage.pulse()
    expect(await large).toEqual({ refused: 'in-flight' })
    expect(admitted(await second).amountNano).toBe(20n)
    expect(stage.asked[0]?.needNano).toBe(5n)
    await stage.next().answer({ ...none, grantedNano: 5n })
    expect(admitted(await third).amountNano).toBe(25n)
  })

  test('asks for what the most modest lacks', async () => {
    const stage = scene()
    const first = stage.leases.hold('a', 'k', 1n)
    void stage.leases.hold('a', 'k', 90n)
    void stage.leases.hold('a', 'k', 5n)
    await stage.next().answer({ grantedNano: 1n, postedNano: 200n })
    admitted(await first)
    expect(stage.asked[0]).toMatchObject({ needNano: 5n, wantNano: 95n })
  })

  test('serves who has waited long, though an extension that came later does not fit', async () => {
    const stage = scene()
    await leased(stage, 50n)
    const running = ['x', 'y'].map((key) => admitted(stage.leases.hold('a', key, 25n)))
    const [first, second] = running
    if (first === undefined || second === undefined) throw new Error('no holds')
    const none = { postedNano: 100n, leasedElsewhereNano: 50n }
    const hold = stage.leases.hold('a', 'k', 20n)
    await stage.next().answer(none)
    for (let pulse = 0; pulse < 3; pulse += 1) {
      await stage.pulse()
      await stage.next().answer(none)
    }
    const extension = stage.leases.extend(first, 60n)
    stage.leases.release(second)
    expect(stage.leases.state('a')).toMatchObject({ freeNano: 25n, waiting: 2 })
    await stage.pulse()
    expect(admitted(await hold).amountNano).toBe(20n)
    stage.leases.release(first)
    expect(await extension).toBe(false)
  })
})

describe('a ledger out of reach', () => {
  test('refuses as closed, and says why', async () => {
    const stage = scene()
    const hold = stage.leases.hold('a', 'k', 30n)
    const broken = new Error('no connection')
    await stage.next().reject(broken)
    expect(await hold).toEqual({ refused: 'closed' })
    expect(stage.errors).toEqual([broken])
    expect(stage.leases.state('a')).toEqual({ freeNano: 0n, heldNano: 0n, holds: 0, waiting: 0 })
  })

  test('serves what the lease covers', async () => {
    const stage = scene()
    await leased(stage, 100n)
    const tooMuch = stage.leases.hold('a', 'k', 101n)
    await stage.next().reject(new Error('no connection'))
    expect(await tooMuch).toEqual({ refused: 'closed' })
    expect(admitted(stage.leases.hold('a', 'k', 100n)).amountNano).toBe(100n)
  })

  test('that does not answer refuses as closed within 300 ms', async () => {
    const stage = scene()
    const hold = stage.leases.hold('a', 'k', 30n)
    let waitedMs = 0
    while (stage.timers.length > 0) {
      waitedMs += stage.timers[0]?.delayMs ?? 0
      await stage.pulse()
    }
    expect(await hold).toEqual({ refused: 'closed' })
    expect(waitedMs).toBeLessThanOrEqual(300)
    await stage.next().answer({ grantedNano: 30n, postedNano: 30n })
    expect(stage.leases.state('a')?.freeNano).toBe(30n)
  })
})
