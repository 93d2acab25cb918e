// Tests stored redemption codes, on both engines: each gives its credit once, whoever redeems it at the same time.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Store } from '../../src/store/store.ts'
import { type Bench, onEachEngine } from './engines.ts'

const unit = 1_000_000_000n
const batch = { note: 'fair', amountNano: 5n * unit, actor: 'account root', createdAt: 1_000 }
const balance = async (store: Store, account: string) =>
  (await store.journal.wallet(account))?.postedNano
const findings = async (store: Store) =>
  (await store.audit.run(() => (row) => row.chargeNano)).findings

type Start = () => Promise<Bench>

async function scene({ store }: Pick<Bench, 'store'>, hashes: readonly string[], more = {}) {
  for (const account of ['ann', 'bob']) await store.accounts.ensure(account, 1)
  await store.redemption.create({ ...batch, id: 'b1', expiresAt: null, ...more }, hashes)
  return store
}

function redemptionTests(start: Start): void {
  test('of a hundred at once over two connections one is credited', async () => {
    const { store, open } = await start()
    await scene({ store }, ['h1', 'h2'])
    const stores = [store, await open()]
    const done = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        (stores[n % 2] ?? store).redemption.redeem('h1', n % 3 === 0 ? 'ann' : 'bob', 2_000),
      ),
    )
    const outcomes = done.map(({ outcome }) => outcome)
    expect(outcomes.filter((each) => each === 'redeemed')).toHaveLength(1)
    expect(outcomes.filter((each) => each === 'used')).toHaveLength(99)
    const sum = ((await balance(store, 'ann')) ?? 0n) + ((await balance(store, 'bob')) ?? 0n)
    expect(sum).toBe(5n * unit)
    expect(await store.redemption.list({ limit: 9 })).toMatchObject([{ codes: 2, redeemed: 1 }])
    expect(await findings(store)).toEqual([])
  })

  test('one that expired, was revoked or was never made is worth nothing', async () => {
    const { store } = await start()
    await scene({ store }, ['h1'], { expiresAt: 3_000 })
    await store.redemption.create({ ...batch, id: 'b2', expiresAt: null }, ['h2', 'h3'])
    expect((await store.redemption.redeem('h1', 'ann', 3_000)).outcome).toBe('expired')
    expect((await store.redemption.redeem('h3', 'ann', 3_000)).outcome).toBe('redeemed')
    expect(await store.redemption.revoke('b2', 3_000)).toBeTrue()
    expect(await store.redemption.revoke('b2', 3_001)).toBeFalse()
    expect((await store.redemption.redeem('h2', 'ann', 3_000)).outcome).toBe('revoked')
    expect((await store.redemption.redeem('h9', 'ann', 3_000)).outcome).toBe('unknown')
    expect(await balance(store, 'ann')).toBe(5n * unit)
    const [newest, oldest] = await store.redemption.list({ limit: 2 })
    expect([newest?.id, oldest?.id]).toEqual(['b2', 'b1'])
    const before = { at: newest?.createdAt ?? 0, id: 'b2' }
    expect((await store.redemption.list({ before, limit: 2 })).map(({ id }) => id)).toEqual(['b1'])
    expect(await findings(store)).toEqual([])
  })

  test('whatever is pressed in whatever order, an account has what its codes are worth', async () => {
    const hashes = ['h0', 'h1', 'h2', 'h3']
    const press = fc.record({
      hash: fc.constantFrom(...hashes, 'none'),
      account: fc.constantFrom('ann', 'bob'),
    })
    const { store } = await start()
    let run = 0
    await fc.assert(
      fc.asyncProperty(fc.array(press, { maxLength: 8 }), async (presses) => {
        run += 1
        const named = (name: string) => `${name}-${run}`
        for (const account of ['ann', 'bob']) await store.accounts.ensure(named(account), 1)
        const made = { ...batch, id: named('b'), expiresAt: null }
        await store.redemption.create(made, hashes.map(named))
        const owners = new Map<string, string>()
        for (const { hash, account } of presses) {
          const { outcome } = await store.redemption.redeem(named(hash), named(account), 2_000)
          const wanted = hash === 'none' ? 'unknown' : owners.has(hash) ? 'used' : 'redeemed'
          expect(outcome).toBe(wanted)
          if (outcome === 'redeemed') owners.set(hash, account)
        }
        for (const account of ['ann', 'bob']) {
          const own = [...owners.values()].filter((each) => each === account).length
          expect(await balance(store, named(account))).toBe(5n * unit * BigInt(own))
        }
      }),
      { numRuns: 30 },
    )
    expect(await findings(store)).toEqual([])
  })
}

onEachEngine('redemption codes', redemptionTests)
