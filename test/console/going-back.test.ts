// Tests in a real browser that what is opened on a page is one step of the history, which closing takes back, and that
// the page stays where it is scrolled to.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { type ConsoleStage, hasBrowser, startConsole } from '../support/console.ts'

let stage: ConsoleStage

afterAll(async () => stage?.close())

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
    const messages = [{ role: 'user', content: 'Hello' }]
    for (let count = 0; count < 40; count += 1)
      await stage.call({ model: 'sandbox/chat', messages })
  })
  test.each([
    ['/requests', 'Requests'],
    ['/models', 'Models'],
    ['/admin/prices', 'Models and prices'],
  ])('on %s an item that was closed is not opened by Back', async (path, name) => {
    const page = await arrive(name)
    const row = page.locator('tbody tr[data-id]').first()
    await row.locator('td').nth(-2).click()
    const drawer = page.getByRole('complementary')
    await drawer.waitFor()
    await page.keyboard.press('Escape')
    await closes(page, path)
    // Also where its tabs and another item were looked at meanwhile.
    await row.locator('td').nth(-2).click()
    await drawer.waitFor()
    const opened = page.url()
    await page.keyboard.press('j')
    await page.waitForURL((url) => url.href !== opened)
    await page.getByRole('button', { name: 'Close (Esc)' }).click()
    await closes(page, path)
    await leaves(page)
  })
  test('an item that its address opened is closed without a step, and Back leaves the page', async () => {
    const page = await stage.open('/usage')
    await page.goto(`${stage.server.url}/console/models?open=sandbox/chat`)
    await page.getByRole('complementary').waitFor()
    await page.keyboard.press('Escape')
    await closes(page, '/models')
    await leaves(page)
  })
  test('a form that is thrown away by its button is not opened by Back', async () => {
    const page = await arrive('API keys')
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Name' }).fill('laptop')
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await closes(page, '/keys')
    await leaves(page)
  })
  test('a draft that is discarded by Escape is not opened by Back', async () => {
    const page = await arrive('API keys')
    await page.locator('tbody tr[data-id]').first().locator('td').nth(3).click()
    const drawer = page.getByRole('complementary')
    await drawer.getByRole('textbox', { name: 'Name' }).fill('desktop')
    await drawer.focus()
    await page.keyboard.press('Escape')
    const question = page.getByRole('dialog', { name: 'Discard what you typed?' })
    await question.getByRole('button', { name: 'Cancel' }).click()
    await drawer.focus()
    await page.keyboard.press('Escape')
    await question.getByRole('button', { name: 'Discard' }).click()
    await closes(page, '/keys')
    await leaves(page)
  })
  test('a page stays where it is scrolled to while an item is opened and closed', async () => {
    const page = await arrive('Requests')
    const row = page.locator('tbody tr[data-id]').nth(3)
    await row.waitFor()
    const scrolled = () => page.evaluate(() => Math.round(globalThis.scrollY))
    await page.mouse.move(700, 850)
    await page.evaluate(() => globalThis.scrollTo(0, 100))
    expect(await scrolled()).toBe(100)
    await row.locator('td').nth(1).click()
    await page.getByRole('complementary').getByText('First token after').waitFor()
    expect(await scrolled()).toBe(100)
    await page.keyboard.press('Escape')
    await closes(page, '/requests')
    expect(await scrolled()).toBe(100)
    // Another page begins at its top.
    await page.getByRole('navigation').getByRole('link', { name: 'Usage' }).click()
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor()
    expect(await scrolled()).toBe(0)
    expect(stage.faults()).toEqual([])
    await page.close()
  })
}

async function arrive(name: string): Promise<Page> {
  const page = await stage.open('/usage')
  await page.getByRole('navigation').getByRole('link', { name, exact: true }).click()
  await page.getByRole('heading', { level: 1, name }).waitFor()
  return page
}

/** Nothing is open, and the address of the page is the plain one. */
async function closes(page: Page, path: string): Promise<void> {
  await page.getByRole('complementary').or(page.getByRole('dialog')).waitFor({ state: 'detached' })
  await page.waitForURL((url) => url.pathname === `/console${path}` && url.search === '')
}

/** Back leads to the page before. */
async function leaves(page: Page): Promise<void> {
  await page.goBack()
  await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor()
  expect(await page.getByRole('complementary').or(page.getByRole('dialog')).count()).toBe(0)
  await page.close()
}
