// Tests the filters of pages: what paper shows of them, and how a key is found that is not among those listed.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { type ConsoleStage, hasBrowser, startConsole } from '../support/console.ts'

let stage: ConsoleStage

afterAll(async () => stage?.close())

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
    const call = { model: 'sandbox/chat', messages: [{ role: 'user', content: 'Hello' }] }
    expect((await stage.call(call)).status).toBe(200)
  })
  test('on paper, pages name their range and what they are filtered by', printsChoices)
  test('a key that is not listed is found by its name', findsKey)
  test('a key has its name in statistics, however many others there are', namesKey)
}

const span = 'since=2026-11-01T00:00:00Z&until=2026-11-02T12:30:00Z'

/** The visible lines of choices on paper. */
async function printed(page: Page): Promise<readonly string[]> {
  await page.emulateMedia({ media: 'print' })
  const lines = await page.locator('[data-printed]').filter({ visible: true }).allTextContents()
  expect(await page.locator('[data-filter] button').filter({ visible: true }).count()).toBe(0)
  await page.emulateMedia({ media: 'screen' })
  expect(await page.locator('[data-printed]').filter({ visible: true }).count()).toBe(0)
  return lines
}

async function printsChoices(): Promise<void> {
  const range = 'Time range: Nov 1, 2026, 00:00:00 – Nov 2, 2026, 12:30:00 (UTC)'
  const more = 'model=sandbox%2Fchat&errorCode=server_error&stream=true&minCost=0.5'
  const requests = await stage.open(`/requests?${span}&${more}&account=default`)
  await requests.getByRole('button', { name: 'Clear filters' }).first().waitFor()
  // The currency comes with an answer of its own.
  await requests.getByText('Cost at least: 0.5 USD').waitFor({ state: 'attached' })
  expect(await printed(requests)).toEqual([
    'Account: default',
    range,
    'Model: sandbox/chat',
    'Error code: server_error',
    'Cost at least: 0.5 USD',
    'Streaming: Streamed',
  ])
  await requests.close()
  const usage = await stage.open(`/usage?${span}&model=sandbox%2Fchat,gpt-4o`)
  await usage.getByRole('button', { name: 'Clear filters' }).waitFor()
  expect(await printed(usage)).toEqual([range, 'Model: sandbox/chat, gpt-4o'])
  await usage.close()
  const billing = await stage.open(`/billing?${span}`)
  await billing.getByRole('button', { name: /^Time range/ }).waitFor()
  expect(await printed(billing)).toEqual([range])
  await billing.close()
}

async function findsKey(): Promise<void> {
  const page = await stage.open('/requests')
  // It was never used, so no totals name it.
  const id = await page.evaluate(async () => {
    const body = JSON.stringify({ name: 'night shift', group: 'default' })
    const headers = { 'content-type': 'application/json' }
    return (await (await fetch('/api/keys', { method: 'POST', headers, body })).json()).id
  })
  for (const path of ['/requests', '/usage']) {
    await page.goto(`${stage.server.url}/console${path}`)
    await page.getByRole('button', { name: 'Filter by Key' }).click()
    await page.getByLabel('Search', { exact: true }).fill('night')
    await page.getByRole('checkbox', { name: 'night shift' }).check()
    await page.waitForURL(new RegExp(id))
    await page.keyboard.press('Escape')
    const chosen = page.getByRole('button', { name: 'Key: night shift' })
    await chosen.waitFor()
    expect(await chosen.isVisible()).toBe(true)
  }
  await page.close()
}

async function namesKey(): Promise<void> {
  const page = await stage.open('/settings')
  const limits: (string | null)[] = []
  page.on('request', (request) => {
    const { searchParams } = new URL(request.url())
    if (searchParams.has('ids')) limits.push(searchParams.get('limit'))
  })
  // As if the key stood behind thousands of others in the list.
  await page.route(
    (url) => url.pathname === '/api/keys' && !url.searchParams.has('ids'),
    (route) => route.fulfill({ json: { items: [], next: null } }),
  )
  for (const path of ['/', '/usage?by=key']) {
    await page.goto(`${stage.server.url}/console${path}`)
    await page.getByText('first', { exact: true }).first().waitFor()
  }
  expect(await page.getByText('first', { exact: true }).count()).toBeGreaterThan(0)
  // All that are asked for at once come in one page.
  expect(new Set(limits)).toEqual(new Set(['200']))
  await page.close()
}
