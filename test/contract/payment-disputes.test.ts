// Tests disputes, refunds and payments in any order, on both engines: no wallet is negative, and every lost unit is in
// the books.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { house, walletOf } from '../../src/store/ledger.ts'
import type { Store } from '../../src/store/store.ts'
import { newOrder, paidTransaction, unit } from '../support/payments.ts'
import { onEachEngine } from './engines.ts'

const nanoPerMinor = 10_000_000n
const bonus = { amountNano: unit, expiresAt: null }

interface Step {
  readonly do: 'pay' | 'refund' | 'fail' | 'spend' | 'open' | 'won' | 'lost'
  readonly minor: number
  /** Its index among the existing payments and disputes. */
  readonly which: number
}

const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom('pay', 'refund', 'fail', 'spend', 'open', 'won', 'lost'),
  minor: fc.integer({ min: 1, max: 1_200 }),
  which: fc.integer({ min: 0, max: 3 }),
})

/** The loss is then more than what is there. */
const spent: Step[] = [
  { do: 'pay', minor: 1_000, which: 0 },
  { do: 'spend', minor: 900, which: 0 },
  { do: 'lost', minor: 1_000, which: 0 },
]

interface Account {
  readonly name: string
  /** Ids of its payments. */
  readonly paid: string[]
  readonly refunds: string[]
}

/** Executes one step; all steps concern one order. */
async function take(store: Store, account: Account, given: Step, at: number): Promise<void> {
  const { name, paid, refunds } = account
  const id = `${name}-${at}`
  if (given.do === 'pay') {
    const payment = paidTransaction({ id, amountMinor: given.minor, payerHash: null })
    await store.payments.markPaid(name, payment, bonus, at)
    paid.push(id)
  } else if (given.do === 'refund') {
    const asked = { id, orderId: name, amountMinor: given.minor, actor: 'a', reason: 'b', at }
    const { outcome } = await store.refunds.begin(asked, 'last')
    const { state } = (await store.paymentOrders.find(name)) ?? {}
    // A disputed order cannot be refunded.
    if (outcome === 'begun') expect(state).not.toBe('disputed')
    if (outcome === 'begun') refunds.push(id)
  } else if (given.do === 'fail') {
    const refund = refunds.shift()
    if (refund !== undefined) await store.refunds.end(refund, 'failed', 'x', at)
  } else if (given.do === 'spend') {
    const entry = { id: `adjust:${id}`, code: 'adjust', actor: 'op', reason: 'spent', at }
    const amountNano = BigInt(given.minor) * nanoPerMinor
    const transfer = { ...entry, debit: walletOf(name), credit: house.adjust, amountNano }
    await store.journal.post([transfer])
  } else {
    const transactionId = paid[given.which % Math.max(1, paid.length)] ?? 'none'
    const seen = { id: `du-${name}-${given.which}`, transactionId, amountMinor: given.minor }
    const about = { provider: 'alipay', mode: 'live', reason: 'x', state: given.do, at } as const
    await store.disputes.note({ ...seen, ...about }, 'last')
  }
}

onEachEngine('disputes against a model', (start, kind) => {
  test('whatever happens in whatever order, what is lost is taken back or written off, and the books are right', async () => {
    const { store, engine } = await start()
    let round = 0
    let lossNano = 0n
    const property = fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 20 }),
      async (steps) => {
        const name = `ann-${round++}`
        await store.accounts.ensure(name, 1)
        await store.paymentOrders.create(newOrder({ id: name, account: name }))
        const account: Account = { name, paid: [], refunds: [] }
        for (const [index, each] of steps.entries()) await take(store, account, each, index + 1)
        const { disputes, refunds, transactions } = await store.payments.details(name)
        const { state, flag } = (await store.paymentOrders.find(name)) ?? {}
        const isHeld = disputes.some((dispute) => dispute.state !== 'won')
        expect([state === 'disputed', flag === 'disputed']).toEqual([isHeld, isHeld])
        for (const lost of disputes.filter((dispute) => dispute.state === 'lost')) {
          const taken = refunds.find(({ id }) => id === lost.id)
          const wholeNano = (taken?.amountNano ?? 0n) + lost.lossNano
          expect(wholeNano).toBeLessThanOrEqual(BigInt(lost.amountMinor) * nanoPerMinor)
          expect(taken?.state ?? 'done').toBe('done')
          lossNano += lost.lossNano
        }
        const minor = (all: readonly { readonly amountMinor: number }[]) =>
          all.reduce((sum, { amountMinor }) => sum + amountMinor, 0)
        const kept = refunds.filter((refund) => refund.state !== 'failed')
        const lossMinor = disputes.reduce(
          (sum, each) => sum + Number(each.lossNano / nanoPerMinor),
          0,
        )
        expect(minor(kept) + lossMinor).toBeLessThanOrEqual(minor(transactions))
        expect((await store.journal.wallet(name))?.postedNano).toBeGreaterThanOrEqual(0n)
      },
    )
    await fc.assert(property, { numRuns: kind === 'sqlite' ? 100 : 30, examples: [[spent]] })
    const report = await store.audit.run(() => (row) => row.chargeNano)
    expect(report.findings).toEqual([])
    const [written] = await engine.query<{ readonly sum: string }>(
      `SELECT CAST(sum(amount_nano) AS TEXT) AS sum FROM transfer WHERE code = 'dispute_loss'`,
      [],
    )
    expect(BigInt(written?.sum ?? 0)).toBe(lossNano)
    expect(lossNano).toBeGreaterThan(0n)
  })
})

onEachEngine('a lost dispute of money that is spent', (start) => {
  test.each([999, 1_000])('%d of 1,000 spent: the bonus is taken back whole', async (minor) => {
    const { store } = await start()
    await store.accounts.ensure('ann', 1)
    await store.paymentOrders.create(newOrder({ id: 'o', account: 'ann' }))
    const payment = paidTransaction({ id: 't', amountMinor: 1_000, payerHash: null })
    await store.payments.markPaid('o', payment, { amountNano: 5n * unit, expiresAt: null }, 1)
    const entry = { id: 'adjust:x', code: 'adjust', actor: 'op', reason: 'spent', at: 2 }
    const amountNano = BigInt(minor) * nanoPerMinor
    await store.journal.post([
      { ...entry, debit: walletOf('ann'), credit: house.adjust, amountNano },
    ])
    const about = { provider: 'alipay', mode: 'live', reason: 'x', state: 'lost', at: 3 } as const
    const seen = { id: 'du', transactionId: 't', amountMinor: 1_000, ...about }
    for (const outcome of ['noted', 'known'] as const) {
      expect(await store.disputes.note(seen, 'last')).toMatchObject({ outcome })
      expect((await store.journal.wallet('ann'))?.postedNano).toBe(0n)
    }
    const report = await store.audit.run(() => (row) => row.chargeNano)
    expect(report.findings).toEqual([])
  })
})
