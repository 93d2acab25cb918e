// Tests what all providers of the simulator have in common: the pay page, misbehaviours, and a state that survives a
// restart.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Stripe from 'stripe'
import { eventually } from '../support/clients.ts'
import { last, type PaysimScene, startPaysim } from '../support/paysim.ts'

const stripeWebhookUrl = 'https://merchant.example/stripe'
let scene: PaysimScene

beforeAll(async () => {
  scene = await startPaysim({ base: '/paysim', stripeWebhookUrl })
})
afterAll(() => scene.stop())

/** An order at `at`, and the address of its pay page. */
async function order(number: string, name = 'Top up', at = scene): Promise<string> {
  const body = new URLSearchParams({
    mode: 'payment',
    client_reference_id: number,
    success_url: 'https://merchant.example/done',
    cancel_url: 'https://merchant.example/left',
    'line_items[0][quantity]': '1',
    'line_items[0][price_data][currency]': 'usd',
    'line_items[0][price_data][unit_amount]': '500',
    'line_items[0][price_data][product_data][name]': name,
  })
  const headers = { authorization: `Bearer ${at.paysim.merchant.stripe.secretKey}` }
  const url = `${at.baseUrl}/v1/checkout/sessions`
  const response = await fetch(url, { method: 'POST', headers, body })
  expect(response.status).toBe(200)
  return (await response.json()).url
}

function press(page: string, action: 'pay' | 'cancel'): Promise<Response> {
  const body = new URLSearchParams({ action, payer: 'Li Wei' })
  return fetch(page, { method: 'POST', body, redirect: 'manual' })
}

/** The results of the attempts to notify the merchant of one order. */
function outcomes(number: string, at = scene): string[] {
  const of = at.paysim.control.deliveries().filter(({ orderId }) => orderId === number)
  return of.map(({ outcome }) => outcome)
}

describe('the pay page', () => {
  test.each([
    ['zh-CN,zh;q=0.9,en;q=0.8', 'zh-CN', '模拟支付：不涉及真实资金'],
    ['en-GB,zh;q=0.5', 'en', 'Simulated payment: no real money'],
    ['', 'en', 'Simulated payment: no real money'],
  ])('says that it is play money, to readers of %p', async (accepted, language, title) => {
    const page = await order(`page-${language}`)
    const response = await fetch(page, { headers: { 'accept-language': accepted } })
    const html = await response.text()
    expect(html).toContain(`<html lang="${language}">`)
    expect(html).toContain(`<h1>${title}</h1>`)
    expect(html).not.toContain('<script')
    const policy = response.headers.get('content-security-policy')
    expect(policy).toStartWith("default-src 'none'")
    expect(policy).toContain("form-action 'self' https://merchant.example;")
  })

  test('shows what merchants write as text', async () => {
    const page = await order('page-escaped', '<img src=x onerror="alert(1)">')
    const html = await (await fetch(page)).text()
    expect(html).not.toContain('<img')
    expect(html).toContain('&#60;img')
  })

  test('pays once, and sends the browser where the merchant wants it', async () => {
    const page = await order('page-paid')
    const left = await press(page, 'cancel')
    expect(left.headers.get('location')).toBe('https://merchant.example/left')
    expect(outcomes('page-paid')).toEqual([])
    const paid = await press(page, 'pay')
    expect([paid.status, paid.headers.get('location')]).toEqual([
      303,
      'https://merchant.example/done',
    ])
    expect((await press(page, 'pay')).status).toBe(200)
    expect(outcomes('page-paid')).toEqual(['acknowledged'])
    expect(last(scene.notified).body).toContain('"name":"Li Wei"')
  })

  test('of an order that is not there says so', async () => {
    expect((await fetch(`${scene.baseUrl}/pay/alipay/1`)).status).toBe(404)
    expect((await fetch(`${scene.baseUrl}/pay/paypal/1`)).status).toBe(404)
    expect((await fetch(new URL('/v1/events', scene.baseUrl))).status).toBe(404)
  })
})

describe('misbehaviour', () => {
  test('lost: nothing comes, then or later', async () => {
    await order('lost-1')
    scene.paysim.control.misbehave({ lost: true })
    await scene.paysim.control.pay('lost-1')
    scene.clock.advance(3_600_000)
    expect(outcomes('lost-1')).toEqual(['lost'])
  })

  test('late: it comes when that time has passed', async () => {
    await order('late-1')
    scene.paysim.control.misbehave({ lateMs: 600_000 })
    await scene.paysim.control.pay('late-1')
    scene.clock.advance(599_999)
    expect(outcomes('late-1')).toEqual([])
    scene.clock.advance(1)
    expect(await eventually(() => outcomes('late-1')[0])).toBe('acknowledged')
  })

  test('repeated: a hundred at once, byte for byte', async () => {
    await order('repeated-1')
    scene.paysim.control.misbehave({ repeated: 100 })
    const before = scene.notified.length
    await scene.paysim.control.pay('repeated-1')
    const told = scene.notified.slice(before)
    expect(told).toHaveLength(100)
    expect(new Set(told.map(({ body }) => body)).size).toBe(1)
  })

  test('reordered: it comes after the one that follows', async () => {
    await order('first-1')
    await order('second-1')
    scene.paysim.control.misbehave({ reordered: true })
    await scene.paysim.control.pay('first-1')
    const before = scene.notified.length
    await scene.paysim.control.pay('second-1')
    const told = scene.notified.slice(before).map(({ body }) => /(first|second)-1/.exec(body)?.[0])
    expect(told).toEqual(['second-1', 'first-1'])
    expect(outcomes('first-1')).toEqual(['held back', 'acknowledged'])
  })

  test('replayed: the same bytes and signature come again', async () => {
    await order('replayed-1')
    scene.paysim.control.misbehave({ replayedAfterMs: 301_000 })
    await scene.paysim.control.pay('replayed-1')
    const first = last(scene.notified)
    const before = scene.notified.length
    scene.clock.advance(301_000)
    const again = await eventually(() => scene.notified[before])
    expect(again.body).toBe(first.body)
    expect(again.headers.get('stripe-signature')).toBe(first.headers.get('stripe-signature'))
  })

  test('wrong amount, currency and account are signed, and nothing else is wrong', async () => {
    await order('wrong-1')
    const wrong = { wrongAmount: true, wrongCurrency: true, wrongSeller: true }
    scene.paysim.control.misbehave(wrong)
    await scene.paysim.control.pay('wrong-1')
    const { body, headers } = last(scene.notified)
    const { webhookSecret } = scene.paysim.merchant.stripe
    const signature = headers.get('stripe-signature') ?? ''
    const time = scene.clock.now()
    const event = await new Stripe('sk_test').webhooks.constructEventAsync(
      body,
      signature,
      webhookSecret,
      300,
      undefined,
      time,
    )
    expect(event).toMatchObject({
      account: 'acct_000000000000',
      data: { object: { amount_total: 501, currency: 'eur', client_reference_id: 'wrong-1' } },
    })
  })

  test('down until it behaves, and slow by the clock', async () => {
    const page = await order('down-1')
    scene.paysim.control.misbehave({ down: true }, 'cleared')
    expect((await fetch(`${scene.baseUrl}/v1/events`)).status).toBe(503)
    expect((await fetch(page)).status).toBe(503)
    scene.paysim.control.behave()
    expect((await fetch(page)).status).toBe(200)
    scene.paysim.control.misbehave({ slowMs: 1000 })
    const before = scene.paysim.control.received().length
    const slow = scene.paysim.fetch(new Request(page))
    const soon = await scene.paysim.fetch(new Request(page))
    expect(soon.status).toBe(200)
    expect(scene.paysim.control.received()).toHaveLength(before + 1)
    scene.clock.advance(1000)
    expect((await slow).status).toBe(200)
  })

  test('a merchant that does not answer is asked again', async () => {
    const at = await startPaysim({ stripeWebhookUrl })
    await order('silent-1', 'Top up', at)
    at.merchantAnswers = () => Promise.reject(new Error('connection refused'))
    await at.paysim.control.pay('silent-1')
    at.merchantAnswers = () => new Promise(() => undefined)
    at.clock.advance(300_000)
    await eventually(() => at.notified[1])
    at.clock.advance(20_000)
    await eventually(() => outcomes('silent-1', at)[1])
    expect(outcomes('silent-1', at)).toEqual(['unreachable', 'timeout'])
    await at.stop()
  })
})

test('an order is paid twice where a test wants it, with two numbers', async () => {
  await order('twice-1')
  await scene.paysim.control.pay('twice-1')
  await scene.paysim.control.pay('twice-1', { payer: 'Alex Smith', amountMinor: 200 })
  const [payment] = scene.paysim.control.payments().filter(({ orderId }) => orderId === 'twice-1')
  const transactions = payment?.transactions ?? []
  expect(transactions.map(({ amountMinor }) => amountMinor)).toEqual([500, 200])
  expect(new Set(transactions.map(({ id }) => id)).size).toBe(2)
  const { secretKey } = scene.paysim.merchant.stripe
  const refund = (amount: string) =>
    fetch(`${scene.baseUrl}/v1/refunds`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secretKey}` },
      body: new URLSearchParams({ payment_intent: last(transactions).id, amount }),
    })
  expect((await refund('201')).status).toBe(400)
  expect((await refund('200')).status).toBe(200)
  expect((await refund('1')).status).toBe(400)
  await expect(scene.paysim.control.pay('nobody-1')).rejects.toThrow('no order nobody-1')
})

test('a restart keeps keys and orders, and sends what was not acknowledged', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'paysim-'))
  const first = await startPaysim({ stripeWebhookUrl, directory })
  await order('kept-1', 'Top up', first)
  first.merchantAnswers = () => new Response('', { status: 500 })
  await first.paysim.control.pay('kept-1')
  expect(outcomes('kept-1', first)).toEqual(['refused'])
  await first.stop()
  expect(await readdir(directory)).toEqual(['paysim.json'])
  expect((await stat(join(directory, 'paysim.json'))).mode & 0o777).toBe(0o600)

  const second = await startPaysim({ stripeWebhookUrl, directory })
  const { baseUrl: _, ...keys } = second.paysim.merchant.stripe
  expect(first.paysim.merchant.stripe).toMatchObject(keys)
  expect(second.paysim.control.payments()).toEqual(first.paysim.control.payments())
  second.clock.advance(300_000)
  expect(await eventually(() => outcomes('kept-1', second)[0])).toBe('acknowledged')
  await second.stop()
  await rm(directory, { recursive: true })
})
