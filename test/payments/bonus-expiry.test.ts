// Tests that a bonus ends on its day although a serving process leases the account's money.

import { describe, expect, test } from 'bun:test'
import { fileSchema } from '../../src/config/schema.ts'
import { createPayments } from '../../src/payments/payments.ts'
import { engineCases } from '../support/deployment.ts'
import { finishedRequest } from '../support/finished.ts'
import { eventually, ledgerScene } from '../support/ledger-node.ts'
import { newOrder, paidTransaction, unit } from '../support/payments.ts'

describe.each(engineCases)('on $engine', ({ databaseUrl }) => {
  test('the rest of a bonus leaves the wallet of an account that is in use', async () => {
    const scene = await ledgerScene(databaseUrl)
    const { store } = scene
    await store.accounts.ensure('ann', 1)
    await store.paymentOrders.create(newOrder())
    const bonus = { amountNano: 2n * unit, expiresAt: 9_000 }
    await store.payments.markPaid('o1', paidTransaction(), bonus, 6_000)
    const node = await scene.start()
    const call = async (requestId: string, chargeNano: bigint) => {
      const hold = await node.hold('ann', 'key_1', chargeNano)
      if ('refused' in hold) throw new Error(`refused: ${hold.refused}`)
      node.finishNow(hold, finishedRequest({ requestId, account: 'ann', chargeNano }))
    }
    // All that was paid, so that the bonus alone is left, and a small call.
    await call('req_large', 10n * unit)
    await call('req_small', 1_000n)
    const wallet = () => store.journal.wallet('ann')
    await eventually(
      'it is settled',
      async () => (await wallet())?.postedNano === 2n * unit - 1_000n,
    )
    expect((await wallet())?.leasedNano).toBeGreaterThan(0n)
    const payments = createPayments({
      store,
      settings: fileSchema.parse({}).payments,
      currency: 'CNY',
      mode: 'live',
      send: () => Promise.reject(new Error('no provider is asked')),
      onProblem: () => undefined,
    })
    await payments.sweep(9_001)
    expect(await wallet()).toMatchObject({ postedNano: 0n, leasedNano: 0n })
    expect((await store.audit.run(() => (row) => row.chargeNano)).findings).toEqual([])
    await node.drain()
    await scene.remove()
  })
})
