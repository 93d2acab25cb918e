// Tests that what wallets were given leaves out lost disputes and refunds that failed, on both engines.
import { expect, test } from 'bun:test'
import { house } from '../../src/store/ledger.ts'
import { onEachEngine } from './engines.ts'

const at = 1_000

onEachEngine('what wallets were given', (start) => {
  test('is not what a lost dispute cost, or what a failed refund brought back', async () => {
    const { store } = await start()
    const wallet = 'wallet:ann'
    const move = (code: string, debit: string, credit: string) => ({
      ...{
        id: `${code}:1`,
        code,
        debit,
        credit,
        amountNano: 7n,
        actor: 'root',
        reason: 'test',
        at,
      },
    })
    await store.accounts.ensure('ann', 1)
    await store.journal.post([
      move('topup', house.stripe, wallet),
      move('dispute_loss', house.writeoff, house.stripe),
      move('refund', wallet, house.stripe),
      move('refund_undone', house.stripe, wallet),
      move('clawback_undone', house.promo, wallet),
      move('bonus', house.promo, wallet),
    ])
    expect(await store.journal.credited(at)).toBe(14n)
  })
})
