// Tests payments through the simulator, on both databases: each way to pay, and possible faults of each provider.

import { afterAll, beforeAll, describe, expect, setSystemTime, test } from 'bun:test'
import type { Misbehaviour } from '../../src/paysim/misbehaviour.ts'
import { person } from '../support/control.ts'
import { engineCases } from '../support/deployment.ts'
import { health, unit } from '../support/payments.ts'
import { type Ordered, type PaymentScene, startPaymentScene } from './scene.ts'

const ways = [
  ['alipay', 'page'],
  ['alipay', 'qr'],
  ['alipay', 'wap'],
  ['wechatpay', 'native'],
  ['wechatpay', 'h5'],
  ['stripe', 'checkout'],
] as const

const providers = ['alipay', 'wechatpay', 'stripe'] as const

/** What differs from a real provider's message, and the resulting refusal. */
const wrong: [(typeof providers)[number], Misbehaviour, RegExp][] = [
  ['alipay', { forged: true }, /signature/],
  ['alipay', { wrongApp: true }, /app_id/],
  ['alipay', { wrongSeller: true }, /seller_id/],
  ['alipay', { signType: 'RSA' }, /RSA2/],
  ['alipay', { signType: 'missing' }, /RSA2/],
  ['wechatpay', { forged: true }, /signature/],
  ['wechatpay', { wrongApp: true }, /appid/],
  ['wechatpay', { wrongSeller: true }, /mchid/],
  ['wechatpay', { wrongCurrency: true }, /currency/],
  ['stripe', { forged: true }, /signature/],
  ['stripe', { wrongApp: true }, /no order/],
  ['stripe', { wrongSeller: true }, /account/],
  ['stripe', { wrongCurrency: true }, /currency/],
]

describe.each(engineCases)('paid at the simulator, on $engine', ({ databaseUrl }) => {
  let scene: PaymentScene
  beforeAll(async () => {
    const bonus = { firstTopUp: { percent: '10', minimum: '50' } }
    scene = await startPaymentScene({ databaseUrl, payments: { bonus } })
  })
  afterAll(async () => {
    expect(scene.stage.crashes).toEqual([])
    expect(await scene.audit()).toEqual([])
    await scene.close()
  })

  const control = () => scene.simulator.paysim.control
  /** Opens its page, and pays: as a payer without earlier payments, unless a payer is given. */
  const pay = async (
    { id, pay: { url } }: Ordered,
    how: { payer?: string; amountMinor?: number } = {},
  ) => {
    expect((await fetch(url)).status).toBe(200)
    await control().pay(id, { payer: `payer of ${id}`, ...how })
  }

  test.each(ways)(
    'PS1 I15 %s %s: on its page, told of, and credited once',
    async (provider, method) => {
      const made = await scene.order({ provider, method })
      expect(made.pay.url).toStartWith(scene.simulator.baseUrl)
      const page = await fetch(made.pay.url, { redirect: 'follow' })
      expect(page.status).toBe(200)
      const form = {
        method: 'POST',
        body: new URLSearchParams({ action: 'pay', payer: 'Li Wei' }),
        redirect: 'manual',
      } as const
      const left = await fetch(page.url, form)
      if (method !== 'qr' && method !== 'native') {
        expect(left.status).toBe(303)
        expect(left.headers.get('location')).toContain(`/console/billing/top-up?order=${made.id}`)
      }
      expect(await made.read()).toMatchObject({ state: 'credited', flag: null, pay: null })
      expect(await scene.again()).toBe(200)
      expect((await made.post('check')).json.state).toBe('credited')
      expect(await made.postedNano()).toBe(10n * unit)
    },
  )

  test.each(providers)('PS1 I19 %s: nobody told of it: asking finds it', async (provider) => {
    const made = await scene.order({ provider })
    control().misbehave({ lost: true })
    await pay(made)
    expect((await made.read()).state).toBe('shown')
    expect((await made.post('check')).json).toMatchObject({ state: 'credited', flag: null })
    expect(await made.postedNano()).toBe(10n * unit)
  })

  test.each(providers)(
    'PS2 I15 %s: a hundred duplicates among twenty questions',
    async (provider) => {
      const made = await scene.order({ provider })
      control().misbehave({ lost: true })
      await pay(made)
      const order = await scene.stage.store.paymentOrders.find(made.id)
      if (order === null) throw new Error('no order')
      await Promise.all([
        ...Array.from({ length: 20 }, () => scene.payments.check(order)),
        ...Array.from({ length: 100 }, () => scene.again()),
      ])
      expect(await made.postedNano()).toBe(10n * unit)
    },
  )

  test.each(wrong)(
    'PS3 PS4 I16 B20 B21 %s %p is refused, kept with why, and credits nothing; the truth told later does',
    async (provider, flaw, why) => {
      const made = await scene.order({ provider })
      control().misbehave(flaw)
      await pay(made)
      expect(control().deliveries().at(-1)).toMatchObject({ outcome: 'refused', status: 400 })
      expect(scene.problems.at(-1)?.message).toMatch(why)
      expect((await health(scene.stage.store, provider)).problem).toMatch(why)
      expect(await made.postedNano()).toBe(0n)
      await made.post('check')
      expect(await made.postedNano()).toBe(10n * unit)
      expect((await made.read()).state).toBe('credited')
    },
  )

  test.each(providers)(
    'PS3 %s: an amount that is not the order’s is credited as the provider confirms it',
    async (provider) => {
      const made = await scene.order({ provider })
      control().misbehave({ wrongAmount: true })
      await pay(made)
      expect(control().deliveries().at(-1)).toMatchObject({ outcome: 'refused' })
      expect(await made.postedNano()).toBe(10n * unit)
      const less = await scene.order({ provider })
      await pay(less, { amountMinor: 400 })
      expect(await less.read()).toMatchObject({ state: 'credited', flag: 'partial' })
      expect(await less.postedNano()).toBe(4n * unit)
    },
  )

  test('PS6 a notification of one provider, sent to another, is refused', async () => {
    for (const provider of providers) {
      const made = await scene.order({ provider })
      await pay(made)
      for (const other of providers.filter((each) => each !== provider))
        expect(await scene.again({ path: `/api/payments/${other}/notify` })).toBe(400)
      expect(await made.postedNano()).toBe(10n * unit)
    }
  })

  test.each(providers)(
    'PS8 %s: paid after it was cancelled, and paid twice: nothing is lost, both are flagged',
    async (provider) => {
      const late = await scene.order({ provider })
      expect((await late.post('cancel')).json.state).toBe('closed')
      await pay(late)
      expect(await late.read()).toMatchObject({ state: 'credited', flag: 'late' })
      expect(await late.postedNano()).toBe(10n * unit)
      const twice = await scene.order({ provider })
      await pay(twice)
      await control().pay(twice.id, { payer: 'another' })
      expect(await twice.read()).toMatchObject({ state: 'credited', flag: 'second' })
      expect(await twice.postedNano()).toBe(20n * unit)
    },
  )

  test.each(providers)(
    '%s: the trade number stands on the order, finds it for whom it is for, and a refund says first what it takes',
    async (provider) => {
      const { stage } = scene
      const made = await scene.order({ provider, amount: '50.00' })
      await pay(made, { payer: `Trader at ${provider}` })
      const { tradeNumber, payments, givenBonusNano } = await made.read()
      expect(payments).toMatchObject([{ id: tradeNumber, amount: '50.00', outcome: 'credited' }])
      expect(givenBonusNano).toBe(String(5n * unit))
      const find = async (account: string, role?: 'admin') => {
        const as = person(account, role)
        const listed = await stage.send(as, 'GET', `/api/orders?number=${tradeNumber}`)
        const found = await stage.send(as, 'GET', `/api/search?q=${tradeNumber}`)
        return [listed, found].map(({ json }) => json.items.map(({ id }: { id: string }) => id))
      }
      expect(await find(made.account)).toEqual([[made.id], [made.id]])
      expect(await find('root', 'admin')).toEqual([[made.id], [made.id]])
      expect(await find('someone-else')).toEqual([[], []])
      const plan = (as: ReturnType<typeof person>, amount: string) =>
        stage.send(as, 'GET', `/api/orders/${made.id}/refund?amount=${amount}`)
      expect((await plan(person(made.account), '20.00')).status).toBe(403)
      const auditor = person('eve', 'auditor')
      expect((await plan(auditor, '50.01')).json).toMatchObject({ status: 409, field: 'amount' })
      expect((await plan(auditor, '0')).json).toMatchObject({ status: 400, field: 'amount' })
      const { json: planned } = await plan(auditor, '20.00')
      const { json: refunded } = await made.refund({ amount: '20.00', reason: 'asked' })
      expect(planned).toEqual({
        amount: '20.00',
        amountNano: refunded.amountNano,
        clawbackNano: refunded.clawbackNano,
      })
      expect(BigInt(planned.clawbackNano)).toBe((BigInt(givenBonusNano) * 2n) / 5n)
      const { refunds } = await made.read()
      expect(refunds).toMatchObject([{ id: refunded.id, amount: '20.00' }])
      expect(refunds[0].actor).toBeUndefined()
    },
  )

  test.each(providers)(
    'PS10 PS11 %s: one bonus a payer; refunds take it back in proportion, once each',
    async (provider) => {
      const payer = `Payer of ${provider}`
      const first = await scene.order({ provider, amount: '50.00' })
      await pay(first, { payer })
      expect(await first.postedNano()).toBe(55n * unit)
      const other = await scene.order({ provider, amount: '50.00' })
      await pay(other, { payer })
      expect(await other.postedNano()).toBe(50n * unit)
      const part = { reason: 'asked for', amount: '20.00', refund: `part-${provider}` }
      for (const _ of [1, 2])
        expect((await first.refund(part)).json).toMatchObject({ failure: null })
      expect(await first.postedNano()).toBe(33n * unit)
      const more = await first.refund({ reason: 'asked for', amount: '30.01' })
      expect(more.json).toMatchObject({ status: 409, field: 'amount' })
      await first.refund({ reason: 'asked for', amount: '30.00', refund: `rest-${provider}` })
      await scene.payments.sweep(Date.now() + 120_000)
      expect(await first.read()).toMatchObject({ state: 'refunded' })
      expect(await first.postedNano()).toBe(0n)
      const there = control()
        .payments()
        .find(({ orderId }) => orderId === first.id)
      expect(there?.refunds.map(({ amountMinor }) => amountMinor)).toEqual([2_000, 3_000])
    },
  )

  test.each(providers)(
    'PS5 %s: yesterday’s notification, after a refund, credits nothing',
    async (provider) => {
      const made = await scene.order({ provider })
      await pay(made)
      const told = scene.simulator.notified.length - 1
      const all = { reason: 'asked for', refund: `all-${provider}` }
      expect((await made.refund(all)).json).toMatchObject({ failure: null })
      expect(await scene.again({ index: told })).toBe(200)
      expect(await made.postedNano()).toBe(0n)
    },
  )

  test.each(providers)(
    '%s: what cannot be reached is said, and the same attempt makes the order later',
    async (provider) => {
      control().misbehave({ down: true }, 'cleared')
      const account = `away-${provider}`
      await scene.stage.store.accounts.ensure(account, 1)
      const ask = () =>
        scene.stage.send(person(account), 'POST', '/api/orders', {
          body: { provider, amount: '10.00', attempt: 'one' },
        })
      const failed = await ask()
      if (provider !== 'alipay')
        expect(failed.json).toMatchObject({ status: 409, field: 'provider' })
      control().behave()
      const made = await ask()
      expect(made.json).toMatchObject({ state: 'shown' })
    },
  )
})

describe('WeChat Pay with platform certificates', () => {
  let scene: PaymentScene
  beforeAll(async () => {
    scene = await startPaymentScene({ databaseUrl: null, wechatpayMode: 'certificate' })
  })
  afterAll(() => scene.close())
  const control = () => scene.simulator.paysim.control

  test('PS4 both certificates count while one takes the other’s place, and one that ended does not', async () => {
    const before = await scene.order({ provider: 'wechatpay' })
    await control().pay(before.id)
    expect(await before.postedNano()).toBe(10n * unit)
    const told = scene.simulator.notified.length - 1
    await control().rotate()
    const after = await scene.order({ provider: 'wechatpay' })
    await control().pay(after.id)
    expect(await after.postedNano()).toBe(10n * unit)
    expect(await scene.again({ index: told })).toBe(200)
    const ended = await scene.order({ provider: 'wechatpay' })
    control().misbehave({ expiredCertificate: true })
    await control().pay(ended.id)
    expect(control().deliveries().at(-1)?.outcome).toBe('refused')
    expect(await ended.postedNano()).toBe(0n)
  })

  test('PS4 a probe of the signature is refused, and what follows it is taken', async () => {
    const made = await scene.order({ provider: 'wechatpay' })
    control().misbehave({ signTest: true })
    await control().pay(made.id)
    expect(scene.problems.at(-1)?.message).toContain('probe')
    expect(await made.postedNano()).toBe(10n * unit)
  })
})

test('PS13 a clock that is ten minutes wrong is named; Stripe’s payment is found by asking all the same', async () => {
  const scene = await startPaymentScene({ databaseUrl: null })
  const { control } = scene.simulator.paysim
  try {
    const orders = await Promise.all(
      (['wechatpay', 'stripe'] as const).map((provider) => scene.order({ provider })),
    )
    scene.simulator.clock.advance(10 * 60_000)
    for (const made of orders) {
      await control.pay(made.id)
      expect(control.deliveries().at(-1)?.outcome).toBe('refused')
      expect(scene.problems.at(-1)?.message).toMatch(/its time is (5\d\d|600) s from this clock/)
      expect(await made.postedNano()).toBe(0n)
    }
    const [wechatpay, stripe] = orders
    expect((await stripe?.post('check'))?.json.state).toBe('credited')
    // By this clock it accepts no query either: the order stays open, and is queried again.
    expect((await wechatpay?.post('check'))?.json).toMatchObject({ status: 409, field: 'provider' })
    expect((await wechatpay?.read()).state).toBe('shown')
  } finally {
    await scene.close()
  }
})

describe.each(engineCases)('the bill of a day, on $engine', ({ databaseUrl }) => {
  const dayMs = 86_400_000
  const day = new Date(Date.now() - dayMs + 8 * 3_600_000).toISOString().slice(0, 10)
  const yesterday = Date.parse(`${day}T12:00:00+08:00`)
  let scene: PaymentScene
  const paid: Record<string, Ordered> = {}

  beforeAll(async () => {
    setSystemTime(yesterday)
    scene = await startPaymentScene({ databaseUrl })
    const { control } = scene.simulator.paysim
    for (const provider of ['alipay', 'wechatpay', 'stripe']) {
      const made = await scene.order({ provider })
      await fetch(made.pay.url)
      await control.pay(made.id)
      paid[provider] = made
      const back = { reason: 'asked for', amount: '4.00', refund: `back-${provider}` }
      expect((await made.refund(back)).json).toMatchObject({ failure: null })
    }
    await scene.payments.sweep(Date.now() + 120_000)
    setSystemTime()
    scene.simulator.clock.advance(Date.now() - scene.simulator.clock.now())
  })
  afterAll(async () => {
    setSystemTime()
    scene.simulator.paysim.control.behave()
    await scene.close()
  })

  const billOf = async (provider: string, of = day) =>
    scene.stage.send(
      person('root', 'auditor'),
      'GET',
      `/api/payments/bill?provider=${provider}&day=${of}`,
    )
  const all = ['alipay', 'wechatpay', 'stripe'] as const

  test('to ask for a bill does not mark it as compared', async () => {
    const { bills } = scene.stage.store
    const bill = { provider: 'alipay', day } as const
    expect(await bills.take(bill, 1, 2)).toBeTrue()
    expect((await billOf('alipay')).status).toBe(200)
    expect(await bills.take(bill, 3, 4)).toBeTrue()
  })

  test.each(all)('PS12 %s: it fits what was booked', async (provider) => {
    const { status, json } = await billOf(provider)
    expect([status, json]).toEqual([
      200,
      expect.objectContaining({
        payments: 1,
        paid: '10.00',
        refunds: 1,
        refunded: '4.00',
        differences: [],
      }),
    ])
  })

  test.each(all)(
    'PS12 %s: an unknown row, a missing row and another amount are named',
    async (provider) => {
      const { control } = scene.simulator.paysim
      const listed = async (flaw: 'unknown' | 'missing' | 'amount') => {
        control.misbehave({ bill: flaw }, 'cleared')
        const { json } = await billOf(provider)
        control.behave()
        return json.differences
      }
      const { id: orderId } = paid[provider] ?? { id: '' }
      expect(await listed('unknown')).toMatchObject([
        {
          kind: 'payment_not_booked',
          orderId: 'unknown0order',
          billed: '10.00',
          booked: null,
          isOrder: false,
        },
      ])
      expect(await listed('missing')).toMatchObject([
        { kind: 'payment_not_billed', orderId, billed: null, booked: '10.00', isOrder: true },
      ])
      expect(await listed('amount')).toMatchObject([
        { kind: 'amount', orderId, billed: '10.01', booked: '10.00', isOrder: true },
      ])
    },
  )

  test('a day without a bill is empty; who is no operator sees none', async () => {
    expect((await billOf('alipay', '2020-01-01')).json).toMatchObject({
      payments: 0,
      differences: [],
    })
    expect((await billOf('stripe', '2020-01-01')).json).toMatchObject({
      payments: 0,
      differences: [],
    })
    for (const no of ['2020-02-31', '1970-01-01'])
      expect((await billOf('stripe', no)).json).toMatchObject({ status: 400, field: 'day' })
    const path = `/api/payments/bill?provider=alipay&day=${day}`
    expect((await scene.stage.send(person('ann'), 'GET', path)).status).toBe(403)
  })

  test('PS12 what was paid and nobody told of is repaired by asking about its order', async () => {
    const { control } = scene.simulator.paysim
    const today = new Date(Date.now() + 8 * 3_600_000).toISOString().slice(0, 10)
    const made: Ordered[] = []
    for (const provider of all) {
      const order = await scene.order({ provider })
      await fetch(order.pay.url)
      control.misbehave({ lost: true })
      await control.pay(order.id)
      expect((await billOf(provider, today)).json).toMatchObject({ status: 400, field: 'day' })
      made.push(order)
    }
    setSystemTime(Date.now() + dayMs)
    scene.simulator.clock.advance(dayMs)
    for (const [place, provider] of all.entries()) {
      const order = made[place]
      expect((await billOf(provider, today)).json.differences).toMatchObject([
        { kind: 'payment_not_booked', orderId: order?.id, billed: '10.00', isOrder: true },
      ])
      expect((await order?.post('check'))?.json).toMatchObject({ state: 'credited' })
      expect((await billOf(provider, today)).json.differences).toEqual([])
    }
  })
})
