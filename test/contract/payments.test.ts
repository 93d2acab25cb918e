// Tests stored payments, on both engines: credited once whatever messages arrive in any order, and refunded within
// bounds.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { nextState, orderStates } from '../../src/store/order-state.ts'
import type { Store } from '../../src/store/store.ts'
import { finished, lessee } from '../support/ledger-scene.ts'
import { newOrder, paidTransaction, unit } from '../support/payments.ts'
import { withDamage } from './damage.ts'
import { type Bench, onEachEngine } from './engines.ts'

const bonus = { amountNano: unit, expiresAt: null }
const balance = async (store: Store, account = 'ann') =>
  (await store.journal.wallet(account))?.postedNano
const findings = async (store: Store) =>
  (await store.audit.run(() => (row) => row.chargeNano)).findings

type Start = () => Promise<Bench>

async function scene({ store }: Pick<Bench, 'store'>, accounts = ['ann']): Promise<Store> {
  for (const account of accounts) await store.accounts.ensure(account, 1)
  return store
}

describe('the states of an order', () => {
  test('a payment counts in every state, and nothing but a refund undoes it', () => {
    for (const state of orderStates)
      if (state !== 'paid') expect(nextState(state, 'pay')).toBe('paid')
    expect(nextState('paid', 'credit')).toBe('credited')
    expect(['expire', 'close'].map((event) => nextState('credited', event as 'close'))).toEqual([
      null,
      null,
    ])
    expect(nextState('credited', 'refund_part')).toBe('part_refunded')
  })
})

function orderTests(start: Start): void {
  test('B22 an attempt pressed twice is one order', async () => {
    const { store, open } = await start()
    await scene({ store }, ['ann', 'bob'])
    const other = await open()
    const made = await Promise.all(
      ['a', 'b', 'c', 'd'].map((id, index) =>
        (index % 2 === 0 ? store : other).paymentOrders.create(newOrder({ id, attempt: 'x' })),
      ),
    )
    expect(new Set(made.map(({ id }) => id)).size).toBe(1)
    const foreign = await store.paymentOrders.create(
      newOrder({ id: 'e', account: 'bob', attempt: 'x' }),
    )
    expect(foreign).toMatchObject({ id: 'e', state: 'created', revision: 1, instructions: null })
    expect(await store.paymentOrders.list({ account: 'ann', limit: 9 })).toHaveLength(1)
    expect((await store.paymentOrders.list({ limit: 1 })).map(({ id }) => id)).toEqual(['e'])
  })
}

function creditTests(start: Start): void {
  test('I15 PS2 100 duplicates of one payment over three connections credit once', async () => {
    const { store, open } = await start()
    await scene({ store })
    await store.paymentOrders.create(newOrder())
    const nodes = [store, await open(), await open()]
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        nodes[index % 3]?.payments.markPaid('o1', paidTransaction(), bonus, 6_000),
      ),
    )
    expect(outcomes.filter((each) => each === 'credited')).toHaveLength(1)
    expect(outcomes.filter((each) => each === 'known')).toHaveLength(99)
    expect(await balance(store)).toBe(11n * unit)
    expect(await store.paymentOrders.find('o1')).toMatchObject({
      state: 'credited',
      flag: null,
      creditedAt: 6_000,
      queryAt: null,
    })
    const ids = (await store.journal.transfers({ account: 'ann', limit: 9 })).map(({ id }) => id)
    expect(ids.sort()).toEqual(['bonus:o1', 'topup:alipay:t1'])
    expect(await findings(store)).toEqual([])
  })

  test('I19 PS8 late, second, partial and over payments are credited as paid, and flagged', async () => {
    const store = await scene(await start())
    const pay = async (id: string, amountMinor: number, transaction = `t-${id}`) =>
      store.payments.markPaid(id, paidTransaction({ id: transaction, amountMinor }), null, 9)
    for (const id of ['late', 'less', 'more', 'twice'])
      await store.paymentOrders.create(newOrder({ id }))
    expect(await store.paymentOrders.end('late', 'close', 8)).toBeTrue()
    expect(await pay('late', 1_000)).toBe('late')
    expect(await pay('less', 999)).toBe('partial')
    expect(await pay('more', 1_001)).toBe('over')
    expect(await pay('twice', 1_000)).toBe('credited')
    expect(await pay('twice', 1_000, 't-again')).toBe('second')
    expect(await balance(store)).toBe(50n * unit)
    expect(await store.paymentOrders.end('twice', 'expire', 10)).toBeFalse()
    const flagged = await store.paymentOrders.list({ flagged: true, limit: 9 })
    expect(flagged.map(({ flag, state }) => `${flag} ${state}`).sort()).toEqual([
      'late credited',
      'over credited',
      'partial credited',
      'second credited',
    ])
    expect(await findings(store)).toEqual([])
  })

  test('I16 PS6 a payment of no order, or of another provider, mode or currency, is no credit and takes no place', async () => {
    const store = await scene(await start())
    await store.paymentOrders.create(newOrder())
    const others = [
      ['o2', {}],
      ['o1', { provider: 'wechatpay' }],
      ['o1', { mode: 'play' }],
      ['o1', { currency: 'USD' }],
    ] as const
    for (const [order, change] of others) {
      const paid = paidTransaction(change)
      expect(await store.payments.markPaid(order, paid, bonus, 6_000)).toBe('unknown_order')
    }
    expect(await balance(store)).toBe(0n)
    expect((await store.payments.details('o1')).transactions).toEqual([])
    expect(await store.payments.markPaid('o1', paidTransaction(), null, 6_000)).toBe('credited')
    expect(await findings(store)).toEqual([])
  })
}

function bonusTests(start: Start): void {
  test('I18 PS10 one bonus for two first orders at once, and one for a payer of two accounts', async () => {
    const bench = await start()
    const store = await scene(bench, ['ann', 'bob'])
    const other = await bench.open()
    for (const id of ['a', 'b']) await store.paymentOrders.create(newOrder({ id }))
    await store.paymentOrders.create(newOrder({ id: 'c', account: 'bob' }))
    const first = await store.payments.standing('ann', 'live', 'last')
    expect(first?.isFirst).toBeTrue()
    await Promise.all([
      store.payments.markPaid('a', paidTransaction({ id: 't1', payerHash: 'p1' }), bonus, 6),
      other.payments.markPaid('b', paidTransaction({ id: 't2', payerHash: 'p2' }), bonus, 6),
    ])
    expect(await balance(store)).toBe(21n * unit)
    const given = (await store.payments.details('a')).bonusNano === null ? 'p2' : 'p1'
    await store.payments.markPaid('c', paidTransaction({ id: 't3', payerHash: given }), bonus, 7)
    expect(await balance(store, 'bob')).toBe(10n * unit)
    expect(await store.payments.standing('bob', 'live', 'last')).toMatchObject({ isFirst: false })
    expect(await findings(store)).toEqual([])
  })
}

function keepingTests(start: Start): void {
  test('a due order is given to one caller, at the times of the schedule', async () => {
    const { store, open } = await start()
    await scene({ store })
    await store.paymentOrders.create(newOrder())
    const nodes = [store, await open()]
    const ids = async (at: number) => {
      const due = nodes.map((node) => node.paymentOrders.takeDue(at, [1_000, 5_000], 9))
      return (await Promise.all(due)).flat().map(({ id }) => id)
    }
    expect([await ids(1_999), await ids(2_000)]).toEqual([[], ['o1']])
    expect([await ids(5_999), await ids(6_000), await ids(9_000_000)]).toEqual([[], ['o1'], ['o1']])
    // Once an hour by then, until it has ended.
    await store.paymentOrders.end('o1', 'expire', 9_000_000)
    expect([await ids(12_600_000), await ids(12_600_000)]).toEqual([['o1'], []])
  })

  test('messages are kept once each, as they came, and refused ones do not fill the disk', async () => {
    const store = await scene(await start())
    const raw = new Uint8Array([0, 255, 10])
    const event = {
      provider: 'alipay',
      eventId: 'e1',
      orderId: 'o1',
      raw,
      headers: { a: 'b' },
      at: 5,
    } as const
    for (const problem of [null, null, 'signature'])
      await store.payments.keepEvent({ ...event, problem })
    expect(
      (await store.payments.details('o1')).events.map(({ problem }) => problem).sort(),
    ).toEqual([null, 'signature'].sort())
  })
}

function findingTests(start: Start): void {
  test('orders are found by provider, by what waits too long, and by their number or the payment’s', async () => {
    const store = await scene(await start(), ['ann', 'bob'])
    for (const [id, createdAt, change] of [
      ['old', 1_000, {}],
      ['new', 2_000, { account: 'bob' }],
      ['paid', 500, {}],
      ['shop', 900, { provider: 'stripe' }],
    ] as const)
      await store.paymentOrders.create(newOrder({ id, createdAt, ...change }))
    await store.payments.markPaid('paid', paidTransaction({ id: '2026-1' }), null, 6_000)
    await store.payments.markPaid('paid', paidTransaction({ id: '2026-2' }), null, 7_000)
    const ids = async (filter: object) =>
      (await store.paymentOrders.list({ limit: 9, ...filter })).map(({ id }) => id)
    expect(await ids({ provider: 'stripe' })).toEqual(['shop'])
    expect(await ids({ stuckBefore: 1_000 })).toEqual(['old', 'shop'])
    expect(await ids({ stuckBefore: 1_000, provider: 'alipay' })).toEqual(['old'])
    for (const number of ['2026-1', '2026-2', 'paid'])
      expect(await ids({ number })).toEqual(['paid'])
    expect(await ids({ number: '2026' })).toEqual([])
    expect(await ids({ number: '2026-1', account: 'bob' })).toEqual([])
    expect((await store.paymentOrders.find('paid'))?.transactionId).toBe('2026-1')
    expect((await store.paymentOrders.find('old'))?.transactionId).toBeNull()
  })
}

function callbackTests(start: Start): void {
  test('when a provider was heard outlives restarts, a later message takes the place of an earlier, and old open orders are stuck', async () => {
    const bench = await start()
    const store = await scene(bench)
    const of = { provider: 'alipay', mode: 'live' } as const
    const health = (on: Store) => on.callbacks.health({ ...of, stuckBefore: 1_000 })
    const nothing = { takenAt: null, refusedAt: null, problem: null, creditedAt: null }
    expect(await health(store)).toEqual({ ...nothing, open: 0, stuck: 0 })
    await Promise.all([
      store.callbacks.note({ ...of, problem: null, at: 20 }),
      store.callbacks.note({ ...of, problem: 'signature', at: 30 }),
      store.callbacks.note({ ...of, mode: 'play', problem: 'play', at: 99 }),
    ])
    const other = await bench.open()
    await other.callbacks.note({ ...of, problem: null, at: 10 })
    await other.callbacks.note({ ...of, problem: 'app_id', at: 40 })
    for (const [id, createdAt] of [
      ['old', 1_000],
      ['new', 1_001],
      ['paid', 900],
      ['ended', 900],
    ] as const)
      await store.paymentOrders.create(newOrder({ id, createdAt }))
    await store.paymentOrders.create(newOrder({ id: 'other', provider: 'stripe' }))
    await store.payments.markPaid('paid', paidTransaction(), null, 6_000)
    await store.paymentOrders.end('ended', 'close', 7)
    const expected = { takenAt: 20, refusedAt: 40, problem: 'app_id', creditedAt: 6_000 }
    expect(await health(other)).toEqual({ ...expected, open: 2, stuck: 1 })
  })
}

onEachEngine('payments', (start) => {
  callbackTests(start)
  findingTests(start)
  orderTests(start)
  creditTests(start)
  bonusTests(start)
  keepingTests(start)
})

async function paid(bench: Bench): Promise<Store> {
  const store = await scene(bench)
  await store.paymentOrders.create(newOrder())
  await store.payments.markPaid('o1', paidTransaction(), bonus, 6_000)
  return store
}
const spend = async (store: Store, chargeNano: bigint) => {
  const ref = await lessee(store, 'n1', 'ann', chargeNano)
  const row = { requestId: `r-${chargeNano}`, account: 'ann', chargeNano, priceVersion: 1 }
  await store.settlements.settle([finished(ref, row, { fromLeaseNano: chargeNano })])
  await store.nodes.close(ref)
}
const ask = (store: Store, id: string, amountMinor: number, spending: 'first' | 'last' = 'last') =>
  store.refunds.begin(
    { id, orderId: 'o1', amountMinor, actor: 'account root', reason: 'asked', at: 7_000 },
    spending,
  )

function refundTests(start: Start): void {
  test('PS10 PS11 the bonus is taken back in proportion, and the same refund is one refund', async () => {
    const bench = await start()
    const store = await paid(bench)
    const other = await bench.open()
    const begun = await Promise.all([ask(store, 'r1', 500), ask(other, 'r1', 500)])
    expect(begun.map(({ outcome }) => outcome).sort()).toEqual(['begun', 'known'])
    expect(await balance(store)).toBe(5n * unit + unit / 2n)
    expect(await store.paymentOrders.find('o1')).toMatchObject({ state: 'part_refunded' })
    expect((await ask(store, 'r2', 501)).outcome).toBe('too_much')
    expect((await ask(store, 'r3', 500)).outcome).toBe('begun')
    expect(await balance(store)).toBe(0n)
    expect(await store.paymentOrders.find('o1')).toMatchObject({ state: 'refunded' })
    expect(await store.refunds.end('r1', 'done', null, 8_000)).toBeTrue()
    expect(await store.refunds.end('r1', 'failed', 'x', 8_000)).toBeFalse()
    expect(await findings(store)).toEqual([])
  })

  test('PS10 PS11 what a refund is planned to take is what it takes, and the plan changes nothing', async () => {
    const store = await paid(await start())
    const plan = (amountMinor: number, orderId = 'o1') =>
      store.refunds.plan({ orderId, amountMinor }, 'last')
    expect((await plan(1_001)).outcome).toBe('too_much')
    expect((await plan(1, 'nobody')).outcome).toBe('not_paid')
    for (const [id, amountMinor, clawbackNano] of [
      ['r1', 333, 333_000_000n],
      ['r2', 667, 667_000_000n],
    ] as const) {
      const planned = await plan(amountMinor)
      const amountNano = BigInt(amountMinor) * 10_000_000n
      expect(planned).toMatchObject({ outcome: 'planned', amountNano, clawbackNano })
      const before = (await balance(store)) ?? 0n
      expect(await ask(store, id, amountMinor)).toMatchObject({ outcome: 'begun' })
      expect(before - ((await balance(store)) ?? 0n)).toBe(amountNano + clawbackNano)
    }
    expect(await plan(1)).toEqual({ outcome: 'too_much', refundableNano: 0n })
  })

  test('PS11 after the balance was spent only what is left beside the bonus is refunded', async () => {
    const store = await paid(await start())
    await spend(store, 4n * unit)
    expect(await store.payments.standing('ann', 'live', 'last')).toMatchObject({
      paidNano: 10n * unit,
      bonusNano: unit,
      refundableNano: 6n * unit,
    })
    // The bonus was spent first: what is left was paid for.
    expect(await store.payments.standing('ann', 'live', 'first')).toMatchObject({
      bonusNano: 0n,
      refundableNano: 7n * unit,
    })
    expect(await ask(store, 'r1', 601)).toEqual({
      outcome: 'too_much',
      refundableNano: 6n * unit,
    })
    expect((await ask(store, 'r2', 600)).outcome).toBe('begun')
    expect(await balance(store)).toBe((4n * unit) / 10n)
    expect(await findings(store)).toEqual([])
  })

  test('what a provider refuses is in the wallet again, and may be refunded anew', async () => {
    const store = await paid(await start())
    await ask(store, 'r1', 1_000)
    expect(await store.refunds.pending({ before: 8_000, after: null, limit: 9 })).toHaveLength(1)
    expect(await store.refunds.end('r1', 'failed', 'no money', 8_000)).toBeTrue()
    expect(await balance(store)).toBe(11n * unit)
    expect(await store.paymentOrders.find('o1')).toMatchObject({ state: 'credited' })
    expect((await ask(store, 'r2', 1_000)).outcome).toBe('begun')
    expect(await balance(store)).toBe(0n)
    expect(await findings(store)).toEqual([])
  })
}

function boundTests(start: Start): void {
  test('what servers lease is not taken from under them', async () => {
    const store = await paid(await start())
    await lessee(store, 'n1', 'ann', 2n * unit)
    expect((await ask(store, 'r1', 1_000)).outcome).toBe('leased')
    expect(await balance(store)).toBe(11n * unit)
    expect((await ask(store, 'r1', 100)).outcome).toBe('begun')
  })

  test('an expired bonus leaves as far as it was not spent, once', async () => {
    const store = await scene(await start())
    await store.paymentOrders.create(newOrder())
    const grant = { amountNano: 2n * unit, expiresAt: 9_000 }
    await store.payments.markPaid('o1', paidTransaction(), grant, 6_000)
    await spend(store, unit / 2n)
    const how = { spending: 'first', inPart: false } as const
    for (const at of [8_999, 9_000, 9_001]) {
      expect((await store.payments.expireBonuses(at, how)).outcome).toBe('done')
      expect(await balance(store)).toBe(at < 9_000 ? (23n * unit) / 2n : 10n * unit)
    }
    expect(await findings(store)).toEqual([])
  })

  test('play money is never refunded as real money', async () => {
    const store = await scene(await start())
    await store.paymentOrders.create(newOrder({ id: 'play', mode: 'play' }))
    await store.paymentOrders.create(newOrder({ id: 'o1' }))
    await store.payments.markPaid('play', paidTransaction({ id: 'p', mode: 'play' }), null, 1)
    await store.payments.markPaid('o1', paidTransaction(), null, 1)
    await spend(store, 4n * unit)
    expect((await store.payments.standing('ann', 'live', 'last'))?.refundableNano).toBe(6n * unit)
  })
}

onEachEngine('refunds', (start) => {
  refundTests(start)
  boundTests(start)
})

onEachEngine('the audit of payments', (start) => {
  test('finds a credit without a payment, a payment without a credit, and an order that is neither', async () => {
    const { store, engine } = await start()
    await scene({ store })
    for (const id of ['o1', 'o2']) await store.paymentOrders.create(newOrder({ id }))
    await store.payments.markPaid('o1', paidTransaction(), bonus, 6_000)
    const kinds = async (sql: string) => {
      const look = async (damaged: typeof engine) => {
        const { auditTable } = await import('../../src/store/audit.ts')
        const { findings } = await auditTable(damaged).run(() => (row) => row.chargeNano)
        return findings.filter(({ kind }) => kind === 'payment').map(({ subject }) => subject)
      }
      return withDamage(engine, [sql], look)
    }
    const columns = 'id, code, debit, credit, amount_nano, at'
    expect(
      await kinds(
        `INSERT INTO transfer (${columns}) VALUES ('topup:alipay:x', 'topup', 'clearing:alipay', 'wallet:ann', 5, 1)`,
      ),
    ).toEqual(['topup:alipay:x'])
    expect(
      await kinds(
        `INSERT INTO payment_transaction VALUES ('alipay', 'x', 'o1', 'ann', 'live', 1, 'CNY', 5, NULL, 'credited', 1, 1,
          'topup:alipay:x')`,
      ),
    ).toEqual(['topup:alipay:x'])
    expect(await kinds(`UPDATE payment_order SET state = 'credited' WHERE id = 'o2'`)).toEqual([
      'o2',
    ])
    expect(await kinds(`UPDATE payment_bonus SET amount_nano = 7`)).toEqual(['bonus:o1'])
    expect(await findings(store)).toEqual([])
  })
})

type Step =
  | {
      readonly do: 'pay'
      readonly order: number
      readonly transaction: number
      readonly less: number
    }
  | { readonly do: 'end' | 'refund' | 'fail'; readonly order: number; readonly amount: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('pay' as const),
    order: fc.integer({ min: 0, max: 3 }),
    transaction: fc.integer({ min: 0, max: 5 }),
    less: fc.integer({ min: -2, max: 2 }),
  }),
  fc.record({
    do: fc.constantFrom('end' as const, 'refund' as const, 'fail' as const),
    order: fc.integer({ min: 0, max: 3 }),
    amount: fc.integer({ min: 1, max: 1_200 }),
  }),
)

onEachEngine('payments against a model', (start, kind) => {
  test('whatever happens in whatever order, the wallet has what was paid and given less what was refunded', async () => {
    const store = await scene(await start())
    let round = 0
    const property = fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      round += 1
      const account = `ann-${round}`
      const name = (order: number) => `o${round}-${order}`
      await store.accounts.ensure(account, 1)
      for (const order of [0, 1, 2])
        await store.paymentOrders.create(newOrder({ id: name(order), account }))
      const paid = new Map<number, { order: number; minor: number }>()
      const refunds = new Map<string, { order: number; minor: number; failed: boolean }>()
      for (const [index, each] of steps.entries()) {
        const order = name(each.order)
        if (each.do === 'pay') {
          const id = `t${round}-${each.transaction}`
          const amountMinor = 1_000 + each.less
          const given = paidTransaction({ id, amountMinor, payerHash: null })
          const outcome = await store.payments.markPaid(order, given, bonus, index)
          const isKnown = paid.has(each.transaction)
          expect(outcome === 'unknown_order').toBe(each.order === 3)
          if (each.order === 3) continue
          expect(outcome === 'known').toBe(isKnown)
          if (isKnown) continue
          paid.set(each.transaction, { order: each.order, minor: amountMinor })
        } else if (each.do === 'end') await store.paymentOrders.end(order, 'expire', index)
        else if (each.do === 'refund') {
          const id = `r${round}-${index}`
          const asked = {
            id,
            orderId: order,
            amountMinor: each.amount,
            actor: 'a',
            reason: 'b',
            at: 1,
          }
          if ((await store.refunds.begin(asked, 'last')).outcome === 'begun')
            refunds.set(id, { order: each.order, minor: each.amount, failed: false })
        } else {
          const [id, refund] = [...refunds][0] ?? []
          if (id === undefined || refund === undefined) continue
          if (await store.refunds.end(id, 'failed', 'x', index)) refund.failed = true
        }
      }
      const credited = [...paid.values()].filter(({ order }) => order !== 3)
      const paidNano = credited.reduce((sum, { minor }) => sum + BigInt(minor) * 10_000_000n, 0n)
      const back = [...refunds.values()].filter(({ failed }) => !failed)
      const backNano = back.reduce((sum, { minor }) => sum + BigInt(minor) * 10_000_000n, 0n)
      const standing = await store.payments.standing(account, 'live', 'last')
      expect(standing?.paidNano).toBe(paidNano)
      expect(await balance(store, account)).toBe(paidNano - backNano + (standing?.bonusNano ?? 0n))
      for (const order of [0, 1, 2]) {
        const sum = (all: readonly { order: number; minor: number }[]) =>
          all.reduce((total, each) => total + (each.order === order ? each.minor : 0), 0)
        expect(sum(back)).toBeLessThanOrEqual(sum(credited))
      }
    })
    await fc.assert(property, { numRuns: kind === 'sqlite' ? 60 : 20 })
    expect(await findings(store)).toEqual([])
  })
})
