// Tests billing in a real browser: the balance, the ledger with the reason of each charge, an adjustment with its
// reason.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type ConsoleStage, hasBrowser, seriousFindings, startConsole } from '../support/console.ts'

let stage: ConsoleStage

afterAll(async () => stage?.close())

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
    const messages = [{ role: 'user', content: 'Hello' }]
    const reply = await stage.call({ model: 'sandbox/chat', messages })
    expect(reply.status).toBe(200)
  })
  test('the ledger shows a charge with the balance after it, and leads to its request', async () => {
    const page = await stage.open('/billing')
    const table = page.getByRole('table', { name: 'Ledger' })
    await table.getByRole('row').filter({ hasText: 'Request' }).first().waitFor()
    const row = table.getByRole('row').filter({ hasText: 'req_' }).first()
    expect(await row.textContent()).toMatch(/−\$0\.0000\d+\$99\.9999\d+/)
    expect(await seriousFindings(page)).toEqual([])
    await row.getByRole('link', { name: 'req_' }).click()
    await page.waitForURL(/\/console\/requests\?open=req_/)
    await page.close()
  })
  test('an adjustment needs an amount and a reason, and is in the ledger at once', async () => {
    const page = await stage.open('/billing')
    await page.getByRole('button', { name: 'Adjust the balance' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Adjust', exact: true }).click()
    await dialog.getByText('such as 12.50').waitFor()
    await dialog.getByText('Say why.').waitFor()
    await dialog.getByLabel('Amount').fill(' 12.5 ')
    await dialog.getByLabel('Reason').fill('for the first customer')
    await dialog.getByRole('button', { name: 'Adjust', exact: true }).click()
    await dialog.waitFor({ state: 'hidden' })
    const row = page.getByRole('row').filter({ hasText: 'for the first customer' })
    await row.waitFor()
    expect(await row.textContent()).toContain('+$12.50')
    await page.close()
  })
  test('an adjustment that is under way cannot be left, and begun a second time', async () => {
    const page = await stage.open('/billing')
    await page.getByRole('button', { name: 'Adjust the balance' }).click()
    const dialog = page.getByRole('dialog')
    const { promise, resolve } = Promise.withResolvers<void>()
    await page.route('**/adjustments', async (route) => {
      await promise
      await route.continue()
    })
    await dialog.getByLabel('Amount').fill('0.5')
    await dialog.getByLabel('Reason').fill('slowly')
    await dialog.getByRole('button', { name: 'Adjust', exact: true }).click()
    await dialog.getByRole('button', { name: 'Cancel', disabled: true }).waitFor()
    await dialog.getByRole('button', { name: 'Close', disabled: true }).waitFor()
    await page.keyboard.press('Escape')
    expect(await dialog.isVisible()).toBe(true)
    resolve()
    await dialog.waitFor({ state: 'hidden' })
    await page.getByRole('row').filter({ hasText: 'slowly' }).waitFor()
    await page.close()
  })
  test('on a small screen a request of the ledger is named in full, and copied', async () => {
    const page = await stage.open('/billing')
    await page.setViewportSize({ width: 768, height: 900 })
    const row = page.getByRole('row').filter({ hasText: 'req_' }).first()
    const cell = row.getByRole('cell').nth(2)
    const { right = 0 } = await cell.evaluate((each) => each.getBoundingClientRect().toJSON())
    const copy = await row.getByRole('button', { name: 'Copy' }).boundingBox()
    expect((copy?.x ?? right) + (copy?.width ?? 1)).toBeLessThan(right)
    await page.close()
  })
  test('credit from a code is in the ledger at once, which was open just before', async () => {
    const page = await stage.open('/billing')
    await page.getByRole('table', { name: 'Ledger' }).waitFor()
    const code = await page.evaluate(async () => {
      const body = JSON.stringify({ codes: 1, amount: '7' })
      const headers = { 'content-type': 'application/json' }
      const reply = await fetch('/api/redemption-batches', { method: 'POST', headers, body })
      return (await reply.json()).secrets[0]
    })
    await page.getByRole('link', { name: 'Buy credit' }).click()
    await page.getByLabel('Redemption code').fill(code)
    await page.getByRole('button', { name: 'Redeem', exact: true }).click()
    await page.getByText('was credited.', { exact: false }).waitFor()
    await page.getByRole('link', { name: 'Back to billing' }).click()
    // If the page had to refresh by itself, the ledger would be later than this waits.
    const row = page.getByRole('row').filter({ hasText: '+$7.00' })
    await row.waitFor({ timeout: 5_000 })
    expect(await row.count()).toBe(1)
    await page.close()
  })
  test.each([
    ['en', 'Adjust the balance', 'Write an amount above 0, at most 9,223,372,036'],
    ['zh-CN', '调整余额', '请填写大于 0、不超过 9,223,372,036 的金额'],
  ] as const)(
    'an amount out of bounds is answered with the bounds, in %s',
    async (language, open, said) => {
      const page = await stage.open('/billing', { language })
      await page.getByRole('button', { name: open }).click()
      const dialog = page.getByRole('dialog')
      const amount = dialog.locator('input').first()
      for (const text of ['0', '10000000000', '1,000', '1.0000000001']) {
        await amount.fill(text)
        await amount.press('Enter')
        await dialog.getByRole('alert').filter({ hasText: said }).waitFor()
      }
      // As much as the API accepts is sent.
      await amount.fill('1000000000')
      await dialog.getByRole('alert').filter({ hasText: said }).waitFor({ state: 'detached' })
      expect(await amount.getAttribute('aria-invalid')).toBeNull()
      await page.close()
    },
  )
  test('a month has a statement to print, which adds up', async () => {
    const page = await stage.open('/billing')
    const named = { month: 'long', year: 'numeric', timeZone: 'UTC' } as const
    const month = new Date().toLocaleDateString('en', named)
    await page.getByText(month, { exact: true }).waitFor()
    const link = page.getByRole('link', { name: 'Open to print or save as PDF' }).first()
    const [statement] = await Promise.all([page.waitForEvent('popup'), link.click()])
    await statement.getByText('for the first customer').waitFor()
    expect(await seriousFindings(statement)).toEqual([])
    await statement.close()
    const statements = page.getByRole('listitem').filter({ hasText: month })
    await statements.getByRole('link', { name: 'Requests' }).click()
    await page.waitForURL(/\/console\/requests\?/)
    const first = `${new Date().toISOString().slice(0, 7)}-01T00:00:00.000Z`
    expect(new URL(page.url()).searchParams.get('since')).toBe(first)
    // An operator's own, not everybody's.
    expect(new URL(page.url()).searchParams.get('account')).toBe('default')
    await page.getByRole('table').getByRole('row').filter({ hasText: 'sandbox/chat' }).waitFor()
    await page.close()
  })
  test('what is held leads to the requests of that account alone', async () => {
    const page = await stage.open('/billing')
    await page.getByRole('link', { name: 'By requests that are running' }).click()
    await page.waitForURL(/\/console\/requests\?account=default/)
    await page.close()
    const user = await stage.open('/billing', { context: await stage.visitor('user') })
    await user.getByRole('link', { name: 'By requests that are running' }).click()
    await user.waitForURL(/\/console\/requests/)
    expect(new URL(user.url()).search).toBe('')
    await user.close()
  })
  test('statements name the buyer that is typed here', async () => {
    const page = await stage.open('/billing')
    const card = page.locator('section').filter({ hasText: 'Buyer on receipts and statements' })
    await card.getByLabel('Tax number').fill(' 91310000ABCDEF ')
    await card.getByRole('button', { name: 'Save' }).click()
    await card.getByText('Write a name.').waitFor()
    await card.getByLabel('Company or person').fill('Muster AG')
    await card.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The buyer was saved.').waitFor()
    await page.reload()
    expect(await card.getByLabel('Tax number').inputValue()).toBe('91310000ABCDEF')
    const link = page.getByRole('link', { name: 'Open to print or save as PDF' }).first()
    const [statement] = await Promise.all([page.waitForEvent('popup'), link.click()])
    await statement.getByRole('row', { name: 'Buyer Muster AG' }).waitFor()
    await statement.close()
    await page.close()
  })
  test('an auditor is offered nothing that would be refused', async () => {
    const context = await stage.visitor('auditor')
    const page = await stage.open('/billing', { context })
    await page.getByText('An auditor cannot buy credit.').waitFor()
    await page.getByText('It is not set up.').waitFor()
    await page.getByRole('heading', { name: 'Ledger' }).waitFor()
    for (const name of ['Buy credit', 'Redeem a code'])
      expect(await page.getByRole('link', { name }).count()).toBe(0)
    await page.goto(page.url().replace('/billing', '/billing/top-up'))
    await page.getByText('auditors change nothing').waitFor()
    expect(await page.getByRole('button', { name: 'Redeem' }).count()).toBe(0)
    expect(await seriousFindings(page)).toEqual([])
    await context.close()
  })
  test('in Chinese, dark and narrow it is the same page without a fault', async () => {
    const page = await stage.open('/billing', { language: 'zh-CN', theme: 'dark', width: 390 })
    await page.getByRole('heading', { name: '流水' }).waitFor()
    await page.getByText('for the first customer').waitFor()
    expect(await seriousFindings(page)).toEqual([])
    expect(stage.faults()).toEqual([])
    await page.close()
  })
  test('on a phone the statements come after the newest ten entries, and more are shown on demand', async () => {
    const messages = [{ role: 'user', content: 'Hello' }]
    for (let at = 0; at < 11; at += 1) await stage.call({ model: 'sandbox/chat', messages })
    const page = await stage.open('/billing', { width: 390 })
    const entries = page.getByRole('list', { name: 'Ledger' }).getByRole('listitem')
    await entries.nth(9).waitFor()
    expect(await entries.count()).toBe(10)
    await page.getByRole('button', { name: 'Show more' }).click()
    await entries.nth(12).waitFor()
    await page.close()
  })
  test('who comes back to the window has the balance anew, and of a long list no page is read again', async () => {
    const messages = [{ role: 'user', content: 'Hello' }]
    for (let at = 0; at < 100; at += 1) await stage.call({ model: 'sandbox/chat', messages })
    const page = await stage.open('/billing')
    const table = page.getByRole('table', { name: 'Ledger' })
    await table.getByRole('row').filter({ hasText: 'req_' }).first().waitFor()
    await page.waitForLoadState('networkidle')
    const comesBack = async () => {
      const asked: string[] = []
      const note = (request: { url(): string }) => asked.push(new URL(request.url()).pathname)
      page.on('request', note)
      const balance = page.waitForResponse(/\/api\/balance/)
      await page.evaluate(() => {
        const now = Date.now
        Date.now = () => now() + 60_000
        globalThis.dispatchEvent(new Event('visibilitychange'))
      })
      await balance
      page.off('request', note)
      return asked.filter((path) => path === '/api/ledger').length
    }
    expect(await comesBack()).toBe(1)
    const second = page.waitForResponse(/\/api\/ledger.*cursor=/)
    await table.locator('..').evaluate((box) => box.scrollTo(0, box.scrollHeight))
    await second
    expect(await comesBack()).toBe(0)
    await page.close()
  })
  test.each([
    { api: '/api/orders', card: 'Waiting to be paid' },
    { api: '/api/billing/auto-top-up', card: 'Automatic top-up' },
  ])('$card says so if it cannot be loaded', async ({ api, card }) => {
    const page = await stage.open('/sign-in')
    const json = { code: 'invalid', detail: 'It is refused.' }
    await page.route(`**${api}?*`, (route) => route.fulfill({ status: 400, json }))
    await page.goto(`${stage.server.url}/console/billing`)
    const heading = page.getByRole('heading', { name: card, exact: true })
    const part = page.locator('section').filter({ has: heading })
    await part.getByText('It is refused.').waitFor()
    await page.getByRole('table', { name: 'Ledger' }).waitFor()
    await page.unroute(`**${api}?*`)
    await part.getByRole('button', { name: 'Try again' }).click()
    await part.getByText('It is refused.').waitFor({ state: 'detached' })
    expect(await page.getByRole('main').getByRole('alert').count()).toBe(0)
    await page.close()
  })
}
