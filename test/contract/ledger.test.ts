// The ledger's rules, one by one, on both engines.

import { expect, test } from 'bun:test'
import { house, type Transfer, walletOf } from '../../src/store/ledger.ts'
import { RowRefused, type Store } from '../../src/store/store.ts'
import { deposit, finished, fund, hourMs, lessee } from '../support/ledger-scene.ts'
import { onEachEngine } from './engines.ts'

const largestNano = 2n ** 63n - 1n

onEachEngine('the ledger', (start) => {
  const open = async () => (await start()).store
  postingTests(open)
  refusedPostingTests(open)
  readingTests(open)
  nodeTests(open)
  grantTests(open)
  leaseTests(open)
  settlingTests(open)
  refusedSettlingTests(open)
  setAsideTests(open)
  hourTests(open)
})

type Open = () => Promise<Store>

function postingTests(open: Open): void {
  test('a deposit is posted once, however often it is sent', async () => {
    const store = await open()
    await fund(store, 'ann', 0n)
    expect(await store.ledger.post([deposit('ann', 500n, 'a')])).toBe('posted')
    expect(await store.ledger.post([deposit('ann', 500n, 'a')])).toBe('known')
    // What was posted is known also where the same id says something else now.
    expect(await store.ledger.post([deposit('ann', 900n, 'a'), deposit('ann', 1n, 'b')])).toBe(
      'known',
    )
    expect((await store.ledger.wallet('ann'))?.postedNano).toBe(500n)
  })

  test('what a wallet has free can be taken to the last nano, and not one more', async () => {
    const store = await open()
    await fund(store, 'ann', 500n)
    await lessee(store, 'n1', 'ann', 200n)
    const refund = (amountNano: bigint, reference: string): Transfer => ({
      ...deposit('ann', amountNano, reference),
      id: `refund:${reference}`,
      code: 'refund',
      debit: walletOf('ann'),
      credit: house.adjust,
    })
    expect(await store.ledger.post([refund(301n, 'a')])).toBe('insufficient')
    expect(await store.ledger.post([refund(300n, 'b')])).toBe('posted')
    expect(await store.ledger.post([refund(1n, 'c')])).toBe('insufficient')
    // Done before: the wallet could not pay it again, and need not.
    expect(await store.ledger.post([refund(300n, 'b')])).toBe('known')
    expect(await store.ledger.post([refund(301n, 'a')])).toBe('insufficient')
    const wallet = await store.ledger.wallet('ann')
    expect(wallet).toEqual({ account: 'ann', postedNano: 200n, leasedNano: 200n, heldNano: 0n })
  })

  test('several transfers are posted all or none', async () => {
    const store = await open()
    await fund(store, 'ann', 100n)
    await fund(store, 'bob', 0n)
    const move: Transfer = { ...deposit('bob', 60n, 'm'), debit: walletOf('ann') }
    expect(await store.ledger.post([move, deposit('bob', 5n, 'n')])).toBe('posted')
    const again: Transfer = { ...move, id: 'topup:o' }
    expect(await store.ledger.post([deposit('bob', 1n, 'p'), again])).toBe('insufficient')
    const half = store.ledger.post([deposit('bob', 1n, 'q'), deposit('bob', 1n, 'n')])
    await expect(half).rejects.toBeInstanceOf(RowRefused)
    const posted = (await store.ledger.wallets()).map(({ postedNano }) => postedNano)
    expect(posted).toEqual([40n, 65n])
    expect(await store.ledger.transfers({ account: 'bob', limit: 9 })).toHaveLength(2)
  })

  test('nothing to post is posted', async () => {
    expect(await (await open()).ledger.post([])).toBe('posted')
  })
}

function refusedPostingTests(open: Open): void {
  const adjust: Transfer = {
    ...deposit('ann', 5n, 'x'),
    id: 'adjust:x',
    code: 'adjust',
    actor: 'ops',
    reason: 'a gift',
  }
  const wrong: readonly (readonly [string, Partial<Transfer>])[] = [
    ['nothing', { amountNano: 0n }],
    ['less than nothing', { amountNano: -5n }],
    ['more than can be counted', { amountNano: largestNano + 1n }],
    ['an id of another code', { id: 'topup:x' }],
    ['an id that is no text', { id: 'adjust:x\0' }],
    ['an adjustment by nobody', { actor: null }],
    ['an adjustment by the empty name', { actor: '' }],
    ['an adjustment without a reason', { reason: null }],
    ['an account to itself', { debit: walletOf('ann') }],
    ['an account that is not there', { credit: walletOf('nobody') }],
    ['a house account that is not there', { debit: 'expense:parties' }],
    ['an entry only settling makes', { id: 'usage:x', code: 'usage' }],
    ['a write-off only settling makes', { id: 'writeoff:x', code: 'writeoff' }],
  ]
  test.each(wrong)('%s is refused', async (_, change) => {
    const store = await open()
    await fund(store, 'ann', 100n)
    const posting = store.ledger.post([{ ...adjust, ...change }])
    await expect(posting).rejects.toBeInstanceOf(RowRefused)
    expect((await store.ledger.wallet('ann'))?.postedNano).toBe(100n)
    expect(await store.ledger.transfers({ account: 'ann', limit: 9 })).toHaveLength(1)
  })

  test('a wallet holds what int64 holds, and refuses one nano more', async () => {
    const store = await open()
    await fund(store, 'ann', largestNano)
    expect((await store.ledger.wallet('ann'))?.postedNano).toBe(largestNano)
    const more = store.ledger.post([deposit('ann', 1n, 'more')])
    await expect(more).rejects.toBeInstanceOf(RowRefused)
    expect((await store.ledger.wallet('ann'))?.postedNano).toBe(largestNano)
  })
}

function readingTests(open: Open): void {
  test('a wallet of an account nobody made is not there', async () => {
    const store = await open()
    expect(await store.ledger.wallet('nobody')).toBeNull()
    expect(await store.ledger.wallets()).toEqual([])
  })

  test('transfers are newest first, to the letter, and usage is left out unless asked for', async () => {
    const store = await open()
    await fund(store, 'ann', 100n)
    const gift: Transfer = {
      id: 'adjust:gift',
      code: 'adjust',
      debit: house.adjust,
      credit: walletOf('ann'),
      amountNano: 9_007_199_254_740_993n,
      actor: 'ops',
      reason: 'sorry for the outage \u{1F64F}',
      at: 3_000,
    }
    await store.ledger.post([gift])
    const ref = { node: 'n1', epoch: 1 }
    await store.ledger.settle([finished(ref, { requestId: 'r', at: 2_000, chargeNano: 30n })])
    const usage: Transfer = {
      ...deposit('ann', 30n, ''),
      id: 'usage:r',
      code: 'usage',
      debit: walletOf('ann'),
      credit: house.revenue,
      at: 2_000,
    }
    const first = deposit('ann', 100n, 'first-ann')
    const list = (change: object) => store.ledger.transfers({ account: 'ann', limit: 9, ...change })
    expect(await list({})).toEqual([gift, first])
    expect(await list({ usage: true })).toEqual([gift, usage, first])
    expect(await list({ usage: true, limit: 2 })).toEqual([gift, usage])
    expect(await list({ account: 'bob' })).toEqual([])
  })
}

function nodeTests(open: Open): void {
  test('each opening raises the epoch and releases what the one before leased', async () => {
    const store = await open()
    await fund(store, 'ann', 100n)
    const first = await lessee(store, 'n1', 'ann', 60n)
    expect(first).toEqual({ node: 'n1', epoch: 1 })
    expect(await store.ledger.openNode('n1', hourMs)).toEqual({ node: 'n1', epoch: 2 })
    expect((await store.ledger.wallet('ann'))?.leasedNano).toBe(0n)
    expect(await store.ledger.renewNode(first, hourMs)).toBe(false)
    expect(await store.ledger.renewNode({ node: 'n1', epoch: 2 }, hourMs)).toBe(true)
  })

  test('closing releases everything, and only the newest epoch can', async () => {
    const store = await open()
    await fund(store, 'ann', 100n)
    await fund(store, 'bob', 100n)
    const old = await store.ledger.openNode('n1', hourMs)
    const ref = await lessee(store, 'n1', 'ann', 60n)
    await store.ledger.grant({ ...ref, account: 'bob', needNano: 100n, wantNano: 100n })
    await store.ledger.closeNode(old)
    expect((await store.ledger.wallets()).map(({ leasedNano }) => leasedNano)).toEqual([60n, 100n])
    await store.ledger.closeNode(ref)
    await store.ledger.closeNode(ref)
    expect((await store.ledger.wallets()).map(({ leasedNano }) => leasedNano)).toEqual([0n, 0n])
    expect(await store.ledger.renewNode(ref, hourMs)).toBe(false)
  })

  test('a sweep closes what has expired and nothing else, once', async () => {
    const store = await open()
    await fund(store, 'ann', 100n)
    const late = await lessee(store, 'n1', 'ann', 60n)
    const alive = await lessee(store, 'n2', 'ann', 30n)
    const later = await store.ledger.openNode('n0', 0)
    await store.ledger.renewNode(late, 0)
    expect(await store.ledger.sweep()).toEqual([later, late])
    expect(await store.ledger.sweep()).toEqual([])
    expect((await store.ledger.wallet('ann'))?.leasedNano).toBe(30n)
    expect(await store.ledger.renewNode(late, hourMs)).toBe(false)
    expect(await store.ledger.renewNode(alive, hourMs)).toBe(true)
  })

  test('a node that renews after its time, but before a sweep, goes on', async () => {
    const store = await open()
    const ref = await store.ledger.openNode('n1', 0)
    expect(await store.ledger.renewNode(ref, hourMs)).toBe(true)
    expect(await store.ledger.sweep()).toEqual([])
  })
}

function grantTests(open: Open): void {
  test('a grant is what is wanted, at least what is needed, or nothing', async () => {
    const store = await open()
    await fund(store, 'ann', 100n)
    const one = await store.ledger.openNode('n1', hourMs)
    const other = await store.ledger.openNode('n2', hourMs)
    const grant = (ref: typeof one, needNano: bigint, wantNano: bigint) =>
      store.ledger.grant({ ...ref, account: 'ann', needNano, wantNano })
    const answer = { fenced: false, leasedElsewhereNano: 0n, postedNano: 100n }
    expect(await grant(one, 10n, 40n)).toEqual({ ...answer, grantedNano: 40n })
    expect(await grant(one, 10n, 0n)).toEqual({ ...answer, grantedNano: 10n })
    const elsewhere = { ...answer, leasedElsewhereNano: 50n }
    expect(await grant(other, 51n, 90n)).toEqual({ ...elsewhere, grantedNano: 0n })
    expect(await grant(other, 50n, 90n)).toEqual({ ...elsewhere, grantedNano: 50n })
    expect(await grant(other, 1n, 1n)).toEqual({ ...elsewhere, grantedNano: 0n })
    expect((await store.ledger.wallet('ann'))?.leasedNano).toBe(100n)
  })

  test('a node that is not open, or has no account to ask for, is granted nothing', async () => {
    const store = await open()
    await fund(store, 'ann', 100n)
    const old = await store.ledger.openNode('n1', hourMs)
    const ref = await store.ledger.openNode('n1', hourMs)
    const nothing = { grantedNano: 0n, leasedElsewhereNano: 0n }
    const wish = { needNano: 1n, wantNano: 9n }
    const fenced = { ...nothing, fenced: true, postedNano: 100n }
    expect(await store.ledger.grant({ ...old, account: 'ann', ...wish })).toEqual(fenced)
    const stranger = { node: 'n9', epoch: 1 }
    expect(await store.ledger.grant({ ...stranger, account: 'ann', ...wish })).toEqual(fenced)
    const none = { ...nothing, fenced: false, postedNano: 0n }
    expect(await store.ledger.grant({ ...ref, account: 'nobody', ...wish })).toEqual(none)
    const negative = store.ledger.grant({ ...ref, account: 'ann', needNano: -1n, wantNano: 0n })
    await expect(negative).rejects.toBeInstanceOf(RowRefused)
  })
}

function leaseTests(open: Open): void {
  test('what is given back is free again, and never more than was leased', async () => {
    const store = await open()
    await fund(store, 'ann', 100n)
    const ref = await lessee(store, 'n1', 'ann', 60n)
    await store.ledger.giveBack(ref, 'ann', 20n)
    expect((await store.ledger.wallet('ann'))?.leasedNano).toBe(40n)
    await store.ledger.giveBack({ ...ref, epoch: 0 }, 'ann', 20n)
    await store.ledger.giveBack(ref, 'bob', 20n)
    expect((await store.ledger.wallet('ann'))?.leasedNano).toBe(40n)
    await store.ledger.giveBack(ref, 'ann', 1_000n)
    expect((await store.ledger.wallet('ann'))?.leasedNano).toBe(0n)
    await store.ledger.giveBack(ref, 'ann', 1n)
    expect(await store.ledger.giveBack(ref, 'ann', -1n).catch((error) => error)).toBeInstanceOf(
      RowRefused,
    )
    expect((await store.ledger.wallet('ann'))?.leasedNano).toBe(0n)
  })

  test('a recall reaches the other nodes that lease the account, once', async () => {
    const store = await open()
    await fund(store, 'ann', 100n)
    await fund(store, 'bob', 100n)
    const asker = await lessee(store, 'n1', 'ann', 10n)
    const one = await lessee(store, 'n2', 'ann', 10n)
    await store.ledger.grant({ ...one, account: 'bob', needNano: 5n, wantNano: 5n })
    const other = await lessee(store, 'n3', 'bob', 10n)
    await store.ledger.recall('ann', asker)
    await store.ledger.recall('ann', asker)
    expect(await store.ledger.recalled(asker)).toEqual([])
    expect(await store.ledger.recalled(other)).toEqual([])
    expect(await store.ledger.recalled(one)).toEqual(['ann'])
    expect(await store.ledger.recalled(one)).toEqual([])
    await store.ledger.recall('bob', asker)
    await store.ledger.recall('ann', asker)
    expect(await store.ledger.recalled(one)).toEqual(['ann', 'bob'])
  })

  test('what is held is what was noted last, as far as the lease goes', async () => {
    const store = await open()
    await fund(store, 'ann', 100n)
    await fund(store, 'bob', 100n)
    const ref = await lessee(store, 'n1', 'ann', 60n)
    await store.ledger.grant({ ...ref, account: 'bob', needNano: 50n, wantNano: 50n })
    const held = async () => (await store.ledger.wallets()).map(({ heldNano }) => heldNano)
    await store.ledger.noteHeld(
      ref,
      new Map([
        ['ann', 25n],
        ['zoe', 5n],
      ]),
    )
    expect(await held()).toEqual([25n, 0n])
    await store.ledger.noteHeld(ref, new Map([['bob', 51n]]))
    expect(await held()).toEqual([0n, 50n])
    await store.ledger.noteHeld({ ...ref, epoch: 7 }, new Map())
    await store.ledger.giveBack(ref, 'bob', 10n)
    expect(await held()).toEqual([0n, 40n])
    await store.ledger.noteHeld(ref, new Map())
    expect(await held()).toEqual([0n, 0n])
  })
}

function settlingTests(open: Open): void {
  test('the lease pays first, then free money, then the house', async () => {
    const store = await open()
    await fund(store, 'ann', 100n)
    const ref = await lessee(store, 'n1', 'ann', 60n)
    const settled = await store.ledger.settle([
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
    expect(await store.ledger.wallet('ann')).toEqual({
      account: 'ann',
      postedNano: 0n,
      leasedNano: 0n,
      heldNano: 0n,
    })
    const entries = await store.ledger.transfers({ account: 'ann', usage: true, limit: 9 })
    expect(entries.map(({ id }) => id)).toEqual(['usage:b', 'usage:a', 'topup:first-ann'])
  })

  test('what is above the cap is written off', async () => {
    const store = await open()
    await fund(store, 'ann', 100n)
    const ref = await lessee(store, 'n1', 'ann', 60n)
    const settled = await store.ledger.settle([
      finished(ref, { requestId: 'a', chargeNano: 50n }, { fromLeaseNano: 50n, capNano: 30n }),
      finished(ref, { requestId: 'b', chargeNano: 30n }, { fromLeaseNano: 0n, capNano: 30n }),
    ])
    expect(settled).toEqual({ settled: 2, chargedNano: 60n, writtenOffNano: 20n })
    expect((await store.ledger.wallet('ann'))?.leasedNano).toBe(30n)
  })

  test('a row settled before, or twice in a batch, moves nothing', async () => {
    const store = await open()
    await fund(store, 'ann', 100n)
    const ref = await lessee(store, 'n1', 'ann', 60n)
    const row = (requestId: string, chargeNano: bigint) =>
      finished(ref, { requestId, chargeNano }, { fromLeaseNano: chargeNano })
    await store.ledger.settle([row('a', 10n), row('a', 40n)])
    const again = await store.ledger.settle([
      row('a', 10n),
      row('b', 1n),
      row('b', 1n),
      row('a', 9n),
    ])
    expect(again).toEqual({ settled: 1, chargedNano: 1n, writtenOffNano: 0n })
    expect(await store.ledger.settle([row('b', 1n)])).toEqual({
      settled: 0,
      chargedNano: 0n,
      writtenOffNano: 0n,
    })
    expect((await store.ledger.wallet('ann'))?.postedNano).toBe(89n)
    const [hour] = await store.hours.list({})
    expect([hour?.requests, hour?.chargeNano]).toEqual([2, 11n])
  })

  test('a row of an epoch that is closed is paid from free money', async () => {
    const store = await open()
    await fund(store, 'ann', 100n)
    const old = await lessee(store, 'n1', 'ann', 60n)
    await lessee(store, 'n1', 'ann', 70n)
    const late = finished(old, { requestId: 'a', chargeNano: 40n }, { fromLeaseNano: 40n })
    const settled = await store.ledger.settle([late])
    expect(settled).toEqual({ settled: 1, chargedNano: 30n, writtenOffNano: 10n })
    expect(await store.ledger.wallet('ann')).toMatchObject({ postedNano: 70n, leasedNano: 70n })
  })

  test('an account without a wallet is written off whole', async () => {
    const store = await open()
    const ref = { node: 'n1', epoch: 1 }
    const row = { requestId: 'a', account: 'nobody', chargeNano: 40n }
    const settled = await store.ledger.settle([finished(ref, row, { fromLeaseNano: 40n })])
    expect(settled).toEqual({ settled: 1, chargedNano: 0n, writtenOffNano: 40n })
    expect(await store.ledger.wallet('nobody')).toBeNull()
  })

  test('a reply is kept for its key in the same transaction', async () => {
    const store = await open()
    const ref = await store.ledger.openNode('n1', hourMs)
    const key = { account: 'ann', key: 'k', bodyHash: 'h', requestId: 'a', by: ref }
    const begun = { ...key, nowMs: 1, expiresAt: 9 }
    expect(await store.idempotency.begin(begun)).toEqual({ state: 'new' })
    const reply = { status: 200, contentType: 'application/json', body: '{}' }
    const idempotency = { account: 'ann', key: 'k', reply, keep: true }
    await store.ledger.settle([finished(ref, { requestId: 'a' }, { idempotency })])
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
      await expect(store.ledger.settle([good, each])).rejects.toBeInstanceOf(RowRefused)
    }
    expect(await store.usage.list({ limit: 9 })).toEqual([])
    expect(await store.hours.list({})).toEqual([])
    expect(await store.ledger.wallet('ann')).toMatchObject({ postedNano: 100n, leasedNano: 60n })
  })

  test('write-offs past what can be counted are refused, not wrapped around', async () => {
    const store = await open()
    const ref = { node: 'n1', epoch: 1 }
    const row = (requestId: string) => finished(ref, { requestId, chargeNano: largestNano })
    await store.ledger.settle([row('a')])
    await expect(store.ledger.settle([row('b')])).rejects.toBeInstanceOf(RowRefused)
    expect(await store.usage.list({ limit: 9 })).toHaveLength(1)
  })
}

function setAsideTests(open: Open): void {
  const entry = { requestId: 'a', account: 'ann', raw: '["torn', reason: 'no record', at: 5 }

  test('what is set aside stays held, out of the lease and then out of free money', async () => {
    const store = await open()
    await fund(store, 'ann', 100n)
    const ref = await lessee(store, 'n1', 'ann', 60n)
    await store.ledger.setAside({ ...entry, heldNano: 70n }, ref)
    const wallet = { account: 'ann', postedNano: 100n, leasedNano: 70n, heldNano: 70n }
    expect(await store.ledger.wallet('ann')).toEqual(wallet)
    await store.ledger.closeNode(ref)
    expect(await store.ledger.wallet('ann')).toEqual(wallet)
    const more = { ...entry, requestId: 'b', heldNano: 50n, at: 6 }
    await store.ledger.setAside(more, ref)
    const kept = [
      { ...more, heldNano: 30n },
      { ...entry, heldNano: 70n },
    ]
    expect(await store.ledger.setAsides(9)).toEqual(kept)
    expect(await store.ledger.setAsides(1)).toEqual(kept.slice(0, 1))
  })

  test('a request known already, set aside or settled, is passed over', async () => {
    const store = await open()
    await fund(store, 'ann', 100n)
    const ref = await lessee(store, 'n1', 'ann', 60n)
    await store.ledger.setAside({ ...entry, heldNano: 10n }, ref)
    await store.ledger.setAside({ ...entry, heldNano: 20n }, ref)
    await store.ledger.settle([finished(ref, { requestId: 'b' })])
    await store.ledger.setAside({ ...entry, requestId: 'b', heldNano: 20n }, ref)
    expect((await store.ledger.setAsides(9)).map(({ heldNano }) => heldNano)).toEqual([10n])
  })

  test('the record is kept whole, whatever it is', async () => {
    const store = await open()
    const raw = `["${'x'.repeat(100_000)}", "a\0b\uD800"]`
    const ref = { node: 'n1', epoch: 1 }
    await store.ledger.setAside({ ...entry, heldNano: 5n, raw }, ref)
    const [kept] = await store.ledger.setAsides(1)
    expect(kept?.raw).toBe(raw.replace('\0', '\uFFFD').replace('\uD800', '\uFFFD'))
    expect(kept?.heldNano).toBe(0n)
  })
}

function hourTests(open: Open): void {
  test('totals are by hour and by everything a row is of, and the sum is the rows', async () => {
    const store = await open()
    await fund(store, 'ann', 100n)
    await fund(store, 'bob', 100n)
    const ref = { node: 'n1', epoch: 1 }
    const row = (requestId: string, change: object) =>
      finished(ref, { requestId, chargeNano: 10n, vendorCostNano: 3n, ...change })
    await store.ledger.settle([
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
    await store.ledger.settle([
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
    const [unpaid] = await store.hours.list({ account: 'zoe' })
    expect([unpaid?.chargeNano, unpaid?.writeoffNano]).toEqual([0n, 10n])
  })
}
