// Tests Stripe's disputes, on both engines: an order is disputed, won or lost, and lost amounts are taken back.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { house, walletOf } from '../../src/store/ledger.ts'
import { engineCases } from '../support/deployment.ts'
import { lessee } from '../support/ledger-scene.ts'
import { last } from '../support/paysim.ts'
import { type Ordered, type PaymentScene, startPaymentScene } from './scene.ts'

const unit = 1_000_000_000n

describe.each(engineCases)('disputes on $engine', ({ databaseUrl }) => {
  let scene: PaymentScene
  beforeAll(async () => {
    const bonus = { firstTopUp: { percent: '10' } }
    scene = await startPaymentScene({ databaseUrl, payments: { bonus } })
  })
  beforeEach(() => scene.simulator.paysim.control.behave())
  afterAll(() => scene.close())

  /** 10 that were paid; each different payer has a bonus of 1. */
  async function paid(): Promise<Ordered> {
    const order = await scene.order({ provider: 'stripe' })
    await scene.simulator.paysim.control.pay(order.id, { payer: order.account })
    expect(await order.postedNano()).toBe(11n * unit)
    return order
  }
  const lastOutcome = () => last(scene.simulator.paysim.control.deliveries()).outcome
  const timeline = async (order: Ordered) =>
    (await order.read()).timeline.map(({ what }: { readonly what: string }) => what)
  const spend = ({ account }: Ordered, amountNano: bigint) => {
    const entry = { id: `adjust:${account}`, code: 'adjust', actor: 'op', reason: 'spent', at: 1 }
    const transfer = { ...entry, debit: walletOf(account), credit: house.adjust, amountNano }
    return scene.stage.store.journal.post([transfer])
  }

  test('while it is open nothing is refunded; once it is won all is as it was', async () => {
    const { disputes } = scene.simulator.paysim
    const order = await paid()
    await disputes.open(order.id)
    expect(lastOutcome()).toBe('acknowledged')
    expect(await order.read()).toMatchObject({ state: 'disputed', flag: 'disputed' })
    expect((await order.read()).refundable).toBe('0.00')
    expect((await order.refund({ reason: 'asked for' })).json).toMatchObject({
      status: 409,
      field: 'id',
    })
    expect(await order.postedNano()).toBe(11n * unit)
    await disputes.close(order.id, 'won')
    expect(await order.read()).toMatchObject({ state: 'credited', flag: null })
    expect(await timeline(order)).toContain('dispute_won')
    expect((await order.refund({ reason: 'asked for' })).json.state).toBe('done')
    expect(await scene.audit()).toEqual([])
  })

  test('what is lost is taken back with its bonus, once, in whatever order it is told', async () => {
    const { disputes, control } = scene.simulator.paysim
    const order = await paid()
    control.misbehave({ reordered: true })
    await disputes.open(order.id)
    await disputes.close(order.id, 'lost')
    expect(scene.simulator.notified.at(-1)?.body).toContain('charge.dispute.created')
    for (const index of [-1, -2, -2]) expect(await scene.again({ index })).toBe(200)
    expect(await order.read()).toMatchObject({ state: 'disputed', flag: 'disputed' })
    const became = (await timeline(order)).filter((what: string) => /^disput/.test(what))
    expect(became.sort()).toEqual(['dispute_lost', 'disputed'])
    expect((await order.refund({ reason: 'asked for' })).status).toBe(409)
    expect(await order.postedNano()).toBe(0n)
    expect(await scene.audit()).toEqual([])
  })

  test('of what was spent nothing is taken: the wallet is never below 0, and the books show the loss', async () => {
    const { disputes } = scene.simulator.paysim
    const order = await paid()
    await spend(order, 7n * unit)
    await disputes.open(order.id)
    await disputes.close(order.id, 'lost')
    // Of the 4 that were left, 1 was the bonus, which is taken with the payment for which it was given.
    expect(await order.postedNano()).toBe(0n)
    const { timeline: entries } = await order.read()
    const lost = entries.find(({ what }: { readonly what: string }) => what === 'dispute_lost')
    expect(lost.detail).toBe('7 had been spent')
    expect(await scene.audit()).toEqual([])
  })

  test.each([
    ['all of it', 1_000, 1_000, 0n],
    ['more than the refund', 1_000, 400, 0n],
    ['less than the refund', 300, 1_000, 77n],
  ])(
    'a refund that fails after a dispute was lost for %s returns nothing of it',
    async (_, amountMinor, refundedMinor, leftTenths) => {
      const order = await paid()
      const { store } = scene.stage
      const refund = { id: `r-${order.id}`, orderId: order.id, actor: 'op', reason: 'asked for' }
      const begun = await store.refunds.begin(
        { ...refund, amountMinor: refundedMinor, at: 1 },
        'last',
      )
      expect(begun.outcome).toBe('begun')
      const { transactions } = await store.payments.details(order.id)
      const dispute = { id: `du-${order.id}`, transactionId: transactions[0]?.id ?? '' }
      const seen = { ...dispute, provider: 'stripe', mode: 'live', reason: 'fraudulent' } as const
      await store.disputes.note({ ...seen, amountMinor, state: 'lost', at: 2 }, 'last')
      expect(await store.refunds.end(refund.id, 'failed', 'is disputed', 3)).toBeTrue()
      expect(await order.postedNano()).toBe((leftTenths * unit) / 10n)
      expect(await order.read()).toMatchObject({ state: 'disputed' })
      expect(await scene.audit()).toEqual([])
    },
  )

  test('what running requests hold is not taken from under them', async () => {
    const order = await paid()
    const { store } = scene.stage
    const { transactions } = await store.payments.details(order.id)
    const transactionId = transactions[0]?.id ?? ''
    const ref = await lessee(store, `node-${order.account}`, order.account, 2n * unit)
    const seen = { id: `du-${order.id}`, transactionId, amountMinor: 1_000, reason: 'x', at: 1 }
    const note = () =>
      store.disputes.note({ ...seen, provider: 'stripe', mode: 'live', state: 'lost' }, 'last')
    expect(await note()).toEqual({ outcome: 'leased', accounts: [order.account] })
    expect((await order.read()).state).toBe('credited')
    await store.nodes.close(ref)
    expect(await note()).toEqual({ outcome: 'noted', orderId: order.id })
    expect(await note()).toEqual({ outcome: 'known', orderId: order.id })
    expect(await order.postedNano()).toBe(0n)
    expect(
      await store.disputes.note(
        { ...seen, transactionId: 'other', provider: 'stripe', mode: 'play', state: 'lost' },
        'last',
      ),
    ).toEqual({ outcome: 'unknown_payment' })
  })

  test('a lost dispute is not believed on a message alone', async () => {
    const { disputes, control } = scene.simulator.paysim
    const order = await paid()
    await disputes.open(order.id)
    control.misbehave({ forged: true })
    await disputes.close(order.id, 'lost')
    expect(lastOutcome()).toBe('refused')
    expect(await order.postedNano()).toBe(11n * unit)
  })
})
