// Buying credit in a real browser, at the simulator as providers stand apart: each way to pay, and tabs that were closed.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { makeDirectory } from '../contract/databases.ts'
import { type ConsoleStage, hasBrowser, seriousFindings, startConsole } from '../support/console.ts'
import { type PaysimScene, startPaysim } from '../support/paysim.ts'

const directory = makeDirectory()
let simulator: PaysimScene
let stage: ConsoleStage

afterAll(async () => {
  await stage?.close()
  await simulator?.stop()
  directory.remove()
})

if (hasBrowser) {
  beforeAll(async () => {
    simulator = await startPaysim({
      stripeWebhookUrl: 'http://gateway.test/api/payments/stripe/notify',
      send: (request) => fetch(new URL(new URL(request.url).pathname, stage.server.url), request),
    })
    const config = join(directory.path, 'config.json')
    const bonus = { firstTopUp: { percent: '10' } }
    const payments = { ...simulator.paysim.merchant, bonus }
    writeFileSync(config, JSON.stringify({ currency: 'CNY', payments }))
    stage = await startConsole({ words: ['--config', config] })
  })
  test(
    'an amount says what it buys, what is wrong with it, and that the first has a bonus',
    chooses,
  )
  test.each([
    ['Alipay', 390, 'en'],
    ['Alipay', 1440, 'zh-CN'],
    ['WeChat Pay', 1440, 'en'],
    ['WeChat Pay', 390, 'zh-CN'],
    ['Card (Stripe)', 390, 'en'],
    ['Card (Stripe)', 1440, 'zh-CN'],
  ] as const)('%s at %i px in %s: paid on its page, and the console says so by itself', pays)
  test('a QR code of Alipay is shown, and the order cancelled', scans)
  test(
    'the tab was closed and the notification lost: what was paid is found when it is opened again',
    resumes,
  )
  test('a payment nobody tells of is credited by a press of the button', presses)
  test('the ledger leads to the order, with what happened to it', leads)
  test('an administrator finds an order among all, and pays back a part of it once', refunds)
  test('a state that is chosen, and one nobody has, stand in the address', filters)
  test('codes are made, shown once, redeemed, and the rest revoked', redeems)
  test('the answer to making codes was lost: pressed again, they are made once', makesOnce)
  test('nothing is refunded of an order while it is disputed', disputes)
  test('a day is compared with the bill of its provider', async () => {
    const page = await stage.open('/admin/payments')
    await page.getByLabel('Day (UTC+8)').fill('2026-01-02')
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByText('All of it is booked, and nothing else.').waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await page.close()
  })
}

const chinese: Readonly<Record<string, string>> = {
  Alipay: '支付宝',
  'WeChat Pay': '微信支付',
  'Card (Stripe)': '银行卡 (Stripe)',
}

async function available(): Promise<bigint> {
  const run = Bun.spawn(
    ['bin/tollgate', 'balance', 'default', '--json', '--data', stage.server.dataDir],
    { stdout: 'pipe' },
  )
  return BigInt(JSON.parse(await new Response(run.stdout).text()).availableNano)
}

async function chooses() {
  const page = await stage.open('/billing')
  await page.getByRole('link', { name: 'Buy credit' }).click()
  await page.getByText('Bonus for your first payment').waitFor()
  expect(await page.getByText('Play money').count()).toBe(0)
  const own = page.getByLabel('Another amount')
  for (const [text, said] of [
    ['0.99', 'At least 1.'],
    ['10000.01', 'At most 10000.'],
    ['1e2', 'Write an amount such as 12.50.'],
  ]) {
    await own.fill(text ?? '')
    await page.getByText(said ?? '').waitFor()
    expect(await page.getByRole('button', { name: /^Pay / }).isDisabled()).toBeTrue()
  }
  await own.fill('12.5')
  await page.getByText('¥13.75').waitFor()
  await page.getByText('input tokens or').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await page.close()
}

/** Up to the order's own page. */
async function order(page: Page, provider: string, isChinese = false): Promise<string> {
  const name = isChinese ? chinese[provider] : provider
  await page
    .getByText(name ?? '', { exact: true })
    .first()
    .click()
  const pay = isChinese ? new RegExp(`^用${name?.replace(/[()]/g, '.')}支付`) : /^Pay /
  await page.getByRole('button', { name: pay }).click()
  await page.getByRole('timer').waitFor()
  return new URL(page.url()).searchParams.get('order') ?? ''
}

async function pays(provider: string, width: 390 | 1440, language: 'en' | 'zh-CN') {
  const isChinese = language === 'zh-CN'
  const before = await available()
  const page = await stage.open('/billing/top-up', { width, language })
  const id = await order(page, provider, isChinese)
  expect(await seriousFindings(page)).toEqual([])
  const isScanned = provider === 'WeChat Pay' && width === 1440
  if (isScanned) {
    await page.getByRole('img', { name: 'QR code to pay by' }).waitFor()
    await simulator.paysim.control.pay(id)
  } else {
    await page.getByRole('link', { name: isChinese ? /^前往/ : /^Go to/ }).click()
    await page.waitForURL((url) => url.href.startsWith(simulator.baseUrl))
    await page.locator('button[value=pay]').click()
  }
  await page.getByText(isChinese ? '支付成功，已入账。' : 'Paid and credited.').waitFor()
  expect(page.url()).toContain(`/console/billing/top-up?order=${id}`)
  expect(await seriousFindings(page)).toEqual([])
  const gained = (await available()) - before
  expect([10_000_000_000n, 11_000_000_000n]).toContain(gained)
  expect(stage.faults()).toEqual([])
  await page.close()
}

async function scans() {
  const page = await stage.open('/billing/top-up')
  await page.getByText('Scan a QR code').click()
  await order(page, 'Alipay')
  await page.getByRole('img', { name: 'QR code to pay by' }).waitFor()
  await page.getByRole('button', { name: 'Cancel the order' }).click()
  await page.getByText('This order was cancelled.', { exact: false }).waitFor()
  expect(stage.faults()).toEqual([])
  await page.getByRole('link', { name: 'Make another order' }).click()
  await page.getByRole('button', { name: /^Pay / }).waitFor()
  await page.close()
}

async function resumes() {
  const page = await stage.open('/billing/top-up')
  const id = await order(page, 'WeChat Pay')
  await page.close()
  const before = await available()
  simulator.paysim.control.misbehave({ lost: true })
  await simulator.paysim.control.pay(id)
  expect(await available()).toBe(before)
  const again = await stage.open('/billing/top-up')
  await again.getByRole('link', { name: '10.00 CNY by WeChat Pay' }).click()
  await again.getByText('Paid and credited.').waitFor()
  expect((await available()) - before).toBe(10_000_000_000n)
  await again.close()
}

async function presses() {
  const page = await stage.open('/billing/top-up')
  const id = await order(page, 'Card (Stripe)')
  const before = await available()
  await page.getByRole('button', { name: 'I have paid' }).click()
  await page.getByText('has no payment of this order so far.', { exact: false }).waitFor()
  simulator.paysim.control.misbehave({ lost: true })
  await simulator.paysim.control.pay(id)
  await page.getByRole('button', { name: 'I have paid' }).click()
  await page.getByText('Paid and credited.').waitFor()
  expect((await available()) - before).toBe(10_000_000_000n)
  await page.close()
}

async function leads() {
  const page = await stage.open('/billing')
  await page.getByRole('link', { name: 'Order', exact: true }).first().click()
  const drawer = page.getByRole('complementary', { name: /^Order tg/ })
  await drawer
    .getByText('The provider told of it')
    .or(drawer.getByText('Shown to be paid'))
    .first()
    .waitFor()
  await drawer.getByText('What happened').waitFor()
  expect(new URL(page.url()).pathname).toBe('/console/billing/orders')
  expect(await seriousFindings(page)).toEqual([])
  await page.close()
}

async function refunds() {
  const made = await stage.open('/billing/top-up')
  const id = await order(made, 'Alipay')
  await made.getByRole('link', { name: /^Go to/ }).click()
  await made.locator('button[value=pay]').click()
  await made.getByText('Paid and credited.').waitFor()
  await made.close()
  const before = await available()
  const page = await stage.open('/admin/payments')
  await page.getByRole('row').nth(1).getByText('Credited').waitFor()
  await page.getByRole('row').nth(1).click()
  const drawer = page.getByRole('complementary', { name: `Order ${id}` })
  await drawer.getByRole('button', { name: 'Refund' }).click()
  const dialog = page.getByRole('dialog', { name: 'Refund the order' })
  await dialog.getByText('that was paid and is not spent', { exact: false }).waitFor()
  await dialog.getByLabel('Amount').fill('1000')
  await dialog.getByLabel('Reason').fill('asked for')
  await dialog.getByRole('button', { name: 'Refund' }).click()
  await dialog.getByText(/can be refunded/).waitFor()
  await dialog.getByLabel('Amount').fill('4')
  await dialog.getByRole('button', { name: 'Refund' }).click()
  await page.getByText('The refund is done.').waitFor()
  await drawer.getByText('Refund done').waitFor()
  await drawer.getByText('Partly refunded').first().waitFor()
  expect(before - (await available())).toBe(4_000_000_000n)
  await drawer.getByRole('button', { name: 'Refund' }).click()
  expect(await dialog.getByLabel('Amount').inputValue()).toBe('6.00')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  expect(await seriousFindings(page)).toEqual([])
  await page.close()
}

async function filters() {
  const page = await stage.open('/billing/orders', { width: 390, theme: 'dark', language: 'zh-CN' })
  await page.getByLabel('状态').selectOption('part_refunded')
  await page.getByText('部分退款').last().waitFor()
  expect(new URL(page.url()).searchParams.get('state')).toBe('part_refunded')
  await page.getByLabel('状态').selectOption('disputed')
  await page.getByText('没有找到符合条件的订单。').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await page.close()
}

async function redeems() {
  const page = await stage.open('/admin/payments')
  await page.getByRole('button', { name: 'Make codes' }).click()
  const dialog = page.getByRole('dialog', { name: 'Make codes' })
  await dialog.getByLabel('How many').fill('2')
  await dialog.getByLabel('Worth of each').fill('3')
  await dialog.getByLabel('Note').fill('fair')
  await dialog.getByRole('button', { name: 'Make codes' }).click()
  const shown = page.getByRole('dialog', { name: 'Save the codes' })
  const [first = ''] = ((await shown.locator('pre').textContent()) ?? '').split('\n')
  const saving = page.waitForEvent('download')
  await shown.getByRole('button', { name: 'Download as CSV' }).click()
  const saved = await saving
  expect(saved.suggestedFilename()).toMatch(/^codes-rb\w+\.csv$/)
  const csv = readFileSync(await saved.path(), 'utf8').split('\r\n')
  expect(csv.slice(0, 2)).toEqual(['code,amount,currency,expires,note', `${first},3,CNY,,"fair"`])
  expect(csv).toHaveLength(4)
  expect(await seriousFindings(page)).toEqual([])
  await shown.getByRole('button', { name: 'I saved them' }).click()
  const before = await available()
  const own = await stage.open('/billing/top-up', { width: 390 })
  await own.getByLabel('Code', { exact: true }).fill(first.toLowerCase())
  await own.getByRole('button', { name: 'Redeem', exact: true }).click()
  await own.getByText('was credited.', { exact: false }).waitFor()
  expect((await available()) - before).toBe(3_000_000_000n)
  await own.getByLabel('Code', { exact: true }).fill(first)
  await own.getByRole('button', { name: 'Redeem', exact: true }).click()
  await own.getByText('was redeemed before', { exact: false }).waitFor()
  expect(await seriousFindings(own)).toEqual([])
  await own.close()
  await page.reload()
  await page.getByText('1 of 2 redeemed').waitFor()
  await page.getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('revoked', { exact: false }).waitFor()
  await page.close()
}

async function makesOnce() {
  const page = await stage.open('/admin/payments')
  const path = '**/api/redemption-batches'
  await page.getByRole('button', { name: 'Make codes' }).click()
  const dialog = page.getByRole('dialog', { name: 'Make codes' })
  await dialog.getByLabel('How many').fill('1')
  await dialog.getByLabel('Worth of each').fill('2')
  await dialog.getByLabel('Note').fill('lost on the way')
  await page.route(path, async (route) => {
    await route.fetch()
    await route.abort()
  })
  await dialog.getByRole('button', { name: 'Make codes' }).click()
  await dialog.getByText('The gateway cannot be reached.', { exact: false }).waitFor()
  await page.unroute(path)
  await dialog.getByRole('button', { name: 'Make codes' }).click()
  await page.getByRole('button', { name: 'I saved them' }).click()
  await page.getByText('lost on the way').first().waitFor()
  expect(await page.getByText('lost on the way').count()).toBe(1)
  await page.close()
}

async function disputes() {
  const made = await stage.open('/billing/top-up')
  const id = await order(made, 'Card (Stripe)')
  await made.close()
  await simulator.paysim.control.pay(id)
  await simulator.paysim.disputes.open(id)
  const page = await stage.open(`/admin/payments?open=${id}`)
  const drawer = page.getByRole('complementary', { name: `Order ${id}` })
  await drawer.getByText('Disputed').first().waitFor()
  expect(await drawer.getByRole('button', { name: 'Refund' }).count()).toBe(0)
  await page.close()
}
