// Tests the status page in a real browser: public if it is turned on, with days readable by keyboard and as a table.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { type ConsoleStage, hasBrowser, seriousFindings, startConsole } from '../support/console.ts'

let stage: ConsoleStage

afterAll(async () => stage?.close())

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
    const messages = [{ role: 'user', content: 'Hello' }]
    for (let each = 0; each < 3; each += 1)
      expect((await stage.call({ model: 'sandbox/chat', messages })).status).toBe(200)
  })
  test('turned off, it says so and the sidebar does not name it; a setting turns it on', async () => {
    const page = await stage.open('/status')
    await page.getByText('This deployment has no status page.').waitFor()
    const pages = page.getByRole('navigation', { name: 'Pages' })
    expect(await pages.getByRole('link', { name: 'Status' }).count()).toBe(0)
    await set(page, 'statusPage', true)
    await set(page, 'notices', [{ severity: 'warning', text: { en: 'Slow at noon.' } }])
    await page.reload()
    await page.getByText('Slow at noon.').waitFor()
    await pages.getByRole('link', { name: 'Status' }).waitFor()
    await page.close()
  })
  test('a visitor finds a model and reads its days by the keyboard and as a table', async () => {
    const context = await stage.visitor(null)
    const page = await stage.open('/status', { context })
    await page.getByLabel('Search models').fill('sandbox/chat')
    const strip = page.getByRole('slider', { name: /^sandbox\/chat, 90 days: / })
    await strip.first().focus()
    await page.keyboard.press('End')
    expect(await strip.first().getAttribute('aria-valuetext')).toMatch(
      /: not enough traffic, n = 3$/,
    )
    expect(await seriousFindings(page)).toEqual([])
    await page.getByText('Table', { exact: true }).click()
    const row = page.getByRole('row').filter({ hasText: 'sandbox/chat' }).first()
    expect(await row.getByText('not enough traffic, n = 3').count()).toBe(2)
    expect(await seriousFindings(page)).toEqual([])
    expect(new URL(page.url()).search).toBe('?search=sandbox%2Fchat&view=table')
    await page.reload()
    await row.waitFor()
    // A visitor who is not signed in requests nothing of an account, and the browser logs only that one refusal.
    expect(stage.faults().filter((text) => !text.includes('401'))).toEqual([])
    await page.close()
  })
}

/** A request with the session of the page. */
async function set(page: Page, name: string, value: unknown): Promise<void> {
  const status = await page.evaluate(
    async ([path, body]) => {
      const headers = { 'content-type': 'application/json' }
      return (await fetch(path, { method: 'PUT', headers, body })).status
    },
    [`/api/settings/${name}`, JSON.stringify({ value })] as const,
  )
  expect(status).toBe(200)
}
