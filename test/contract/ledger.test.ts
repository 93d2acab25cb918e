// Tests the ledger's rules for posting, nodes and leases, one by one, on both engines.

import { expect, test } from 'bun:test'
import { house, type Transfer, walletOf } from '../../src/store/ledger.ts'
import { RowRefused, type Store } from '../../src/store/store.ts'
import { deposit, finished, fund, grantOne, hourMs, lessee } from '../support/ledger-scene.ts'
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
})

type Open = () => Promise<Store>

function postingTests(open: Open): void {
  test('a deposit is posted once, however often it is sent', async () => {
    const store = await open()
    await fund(store, 'ann', 0n)
    expect(await store.journal.post([deposit('ann', 500n, 'a')])).toBe('posted')
    expect(await store.journal.post([deposit('ann', 500n, 'a')])).toBe('known')
    // An entry that was posted is recognised even if the same id now has other contents.
    expect(await store.journal.post([deposit('ann', 900n, 'a'), deposit('ann', 1n, 'b')])).toBe(
      'known',
    )
    expect((await store.journal.wallet('ann'))?.postedNano).toBe(500n)
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
    expect(await store.journal.post([refund(301n, 'a')])).toBe('insufficient')
    expect(await store.journal.post([refund(300n, 'b')])).toBe('posted')
    expect(await store.journal.post([refund(1n, 'c')])).toBe('insufficient')
    // Posted before: the wallet could not pay it again, and need not.
    expect(await store.journal.post([refund(300n, 'b')])).toBe('known')
    expect(await store.journal.post([refund(301n, 'a')])).toBe('insufficient')
    const wallet = await store.journal.wallet('ann')
    expect(wallet).toEqual({ account: 'ann', postedNano: 200n, leasedNano: 200n, heldNano: 0n })
  })

  test('several transfers are posted all or none', async () => {
    const store = await open()
    await fund(store, 'ann', 100n)
    await fund(store, 'bob', 0n)
    const move: Transfer = { ...deposit('bob', 60n, 'm'), debit: walletOf('ann') }
    expect(await store.journal.post([move, deposit('bob', 5n, 'n')])).toBe('posted')
    const again: Transfer = { ...move, id: 'topup:o' }
    expect(await store.journal.post([deposit('bob', 1n, 'p'), again])).toBe('insufficient')
    const half = store.journal.post([deposit('bob', 1n, 'q'), deposit('bob', 1n, 'n')])
    await expect(half).rejects.toBeInstanceOf(RowRefused)
    const posted = (await store.journal.wallets()).map(({ postedNano }) => postedNano)
    expect(posted).toEqual([40n, 65n])
    expect(await store.journal.transfers({ account: 'bob', limit: 9 })).toHaveLength(2)
  })

  test('nothing to post is posted', async () => {
    expect(await (await open()).journal.post([])).toBe('posted')
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
    const posting = store.journal.post([{ ...adjust, ...change }])
    await expect(posting).rejects.toBeInstanceOf(RowRefused)
    expect((await store.journal.wallet('ann'))?.postedNano).toBe(100n)
    expect(await store.journal.transfers({ account: 'ann', limit: 9 })).toHaveLength(1)
  })

  test('a wallet holds what int64 holds, and refuses one nano more', async () => {
    const store = await open()
    await fund(store, 'ann', largestNano)
    expect((await store.journal.wallet('ann'))?.postedNano).toBe(largestNano)
    const more = store.journal.post([deposit('ann', 1n, 'more')])
    await expect(more).rejects.toBeInstanceOf(RowRefused)
    expect((await store.journal.wallet('ann'))?.postedNano).toBe(largestNano)
  })
}

function readingTests(open: Open): void {
  test('a wallet of an account nobody made is not there', async () => {
    const store = await open()
    expect(await store.journal.wallet('nobody')).toBeNull()
    expect(await store.journal.wallets()).toEqual([])
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
    await store.journal.post([gift])
    const ref = { node: 'n1', epoch: 1 }
    await store.settlements.settle([finished(ref, { requestId: 'r', at: 2_000, chargeNano: 30n })])
    const usage: Transfer = {
      ...deposit('ann', 30n, ''),
      id: 'usage:r',
      code: 'usage',
      debit: walletOf('ann'),
      credit: house.revenue,
      at: 2_000,
    }
    const first = deposit('ann', 100n, 'first-ann')
    const list = (change: object) =>
      store.journal.transfers({ account: 'ann', limit: 9, ...change })
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
    expect(await store.nodes.open('n1', hourMs)).toEqual({ node: 'n1', epoch: 2 })
    expect((await store.journal.wallet('ann'))?.leasedNano).toBe(0n)
    expect(await store.nodes.renew(first, hourMs)).toBe(false)
    expect(await store.nodes.renew({ node: 'n1', epoch: 2 }, hourMs)).toBe(true)
  })

  test('closing releases everything, and only the newest epoch can', async () => {
    const store = await open()
    await fund(store, 'ann', 100n)
    await fund(store, 'bob', 100n)
    const old = await store.nodes.open('n1', hourMs)
    const ref = await lessee(store, 'n1', 'ann', 60n)
    await grantOne(store, { ...ref, account: 'bob', needNano: 100n, wantNano: 100n })
    await store.nodes.close(old)
    expect((await store.journal.wallets()).map(({ leasedNano }) => leasedNano)).toEqual([60n, 100n])
    await store.nodes.close(ref)
    await store.nodes.close(ref)
    expect((await store.journal.wallets()).map(({ leasedNano }) => leasedNano)).toEqual([0n, 0n])
    expect(await store.nodes.renew(ref, hourMs)).toBe(false)
  })

  test('a sweep closes what has expired and nothing else, once', async () => {
    const store = await open()
    await fund(store, 'ann', 100n)
    const late = await lessee(store, 'n1', 'ann', 60n)
    const alive = await lessee(store, 'n2', 'ann', 30n)
    const later = await store.nodes.open('n0', 0)
    await store.nodes.renew(late, 0)
    expect(await store.nodes.sweep()).toEqual([later, late])
    expect(await store.nodes.sweep()).toEqual([])
    expect((await store.journal.wallet('ann'))?.leasedNano).toBe(30n)
    expect(await store.nodes.renew(late, hourMs)).toBe(false)
    expect(await store.nodes.renew(alive, hourMs)).toBe(true)
  })

  test('a node that renews after its time, but before a sweep, goes on', async () => {
    const store = await open()
    const ref = await store.nodes.open('n1', 0)
    expect(await store.nodes.renew(ref, hourMs)).toBe(true)
    expect(await store.nodes.sweep()).toEqual([])
  })
}

function grantTests(open: Open): void {
  test('a grant is what is wanted, at least what is needed, or nothing', async () => {
    const store = await open()
    await fund(store, 'ann', 100n)
    const one = await store.nodes.open('n1', hourMs)
    const other = await store.nodes.open('n2', hourMs)
    const grant = (ref: typeof one, needNano: bigint, wantNano: bigint) =>
      grantOne(store, { ...ref, account: 'ann', needNano, wantNano })
    const answer = { fenced: false, leasedElsewhereNano: 0n, postedNano: 100n }
    expect(await grant(one, 10n, 40n)).toEqual({ ...answer, grantedNano: 40n })
    expect(await grant(one, 10n, 0n)).toEqual({ ...answer, grantedNano: 10n })
    const elsewhere = { ...answer, leasedElsewhereNano: 50n }
    expect(await grant(other, 51n, 90n)).toEqual({ ...elsewhere, grantedNano: 0n })
    expect(await grant(other, 50n, 90n)).toEqual({ ...elsewhere, grantedNano: 50n })
    expect(await grant(other, 1n, 1n)).toEqual({ ...elsewhere, grantedNano: 0n })
    expect((await store.journal.wallet('ann'))?.leasedNano).toBe(100n)
  })

  test('grants on several accounts at once are each as if asked alone, in the order asked', async () => {
    const store = await open()
    for (const account of ['ann', 'bob', 'cyd']) await fund(store, account, 100n)
    const ref = await store.nodes.open('n1', hourMs)
    const other = await store.nodes.open('n2', hourMs)
    await grantOne(store, { ...other, account: 'bob', needNano: 60n, wantNano: 60n })
    await grantOne(store, { ...ref, account: 'cyd', needNano: 5n, wantNano: 5n })
    const size = { needNano: 50n, wantNano: 70n }
    const grants = await store.leases.grantAll(
      ref,
      ['cyd', 'nobody', 'bob', 'ann'].map((account) => ({ ...size, account })),
    )
    const answer = { fenced: false, leasedElsewhereNano: 0n, postedNano: 100n }
    expect(grants).toEqual([
      { ...answer, grantedNano: 70n },
      { ...answer, grantedNano: 0n, postedNano: 0n },
      { ...answer, grantedNano: 0n, leasedElsewhereNano: 60n },
      { ...answer, grantedNano: 70n },
    ])
    const wallets = await Promise.all(['ann', 'bob', 'cyd'].map(store.journal.wallet))
    expect(wallets.map((wallet) => wallet?.leasedNano)).toEqual([70n, 60n, 75n])
    const fenced = await store.leases.grantAll({ ...ref, epoch: 9 }, [{ ...size, account: 'ann' }])
    expect(fenced).toMatchObject([{ grantedNano: 0n, fenced: true }])
    expect(await store.leases.grantAll(ref, [])).toEqual([])
  })

  test('a node that is not open, or has no account to ask for, is granted nothing', async () => {
    const store = await open()
    await fund(store, 'ann', 100n)
    const old = await store.nodes.open('n1', hourMs)
    const ref = await store.nodes.open('n1', hourMs)
    const nothing = { grantedNano: 0n, leasedElsewhereNano: 0n }
    const wish = { needNano: 1n, wantNano: 9n }
    const fenced = { ...nothing, fenced: true, postedNano: 100n }
    expect(await grantOne(store, { ...old, account: 'ann', ...wish })).toEqual(fenced)
    const stranger = { node: 'n9', epoch: 1 }
    expect(await grantOne(store, { ...stranger, account: 'ann', ...wish })).toEqual(fenced)
    const none = { ...nothing, fenced: false, postedNano: 0n }
    expect(await grantOne(store, { ...ref, account: 'nobody', ...wish })).toEqual(none)
    const negative = grantOne(store, { ...ref, account: 'ann', needNano: -1n, wantNano: 0n })
    await expect(negative).rejects.toBeInstanceOf(RowRefused)
  })
}

function leaseTests(open: Open): void {
  test('what is given back is free again, and never more than was leased', async () => {
    const store = await open()
    await fund(store, 'ann', 100n)
    const ref = await lessee(store, 'n1', 'ann', 60n)
    await store.leases.giveBack(ref, 'ann', 20n)
    expect((await store.journal.wallet('ann'))?.leasedNano).toBe(40n)
    await store.leases.giveBack({ ...ref, epoch: 0 }, 'ann', 20n)
    await store.leases.giveBack(ref, 'bob', 20n)
    expect((await store.journal.wallet('ann'))?.leasedNano).toBe(40n)
    await store.leases.giveBack(ref, 'ann', 1_000n)
    expect((await store.journal.wallet('ann'))?.leasedNano).toBe(0n)
    await store.leases.giveBack(ref, 'ann', 1n)
    expect(await store.leases.giveBack(ref, 'ann', -1n).catch((error) => error)).toBeInstanceOf(
      RowRefused,
    )
    expect((await store.journal.wallet('ann'))?.leasedNano).toBe(0n)
  })

  test('a recall reaches the other nodes that lease the account, once', async () => {
    const store = await open()
    await fund(store, 'ann', 100n)
    await fund(store, 'bob', 100n)
    const asker = await lessee(store, 'n1', 'ann', 10n)
    const one = await lessee(store, 'n2', 'ann', 10n)
    await grantOne(store, { ...one, account: 'bob', needNano: 5n, wantNano: 5n })
    const other = await lessee(store, 'n3', 'bob', 10n)
    await store.leases.recall('ann', asker)
    await store.leases.recall('ann', asker)
    expect(await store.leases.recalled(asker)).toEqual([])
    expect(await store.leases.recalled(other)).toEqual([])
    expect(await store.leases.recalled(one)).toEqual(['ann'])
    expect(await store.leases.recalled(one)).toEqual([])
    await store.leases.recall('bob', asker)
    await store.leases.recall('ann', asker)
    expect(await store.leases.recalled(one)).toEqual(['ann', 'bob'])
  })

  test('what is held is what was noted last, as far as the lease goes', async () => {
    const store = await open()
    await fund(store, 'ann', 100n)
    await fund(store, 'bob', 100n)
    const ref = await lessee(store, 'n1', 'ann', 60n)
    await grantOne(store, { ...ref, account: 'bob', needNano: 50n, wantNano: 50n })
    const held = async () => (await store.journal.wallets()).map(({ heldNano }) => heldNano)
    await store.leases.noteHeld(
      ref,
      new Map([
        ['ann', 25n],
        ['zoe', 5n],
      ]),
    )
    expect(await held()).toEqual([25n, 0n])
    await store.leases.noteHeld(ref, new Map([['bob', 51n]]))
    expect(await held()).toEqual([0n, 50n])
    await store.leases.noteHeld({ ...ref, epoch: 7 }, new Map())
    await store.leases.giveBack(ref, 'bob', 10n)
    expect(await held()).toEqual([0n, 40n])
    await store.leases.noteHeld(ref, new Map())
    expect(await held()).toEqual([0n, 0n])
  })
}
