// Tests how much of a wallet is still bonus after spending, on both engines, with the bonus spent first and last.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { adjustBalance } from '../../src/admin/accounts.ts'
import type { Store } from '../../src/store/store.ts'
import { adminOf } from '../support/admin.ts'
import { newOrder, paidTransaction, unit } from '../support/payments.ts'
import { onEachEngine } from './engines.ts'

const paidNano = 10n * unit
const least = (...amounts: bigint[]) => amounts.reduce((one, other) => (one < other ? one : other))
const atLeast0 = (amount: bigint) => (amount < 0n ? 0n : amount)

const grant = { amountNano: 2n * unit, expiresAt: 9_000 }

async function paidWithBonus(store: Store): Promise<void> {
  await store.accounts.ensure('ann', 1)
  await store.paymentOrders.create(newOrder())
  await store.payments.markPaid('o1', paidTransaction(), grant, 6_000)
}

async function spend(store: Store, amount: bigint, account = 'ann'): Promise<void> {
  const input = { account, amount, direction: 'debit', reason: 'spent' } as const
  await adjustBalance(adminOf(store), { ...input, createAccount: false })
}

const postedNano = async (store: Store) => (await store.journal.wallet('ann'))?.postedNano
const standing = (store: Store) => store.payments.standing('ann', 'live', 'last')

onEachEngine('bonuses that are spent', (start) => {
  test('last, are not there again once other money comes in', async () => {
    const { store } = await start()
    await paidWithBonus(store)
    expect(await standing(store)).toMatchObject({ bonusNano: 2n * unit })
    // Of 12 units 11.5 are spent, and so 1.5 of the bonus.
    await spend(store, (23n * unit) / 2n)
    await store.paymentOrders.create(newOrder({ id: 'o2' }))
    await store.payments.markPaid('o2', paidTransaction({ id: 't2' }), null, 7_000)
    expect(await standing(store)).toMatchObject({
      bonusNano: unit / 2n,
      refundableNano: 10n * unit,
    })
    await store.payments.expireBonuses(9_000, { spending: 'last', inPart: false })
    expect(await postedNano(store)).toBe(10n * unit)
    expect((await store.audit.run(() => (row) => row.chargeNano)).findings).toEqual([])
  })

  test('last, come back with a refund that the provider refuses as far as it took them', async () => {
    const { store } = await start()
    await paidWithBonus(store)
    await spend(store, unit)
    const refused = async (id: string, spentNano: bigint) => {
      const asked = { id, orderId: 'o1', amountMinor: 500, actor: 'op', reason: 'asked', at: 7_000 }
      expect((await store.refunds.begin(asked, 'last')).outcome).toBe('begun')
      if (spentNano > 0n) await spend(store, spentNano)
      await store.refunds.end(id, 'failed', 'no money', 8_000)
    }
    await refused('r1', 0n)
    expect(await postedNano(store)).toBe(11n * unit)
    expect(await standing(store)).toMatchObject({ bonusNano: 2n * unit })
    await refused('r2', 5n * unit)
    // The wallet was empty: what came back is 5 units, and the 1 of the bonus that the refund had taken.
    expect(await postedNano(store)).toBe(6n * unit)
    expect(await standing(store)).toMatchObject({ bonusNano: unit })
    expect((await store.audit.run(() => (row) => row.chargeNano)).findings).toEqual([])
  })
})

onEachEngine('bonuses spent in any order', (start) => {
  test('first or last, what is left of it is neither more than was given nor than there is, and never refunded', async () => {
    const { store } = await start()
    let round = 0
    const spends = fc.array(fc.bigInt({ min: 1n, max: 6n * unit }), { maxLength: 6 })
    const given = fc.bigInt({ min: 1n, max: 8n * unit })
    const property = fc.asyncProperty(given, spends, async (bonusNano, amounts) => {
      round += 1
      const [account, id] = [`ann-${round}`, `o${round}`]
      await store.accounts.ensure(account, 1)
      await store.paymentOrders.create(newOrder({ id, account }))
      const paid = paidTransaction({ id: `t${round}`, payerHash: `p${round}` })
      await store.payments.markPaid(id, paid, { amountNano: bonusNano, expiresAt: null }, 9)
      let spentNano = 0n
      for (const amount of [0n, ...amounts]) {
        const leftNano = paidNano + bonusNano - spentNano
        if (amount > leftNano) continue
        if (amount > 0n) await spend(store, amount, account)
        spentNano += amount
        const heldNano = paidNano + bonusNano - spentNano
        const ofBonus = {
          first: least(atLeast0(bonusNano - spentNano), heldNano),
          last: least(bonusNano, heldNano),
        }
        for (const spending of ['first', 'last'] as const) {
          const found = await store.payments.standing(account, 'live', spending)
          const rest = ofBonus[spending]
          expect(found).toMatchObject({ bonusNano: rest, paidNano })
          expect(found?.refundableNano).toBe(least(paidNano, atLeast0(heldNano - rest)))
        }
      }
    })
    await fc.assert(property, { numRuns: 30 })
    expect((await store.audit.run(() => (row) => row.chargeNano)).findings).toEqual([])
  })
})
