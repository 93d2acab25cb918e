// Tests that preferences set in one browser appear in another of the same account; the newest wins, also one set
// offline.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { BrowserContext, Page } from 'playwright-core'
import { type ConsoleStage, hasBrowser, startConsole } from '../support/console.ts'

let stage: ConsoleStage
let other: BrowserContext

afterAll(async () => stage?.close())

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
    other = await stage.visitor('admin')
  })
  test('theme, density and columns go with the account', follows)
  test('what was chosen offline is kept once there is a connection again', survives)
  test('of two windows at once the newest choice counts', meet)
  test('a saved view brings its columns', bringsColumns)
  test('a view is saved though the preferences change meanwhile', meanwhile)
}

const themeOf = (page: Page) =>
  page.evaluate(() => document.documentElement.dataset['theme'] ?? null)
const hasTheme = (page: Page, theme: string) =>
  page.waitForFunction((wanted) => document.documentElement.dataset['theme'] === wanted, theme)

/** Resolves once the account has the preferences that were chosen meanwhile. */
const isKept = (page: Page) =>
  page.waitForResponse(
    (reply) =>
      reply.url().endsWith('/api/me/preferences') &&
      reply.request().method() === 'PUT' &&
      reply.status() === 200,
  )

async function choose(page: Page, label: string) {
  const kept = isKept(page)
  await page.getByText(label, { exact: true }).click()
  await kept
}

async function follows() {
  const page = await stage.open('/settings?tab=appearance')
  await choose(page, 'Dark')
  await choose(page, 'Compact')
  await page.goto(`${stage.server.url}/console/requests`)
  await page.getByRole('button', { name: 'Columns' }).click()
  await choose(page, 'Client')
  await page.close()

  const there = await stage.open('/requests', { context: other })
  await hasTheme(there, 'dark')
  expect(await there.evaluate(() => document.documentElement.dataset['density'])).toBe('compact')
  await there.getByRole('button', { name: 'Columns' }).click()
  expect(await there.getByLabel('Client', { exact: true }).isChecked()).toBeTrue()
  // From now on they apply before the first paint, since the browser has stored them.
  await there.reload({ waitUntil: 'commit' })
  // The scripts in the head have run once there is a body.
  await there.waitForFunction(() => document.body !== null)
  expect(await themeOf(there)).toBe('dark')
  await there.close()
}

async function survives() {
  const page = await stage.open('/settings?tab=appearance')
  await hasTheme(page, 'dark')
  await page.context().setOffline(true)
  const failed = page.waitForEvent('requestfailed', (request) => request.method() === 'PUT')
  await page.getByText('Light', { exact: true }).click()
  await hasTheme(page, 'light')
  await failed
  await page.context().setOffline(false)
  const kept = isKept(page)
  await page.reload()
  await kept
  await page.close()
  const there = await stage.open('/settings?tab=appearance', { context: other })
  await hasTheme(there, 'light')
  expect(await themeOf(there)).toBe('light')
  await there.close()
}

async function meet() {
  const one = await stage.open('/settings?tab=appearance')
  const two = await stage.open('/settings?tab=appearance', { context: other })
  await choose(one, 'Comfortable')
  // It does not know of that change yet: its write is refused, it reads again, and keeps its own choice.
  await choose(two, 'Dark')
  await one.reload()
  await hasTheme(one, 'dark')
  expect(await themeOf(one)).toBe('dark')
  await one.close()
  await two.close()
}

async function bringsColumns() {
  const page = await stage.open('/requests')
  const columns = page.getByRole('button', { name: 'Columns' })
  await columns.click()
  await choose(page, 'Show the usual columns')
  await page.getByLabel('Model', { exact: true }).uncheck()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Saved views' }).click()
  await page.getByLabel('Save the filters and range as').fill('Without models')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('button', { name: 'Without models', exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await columns.click()
  await page.getByLabel('Model', { exact: true }).check()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Saved views' }).click()
  await page.getByRole('button', { name: 'Without models', exact: true }).click()
  await columns.click()
  expect(await page.getByLabel('Model', { exact: true }).isChecked()).toBeFalse()
  await page.close()
}

async function meanwhile() {
  const page = await stage.open('/requests')
  await page.getByRole('button', { name: 'Saved views' }).click()
  await page.getByLabel('Save the filters and range as').fill('Meanwhile')
  let changed = 0
  await page.route('**/api/me/preferences', async (route) => {
    if (route.request().method() !== 'GET' || changed > 0) return route.continue()
    changed += 1
    const read = await route.fetch()
    const there = await stage.open('/settings?tab=appearance', { context: other })
    await choose(there, 'Light')
    await there.close()
    await route.fulfill({ response: read })
  })
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('button', { name: 'Meanwhile', exact: true }).waitFor()
  expect(changed).toBe(1)
  await page.close()
}
