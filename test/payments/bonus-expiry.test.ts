// Tests that a bonus ends on its day: while serving processes lease the account's money, and without any provider.

import { describe, expect, jest, test } from 'bun:test'
import { fileSchema } from '../../src/config/schema.ts'
import type { Hold, NoHold } from '../../src/ledger/ledger.ts'
import type { LedgerNode } from '../../src/ledger/ledger-node.ts'
import { keepPayments } from '../../src/main/payments.ts'
import type { State } from '../../src/main/state.ts'
import { endBonuses } from '../../src/payments/end-bonuses.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { engineCases } from '../support/deployment.ts'
import { finishedRequest } from '../support/finished.ts'
import { eventually, ledgerScene } from '../support/ledger-node.ts'
import { newOrder, paidTransaction, unit } from '../support/payments.ts'

const { payments: settings } = fileSchema.parse({})
const bonus = { amountNano: 2n * unit, expiresAt: 9_000 }

/** An account with 10 units that it paid, and the bonus. */
async function paidScene(databaseUrl: string | null) {
  const scene = await ledgerScene(databaseUrl)
  const { store } = scene
  await store.accounts.ensure('ann', 1)
  await store.paymentOrders.create(newOrder())
  await store.payments.markPaid('o1', paidTransaction(), bonus, 6_000)
  const wallet = () => store.journal.wallet('ann')
  const findings = async () => (await store.audit.run(() => (row) => row.chargeNano)).findings
  return { ...scene, wallet, findings }
}

/** Asks again where the ledger did not answer in time, as on a busy machine. */
async function begin(node: LedgerNode, amountNano: bigint): Promise<Hold> {
  let hold: Hold | NoHold = { refused: 'closed' }
  await eventually('the ledger answers', async () => {
    hold = await node.hold('ann', 'key_1', amountNano)
    return !('refused' in hold && hold.refused === 'closed')
  })
  if ('refused' in hold) throw new Error(`refused: ${JSON.stringify(hold)}`)
  return hold
}

describe.each(engineCases)('on $engine', ({ databaseUrl }) => {
  test('the rest of a bonus leaves the wallet of an account that is in use', async () => {
    const scene = await paidScene(databaseUrl)
    const { store, wallet } = scene
    const node = await scene.start()
    const call = async (requestId: string, chargeNano: bigint) => {
      const hold = await begin(node, chargeNano)
      node.finishNow(hold, finishedRequest({ requestId, account: 'ann', chargeNano }))
    }
    // All that was paid, so that the bonus alone is left, and a small call.
    await call('req_large', 10n * unit)
    await call('req_small', 1_000n)
    await eventually(
      'it is settled',
      async () => (await wallet())?.postedNano === 2n * unit - 1_000n,
    )
    expect((await wallet())?.leasedNano).toBeGreaterThan(0n)
    await endBonuses(store, settings, 9_001)
    expect(await wallet()).toMatchObject({ postedNano: 0n, leasedNano: 0n })
    expect(await scene.findings()).toEqual([])
    await node.drain()
    await scene.remove()
  })

  test('it leaves also while requests overlap without a pause, but for what they hold', async () => {
    const scene = await paidScene(databaseUrl)
    const { store, wallet } = scene
    const node = await scene.start()
    const finish = (hold: Hold, chargeNano: bigint) =>
      node.finishNow(
        hold,
        finishedRequest({ requestId: `req_${chargeNano}`, account: 'ann', chargeNano }),
      )
    finish(await begin(node, 10n * unit), 10n * unit)
    const first = await begin(node, 3_000n)
    await eventually('it is settled', async () => (await wallet())?.postedNano === 2n * unit)
    await endBonuses(store, settings, 9_001)
    expect(await wallet()).toMatchObject({ postedNano: 3_000n })
    // Nothing of the bonus is left to begin another request with.
    expect(await node.hold('ann', 'key_1', 5_000n)).toMatchObject({ refused: expect.anything() })
    finish(first, 1_000n)
    await eventually('it is settled', async () => (await wallet())?.postedNano === 2_000n)
    await endBonuses(store, settings, 9_001)
    expect(await wallet()).toMatchObject({ postedNano: 0n, leasedNano: 0n })
    expect(await scene.findings()).toEqual([])
    await node.drain()
    await scene.remove()
  })

  test('it leaves where no payment provider is configured any more', async () => {
    const scene = await paidScene(databaseUrl)
    const { store, wallet } = scene
    const config = { server: {}, payments: settings, currency: 'CNY' }
    const state = { store, current: { config } } as unknown as State
    const play = { isOn: () => false, isUsed: () => false } as Parameters<
      typeof keepPayments
    >[1]['play']
    const failures: unknown[] = []
    jest.useFakeTimers()
    const kept = keepPayments(state, { log: createLog({ level: 'silent' }), play }, (error) =>
      failures.push(error),
    )
    jest.advanceTimersByTime(9_000)
    jest.useRealTimers()
    await eventually('it left', async () => (await wallet())?.postedNano === 10n * unit)
    kept.close()
    expect(failures).toEqual([])
    expect(await scene.findings()).toEqual([])
    await scene.remove()
  })
})
