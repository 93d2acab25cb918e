// Tests what a lease keeps while idle, so that first calls are served without the ledger; the test plays the ledger by
// hand.

import { expect, test } from 'bun:test'
import { admitted, scene } from '../../test/ledger/scene.ts'

test('a lease at rest is asked once for what the next requests may hold', async () => {
  const stage = scene()
  const first = stage.leases.hold('a', 'k', 30n)
  await stage.next().answer({ grantedNano: 30n, postedNano: 2_000n })
  stage.leases.close(admitted(await first), 10n)
  stage.leases.tick(0)
  expect(stage.asked).toEqual([])
  stage.leases.tick(1_000)
  expect(stage.asked[0]).toMatchObject({ needNano: 1n, spareNano: 280n })
  await stage.next().answer({ grantedNano: 280n, postedNano: 1_990n })
  for (let nowMs = 2_000; nowMs < 59_000; nowMs += 1_000) stage.leases.tick(nowMs)
  expect([stage.asked, stage.givenBack]).toEqual([[], []])
  const holds = Array.from({ length: 10 }, () => admitted(stage.leases.hold('a', 'k', 30n)))
  expect(holds).toHaveLength(10)
})

test('a reserve takes no more than a fifth of the wallet, but for one request', async () => {
  const stage = scene()
  for (const [account, postedNano] of [
    ['rich', 500n],
    ['poor', 70n],
  ] as const) {
    const hold = stage.leases.hold(account, 'k', 30n)
    await stage.next().answer({ grantedNano: 30n, postedNano })
    stage.leases.close(admitted(await hold), 30n)
  }
  for (const nowMs of [0, 1_000]) stage.leases.tick(nowMs)
  const wanted = stage.asked.map(({ account, spareNano }) => [account, spareNano])
  expect(wanted).toEqual([
    ['rich', 100n],
    ['poor', 30n],
  ])
})

test('no reserve is asked of a wallet that ran out, that another node recalled, or while draining', async () => {
  const stage = scene()
  for (const account of ['out', 'recalled']) {
    const hold = stage.leases.hold(account, 'k', 30n)
    await stage.next().answer({ grantedNano: 30n, postedNano: 1_000n })
    stage.leases.close(admitted(await hold), 30n)
  }
  const more = stage.leases.hold('out', 'k', 30n)
  await stage.next().answer({ grantedNano: 0n, postedNano: 20n })
  expect(await more).toEqual({ refused: 'insufficient' })
  stage.leases.recall('recalled')
  for (const nowMs of [0, 1_000]) stage.leases.tick(nowMs)
  expect(stage.asked).toEqual([])
  const drained = scene()
  const hold = drained.leases.hold('a', 'k', 30n)
  await drained.next().answer({ grantedNano: 30n, postedNano: 1_000n })
  drained.leases.close(admitted(await hold), 30n)
  drained.leases.drain()
  for (const nowMs of [0, 1_000]) drained.leases.tick(nowMs)
  expect(drained.asked).toEqual([])
})

test('a request that comes while a reserve is asked for is answered by the next grant', async () => {
  const stage = scene()
  const first = stage.leases.hold('a', 'k', 30n)
  await stage.next().answer({ grantedNano: 30n, postedNano: 1_000n })
  stage.leases.close(admitted(await first), 30n)
  for (const nowMs of [0, 1_000]) stage.leases.tick(nowMs)
  const large = stage.leases.hold('a', 'k', 500n)
  await stage.next().answer({ grantedNano: 200n, postedNano: 970n })
  expect(stage.asked[0]).toMatchObject({ needNano: 300n })
  await stage.next().answer({ grantedNano: 300n, postedNano: 970n })
  expect(admitted(await large).amountNano).toBe(500n)
})

test('a reserve the ledger cannot be asked for refuses nobody and is no error of a request', async () => {
  const stage = scene()
  const first = stage.leases.hold('a', 'k', 30n)
  await stage.next().answer({ grantedNano: 30n, postedNano: 1_000n })
  stage.leases.close(admitted(await first), 10n)
  for (const nowMs of [0, 1_000]) stage.leases.tick(nowMs)
  await stage.next().reject(new Error('away'))
  expect(stage.errors).toEqual([])
  expect(admitted(stage.leases.hold('a', 'k', 20n)).amountNano).toBe(20n)
})
