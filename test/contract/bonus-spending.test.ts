// Tests how much of a wallet is still bonus after spending, on both engines, with the bonus spent first and last.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { adjustBalance } from '../../src/admin/accounts.ts'
import { adminOf } from '../support/admin.ts'
import { newOrder, paidTransaction, unit } from '../support/payments.ts'
import { onEachEngine } from './engines.ts'

const paidNano = 10n * unit
const least = (...amounts: bigint[]) => amounts.reduce((one, other) => (one < other ? one : other))
const atLeast0 = (amount: bigint) => (amount < 0n ? 0n : amount)

onEachEngine('bonuses that are spent', (start) => {
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
        if (amount > 0n) {
          const input = { account, amount, direction: 'debit', reason: 'spent' } as const
          await adjustBalance(adminOf(store), { ...input, createAccount: false })
        }
        spentNano += amount
        const postedNano = paidNano + bonusNano - spentNano
        const ofBonus = {
          first: least(atLeast0(bonusNano - spentNano), postedNano),
          last: least(bonusNano, postedNano),
        }
        for (const spending of ['first', 'last'] as const) {
          const standing = await store.payments.standing(account, 'live', spending)
          const rest = ofBonus[spending]
          expect(standing).toMatchObject({ bonusNano: rest, paidNano })
          expect(standing?.refundableNano).toBe(least(paidNano, atLeast0(postedNano - rest)))
        }
      }
    })
    await fc.assert(property, { numRuns: 30 })
    expect((await store.audit.run(() => (row) => row.chargeNano)).findings).toEqual([])
  })
})
