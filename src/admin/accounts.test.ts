// Tests accounts and the journal entries that operators make, on both engines.

import { expect, test } from 'bun:test'
import { onEachEngine } from '../../test/contract/engines.ts'
import { adminOf, allPages, nowMs } from '../../test/support/admin.ts'
import { ConfigError } from '../config/problems.ts'
import { ensureAccounts } from '../identity/ensure-accounts.ts'
import { maxNano, nanoPerUnit } from '../money.ts'
import { adjustBalance, listAccounts, readBalance } from './accounts.ts'
import type { Input } from './schema.ts'

const gift: Input<'adjustBalance'> = {
  account: 'ann',
  amount: 10_000_000_000n,
  direction: 'credit',
  reason: 'a gift',
  createAccount: true,
}

onEachEngine('accounts', (start) => {
  test('an entry names who made it and why, and is posted once for each reference', async () => {
    const { store, open } = await start()
    const input = { ...gift, reference: 'invoice 7' }
    const stores = [store, await open(), await open()]
    const done = await Promise.all(stores.map((each) => adjustBalance(adminOf(each), input)))
    expect(done.map(({ posted }) => posted).sort()).toEqual([false, false, true])
    for (const { posted, ...rest } of done) {
      expect(rest).toEqual({
        id: 'adjust:invoice 7',
        amountNano: '10000000000',
        account: 'ann',
        currency: 'USD',
        availableNano: '10000000000',
        heldNano: '0',
        postedNano: '10000000000',
      })
    }
    expect(await store.journal.transfers({ account: 'ann', limit: 10 })).toMatchObject([
      { actor: 'op', reason: 'a gift', code: 'adjust' },
    ])
  })

  test('a reference used for something else, too little money and no account name their field', async () => {
    const admin = adminOf((await start()).store)
    await adjustBalance(admin, { ...gift, reference: 'r' })
    await expect(
      adjustBalance(admin, { ...gift, amount: 1n, reference: 'r' }),
    ).rejects.toMatchObject({
      refusal: 'conflict',
      field: 'reference',
      message: 'adjust:r was posted before, for 10 for ann',
    })
    await expect(
      adjustBalance(admin, { ...gift, direction: 'debit', amount: 10_000_000_001n }),
    ).rejects.toMatchObject({ refusal: 'conflict', field: 'amount' })
    for (const missing of [
      () => adjustBalance(admin, { ...gift, account: 'bob', createAccount: false }),
      () => readBalance(admin, { account: 'bob' }),
    ]) {
      await expect(missing()).rejects.toMatchObject({ refusal: 'not_found', field: 'account' })
    }
    const spent = await adjustBalance(admin, { ...gift, direction: 'debit' })
    expect(spent).toMatchObject({ amountNano: '-10000000000', postedNano: '0' })
    expect(await readBalance(admin, { account: 'ann' })).toMatchObject({ availableNano: '0' })
  })

  test('a list in pages is the whole list', async () => {
    const { store } = await start()
    for (const name of ['cat', 'ann', 'Bob', 'zoe', 'bob']) await store.accounts.ensure(name, 1)
    const admin = adminOf(store)
    const whole = await listAccounts(admin, {})
    expect(whole.next).toBeNull()
    expect(whole.items.map(({ account }) => account)).toEqual(['Bob', 'ann', 'bob', 'cat', 'zoe'])
    expect(whole.items[0]).toMatchObject({
      availableNano: '0',
      createdAt: '1970-01-01T00:00:00.001Z',
    })
    const pages = await allPages((page) => listAccounts(admin, page), 2)
    expect(pages.map(({ length }) => length)).toEqual([2, 2, 1])
    expect(pages.flat()).toEqual([...whole.items])
  })
})

onEachEngine('the largest balance', (start) => {
  test('what no balance can hold is refused with the reason, and moves nothing', async () => {
    const { store } = await start()
    const post = (account: string, amount: bigint) =>
      adjustBalance(adminOf(store), { ...gift, account, amount })
    await post('ann', maxNano)
    const message = expect.stringContaining('more than 9223372036.854775807')
    for (const account of ['ann', 'bob']) {
      const error = await post(account, 1n).catch((caught: unknown) => caught)
      expect(error).toMatchObject({ refusal: 'conflict', field: 'amount', message })
    }
    const balances = await listAccounts(adminOf(store), {})
    expect(balances.items.map(({ account, postedNano }) => [account, postedNano])).toEqual([
      ['ann', String(maxNano)],
      ['bob', '0'],
    ])
  })

  test('an opening balance that cannot be counted is refused as a setting, and none is lost', async () => {
    const { store } = await start()
    const credit = '9000000000'
    const accounts = { zoe: { credit }, una: { credit: '300000000' } }
    const error = await ensureAccounts(store, { accounts, keys: [], file: null }, nowMs).catch(
      (caught: unknown) => caught,
    )
    const message = expect.stringContaining('more than 9223372036.854775807')
    expect(error).toBeInstanceOf(ConfigError)
    expect(error).toMatchObject({ problems: [{ path: 'accounts.una.credit', message }] })
    const smaller = { ...accounts, una: { credit: '200000000' } }
    await ensureAccounts(store, { accounts: smaller, keys: [], file: null }, nowMs)
    const [una, zoe] = await Promise.all(['una', 'zoe'].map((id) => store.journal.wallet(id)))
    expect([una?.postedNano, zoe?.postedNano]).toEqual([
      200_000_000n * nanoPerUnit,
      9_000_000_000n * nanoPerUnit,
    ])
  })
})

onEachEngine('a deleted account', (start) => {
  test('it gets no credit, and what it has can be taken', async () => {
    const { store } = await start()
    const admin = adminOf(store)
    await adjustBalance(admin, gift)
    await store.people.remove('ann', nowMs)
    await expect(adjustBalance(admin, gift)).rejects.toMatchObject({
      refusal: 'conflict',
      field: 'account',
      message: 'ann was deleted and can have no new credit',
    })
    const taken = await adjustBalance(admin, { ...gift, direction: 'debit' })
    expect(taken).toMatchObject({ amountNano: '-10000000000', postedNano: '0' })
  })
})
