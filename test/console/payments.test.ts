// Tests operators' pages about orders in a real browser: messages of providers, waiting orders, refunds, and providers'
// numbers.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openStore } from '../../src/store/open.ts'
import { hasBrowser, seriousFindings } from '../support/console.ts'
import { newOrder } from '../support/payments.ts'
import { order, startTopUp, type TopUpStage } from '../support/top-up.ts'

let shop: TopUpStage

afterAll(async () => {
  await shop?.close()
})

if (hasBrowser) {
  beforeAll(async () => {
    shop = await startTopUp()
  })
  // The first order that is credited gets the bonus that a refund takes back in part; orders of other tests may be
  // found paid later.
  test('the provider’s number finds its order, in the list and in the palette', finds)
  test('each provider says when it was heard, and a test of its address what is in the way', tested)
  test('in Chinese and on a phone the finding is said as well', translated)
  test(
    'what waits for more than two minutes is listed, asked about there, and resumed from billing',
    waits,
  )
  test('a refund says what it takes with it before it is sent', plans)
  test('a refund whose answers a proxy replaced is made once', refundsOnce)
  test('the receipt opens from the order and from billing, in the language of the console', prints)
  test('an order that has ended is asked about all the same, and credited where it was paid', late)
}

async function tested() {
  const { stage, simulator } = shop
  const made = await stage.open('/billing/top-up')
  const id = await order(made, 'Card (Stripe)')
  simulator.paysim.control.misbehave({ forged: true })
  await simulator.paysim.control.pay(id)
  await made.close()
  const page = await stage.open('/admin/payments')
  const stripe = page.getByRole('listitem').filter({ hasText: '/api/payments/stripe/notify' })
  await stripe.getByText('signature').first().waitFor()
  await stripe.getByRole('button', { name: 'Test the address' }).click()
  await stripe.getByText(/This deployment answered itself within \d+ ms\.$/).waitFor()
  await stripe.getByText('Card (Stripe) cannot reach it.', { exact: false }).waitFor()
  await stripe.getByText('The address is not https.', { exact: false }).waitFor()
  expect(await seriousFindings(page)).toEqual([])
  expect(stage.faults()).toEqual([])
  await page.close()
}

async function translated() {
  const { stage } = shop
  const page = await stage.open('/admin/payments', { width: 390, theme: 'dark', language: 'zh-CN' })
  const path = '**/api/payments/alipay/self-test'
  const found = { address: '', isPublic: true, isSecure: true, tookMs: 9 }
  const detail = `https://a.example/${'x'.repeat(200)}/`
  const alipay = page.getByRole('listitem').filter({ hasText: '/api/payments/alipay/notify' })
  for (const [outcome, status, said] of [
    ['redirect', 308, `被重定向到 ${detail}。`],
    ['page', 200, '应答的是一个网页，例如登录页。'],
    ['not_found', 404, '返回 404：该路径不存在。'],
    ['blocked', 403, '返回 403：网关前面有组件拒绝了请求。'],
    ['unavailable', 502, '返回 502：代理无法连接到网关。'],
    ['other_deployment', 409, '应答的是另一个部署，或 ENCRYPTION_KEY 不同的进程。'],
    ['other_program', 200, '应答的是另一个程序。'],
    ['unknown_host', null, '无法解析地址中的域名。'],
    ['tls', null, `证书无效：${detail}`],
    ['slow', null, '五秒内没有应答。'],
    ['unreachable', null, `连接无人接受：${detail}`],
  ] as const) {
    await page.route(path, (route) =>
      route.fulfill({ json: { ...found, outcome, status, detail } }),
    )
    await alipay.getByRole('button', { name: '测试通知地址' }).click()
    await alipay.getByText(said).waitFor()
    await page.unroute(path)
  }
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  expect(await seriousFindings(page)).toEqual([])
  await page.close()
}

async function waits() {
  const { stage } = shop
  const store = await openStore({ dataDir: stage.server.dataDir, databaseUrl: null })
  const createdAt = Date.now() - 180_000
  const old = { id: 'old', account: 'default', createdAt, expiresAt: createdAt + 900_000 }
  await store.paymentOrders.create(newOrder({ ...old, queryAt: null }))
  await store.paymentOrders.show('old', { kind: 'redirect', url: 'https://pay.example' }, createdAt)
  await store.close()
  const page = await stage.open('/admin/payments')
  const alipay = page.getByRole('listitem').filter({ hasText: '/api/payments/alipay/notify' })
  await alipay.getByRole('link', { name: /for more than two minutes/ }).click()
  const row = page.getByRole('row').filter({ hasText: 'old' })
  const isList = (asked: { url(): string }) => new URL(asked.url()).pathname === '/api/orders'
  const again = page.waitForRequest(isList, { timeout: 5_000 })
  await row.getByRole('button', { name: 'Check now' }).click()
  await page.getByText('no payment so far').waitFor()
  await again
  const { searchParams } = new URL(page.url())
  expect([searchParams.get('stuck'), searchParams.get('provider')]).toEqual(['true', 'alipay'])
  await page.getByRole('row').nth(2).waitFor({ state: 'detached' })
  expect(await seriousFindings(page)).toEqual([])
  await page.close()
  const billing = await stage.open('/billing', { width: 390 })
  await billing.getByText('Waiting to be paid').waitFor()
  await billing.getByRole('link', { name: '10.00 CNY by Alipay' }).first().click()
  await billing.getByRole('button', { name: 'I have paid' }).waitFor()
  expect(new URL(billing.url()).searchParams.get('order')).toBe('old')
  await billing.close()
}

async function finds() {
  const { stage } = shop
  const made = await stage.open('/billing/top-up')
  const id = await order(made, 'Alipay')
  await made.getByRole('link', { name: /^Go to/ }).click()
  await made.locator('button[value=pay]').click()
  await made.getByText('Paid and credited.').waitFor()
  await made.close()
  const page = await stage.open(`/admin/payments?open=${id}`)
  const drawer = page.getByRole('complementary', { name: `Order ${id}` })
  const said = (await drawer.getByText(/^Trade number/).textContent()) ?? ''
  const number = said.replace('Trade number', '').trim()
  expect(number.length).toBeGreaterThan(8)
  await drawer.getByRole('button', { name: 'Close' }).click()
  const field = page.getByLabel('Order or trade number')
  await field.fill(number)
  await field.press('Enter')
  await page.waitForURL((url) => url.searchParams.get('number') === number)
  expect(await field.evaluate((element) => element === document.activeElement)).toBe(true)
  await field.fill('')
  await page.waitForURL((url) => !url.searchParams.has('number'))
  await field.fill(number)
  await field.press('Tab')
  await page.waitForURL((url) => url.searchParams.get('number') === number)
  await page.getByRole('row').nth(2).waitFor({ state: 'detached' })
  expect(await page.getByRole('row').nth(1).textContent()).toContain('Credited')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search or paste an id' }).fill(number)
  const option = page.getByRole('option', { name: /Order$/ })
  expect(await option.innerText()).toMatch(new RegExp(`^10.00 CNY\\s+${number}\\s+\\w+ \\d+, 20`))
  await option.click()
  await page.waitForURL((url) => url.searchParams.get('open') === id)
  expect(new URL(page.url()).pathname).toBe('/console/admin/payments')
  await page.close()
}

async function plans() {
  const { stage, simulator } = shop
  const made = await stage.open('/billing/top-up')
  const id = await order(made, 'WeChat Pay')
  await simulator.paysim.control.pay(id)
  await made.getByText('Paid and credited.').waitFor()
  await made.close()
  const page = await stage.open(`/admin/payments?open=${id}`)
  await page.getByText('WeChat Pay · Scan a QR code').waitFor()
  await page.getByRole('button', { name: 'Refund' }).click()
  const dialog = page.getByRole('dialog', { name: 'Refund the order' })
  await dialog.getByText('¥10.00 leaves the wallet, and no bonus with it.').waitFor()
  await dialog.getByLabel('Amount').fill('10.01')
  await dialog.getByText('Write an amount above 0, at most 10,', { exact: false }).waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await page.close()
  // Filtered from the start: rows that move during a click would open another order.
  const first = await stage.open('/admin/payments?provider=alipay&state=credited')
  await first.getByRole('row').filter({ hasText: 'Alipay' }).first().click()
  await first.getByRole('button', { name: 'Refund' }).click()
  await first.getByLabel('Amount').fill('5')
  await first.getByText('¥5.00 leaves the wallet, and ¥0.50 of its bonus is taken back.').waitFor()
  await first.close()
}

async function refundsOnce() {
  const page = await shop.stage.open('/admin/payments?provider=wechatpay&state=credited')
  await page.getByRole('row').filter({ hasText: 'WeChat Pay' }).first().click()
  await page.getByRole('button', { name: 'Refund' }).click()
  const dialog = page.getByRole('dialog', { name: 'Refund the order' })
  await dialog.getByLabel('Amount').fill('3')
  await dialog.getByLabel('Reason').fill('half of it was broken')
  const names: string[] = []
  const answers = [504, 503, null]
  await page.route('**/api/orders/*/refund', async (route) => {
    names.push(route.request().postDataJSON().refund)
    const done = await route.fetch()
    const status = answers[names.length - 1]
    if (status === null || status === undefined) return route.fulfill({ response: done })
    await route.fulfill({ status, contentType: 'text/html', body: '<h1>Timeout</h1>' })
  })
  const refund = dialog.getByRole('button', { name: 'Refund', exact: true })
  for (const status of [504, 503]) {
    await refund.click()
    await dialog.getByText(`HTTP ${status}`, { exact: false }).waitFor()
  }
  await refund.click()
  await dialog.waitFor({ state: 'hidden' })
  expect(names).toHaveLength(3)
  expect(new Set(names).size).toBe(1)
  const id = new URL(page.url()).searchParams.get('open')
  const refunds = await page.evaluate(
    async (path) => (await (await fetch(path)).json()).refunds,
    `/api/orders/${id}`,
  )
  expect(refunds).toMatchObject([{ reason: 'half of it was broken' }])
  await page.close()
}

async function prints() {
  const { stage } = shop
  for (const [path, language, link, title] of [
    ['/billing', 'en', 'Receipt', 'Receipt'],
    ['/billing/orders?state=credited', 'zh-CN', '收据', '收据'],
  ] as const) {
    const page = await stage.open(path, { language })
    if (language === 'zh-CN') await page.getByRole('row').nth(1).click()
    const opened = page.context().waitForEvent('page')
    await page.getByRole('link', { name: link }).first().click()
    const receipt = await opened
    await receipt.getByRole('heading', { level: 1, name: title }).waitFor()
    await receipt.getByText('10.00').first().waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await receipt.close()
    await page.close()
  }
  const page = await stage.open('/billing', { language: 'zh-CN' })
  await page.getByRole('button', { name: '列' }).click()
  await page.getByRole('checkbox', { name: '操作人' }).check()
  await page.getByRole('cell', { name: '微信支付', exact: true }).first().waitFor()
  await page.close()
}

async function late() {
  const { stage, simulator, available } = shop
  const page = await stage.open('/billing/top-up')
  const id = await order(page, 'Card (Stripe)')
  await page.getByRole('button', { name: 'Cancel the order' }).click()
  await page.getByText('This order was cancelled.', { exact: false }).waitFor()
  await page.getByRole('button', { name: 'I have paid' }).click()
  await page.getByText('has no payment of this order so far.', { exact: false }).waitFor()
  const before = await available()
  simulator.paysim.control.misbehave({ lost: true })
  await simulator.paysim.control.pay(id)
  await page.getByRole('button', { name: 'I have paid' }).click()
  await page.getByText('It came after the order had ended', { exact: false }).waitFor()
  expect((await available()) - before).toBe(10_000_000_000n)
  expect(await seriousFindings(page)).toEqual([])
  await page.close()
}
