// Tests the frame of the console in a real browser: signing in by the link, pages, palette, shortcuts, theme, language,
// faults.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { type ConsoleStage, hasBrowser, seriousFindings, startConsole } from '../support/console.ts'

let stage: ConsoleStage

afterAll(async () => stage?.close())

const heading = (page: Page, name: string) =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor()

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
  })
  test('the one-time link ends in the console, signed in as an operator', async () => {
    const page = await stage.open('/')
    await heading(page, 'Overview')
    expect(await page.getByRole('link', { name: 'Operations' }).isVisible()).toBe(true)
    await page.close()
  })
  test('who is not signed in is asked to, and comes back to the page', async () => {
    const context = await stage.visitor(null)
    const page = await stage.open('/keys', { context })
    await heading(page, 'Sign in')
    expect(new URL(page.url()).searchParams.get('return-to')).toContain('/keys')
    await context.close()
  })
  test('Ctrl K and a name, g and a letter, and the sidebar lead to a page', async () => {
    const page = await stage.open('/')
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search or paste an id' }).fill('reque')
    await page.keyboard.press('Enter')
    await heading(page, 'Requests')
    await page.keyboard.press('g')
    await page.keyboard.press('k')
    await heading(page, 'API keys')
    await page.getByRole('link', { name: 'Billing' }).click()
    await heading(page, 'Billing')
    expect(new URL(page.url()).pathname).toBe('/console/billing')
    // Parts of pages have names of their own.
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search or paste an id' }).fill('message hi')
    await page.keyboard.press('Enter')
    await heading(page, 'Settings')
    expect(new URL(page.url()).searchParams.get('tab')).toBe('history')
    await page.close()
  })
  test('what is typed before the palette is there belongs to it', async () => {
    const page = await stage.open('/')
    const held = Promise.withResolvers<void>()
    await page.route('**/assets/palette*.js', async (route) => {
      await held.promise
      await route.continue()
    })
    await page.keyboard.press('Control+k')
    await page.keyboard.type('ggk?reqx')
    await page.keyboard.press('Backspace')
    held.resolve()
    const box = page.getByRole('combobox', { name: 'Search or paste an id' })
    await box.waitFor()
    expect(await box.inputValue()).toBe('ggk?req')
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Overview')
    await page.close()
  })
  test('language and theme are chosen in the menu and kept', choosesLanguage)
  test('a narrow window has the pages behind a menu', async () => {
    const page = await stage.open('/', { width: 390 })
    const link = page
      .getByRole('navigation', { name: 'Pages' })
      .getByRole('link', { name: 'Usage' })
    expect(await link.isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Open the menu' }).click()
    await link.waitFor()
    // The keyboard is in the menu, not in the page under it.
    const close = page.getByRole('button', { name: 'Close the menu' })
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
    expect(await focused()).toBe('Close the menu')
    const tabs: boolean[] = []
    for (let at = 0; at < 40; at += 1) {
      await page.keyboard.press('Tab')
      tabs.push(await page.evaluate(() => document.activeElement?.closest('main, header') === null))
    }
    expect(tabs).not.toContain(false)
    await close.click()
    expect(await focused()).toBe('Open the menu')
    await page.getByRole('button', { name: 'Open the menu' }).click()
    await link.waitFor()
    const covers = page.locator('div[aria-hidden]').filter({ hasNot: page.locator('*') })
    const behind = await covers.evaluateAll((all) =>
      all.map((each) => getComputedStyle(each).backgroundColor),
    )
    expect(behind).toContain('rgba(0, 0, 0, 0.4)')
    await link.click()
    await heading(page, 'Usage')
    await page.close()
  })
  test.each([320, 390, 768])(
    'at %s px a large balance and a long name of an account are whole',
    fitsInHeader,
  )
  test(
    'a session that ends leaves the page as it is until somebody signs in again',
    survivesSignOut,
  )
  test(
    'whoever has signed in again saves what was typed, and no refusal is left',
    savesOnceSignedInAgain,
  )
  test('axe finds nothing serious in the frame, light and dark, wide and narrow', async () => {
    for (const theme of ['light', 'dark'] as const) {
      for (const width of [390, 1440] as const) {
        const page = await stage.open('/', { theme, width })
        expect(await seriousFindings(page)).toEqual([])
        await page.emulateMedia({ media: 'print', colorScheme: theme })
        expect(await page.getByRole('banner').isVisible()).toBe(false)
        expect(await page.evaluate(() => getComputedStyle(document.body).color)).toBe(
          'rgb(26, 26, 23)',
        )
        await page.close()
      }
    }
  })
}

async function choosesLanguage() {
  const other = await stage.open('/usage')
  const page = await stage.open('/')
  await page.getByRole('button', { name: /^Account menu/ }).click()
  await page.getByRole('menuitem', { name: '中文' }).click()
  await page.getByRole('link', { name: '用量' }).waitFor()
  expect(await page.evaluate(() => document.documentElement.lang)).toBe('zh-CN')
  // So does a page that was already open; its texts are loaded again.
  await other.getByRole('heading', { level: 1, name: '用量' }).waitFor()
  await other.getByRole('link', { name: '请求', exact: true }).first().click()
  await other.getByRole('heading', { level: 1, name: '请求' }).waitFor()
  expect(await other.getByRole('link', { name: '账单' }).count()).toBe(1)
  await other.close()
  await page.getByRole('button', { name: /的账户菜单$/ }).click()
  await page.getByRole('menuitem', { name: '主题：跟随系统' }).click()
  expect(await page.evaluate(() => document.documentElement.dataset['theme'])).toBe('light')
  await page.close()
}

async function fitsInHeader(width: number) {
  const account = 'Ministry-of-Long-Account-Names'
  const page = await stage.open('/settings')
  await page.setViewportSize({ width, height: 844 })
  await page.route('**/api/balance*', async (route) => {
    const response = await route.fetch({ url: `${stage.server.url}/api/balance` })
    const json = { ...((await response.json()) as object), availableNano: '1239999000000000' }
    await route.fulfill({ response, json })
  })
  await page.goto(`${stage.server.url}/console/settings?account=${account}`)
  const balance = page.getByRole('link', { name: 'Balance' })
  await balance.waitFor()
  expect((await balance.textContent())?.replaceAll('\u00a0', ' ')).toBe(
    `Balance of the account ${account}${width < 768 ? '$1.23 M' : '$1,239,999.00'}`,
  )
  expect(await balance.getByTitle('$1,239,999.00').count()).toBe(1)
  const name = page.getByText(`Account ${account}`, { exact: true })
  for (const each of [balance, name]) {
    const isCut = await each.evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
    expect(isCut).toBe(false)
  }
  await page.close()
}

async function savesOnceSignedInAgain() {
  const context = await stage.visitor('admin')
  const page = await stage.open('/settings', { context })
  const name = page.getByLabel('Name', { exact: true })
  await name.fill('Ann')
  const cookies = await context.cookies()
  await context.clearCookies()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: 'Your session has ended' }).waitFor()
  await page.getByText('You are no longer signed in.').waitFor()
  await context.addCookies(cookies)
  await page.getByRole('button', { name: 'I have signed in' }).click()
  await page.getByText('You are no longer signed in.').waitFor({ state: 'detached' })
  expect(await name.inputValue()).toBe('Ann')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Your name was saved.').waitFor()
  await context.close()
}

async function survivesSignOut() {
  const context = await stage.visitor('admin')
  const page = await stage.open('/keys', { context })
  await context.clearCookies()
  const before = stage.faults().length
  await page.getByRole('link', { name: 'Billing' }).click()
  await page.getByRole('heading', { name: 'Your session has ended' }).waitFor()
  await heading(page, 'Billing')
  // The browser writes each refused request into its log.
  expect(
    stage
      .faults()
      .slice(before)
      .filter((text) => !text.includes('401')),
  ).toEqual([])
  await context.close()
}
