// Tests orders over the control API, with providers that sign as the real ones do: credited once, or refused and kept.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { loadConfiguration } from '../../src/admin/configuration.ts'
import type { PaymentSettings } from '../../src/config/types.ts'
import { createPayments } from '../../src/payments/payments.ts'
import type { ProviderReply } from '../../src/payments/provider.ts'
import { type ControlStage, controlStage, origin, person } from '../support/control.ts'
import { health, unit } from '../support/payments.ts'
import {
  alipayNotification,
  alipayReply,
  apiV3Key,
  isSignedByMerchant,
  merchantKeys,
  providerKeys,
  stripeNotification,
  stripeSignature,
  webhookSecret,
  wechatHeaders,
  wechatNotification,
  wechatSerial,
} from './providers.ts'

let settings: PaymentSettings
let stage: ControlStage
/** Alipay's answers, by method; each is read anew. */
let alipay: Record<string, () => object>
const asked: string[] = []
let wechatStatus = 200
let wechatRefund = {}

const none = { code: '40004', msg: 'no', sub_code: 'ACQ.TRADE_NOT_EXIST', sub_msg: 'no trade' }
const reply = (text: string, headers: Record<string, string> = {}): ProviderReply => ({
  status: 200,
  text,
  bytes: new TextEncoder().encode(text),
  header: (name) => headers[name] ?? null,
})

async function send({ url: text }: { readonly url: string }): Promise<ProviderReply> {
  const url = new URL(text)
  if (url.host === 'wx.test') {
    const body = JSON.stringify({ code_url: 'weixin://pay', status: 'SUCCESS', ...wechatRefund })
    return { ...reply(body, wechatHeaders(body)), status: wechatStatus }
  }
  if (url.host === 'stripe.test')
    return reply(JSON.stringify({ id: 'cs_1', url: 'https://stripe.test/pay' }))
  if (!isSignedByMerchant(url)) throw new Error('not signed by the merchant')
  const method = url.searchParams.get('method') ?? ''
  asked.push(method)
  return reply(alipayReply(method, alipay[method]?.() ?? none))
}

const configuration = {
  currency: 'USD',
  payments: {
    queryBeforeCredit: false,
    bonus: { firstTopUp: { percent: '10', max: '5' } },
    alipay: {
      appId: 'app-1',
      sellerId: '2088',
      privateKey: merchantKeys.privateKey,
      alipayPublicKey: providerKeys.publicKey,
    },
    wechatpay: {
      mchid: 'mch-1',
      appid: 'wx-1',
      serial: 'ABCDEF12',
      privateKey: merchantKeys.privateKey,
      apiV3Key,
      publicKeyId: wechatSerial,
      publicKey: providerKeys.publicKey,
      baseUrl: 'https://wx.test',
    },
    stripe: { secretKey: 'sk_test', webhookSecret, baseUrl: 'https://stripe.test' },
  },
}

const directory = await import('../contract/databases.ts').then((module) => module.makeDirectory())

async function read(document: object): Promise<PaymentSettings> {
  const file = `${directory.path}/${Object.keys(document).length}-${Math.random()}.json`
  await Bun.write(file, JSON.stringify(document))
  const flags = { config: file, data: directory.path }
  return (await loadConfiguration({ flags, env: {} })).payments
}

beforeAll(async () => {
  settings = await read(configuration)
  stage = await controlStage({
    services: {
      orders: {
        async desk() {
          const options = {
            store: stage.store,
            settings,
            currency: 'USD',
            mode: 'live',
            send,
            onProblem: () => undefined,
          } as const
          return { ...options, payments: createPayments(options), address: origin }
        },
      },
    },
  })
})
beforeEach(() => {
  alipay = {}
  asked.length = 0
})
afterAll(async () => {
  await stage.close()
  directory.remove()
})

let count = 0
/** An order of a new account, and the calls on it. */
async function ordered(provider = 'alipay', amount = '10.00') {
  count += 1
  const account = `ann-${count}`
  await stage.store.accounts.ensure(account, 1)
  const as = person(account)
  const body = { provider, amount, attempt: `a-${count}` }
  const made = await stage.send(as, 'POST', '/api/orders', { body })
  expect([made.status, made.json.detail]).toEqual([201, undefined])
  const id: string = made.json.id
  return {
    id,
    as,
    amount,
    amountMinor: Number(amount) * 100,
    json: made.json,
    balance: async () => (await stage.store.journal.wallet(account))?.postedNano,
    order: async () => (await stage.send(as, 'GET', `/api/orders/${id}`)).json,
    post: (what: string) => stage.send(as, 'POST', `/api/orders/${id}/${what}`),
  }
}

async function notify(provider: string, body: string, headers: Record<string, string> = {}) {
  const path = `/api/payments/${provider}/notify`
  const type = provider === 'alipay' ? 'application/x-www-form-urlencoded' : 'application/json'
  const init = { method: 'POST', body, headers: { 'content-type': type, ...headers } }
  const answer = await stage.reply(null, path, init)
  return { status: answer.status, text: await answer.text() }
}

describe('Alipay', () => {
  test('PS1 B22 a notification credits the order with its bonus, once, and the answer is exact', async () => {
    const made = await ordered()
    expect(made.json).toMatchObject({
      state: 'shown',
      pay: { kind: 'redirect' },
      bonusNano: '1000000000',
    })
    expect(isSignedByMerchant(new URL(made.json.pay.url))).toBeTrue()
    const body = alipayNotification(made, { buyer_id: made.id })
    expect(await notify('alipay', body)).toEqual({ status: 200, text: 'success' })
    expect(await notify('alipay', body)).toEqual({ status: 200, text: 'success' })
    expect(await made.balance()).toBe(11n * unit)
    const { state, pay, timeline } = await made.order()
    expect({ state, pay }).toEqual({ state: 'credited', pay: null })
    expect(timeline.map(({ what }: { what: string }) => what).sort()).toEqual([
      'created',
      'credited',
      'notified',
      'shown',
    ])
  })

  test('PS3 PS4 I16 B20 B21 whatever is not as it was signed, ordered or for us is refused, kept, and credits nothing', async () => {
    const made = await ordered()
    const forged = [
      alipayNotification(made, {}, { total_amount: '9999.00' }),
      alipayNotification(made, { app_id: 'app-2' }),
      alipayNotification(made, { seller_id: '2089' }),
      alipayNotification(made, { sign_type: 'RSA' }),
      alipayNotification(made, {}, { sign_type: '' }),
      alipayNotification(made, {}, { sign: '' }),
      alipayNotification({ ...made, id: 'no-such-order' }),
      `${alipayNotification(made)}&total_amount=9999.00`,
      alipayNotification(made, { total_amount: '9999.00' }),
      'nothing',
    ]
    for (const body of forged) {
      expect(await notify('alipay', body)).toEqual({ status: 400, text: 'fail' })
      expect(await made.balance()).toBe(0n)
    }
    expect((await health(stage.store, 'alipay')).refusedAt).not.toBeNull()
    expect((await made.order()).state).toBe('shown')
  })

  test('PS1 PS8 I19 a payment nobody told of is found by asking, before and after the order ended', async () => {
    const made = await ordered()
    expect((await made.post('check')).json.state).toBe('shown')
    alipay['alipay.trade.close'] = () => ({ code: '10000' })
    expect((await made.post('cancel')).json.state).toBe('closed')
    alipay['alipay.trade.query'] = () => ({
      code: '10000',
      out_trade_no: made.id,
      trade_no: `t-${made.id}`,
      trade_status: 'TRADE_SUCCESS',
      total_amount: '10.00',
      buyer_user_id: made.id,
    })
    expect((await made.post('check')).json).toMatchObject({ state: 'credited', flag: 'late' })
    expect(await made.balance()).toBe(11n * unit)
    expect((await made.post('cancel')).status).toBe(409)
  })

  test('a payment of less is credited on the provider’s answer as what it is', async () => {
    const made = await ordered()
    alipay['alipay.trade.query'] = () => ({
      code: '10000',
      out_trade_no: made.id,
      trade_no: `trade-${made.id}`,
      trade_status: 'TRADE_SUCCESS',
      total_amount: '4.00',
    })
    const body = alipayNotification({ ...made, amount: '4.00' })
    expect(await notify('alipay', body)).toEqual({ status: 200, text: 'success' })
    expect((await made.order()).flag).toBe('partial')
    expect(await made.balance()).toBe((44n * unit) / 10n)
  })

  test('a refund is asked of the provider, by an admin alone, and comes back where it refuses', async () => {
    const made = await ordered()
    await notify('alipay', alipayNotification(made, { buyer_id: made.id }))
    const path = `/api/orders/${made.id}/refund`
    const body = { reason: 'asked for', amount: '5.00', refund: `r${count}` }
    expect((await stage.send(made.as, 'POST', path, { body })).status).toBe(403)
    const root = person('root', 'admin')
    alipay['alipay.trade.fastpay.refund.query'] = () => ({ code: '10000' })
    alipay['alipay.trade.refund'] = () => ({
      code: '40004',
      sub_code: 'ACQ.NO_BALANCE',
      sub_msg: 'no',
    })
    const failed = await stage.send(root, 'POST', path, { body: { ...body, refund: `f${count}` } })
    expect(failed.json).toMatchObject({ state: 'failed', failure: 'ACQ.NO_BALANCE: no' })
    expect(await made.balance()).toBe(11n * unit)
    const unknown = { code: '40004', sub_code: 'ACQ.SYSTEM_ERROR', sub_msg: 'busy' }
    for (const answer of [unknown, { code: '20000', msg: 'away' }]) {
      alipay['alipay.trade.refund'] = () => answer
      const pending = await stage.send(root, 'POST', path, { body })
      expect(pending.json).toMatchObject({
        state: 'pending',
        failure: expect.stringMatching(/busy|away/),
      })
      expect(await made.balance()).toBe((55n * unit) / 10n)
    }
    alipay['alipay.trade.refund'] = () => ({ code: '10000', fund_change: 'Y', refund_fee: '5.00' })
    // The money of a refund that failed is in the wallet again: it must not be made after all.
    asked.length = 0
    const again = await stage.send(root, 'POST', path, { body: { ...body, refund: `f${count}` } })
    expect([again.json.state, asked]).toEqual(['failed', []])
    for (const _ of [1, 2])
      expect((await stage.send(root, 'POST', path, { body })).json).toMatchObject({
        state: 'done',
        clawbackNano: '500000000',
      })
    expect(await made.balance()).toBe((55n * unit) / 10n)
    expect((await stage.send(root, 'GET', `/api/orders/${made.id}`)).json.refundable).toBe('5.00')
    const most = await stage.send(root, 'POST', path, { body: { reason: 'x', amount: '5.01' } })
    expect(most.json).toMatchObject({ status: 409, field: 'amount' })
  })

  test('a refund whose reply was lost is not taken back by a refusal of the merchant, and made once', async () => {
    const made = await ordered()
    await notify('alipay', alipayNotification(made, { buyer_id: made.id }))
    const refund = async () => {
      const body = { reason: 'asked for', refund: `lost${made.id.slice(-9)}` }
      const path = `/api/orders/${made.id}/refund`
      const { json } = await stage.send(person('root', 'admin'), 'POST', path, { body })
      return [json.state, await made.balance()]
    }
    const query = 'alipay.trade.fastpay.refund.query'
    alipay[query] = () => ({ code: '10000' })
    alipay['alipay.trade.refund'] = () => {
      throw new Error('the reply is lost')
    }
    expect(await refund()).toEqual(['pending', 0n])
    for (const method of [query, 'alipay.trade.refund'])
      for (const code of ['40002 isv.invalid-signature', '40005 isv.app-call-limited']) {
        alipay[method] = () => ({ code: code.slice(0, 5), sub_code: code.slice(6) })
        expect(await refund()).toEqual(['pending', 0n])
        alipay[query] = () => ({ code: '10000' })
      }
    alipay[query] = () => ({ code: '10000', refund_status: 'REFUND_SUCCESS' })
    asked.length = 0
    expect(await refund()).toEqual(['done', 0n])
    expect(asked).toEqual([query])
  })
})

describe('WeChat Pay', () => {
  test('PS4 PS5 PS13 signed by the public key, in time and for this merchant it credits; else it does not', async () => {
    const made = await ordered('wechatpay')
    expect(made.json.pay).toEqual({ kind: 'qr', url: 'weixin://pay' })
    const body = wechatNotification(made)
    const bad: [string, Record<string, string>][] = [
      [body, wechatHeaders(body, { atMs: Date.now() - 600_000 })],
      [body, wechatHeaders(body, { atMs: Date.now() + 600_000 })],
      [body, wechatHeaders(body, { serial: 'PUB_KEY_ID_0002' })],
      [body, wechatHeaders(body, { signature: 'WECHATPAY/SIGNTEST/x' })],
      [body.replace('e-1', 'e-2'), wechatHeaders(body)],
      [body, {}],
    ]
    for (const change of [
      { mchid: 'mch-2' },
      { appid: 'wx-2' },
      { amount: { total: 1_000, currency: 'USD' } },
    ]) {
      const changed = wechatNotification(made, change)
      bad.push([changed, wechatHeaders(changed)])
    }
    for (const [given, headers] of bad)
      expect((await notify('wechatpay', given, headers)).status).toBe(400)
    expect(await made.balance()).toBe(0n)
    expect((await notify('wechatpay', body, wechatHeaders(body))).status).toBe(200)
    expect((await made.order()).state).toBe('credited')
    // Neither a call too many nor a refusal of the merchant says that a refund is not made.
    const [root, path] = [person('root', 'admin'), `/api/orders/${made.id}/refund`]
    const refund = { reason: 'asked for', refund: `w${count}` }
    wechatRefund = { transaction_id: `wx-${made.id}`, amount: { refund: 1_000 } }
    for (const [status, state] of [
      [401, 'pending'],
      [403, 'pending'],
      [404, 'pending'],
      [429, 'pending'],
      [200, 'done'],
    ] as const) {
      wechatStatus = status
      expect((await stage.send(root, 'POST', path, { body: refund })).json.state).toBe(state)
      expect(await made.balance()).toBe(0n)
    }
  })

  test('PS6 a notification for another provider’s order is refused', async () => {
    const made = await ordered()
    const body = wechatNotification(made)
    expect((await notify('wechatpay', body, wechatHeaders(body))).status).toBe(400)
    expect(await made.balance()).toBe(0n)
  })
})

test('Stripe: S20 a webhook with the secret credits, and one with another or an old time does not', async () => {
  const made = await ordered('stripe')
  const body = stripeNotification(made)
  const old = Date.now() - 600_000
  for (const signature of [
    stripeSignature(body, ''),
    stripeSignature(body, webhookSecret, old),
    '',
    't=1',
  ])
    expect((await notify('stripe', body, { 'stripe-signature': signature })).status).toBe(400)
  expect(await made.balance()).toBe(0n)
  const taken = await notify('stripe', body, { 'stripe-signature': stripeSignature(body) })
  expect(taken).toEqual({ status: 200, text: '{"received":true}' })
  expect((await made.order()).state).toBe('credited')
})

test('PS9 I18 only plain amounts of at least the minimum make orders', async () => {
  await stage.store.accounts.ensure('nine', 1)
  const bad = [
    '0.99',
    '1.001',
    '1e2',
    '１.00',
    '-1',
    '9e9',
    '',
    '0',
    '10001',
    ' 1',
    '1.',
    '99999999',
  ]
  for (const amount of bad) {
    const body = { provider: 'alipay', amount, attempt: `x${amount}` }
    const { status, json } = await stage.send(person('nine'), 'POST', '/api/orders', { body })
    expect([amount, status, json.field]).toEqual([amount, 400, 'amount'])
  }
  for (const amount of ['10000.01', '99999999', '123456789012']) {
    const body = { provider: 'alipay', amount, attempt: `y${amount}` }
    const { json } = await stage.send(person('nine'), 'POST', '/api/orders', { body })
    expect([amount, json.detail]).toEqual([amount, 'amount: expected at most 10000 CNY'])
  }
  expect(await stage.store.paymentOrders.list({ account: 'nine', limit: 9 })).toEqual([])
  const body = { provider: 'alipay', amount: '1.00', attempt: 'one' }
  const twice = await Promise.all(
    [1, 2].map(() => stage.send(person('nine'), 'POST', '/api/orders', { body })),
  )
  expect(new Set(twice.map(({ json }) => json.id)).size).toBe(1)
  const other = { ...body, amount: '2.00' }
  const reused = await stage.send(person('nine'), 'POST', '/api/orders', { body: other })
  expect(reused.json).toMatchObject({ status: 409, field: 'attempt' })
})

test('PS7 I17 while the store is away nothing is acknowledged; afterwards it is credited once', async () => {
  const made = await ordered()
  const body = alipayNotification(made, { buyer_id: made.id })
  const { markPaid } = stage.store.payments
  Object.assign(stage.store.payments, {
    markPaid: async () => {
      throw new Error('the store is away')
    },
  })
  expect((await notify('alipay', body)).status).toBe(500)
  Object.assign(stage.store.payments, { markPaid })
  stage.crashes.length = 0
  expect((await notify('alipay', body)).status).toBe(200)
  expect(await made.balance()).toBe(11n * unit)
})

test('B23 with queryBeforeCredit a notification alone credits nothing', async () => {
  const before = settings
  settings = { ...settings, queryBeforeCredit: true }
  try {
    const made = await ordered()
    expect((await notify('alipay', alipayNotification(made))).status).toBe(400)
    expect(await made.balance()).toBe(0n)
    expect(asked).toContain('alipay.trade.query')
  } finally {
    settings = before
  }
})

test('S20 an empty secret leaves the routes absent, half a configuration names its field', async () => {
  const before = settings
  const { alipay: full, stripe } = configuration.payments
  settings = await read({
    payments: { alipay: { ...full, privateKey: '' }, stripe: { ...stripe, webhookSecret: '' } },
  })
  try {
    for (const provider of ['alipay', 'stripe', 'wechatpay', 'paypal'])
      expect((await notify(provider, 'x=1')).status).toBe(404)
  } finally {
    settings = before
  }
  const { webhookSecret: _, ...half } = stripe
  await expect(read({ payments: { stripe: half } })).rejects.toThrow(
    'payments.stripe.webhookSecret',
  )
  const { publicKey: __, ...wechat } = configuration.payments.wechatpay
  await expect(read({ payments: { wechatpay: wechat } })).rejects.toThrow(
    'payments.wechatpay.publicKey',
  )
})

test('the sweeper credits what was never notified, and ends what was never paid', async () => {
  const paid = await ordered()
  alipay['alipay.trade.close'] = () => ({ code: '10000' })
  alipay['alipay.trade.query'] = () => none
  const { payments } = await (async () => {
    const options = { store: stage.store, settings, currency: 'USD', mode: 'live', send } as const
    return { payments: createPayments({ ...options, onProblem: () => undefined }) }
  })()
  await payments.sweep(Date.now() + 16 * 60_000)
  expect((await paid.order()).state).toBe('expired')
  alipay['alipay.trade.query'] = () => ({
    code: '10000',
    out_trade_no: paid.id,
    trade_no: `t-${paid.id}`,
    trade_status: 'TRADE_SUCCESS',
    total_amount: '10.00',
  })
  await payments.sweep(Date.now() + 24 * 3_600_000)
  expect(await paid.order()).toMatchObject({ state: 'credited', flag: 'late' })
})

test('another account’s order is not found', async () => {
  const made = await ordered()
  await stage.store.accounts.ensure('eve', 1)
  for (const [method, path] of [
    ['GET', ''],
    ['POST', '/check'],
    ['POST', '/cancel'],
    ['GET', '/events'],
  ])
    expect(
      (await stage.send(person('eve'), method ?? '', `/api/orders/${made.id}${path}`)).status,
    ).toBe(404)
})

test('a customer has its provider asked 60 times a minute, an operator as often as needed', async () => {
  const made = await ordered()
  const before = asked.length
  let checks = 0
  let last = await made.post('check')
  for (; last.status === 200; checks += 1) last = await made.post('check')
  expect(last.json).toMatchObject({ status: 429, code: 'limited' })
  expect(last.headers.get('retry-after')).toBe('1')
  expect(asked.length - before).toBe(checks)
  const path = `/api/orders/${made.id}/check`
  expect((await stage.send(person('root', 'admin'), 'POST', path)).status).toBe(200)
})
