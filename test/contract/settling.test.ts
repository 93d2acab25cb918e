// Settling, setting aside and hourly totals: the ledger's rules, one by one, on both engines.

import { expect, test } from 'bun:test'
import { RowRefused, type Store } from '../../src/store/store.ts'
import { finished, fund, hourMs, lessee } from '../support/ledger-scene.ts'
import { onEachEngine } from './engines.ts'

const largestNano = 2n ** 63n - 1n

onEachEngine('settling', (start) => {
  const open = async () => (await start()).store
  settlingTests(open)
  refusedSettlingTests(open)
  setAsideTests(open)
  hourTests(open)
})

type Open = () => Promise<Store>

function settlingTests(open: Open): void {
  test('the lease pays first, then free money, then the house', async () => {
    const store = await open()
    await fund(store, 'ann', 100n)
    const ref = await lessee(store, 'n1', 'ann', 60n)
    const settled = await store.settlements.settle([
      finished(ref, { requestId: 'a', chargeNano: 50n }, { fromLeaseNano: 20n }),
      finished(ref, { requestId: 'b', chargeNano: 70n }, { fromLeaseNano: 70n }),
      finished(ref, { requestId: 'c', chargeNano: 5n }, { fromLeaseNano: 5n }),
      finished(ref, { requestId: 'd', chargeNano: 0n }),
    ])
    expect(settled).toEqual({ settled: 4, chargedNano: 100n, writtenOffNano: 25n })
    const paid = (await store.usage.list({ limit: 9 })).map(
      ({ requestId, chargeNano, writeoffNano }) => [requestId, chargeNano, writeoffNano],
    )
    // a: 20 of the lease, 30 free; b: 40 left of the lease, 10 left free.
    expect(paid).toEqual([
      ['d', 0n, 0n],
      ['c', 0n, 5n],
      ['b', 50n, 20n],
      ['a', 50n, 0n],
    ])
    expect(await store.journal.wallet('ann')).toEqual({
      account: 'ann',
      postedNano: 0n,
      leasedNano: 0n,
      heldNano: 0n,
    })
    const entries = await store.journal.transfers({ account: 'ann', usage: true, limit: 9 })
    expect(entries.map(({ id }) => id)).toEqual(['usage:b', 'usage:a', 'topup:first-ann'])
  })

  test('what is above the cap is written off', async () => {
    const store = await open()
    await fund(store, 'ann', 100n)
    const ref = await lessee(store, 'n1', 'ann', 60n)
    const settled = await store.settlements.settle([
      finished(ref, { requestId: 'a', chargeNano: 50n }, { fromLeaseNano: 50n, capNano: 30n }),
      finished(ref, { requestId: 'b', chargeNano: 30n }, { fromLeaseNano: 0n, capNano: 30n }),
    ])
    expect(settled).toEqual({ settled: 2, chargedNano: 60n, writtenOffNano: 20n })
    expect((await store.journal.wallet('ann'))?.leasedNano).toBe(30n)
  })

  test('a row settled before, or twice in a batch, moves nothing', async () => {
    const store = await open()
    await fund(store, 'ann', 100n)
    const ref = await lessee(store, 'n1', 'ann', 60n)
    const row = (requestId: string, chargeNano: bigint) =>
      finished(ref, { requestId, chargeNano }, { fromLeaseNano: chargeNano })
    await store.settlements.settle([row('a', 10n), row('a', 40n)])
    const again = await store.settlements.settle([
      row('a', 10n),
      row('b', 1n),
      row('b', 1n),
      row('a', 9n),
    ])
    expect(again).toEqual({ settled: 1, chargedNano: 1n, writtenOffNano: 0n })
    expect(await store.settlements.settle([row('b', 1n)])).toEqual({
      settled: 0,
      chargedNano: 0n,
      writtenOffNano: 0n,
    })
    expect((await store.journal.wallet('ann'))?.postedNano).toBe(89n)
    const [hour] = await store.hours.list({})
    expect([hour?.requests, hour?.chargeNano]).toEqual([2, 11n])
  })

  test('a row of an epoch that is closed is paid from free money', async () => {
    const store = await open()
    await fund(store, 'ann', 100n)
    const old = await lessee(store, 'n1', 'ann', 60n)
    await lessee(store, 'n1', 'ann', 70n)
    const late = finished(old, { requestId: 'a', chargeNano: 40n }, { fromLeaseNano: 40n })
    const settled = await store.settlements.settle([late])
    expect(settled).toEqual({ settled: 1, chargedNano: 30n, writtenOffNano: 10n })
    expect(await store.journal.wallet('ann')).toMatchObject({ postedNano: 70n, leasedNano: 70n })
  })

  test('an account without a wallet is written off whole', async () => {
    const store = await open()
    const ref = { node: 'n1', epoch: 1 }
    const row = { requestId: 'a', account: 'nobody', chargeNano: 40n }
    const settled = await store.settlements.settle([finished(ref, row, { fromLeaseNano: 40n })])
    expect(settled).toEqual({ settled: 1, chargedNano: 0n, writtenOffNano: 40n })
    expect(await store.journal.wallet('nobody')).toBeNull()
  })

  test('a reply is kept for its key in the same transaction', async () => {
    const store = await open()
    const ref = await store.nodes.open('n1', hourMs)
    const key = { account: 'ann', key: 'k', bodyHash: 'h', requestId: 'a', by: ref }
    const begun = { ...key, nowMs: 1, expiresAt: 9 }
    expect(await store.idempotency.begin(begun)).toEqual({ state: 'new' })
    const reply = { status: 200, contentType: 'application/json', body: '{}' }
    const idempotency = { account: 'ann', key: 'k', reply, keep: true }
    await store.settlements.settle([finished(ref, { requestId: 'a' }, { idempotency })])
    const found = await store.idempotency.begin({ ...begun, requestId: 'b' })
    expect(found).toEqual({ state: 'done', requestId: 'a', reply })
  })
}

function refusedSettlingTests(open: Open): void {
  test('one row that cannot be kept leaves everything as it was', async () => {
    const store = await open()
    await fund(store, 'ann', 100n)
    const ref = await lessee(store, 'n1', 'ann', 60n)
    const good = finished(ref, { requestId: 'a', chargeNano: 10n }, { fromLeaseNano: 10n })
    const bad = [
      finished(ref, { requestId: 'b', usageSource: 'guessed' as 'counted' }),
      finished(ref, { requestId: 'b', writeoffNano: 1n }),
      finished(ref, { requestId: 'b' }, { fromLeaseNano: -1n }),
      finished(ref, { requestId: 'b' }, { capNano: -1n }),
      finished(ref, { requestId: 'b', output: -1 }),
    ]
    for (const each of bad) {
      await expect(store.settlements.settle([good, each])).rejects.toBeInstanceOf(RowRefused)
    }
    expect(await store.usage.list({ limit: 9 })).toEqual([])
    expect(await store.hours.list({})).toEqual([])
    expect(await store.journal.wallet('ann')).toMatchObject({ postedNano: 100n, leasedNano: 60n })
  })

  test('write-offs past what can be counted are refused, not wrapped around', async () => {
    const store = await open()
    const ref = { node: 'n1', epoch: 1 }
    const row = (requestId: string) => finished(ref, { requestId, chargeNano: largestNano })
    await store.settlements.settle([row('a')])
    await expect(store.settlements.settle([row('b')])).rejects.toBeInstanceOf(RowRefused)
    expect(await store.usage.list({ limit: 9 })).toHaveLength(1)
  })
}

function setAsideTests(open: Open): void {
  const entry = { requestId: 'a', account: 'ann', raw: '["torn', reason: 'no record', at: 5 }

  test('what is set aside stays held, out of the lease and then out of free money', async () => {
    const store = await open()
    await fund(store, 'ann', 100n)
    const ref = await lessee(store, 'n1', 'ann', 60n)
    await store.settlements.setAside({ ...entry, heldNano: 70n }, ref)
    const wallet = { account: 'ann', postedNano: 100n, leasedNano: 70n, heldNano: 70n }
    expect(await store.journal.wallet('ann')).toEqual(wallet)
    await store.nodes.close(ref)
    expect(await store.journal.wallet('ann')).toEqual(wallet)
    const more = { ...entry, requestId: 'b', heldNano: 50n, at: 6 }
    await store.settlements.setAside(more, ref)
    const kept = [
      { ...more, heldNano: 30n },
      { ...entry, heldNano: 70n },
    ]
    expect(await store.settlements.setAsides(9)).toEqual(kept)
    expect(await store.settlements.setAsides(1)).toEqual(kept.slice(0, 1))
  })

  test('a request known already, set aside or settled, is passed over', async () => {
    const store = await open()
    await fund(store, 'ann', 100n)
    const ref = await lessee(store, 'n1', 'ann', 60n)
    await store.settlements.setAside({ ...entry, heldNano: 10n }, ref)
    await store.settlements.setAside({ ...entry, heldNano: 20n }, ref)
    await store.settlements.settle([finished(ref, { requestId: 'b' })])
    await store.settlements.setAside({ ...entry, requestId: 'b', heldNano: 20n }, ref)
    expect((await store.settlements.setAsides(9)).map(({ heldNano }) => heldNano)).toEqual([10n])
  })

  test('the record is kept whole, whatever it is', async () => {
    const store = await open()
    const raw = `["${'x'.repeat(100_000)}", "a\0b\uD800"]`
    const ref = { node: 'n1', epoch: 1 }
    await store.settlements.setAside({ ...entry, heldNano: 5n, raw }, ref)
    const [kept] = await store.settlements.setAsides(1)
    expect(kept?.raw).toBe(raw.replace('\0', '\uFFFD').replace('\uD800', '\uFFFD'))
    expect(kept?.heldNano).toBe(0n)
  })
}

function hourTests(open: Open): void {
  test('B24: totals are by hour and by everything a row is of, and the sum is the rows', async () => {
    const store = await open()
    await fund(store, 'ann', 100n)
    await fund(store, 'bob', 100n)
    const ref = { node: 'n1', epoch: 1 }
    const row = (requestId: string, change: object) =>
      finished(ref, { requestId, chargeNano: 10n, vendorCostNano: 3n, ...change })
    await store.settlements.settle([
      row('a', { at: hourMs }),
      row('b', { at: 2 * hourMs - 1 }),
      row('c', { at: 2 * hourMs - 0.4 }),
      row('d', { at: hourMs, account: 'bob' }),
      row('e', { at: hourMs, key: 'k2' }),
      row('f', { at: hourMs, modelAsked: 'o4' }),
      row('g', { at: hourMs, channel: null }),
      row('h', { at: hourMs, group: 'gold' }),
      row('i', { at: hourMs, status: 499 }),
    ])
    await store.settlements.settle([
      row('j', { at: hourMs + 7 }),
      row('k', { at: hourMs, account: 'zoe' }),
    ])
    const all = await store.hours.list({})
    expect(all).toHaveLength(9)
    expect(all.find(({ requests }) => requests === 3)).toEqual({
      hour: hourMs,
      account: 'ann',
      key: 'key_1',
      model: 'gpt-4o-mini',
      channel: 'main',
      group: 'default',
      status: 200,
      requests: 3,
      inputTokens: 30,
      outputTokens: 60,
      chargeNano: 30n,
      writeoffNano: 0n,
      vendorCostNano: 9n,
    })
    const requests = async (filter: object) =>
      (await store.hours.list(filter)).reduce((sum, each) => sum + each.requests, 0)
    expect(await requests({})).toBe(11)
    expect(await requests({ account: 'bob' })).toBe(1)
    expect(await requests({ key: 'k2' })).toBe(1)
    expect(await requests({ model: 'o4' })).toBe(1)
    expect(await requests({ channel: '' })).toBe(1)
    expect(await requests({ group: 'gold' })).toBe(1)
    expect(await requests({ since: 2 * hourMs })).toBe(1)
    expect(await requests({ since: hourMs, until: 2 * hourMs })).toBe(10)
    const [hour] = await store.hours.list({ account: 'zoe' })
    expect([hour?.chargeNano, hour?.writeoffNano]).toEqual([0n, 10n])
  })
}
