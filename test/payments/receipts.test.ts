// Tests receipts of orders: payments, bonus and refunds in them, their owners, and the page that is printed.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { manager, person } from '../support/control.ts'
import { engineCases } from '../support/deployment.ts'
import { type PaymentScene, startPaymentScene } from './scene.ts'

describe.each(engineCases)('a receipt, on $engine', ({ databaseUrl }) => {
  let scene: PaymentScene
  beforeAll(async () => {
    const payments = { bonus: { firstTopUp: { percent: '10' } }, issuer: 'Example <Ltd> 有限公司' }
    scene = await startPaymentScene({ databaseUrl, payments })
  })
  afterAll(() => scene.close())

  const get = (account: string, id: string, query = '') =>
    scene.stage.send(person(account), 'GET', `/api/orders/${id}/receipt${query}`)

  test('says what was paid, given and paid back, and adds up to the ledger', async () => {
    const made = await scene.order({ provider: 'wechatpay', amount: '12.50' })
    expect((await get(made.account, made.id)).json).toMatchObject({ status: 409, field: 'id' })
    await scene.simulator.paysim.control.pay(made.id)
    await made.refund({ amount: '2.50', reason: 'asked for' })
    const { json } = await get(made.account, made.id)
    const { tradeNumber } = await made.read()
    expect(json).toMatchObject({
      number: made.id,
      issuer: 'Example <Ltd> 有限公司',
      provider: 'wechatpay',
      currency: 'CNY',
      payments: [{ id: tradeNumber, amount: '12.50' }],
      paid: '12.50',
      refunds: [{ amount: '2.50', reason: 'asked for' }],
      refunded: '2.50',
      creditCurrency: 'USD',
      creditNano: '12500000000',
      bonusNano: '1250000000',
      takenNano: '2750000000',
    })
    const left = BigInt(json.creditNano) + BigInt(json.bonusNano) - BigInt(json.takenNano)
    expect(await made.postedNano()).toBe(left)
  })

  test('names the buyer that its person has given, as the statement of the month does', async () => {
    const made = await scene.order({ provider: 'stripe' })
    await scene.simulator.paysim.control.pay(made.id)
    expect((await get(made.account, made.id)).json.buyer).toBe(null)
    const as = person(made.account)
    const buyer = { title: 'Muster & Söhne <AG>', taxNumber: '91310000ABCDEF', address: '' }
    const put = (body: object) => scene.stage.send(as, 'PUT', '/api/me/preferences', { body })
    expect((await put({ buyer: { ...buyer, title: '' } })).json).toMatchObject({
      status: 400,
      field: 'buyer.title',
    })
    expect((await put({ buyer })).json).toMatchObject({ buyer })
    expect((await get(made.account, made.id)).json.buyer).toEqual(buyer)
    const { json: text } = await get(made.account, made.id, '?format=html&language=zh-CN')
    expect(text).toContain('<td>购买方</td><td>Muster &amp; Söhne &lt;AG&gt;</td>')
    expect(text).toContain('<td>税号</td><td>91310000ABCDEF</td>')
    expect(text).not.toContain('<td>地址</td>')
    const [{ month }] = (await scene.stage.send(as, 'GET', '/api/statements')).json.items
    const statement = await scene.stage.send(as, 'GET', `/api/statements/${month}?format=html`)
    expect(statement.json).toContain('<td>Buyer</td><td>Muster &amp; Söhne &lt;AG&gt;</td>')
  })

  test('of an order paid twice has both payments', async () => {
    const made = await scene.order({ provider: 'alipay', method: 'qr' })
    await scene.simulator.paysim.control.pay(made.id)
    await scene.simulator.paysim.control.pay(made.id)
    const { json } = await get(made.account, made.id)
    expect(json).toMatchObject({ paid: '20.00', refunded: '0.00', refunds: [] })
    expect(new Set(json.payments.map(({ id }: { id: string }) => id)).size).toBe(2)
  })

  test('is a page to print in either language, which keeps names as they are and runs nothing', async () => {
    const made = await scene.order({ provider: 'stripe' })
    await scene.stage.store.people.change(made.account, { name: '王小明 <script>' })
    await scene.simulator.paysim.control.pay(made.id)
    await made.refund({ amount: '1.00', reason: 'asked for' })
    const { tradeNumber } = await made.read()
    for (const [language, title] of [
      ['en', 'Receipt'],
      ['zh-CN', '收据'],
    ]) {
      const query = `?format=html&language=${language}`
      const { headers, json: page } = await get(made.account, made.id, query)
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(page).toContain(`<h1>${title}</h1>`)
      for (const said of [
        `<html lang="${language}">`,
        made.id,
        tradeNumber,
        'Example &lt;Ltd&gt; 有限公司',
        `王小明 &lt;script&gt; (${made.account})`,
        '10.00',
        '-1.00',
      ])
        expect(page).toContain(said)
      const times = page.match(/\d{4}-\d\d-\d\d[^<]*/g)
      expect(times).toHaveLength(4)
      for (const time of times) expect(time).toMatch(/^\S{10} \d\d:\d\d:\d\d$/)
      expect(page).not.toContain('<script>')
      const [style = ''] = /<style>[^<]*<\/style>/.exec(page) ?? []
      const hash = new Bun.CryptoHasher('sha256').update(style.slice(7, -8)).digest('base64')
      expect(headers.get('content-security-policy')).toContain(hash)
    }
    expect((await get(made.account, made.id, '?format=pdf')).json.field).toBe('format')
  })

  test('has a line in the statement, which names the order in its language', async () => {
    const made = await scene.order({ provider: 'stripe' })
    await scene.simulator.paysim.control.pay(made.id)
    const as = person(made.account)
    const { items } = (await scene.stage.send(as, 'GET', '/api/statements')).json
    for (const [language, order] of [
      ['en', 'Order'],
      ['zh-CN', '订单'],
    ]) {
      const path = `/api/statements/${items[0].month}?format=html&language=${language}`
      const page = (await scene.stage.send(as, 'GET', path)).json
      expect(page).toContain(`<td>${order} ${made.id}</td>`)
    }
  })

  test('is its owner’s and the operators’', async () => {
    const made = await scene.order({ provider: 'stripe' })
    await scene.simulator.paysim.control.pay(made.id)
    expect((await get('someone-else', made.id)).status).toBe(404)
    const path = `/api/orders/${made.id}/receipt`
    for (const as of [person('eve', 'auditor'), manager(null, ['read'])])
      expect((await scene.stage.send(as, 'GET', path)).json.account).toBe(made.account)
    expect((await scene.stage.send(null, 'GET', path)).status).toBe(401)
  })
})
