// Tests the ledger's rules for settling, setting aside and quarter-hourly totals, one by one, on both engines.

import { expect, test } from 'bun:test'
import { sums } from '../../src/store/rollup-columns.ts'
import { quarterMs, type RollupFilter } from '../../src/store/rollup-table.ts'
import { RowRefused, type Store } from '../../src/store/store.ts'
import { finished, fund, hourMs, lessee } from '../support/ledger-scene.ts'
import { keptTotals } from '../support/rollups.ts'
import { onEachEngine } from './engines.ts'

const largestNano = 2n ** 63n - 1n

onEachEngine('settling', (start) => {
  const open = async () => (await start()).store
  settlingTests(open)
  refusedSettlingTests(open)
  setAsideTests(open)
  quarterTests(open)
  allAccountsTests(open)
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
    expect(await keptTotals(store)).toMatchObject([{ requests: 2n, chargeNano: 11n }])
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
    expect(await keptTotals(store)).toEqual([])
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

function quarterTests(open: Open): void {
  test('B24: totals are by quarter of an hour and by everything a row is of, and the sum is the rows', async () => {
    const store = await open()
    await fund(store, 'ann', 100n)
    await fund(store, 'bob', 100n)
    const ref = { node: 'n1', epoch: 1 }
    const row = (requestId: string, change: object) =>
      finished(ref, { requestId, chargeNano: 10n, vendorCostNano: 3n, ...change })
    await store.settlements.settle([
      row('a', { at: quarterMs }),
      row('b', { at: 2 * quarterMs - 1, ttftMs: 39.6, durationMs: 250_000 }),
      row('c', { at: 2 * quarterMs - 0.4 }),
      row('d', { at: quarterMs, account: 'bob' }),
      row('e', { at: quarterMs, key: 'k2' }),
      row('f', { at: quarterMs, modelAsked: 'o4' }),
      row('g', { at: quarterMs, channel: null, cachedInput: 0 }),
      row('h', { at: quarterMs, group: 'gold' }),
      row('i', { at: quarterMs, status: 499, ttftMs: null }),
      row('l', { at: quarterMs, operation: 'embeddings' }),
    ])
    await store.settlements.settle([
      row('j', { at: quarterMs + 7 }),
      row('k', { at: quarterMs, account: 'zoe' }),
    ])
    const all = await keptTotals(store)
    expect(all).toHaveLength(10)
    expect(all.find(({ requests }) => requests === 3n)).toEqual({
      quarter: quarterMs,
      account: 'ann',
      key: 'key_1',
      model: 'gpt-4o-mini',
      channel: 'main',
      group: 'default',
      operation: 'chat',
      statusClass: '2xx',
      requests: 3n,
      chargeNano: 30n,
      input: 30n,
      cachedInput: 9n,
      output: 60n,
      reasoning: 15n,
      cacheHits: 3n,
      vendorCostNano: 9n,
      durationMs: 251_800n,
      ttftMs: 280n,
      streamedTokens: 75n,
      streamingMs: 251_520n,
      ttft_63: 1n,
      ttft_160: 2n,
      duration_1000: 2n,
      duration_more: 1n,
    })
    const [left] = await keptTotals(store, { filter: { statusClass: ['4xx'] } })
    expect([left?.['errors'], left?.['ttft_160']]).toEqual([1n, undefined])
    const requests = async (filter: RollupFilter, since = 0, until = 9 * quarterMs) =>
      (await keptTotals(store, { filter, since, until })).reduce(
        (sum, each) => sum + Number(each['requests']),
        0,
      )
    expect(await requests({})).toBe(12)
    expect(await requests({ account: ['bob', 'zoe', 'nobody'] })).toBe(2)
    expect(await requests({ model: ['o4'], account: ['ann'] })).toBe(1)
    const ones = [{ key: ['k2'] }, { channel: [''] }, { group: ['gold'] }]
    for (const each of ones) expect(await requests(each)).toBe(1)
    expect(await requests({ operation: ['embeddings'] })).toBe(1)
    expect(await requests({}, 2 * quarterMs)).toBe(1)
    expect(await requests({}, quarterMs, 2 * quarterMs)).toBe(11)
    const [zoe] = await keptTotals(store, { filter: { account: ['zoe'] } })
    expect([zoe?.['chargeNano'], zoe?.['writeoffNano']]).toEqual([undefined, 10n])
  })
}

function allAccountsTests(open: Open): void {
  test('what is read over all accounts is what theirs add up to', async () => {
    const store = await open()
    const ref = { node: 'n1', epoch: 1 }
    await store.settlements.settle(
      Array.from({ length: 60 }, (_, at) =>
        finished(ref, {
          requestId: `req_${at}`,
          at: at * 100_000,
          account: `account-${at % 7}`,
          modelAsked: `model-${at % 3}`,
          status: at % 5 === 0 ? 503 : 200,
        }),
      ),
    )
    const asked = {
      cuts: [0],
      until: 100 * quarterMs,
      filter: {},
      sums: sums.map(({ field }) => field),
      limit: 1_000,
    }
    const [all] = await store.rollups.read({ ...asked, by: [] })
    const each = await store.rollups.read({ ...asked, by: ['account'] })
    expect(each).toHaveLength(7)
    const added = all?.sums.map((_, place) =>
      each.reduce((sum, row) => sum + (row.sums[place] ?? 0n), 0n),
    )
    expect(added).toEqual([...(all?.sums ?? [])])
    expect(all?.sums[0]).toBe(60n)
    expect(await store.rollups.read({ ...asked, by: [], cuts: [50 * quarterMs] })).toEqual([])
    expect(await store.rollups.values('model', null, 9)).toEqual(['model-0', 'model-1', 'model-2'])
    expect(await store.rollups.values('model', 'account-1', 2)).toEqual(['model-0', 'model-1'])
    expect(await store.rollups.values('account', null, 99)).toHaveLength(7)
  })
}
