// Tests buying credit in a real browser, with the simulator at an address apart like real providers: each way to pay,
// and closed tabs.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { type ConsoleStage, hasBrowser, seriousFindings } from '../support/console.ts'
import { briefly } from '../support/long.ts'
import type { PaysimScene } from '../support/paysim.ts'
import { order, startTopUp, type TopUpStage } from '../support/top-up.ts'

let shop: TopUpStage
let simulator: PaysimScene
let stage: ConsoleStage
const available = () => shop.available()

afterAll(async () => {
  await shop?.close()
})

const widths = [390, 1440] as const
const languages = ['en', 'zh-CN'] as const
type Width = (typeof widths)[number]
type Language = (typeof languages)[number]

const providers = {
  page: 'Alipay',
  wap: 'Alipay',
  qr: 'Alipay',
  native: 'WeChat Pay',
  h5: 'WeChat Pay',
  checkout: 'Card (Stripe)',
} as const
type Method = keyof typeof providers

/** Each method occurs with each width and each language, and each width with each language, in the first half. */
const halves = [0, 1].map((half) =>
  (Object.keys(providers) as Method[]).flatMap((method, at) =>
    widths.map((width, wide) => {
      const language = languages[(at + wide + half) % 2] ?? 'en'
      return [method, width, language] as const
    }),
  ),
)

/** How a payment is made that differs from its order, and what the page says of it; the amount that is credited. */
const unusual = {
  late: {
    en: 'It came after the order had ended, and was credited all the same.',
    'zh-CN': '付款在订单结束后到达，仍已入账。',
    gained: 10,
  },
  second: {
    en: 'This order was paid twice, and both payments were credited.',
    'zh-CN': '此订单被支付了两次，两笔均已入账。',
    gained: 20,
  },
  partial: {
    en: 'Less was paid than ordered. What was paid was credited.',
    'zh-CN': '实付金额少于订单金额，已按实付金额入账。',
    gained: 9,
  },
  over: {
    en: 'More was paid than ordered. All of it was credited.',
    'zh-CN': '实付金额多于订单金额，已全部入账。',
    gained: 11,
  },
} as const
type Unusual = keyof typeof unusual

const unusualHalves = [0, 1].map((half) =>
  (Object.keys(unusual) as Unusual[]).map((what, at) => {
    const width = widths[(at + half) % 2] ?? 390
    const language = languages[(Math.floor(at / 2) + half) % 2] ?? 'en'
    return [what, width, language] as const
  }),
)

if (hasBrowser) {
  beforeAll(async () => {
    shop = await startTopUp()
    simulator = shop.simulator
    stage = shop.stage
  })
  test(
    'an amount says what it buys, what is wrong with it, and that the first has a bonus',
    chooses,
  )
  test.each(briefly(12, halves.flat()))(
    '%s at %i px in %s: paid, and the console says so by itself',
    pays,
  )
  test.each(briefly(4, unusualHalves.flat()))(
    'paid %s at %i px in %s: credited as it was paid, and the page says what was unusual',
    paysUnusually,
  )
  test('who comes back to the window has paid, most likely: the provider is asked at once', focuses)
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
  test(
    'automatic top-up is agreed to by a payment, and set, refused at its field, and turned off',
    automatic,
  )
  test('nothing is refunded of an order while it is disputed', disputes)
  test('a day is compared with the bill of its provider', async () => {
    const page = await stage.open('/admin/payments')
    await page.getByLabel('Day (UTC+8)').fill('2026-01-02')
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByText('The bill and the ledger agree.').waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await page.close()
  })
}

async function chooses() {
  const page = await stage.open('/billing')
  await page.getByRole('link', { name: 'Buy credit' }).click()
  await page.getByText('Bonus for your first payment').waitFor()
  expect(await page.getByText('Play money').count()).toBe(0)
  const own = page.getByLabel('Another amount')
  for (const text of ['0.99', '10000.01', '1e2']) {
    await own.fill(text)
    await page.getByText('Write a number from 1 to 10,000, in plain digits').waitFor()
    const pay = page.getByRole('button', { name: /^Pay / })
    expect(await pay.isDisabled()).toBeTrue()
    const reason = (await pay.getAttribute('aria-describedby')) ?? 'none'
    expect(await page.locator(`[id="${reason}"]`).textContent()).toBe('Correct the amount first.')
  }
  // When it is emptied, no error stays.
  await own.fill('')
  await page.getByText('Correct the amount first.').waitFor({ state: 'detached' })
  await own.fill('12.5')
  await page.getByText('¥13.75').waitFor()
  await page.getByText('input tokens or').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  // It begins with an amount that is offered.
  await own.fill('')
  await own.pressSequentially('105', { delay: 50 })
  expect(await own.inputValue()).toBe('105')
  await page.getByRole('button', { name: 'Pay 105 CNY' }).waitFor()
  await page.getByRole('group', { name: 'Amount' }).locator('label').nth(1).click()
  await page.getByRole('button', { name: 'Pay 50 CNY' }).waitFor()
  expect(await own.inputValue()).toBe('')
  await page.close()
}

const onPhones: ReadonlySet<Method> = new Set(['wap', 'h5'])
const scanned: ReadonlySet<Method> = new Set(['qr', 'native'])

/** A page at the order, which was made on the device for which its method is intended. */
async function ordered(method: Method, width: Width, language: Language) {
  const isChinese = language === 'zh-CN'
  const madeAt = method === 'checkout' ? width : onPhones.has(method) ? 390 : 1440
  const page = await stage.open('/billing/top-up', { width: madeAt, language })
  if (method === 'qr') {
    await page
      .getByText(isChinese ? '支付宝' : 'Alipay', { exact: true })
      .first()
      .click()
    await page.getByText(isChinese ? '扫描二维码' : 'Scan a QR code').click()
  }
  const id = await order(page, providers[method], isChinese)
  if (madeAt === width) return { page, id }
  await page.close()
  const other = await stage.open(`/billing/top-up?order=${id}`, { width, language })
  await other.getByRole('timer').waitFor()
  return { page: other, id }
}

async function pays(method: Method, width: Width, language: Language) {
  const isChinese = language === 'zh-CN'
  const before = await available()
  const { page, id } = await ordered(method, width, language)
  expect(await seriousFindings(page)).toEqual([])
  if (scanned.has(method)) {
    const name = isChinese ? '付款二维码' : 'QR code to pay by'
    await page.getByRole('img', { name }).waitFor()
    await simulator.paysim.control.pay(id)
  } else {
    await page.getByRole('link', { name: isChinese ? /^前往.+支付$/ : /^Go to/ }).click()
    await page.waitForURL((url) => url.href.startsWith(simulator.baseUrl))
    await page.locator('button[value=pay]').click()
  }
  await page.getByText(isChinese ? '支付成功，已入账。' : 'Paid and credited.').waitFor()
  expect(page.url()).toContain(`/console/billing/top-up?order=${id}`)
  expect(await seriousFindings(page)).toEqual([])
  const gained = (await available()) - before
  expect([10_000_000_000n, 11_000_000_000n]).toContain(gained)
  const paid = await page.evaluate(async (of) => (await fetch(`/api/orders/${of}`)).json(), id)
  expect([paid.method, paid.payments.length]).toEqual([method, 1])
  expect(stage.faults()).toEqual([])
  await page.close()
}

async function paysUnusually(what: Unusual, width: Width, language: Language) {
  const isChinese = language === 'zh-CN'
  const { page, id } = await ordered('native', width, language)
  const before = await available()
  const { control } = simulator.paysim
  if (what === 'late') {
    await page.getByRole('button', { name: isChinese ? '取消订单' : 'Cancel the order' }).click()
    await page.getByRole('timer').waitFor({ state: 'detached' })
  }
  await control.pay(id, {
    ...(what === 'partial' && { amountMinor: 900 }),
    ...(what === 'over' && { amountMinor: 1_100 }),
  })
  await page.getByText(isChinese ? '支付成功，已入账。' : 'Paid and credited.').waitFor()
  if (what === 'second') await control.pay(id)
  await page.getByText(unusual[what][language]).waitFor()
  expect((await available()) - before).toBe(BigInt(unusual[what].gained) * 1_000_000_000n)
  expect(await seriousFindings(page)).toEqual([])
  expect(stage.faults()).toEqual([])
  await page.close()
}

async function focuses() {
  const { page, id } = await ordered('native', 390, 'en')
  // It also asks by itself at intervals, which is not tested here.
  await page.addInitScript(() => {
    globalThis.setInterval = (() => 0) as unknown as typeof setInterval
    // However slow the machine is, no time passes between the page's first request and the first focus.
    const at = Date.now()
    Date.now = () => at
  })
  // The page asks once as it opens, about an order that is not paid yet. The previous document may still be asking.
  await page.reload()
  await page.waitForFunction((path) => {
    const asked = performance.getEntriesByType('resource').find(({ name }) => name.endsWith(path))
    return (asked?.toJSON().responseEnd ?? 0) > 0
  }, `/api/orders/${id}/check`)
  await page.getByRole('timer').waitFor()
  simulator.paysim.control.misbehave({ lost: true })
  await simulator.paysim.control.pay(id)
  const before = await available()
  await page.evaluate(() => globalThis.dispatchEvent(new Event('focus')))
  expect(await page.getByText('Paid and credited.').count()).toBe(0)
  await page.evaluate(() => {
    const now = Date.now
    Date.now = () => now() + 6_000
    globalThis.dispatchEvent(new Event('focus'))
  })
  await page.getByText('Paid and credited.').waitFor()
  expect((await available()) - before).toBe(10_000_000_000n)
  await page.close()
}

async function scans() {
  const page = await stage.open('/billing/top-up')
  await page.getByText('Scan a QR code').click()
  await order(page, 'Alipay')
  const code = page.getByRole('img', { name: 'QR code to pay by' })
  await code.waitFor()
  // Cameras need it dark on white in the dark theme too.
  await page.emulateMedia({ colorScheme: 'dark' })
  const ground = await code.evaluate((svg) => getComputedStyle(svg).backgroundColor)
  expect(ground).toBe('rgb(255, 255, 255)')
  await page.emulateMedia({ colorScheme: 'light' })
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
  await page.getByRole('row', { name: 'Top-up' }).getByRole('link', { name: '…' }).first().click()
  const drawer = page.getByRole('complementary', { name: /^Order tg/ })
  await drawer
    .getByText('The provider reported it')
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
  await dialog.getByText('Write an amount above 0, at most').waitFor()
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
  expect(csv.slice(0, 2)).toEqual([
    '\ufeffcode,amount,currency,expires,note',
    `${first},3,CNY,,"fair"`,
  ])
  expect(csv).toHaveLength(4)
  expect(await seriousFindings(page)).toEqual([])
  // Shown for the only time, they do not go by one press.
  await shown.getByRole('button', { name: 'Close' }).click()
  await page.keyboard.press('Escape')
  expect(await shown.getByRole('button', { name: 'Done' }).isDisabled()).toBeTrue()
  await shown.getByRole('checkbox', { name: 'I saved them' }).press('Space')
  await shown.getByRole('button', { name: 'Done' }).press('Enter')
  const before = await available()
  const own = await stage.open('/billing/top-up', { width: 390 })
  await own.getByLabel('Redemption code').fill(first.toLowerCase())
  await own.route('**/api/redeem', async (route) => {
    await route.fetch()
    await route.abort()
  })
  await own.getByRole('button', { name: 'Redeem', exact: true }).click()
  await own.getByText('The gateway cannot be reached.', { exact: false }).waitFor()
  await own.unroute('**/api/redeem')
  await own.getByRole('button', { name: 'Redeem', exact: true }).click()
  await own.getByText('was credited.', { exact: false }).waitFor()
  expect((await available()) - before).toBe(3_000_000_000n)
  await own.getByLabel('Redemption code').fill(first)
  await own.getByRole('button', { name: 'Redeem', exact: true }).click()
  await own.getByText('This code was redeemed before', { exact: false }).waitFor()
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
  for (const [said, status] of [
    ['HTTP 504', 504],
    ['The gateway cannot be reached.', null],
  ] as const) {
    await page.route(path, async (route) => {
      await route.fetch()
      await (status === null ? route.abort() : route.fulfill({ status, body: 'Timeout' }))
    })
    await dialog.getByRole('button', { name: 'Make codes' }).click()
    await dialog.getByText(said, { exact: false }).waitFor()
    await page.unroute(path)
  }
  await dialog.getByRole('button', { name: 'Make codes' }).click()
  await page.getByRole('checkbox', { name: 'I saved them' }).check()
  await page.getByRole('button', { name: 'Done' }).click()
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

async function automatic() {
  const page = await stage.open('/billing')
  await page.getByLabel('First payment').fill(' 12.50 ')
  const attempts: unknown[] = []
  await page.route('**/api/orders', (route) => {
    attempts.push(route.request().postDataJSON().attempt)
    const json = { code: 'conflict', detail: 'It is refused.' }
    return attempts.length > 1 ? route.continue() : route.fulfill({ status: 409, json })
  })
  await page.getByRole('button', { name: 'Agree and pay' }).click()
  await page.getByText('It is refused.').waitFor()
  await page.getByRole('button', { name: 'Agree and pay' }).click()
  await page.waitForURL(/order=tg/)
  expect(new Set(attempts).size).toBe(2)
  const id = new URL(page.url()).searchParams.get('order') ?? ''
  await simulator.paysim.control.pay(id)
  await page.goto(`${stage.server.url}/console/billing`)
  await page.getByLabel('When less is left than').fill('5')
  await page.getByLabel('Pay', { exact: true }).fill(' 20 ')
  await page.getByLabel('At most in a month').fill('19')
  await page.getByRole('button', { name: 'Turn on' }).click()
  await page.getByText('Write at least the amount of one top-up.').waitFor()
  await page.getByLabel('At most in a month').fill(' 50 ')
  await page.getByRole('button', { name: 'Turn on' }).click()
  await page.getByRole('button', { name: 'Turn off' }).waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await page.reload()
  expect(await page.getByLabel('At most in a month').inputValue()).toBe('50.00')
  await page.getByRole('button', { name: 'Turn off' }).click()
  await page.getByRole('button', { name: 'Turn on' }).waitFor()
  await page.close()
}
