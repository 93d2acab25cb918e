// Tests the Requests page in a real browser: list, filters in the address, receipt, blame, messages, live tail, running
// requests.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { eventually } from '../support/clients.ts'
import { type ConsoleStage, hasBrowser, seriousFindings, startConsole } from '../support/console.ts'

let stage: ConsoleStage

afterAll(async () => stage?.close())

const say = (model: string, content = 'Hello') =>
  stage.call({ model, messages: [{ role: 'user', content }] })

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
    expect((await say('sandbox/chat')).status).toBe(200)
    expect((await say('no-such-model')).status).toBe(404)
  })
  test('each request is a row, and opens beside the list with a receipt that adds up', opensReceipt)
  test('a failure says whose fault it was and that nothing was charged', showsBlame)
  test('the overview does not call a stream well that broke off', showsBroken)
  test('a report of it is copied for whoever is asked for help', copiesReport)
  test('every choice of a filter has a name', async () => {
    const page = await stage.open('/requests')
    // The totals of the refused request have neither.
    for (const filter of ['Model', 'Channel']) {
      await page.getByRole('button', { name: `Filter by ${filter}` }).click()
      const choices = page.getByRole('group', { name: filter, exact: true })
      await choices.getByRole('checkbox', { name: 'sandbox' }).first().waitFor()
      const names = await choices.locator('label').allTextContents()
      expect(names.filter((name) => name.trim() === '')).toEqual([])
      expect(names.length).toBe(await choices.getByRole('checkbox').count())
      await page.keyboard.press('Escape')
    }
    await page.close()
  })
  test('filters stand in the address, and what fits none has a way back', filters)
  test('Ok lists what was answered in full, and what broke off is a choice of its own', endings)
  test('the file of the rows has those that are listed, of an id whatever its time', exportsListed)
  test('followed live, a request appears when it ends', followsLive)
  test('a request that ends while the connection opens is listed', followsFromTheStart)
  test('ten tabs follow in turn, each while it is seen', followsInTurn)
  test('a range with an end is not followed; following begins at the present', followsThePresent)
  test('a running request is shown with its cost and can be stopped', stopsRunning)
  test('in Chinese, dark and narrow it is the same page without a fault', async () => {
    const page = await stage.open('/requests', { language: 'zh-CN', theme: 'dark', width: 390 })
    await page.getByText('sandbox/chat').first().click()
    await page.getByText('已在此浏览器中重新计算').waitFor()
    await page.setViewportSize({ width: 360, height: 780 })
    // No fact runs into the one beside it.
    const facts = page.getByRole('complementary').getByRole('definition')
    const wide = (all: readonly Element[]) =>
      all.filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.textContent)
    expect(await facts.evaluateAll(wide)).toEqual([])
    expect(await seriousFindings(page)).toEqual([])
    expect(stage.faults()).toEqual([])
    await page.close()
  })
  test('a list that was read on stays as it is while minutes pass', keepsPages)
  test('a refused next page is asked for again by its button alone', asksOnceForMore)
  test(
    'the receipt of a request that used nothing says so, without an empty table',
    showsNothingUsed,
  )
  test('what was wrong with an attempt and what was asked for are in words', async () => {
    const id = (await say('sandbox/chat+fault=cut')).headers.get('x-request-id') ?? ''
    const page = await stage.open(`/requests?open=${id}`, { language: 'zh-CN' })
    await page.getByText('sandbox · 应答被中断').first().waitFor()
    expect(await page.getByText('cut', { exact: true }).count()).toBe(0)
    await page.getByRole('complementary').getByText('对话', { exact: true }).waitFor()
    await page.close()
  })
  test('a request whose prices are unknown is not said to have cost nothing', async () => {
    const id = (await say('sandbox/chat')).headers.get('x-request-id') ?? ''
    const page = await stage.open('/requests')
    await page.route('**/api/requests/req_*', async (route) => {
      const reply = await route.fetch()
      await route.fulfill({ json: { ...(await reply.json()), receipt: null } })
    })
    await page.goto(`${stage.server.url}/console/requests?open=${id}`)
    const drawer = page.getByRole('complementary')
    await drawer.getByText('The prices that it was charged by are not known here').waitFor()
    expect(await drawer.getByText('nothing charged').count()).toBe(0)
    await page.close()
  })
}

async function opensReceipt() {
  const page = await stage.open('/requests')
  const row = page.getByRole('row').filter({ hasText: 'sandbox/chat' }).first()
  await row.click()
  const drawer = page.getByRole('complementary')
  await drawer.getByText('Recomputed in this browser: it is the same to the last digit.').waitFor()
  expect(new URL(page.url()).searchParams.get('open')).toMatch(/^req_/)
  await drawer.getByRole('link', { name: 'default', exact: true }).waitFor()
  const account = drawer.locator('a[href*="/admin/users?open="]')
  const channel = drawer.locator('dl a[href*="/admin/channels?open="]')
  expect(await account.allTextContents()).toEqual(['default'])
  expect(await channel.allTextContents()).toEqual(['sandbox'])
  // The ledger lists the newest of a range, which must be that of the request, however old.
  const entry = drawer.getByRole('link', { name: 'Show the entry' })
  expect(await entry.getAttribute('href')).toMatch(/&since=20.+&until=20/)
  await drawer.getByText('Messages').click()
  await drawer.getByText('No messages of this request were kept.').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await page.keyboard.press('Escape')
  await drawer.waitFor({ state: 'hidden' })
  await row.click()
  await drawer.getByRole('definition').getByRole('link', { name: 'first' }).click()
  await page.waitForURL(/\/console\/keys\?open=/)
  await page.getByRole('complementary', { name: 'Key' }).waitFor()
  await page.close()
}

async function showsBlame() {
  const page = await stage.open('/requests?statusClass=4xx')
  await page.getByRole('row').filter({ hasText: 'model_not_found' }).first().click()
  const blame = page.getByRole('region', { name: 'Whose fault it was' })
  await blame.getByText('Your request').waitFor()
  expect(await blame.textContent()).toContain('not charged')
  await page.close()
  const chinese = await stage.open('/requests?statusClass=4xx', { language: 'zh-CN' })
  await chinese.getByRole('row').filter({ hasText: 'model_not_found' }).first().click()
  const told = chinese.getByRole('region', { name: '责任归属' })
  await told.getByText('该模型不存在，或其密钥无权使用。').waitFor()
  expect(await told.textContent()).not.toMatch(/[a-z]/i)
  await chinese.close()
}

async function showsBroken() {
  const messages = [{ role: 'user', content: 'Hello' }]
  await stage.call({ model: 'sandbox/chat+fault=error-event', stream: true, messages })
  const page = await stage.open('/')
  const rows = page.getByRole('table', { name: 'Last requests' }).getByRole('row')
  const broken = rows.filter({ hasText: 'fault=error-event' })
  await broken.getByTitle('service_unavailable').waitFor()
  expect(await broken.textContent()).toContain('▲')
  await broken.click()
  const blame = page.getByRole('region', { name: 'Whose fault it was' })
  await blame.getByText('The vendor’s reply broke off before its end.').waitFor()
  await page.goto(`${stage.server.url}/console/requests?model=sandbox/chat%2Bfault=error-event`)
  const bars = page.getByRole('img', { name: 'Requests over time' })
  expect(await bars.getAttribute('aria-label')).toBe(
    'Requests over time: 1 in all, 1 of them errors',
  )
  await page.goto(`${stage.server.url}/console/`)
  expect(await rows.filter({ hasText: 'no-such-model' }).textContent()).toContain('▲')
  await page.close()
}

async function keepsPages() {
  for (let at = 0; at < 110; at += 1) await say('sandbox/chat')
  const page = await stage.open('/requests')
  await page.clock.install()
  await page.reload()
  const table = page.getByRole('table', { name: 'Requests' })
  await table.getByRole('row').nth(20).waitFor()
  await saysPlaces(table)
  const list: string[] = []
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    if (pathname === '/api/requests') list.push(search)
  })
  const moved = page.waitForResponse((reply) => reply.url().includes('/api/statistics?'))
  await page.clock.fastForward(61_000)
  await moved
  expect(list).toEqual([])
  await page.goto(`${stage.server.url}/console/requests`)
  await skipsByKeys(page, table)
  await stepsOn(page, table)
  await page.close()
}

/** Most rows of a long list are not drawn: readers by ear hear which of how many each is. */
async function saysPlaces(table: Locator) {
  const placeOf = (row: Locator) => row.getAttribute('aria-rowindex')
  const rows = table.getByRole('row')
  expect(await placeOf(rows.first())).toBe('1')
  expect(await placeOf(rows.nth(1))).toBe('2')
  // How many there are is not known before the last page.
  expect(await table.getAttribute('aria-rowcount')).toBe('-1')
  await eventually(async () => {
    await table.locator('..').evaluate((scroller) => scroller.scrollTo(0, scroller.scrollHeight))
    const count = await table.getAttribute('aria-rowcount')
    return count !== '-1' && (await placeOf(rows.last())) === count ? true : undefined
  })
}

/** By keyboard one passes a list that is read on as one moves in it. */
async function skipsByKeys(page: Page, table: Locator) {
  await table.getByRole('row').nth(20).waitFor()
  await page.getByRole('button', { name: 'Skip the list' }).focus()
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  expect(await table.locator(':focus').count()).toBe(0)
}

/** From request to request the history of the browser stays short, and the last that is loaded is not the last. */
async function stepsOn(page: Page, table: Locator) {
  const list = () => fetch('/api/requests?limit=102').then((reply) => reply.json())
  const { items } = await page.evaluate(list)
  const drawerOf = (place: number) =>
    page.getByRole('complementary', { name: `Request ${items[place].requestId}` })
  await table.getByRole('row').nth(1).click()
  await drawerOf(0).getByText('First token after').waitFor()
  const steps = await page.evaluate(() => history.length)
  for (const place of [1, 2, 3]) {
    await page.keyboard.press('j')
    await drawerOf(place).getByText('First token after').waitFor()
  }
  expect(await page.evaluate(() => history.length)).toBe(steps)
  await page.goto(`${stage.server.url}/console/requests?open=${items[99].requestId}`)
  await drawerOf(99).getByText('First token after').waitFor()
  await table.getByRole('row').nth(20).waitFor()
  await page.keyboard.press('j')
  await drawerOf(100).waitFor()
}

/** There are more than a page of them by now. */
async function asksOnceForMore() {
  const page = await stage.open('/billing')
  const title = 'It was made to fail.'
  const body = JSON.stringify({ status: 429, code: 'rate_limited', title, detail: title })
  let asked = 0
  await page.route('**/api/requests?*cursor=*', (route) => {
    asked += 1
    return route.fulfill({ status: 429, contentType: 'application/problem+json', body })
  })
  await page.goto(`${stage.server.url}/console/requests`)
  const table = page.getByRole('table', { name: 'Requests' })
  await table.getByRole('row').nth(20).waitFor()
  await table.locator('..').evaluate((scroller) => scroller.scrollTo(0, scroller.scrollHeight))
  await page.getByText(title).first().waitFor()
  await page.getByRole('button', { name: 'Show more' }).click()
  await eventually(() => (asked >= 2 ? true : undefined))
  await table.locator('..').evaluate((scroller) => scroller.scrollTo(0, 0))
  await table.getByRole('row').nth(1).click()
  await page.getByRole('complementary').getByRole('table').first().waitFor()
  expect(asked).toBe(2)
  await page.close()
}

async function showsNothingUsed() {
  expect((await say('sandbox/chat+fault=500')).status).toBe(500)
  const page = await stage.open('/requests?statusClass=5xx')
  await page.getByRole('row').filter({ hasText: 'fault=500' }).click()
  const drawer = page.getByRole('complementary')
  await drawer.getByText('Nothing was used, so nothing was charged').waitFor()
  expect(await drawer.getByRole('table').count()).toBe(0)
  await drawer.getByText('Held at most').waitFor()
  await page.close()
}

async function exportsListed() {
  const id = (await say('sandbox/chat')).headers.get('x-request-id') ?? ''
  const page = await stage.open(
    `/requests?id=${id}&since=2027-01-01T00:00:00Z&until=2027-01-02T00:00:00Z`,
  )
  await page.getByRole('row').filter({ hasText: 'sandbox/chat' }).waitFor()
  const saving = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export' }).click()
  await page.getByRole('menuitem', { name: 'JSON lines of these rows' }).click()
  const lines = (await Bun.file(await (await saving).path()).text()).trim().split('\n')
  expect(lines.map((line) => JSON.parse(line || '{}').requestId)).toEqual([id])
  await page.close()
}

async function filters() {
  const page = await stage.open('/requests')
  await page
    .getByRole('button', { name: 'Filter by Status' })
    .or(page.getByRole('button', { name: 'Status' }))
    .first()
    .click()
  await page.getByLabel('Failed (5xx)').check()
  await page.getByText('No request in this time fits the filters.').waitFor()
  expect(new URL(page.url()).searchParams.get('statusClass')).toBe('5xx')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Clear filters' }).first().click()
  await page.getByRole('row').filter({ hasText: 'sandbox/chat' }).first().waitFor()
  await page.getByRole('button', { name: 'More filters' }).click()
  await page.getByLabel('Streaming').selectOption('Streamed')
  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  await page.waitForURL(/stream=true/)
  // The keyboard goes on where the form was opened.
  const focused = () => page.evaluate(() => document.activeElement?.textContent)
  expect(await eventually(async () => (await focused()) || undefined)).toBe('More filters: 1')
  const whole = page.getByRole('row').filter({ hasText: 'no-such-model' })
  await whole.waitFor({ state: 'detached' })
  await page.close()
}

async function endings() {
  const messages = [{ role: 'user', content: 'Hello' }]
  await stage.call({ model: 'sandbox/chat+fault=cut', stream: true, messages })
  const page = await stage.open('/requests')
  const rows = page.getByRole('table', { name: 'Requests' }).locator('tbody tr[data-id]')
  const broken = rows.filter({ hasText: 'fault=cut' })
  await broken.first().waitFor()
  const bars = page.getByRole('img', { name: 'Requests over time' })
  await page.getByRole('button', { name: 'Status' }).click()
  await page.getByLabel('Ok', { exact: true }).check()
  await broken.first().waitFor({ state: 'detached' })
  expect(await rows.filter({ hasText: '▲' }).count()).toBe(0)
  expect(await rows.count()).toBeGreaterThan(0)
  await bars.and(page.locator('[aria-label*="in all, 0 of them errors"]')).waitFor()
  await page.getByLabel('Broke off', { exact: true }).check()
  await broken.first().waitFor()
  const all = await rows.count()
  expect(await rows.filter({ hasText: '▲200' }).count()).toBe(all)
  await bars.and(page.locator(`[aria-label*="${all} in all, ${all} of them errors"]`)).waitFor()
  await page.getByLabel('All errors', { exact: true }).check()
  await rows.filter({ hasText: 'no-such-model' }).first().waitFor()
  expect(await rows.filter({ hasText: '●' }).count()).toBe(0)
  await page.close()
}

async function followsLive() {
  const page = await stage.open('/requests?live=true&model=sandbox/image')
  await page.getByText('● following').waitFor()
  await page.waitForLoadState('load')
  expect((await say('sandbox/chat')).status).toBe(200)
  expect(
    (await stage.call({ model: 'sandbox/image', prompt: 'a house' }, '/v1/images/generations'))
      .status,
  ).toBe(200)
  await page.getByRole('row').filter({ hasText: 'sandbox/image' }).waitFor()
  expect(await page.getByRole('row').filter({ hasText: 'sandbox/chat' }).count()).toBe(0)
  await page.close()
}

async function followsThePresent() {
  const past = 'since=2026-01-01T00:00:00Z&until=2026-01-02T00:00:00Z'
  const page = await stage.open(`/requests?live=true&${past}`)
  await page.getByText('No request in this time.').waitFor()
  expect(await page.getByRole('button', { name: 'Following' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Follow live' }).click()
  await page.getByText('● following').waitFor()
  expect([...new URL(page.url()).searchParams.keys()]).toEqual(['live'])
  await page.locator('tbody tr[data-id]').first().waitFor()
  await page.close()
}

async function followsFromTheStart() {
  const page = await stage.open('/')
  const asked = Promise.withResolvers<void>()
  const sent = Promise.withResolvers<void>()
  await page.route('**/api/requests/live?*', async (route) => {
    asked.resolve()
    await sent.promise
    await route.continue()
  })
  await page.goto(`${stage.server.url}/console/requests?live=true`)
  await asked.promise
  const rows = page.locator('tbody tr[data-id]')
  await rows.first().waitFor()
  const before = await rows.count()
  await page.getByText('○ connecting').waitFor()
  expect((await say('sandbox/chat', 'while it connects')).status).toBe(200)
  expect(await rows.count()).toBe(before)
  sent.resolve()
  await page.getByText('● following').waitFor()
  await rows.nth(before).waitFor()
  // What arrives while it follows stays when that ends.
  expect((await say('sandbox/chat', 'while it follows')).status).toBe(200)
  await rows.nth(before + 1).waitFor()
  await page.getByRole('button', { name: 'Following' }).click()
  await page.getByRole('button', { name: 'Follow live' }).waitFor()
  expect(await rows.count()).toBe(before + 2)
  await page.close()
}

async function stopsRunning() {
  const page = await stage.open('/requests')
  const leave = new AbortController()
  const slow = fetch(`${stage.server.url}/v1/chat/completions`, {
    method: 'POST',
    signal: leave.signal,
    headers: { authorization: `Bearer ${stage.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'sandbox/chat+gap=200+tokens=200',
      stream: true,
      messages: [{ role: 'user', content: 'Write for long' }],
    }),
  }).then((reply) => reply.text())
  const running = page.getByRole('table', { name: 'Running requests' })
  await running.getByRole('button', { name: 'Stop' }).first().click()
  await page.getByRole('button', { name: 'Stop the request' }).click()
  await running.waitFor({ state: 'hidden' })
  expect(await slow).not.toContain('[DONE]')
  // The list has it, though it is not followed.
  await page.getByRole('row').filter({ hasText: 'gap=200' }).first().click()
  const blame = page.getByRole('region', { name: 'Whose fault it was' })
  await blame.getByText('An operator of the gateway stopped it.').waitFor()
  expect(await blame.textContent()).toStartWith('The gateway')
  await page.close()
}

/** As the browser reports a tab behind other tabs. */
function show(page: Page, state: 'visible' | 'hidden') {
  return page.evaluate((now) => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => now })
    document.dispatchEvent(new Event('visibilitychange'))
  }, state)
}

async function followsInTurn() {
  const pages: Page[] = []
  const context = await stage.visitor('admin')
  // The list does not end at the present of the browser's clock, which is minutes slow.
  await context.addInitScript(() => {
    const { now } = Date
    Date.now = () => now() - 300_000
  })
  for (let count = 0; count < 10; count++) {
    const before = pages.at(-1)
    if (before !== undefined) await show(before, 'hidden')
    const page = await stage.open('/requests?live=true', { context })
    await page.getByText('● following').waitFor()
    pages.push(page)
  }
  const [first] = pages
  if (first === undefined) throw new Error('no page')
  const rows = first.locator('tbody tr[data-id]')
  const before = await rows.count()
  expect((await say('sandbox/chat', 'while it is not seen')).status).toBe(200)
  await pages.at(-1)?.locator('tbody tr[data-id]').nth(before).waitFor()
  expect(await rows.count()).toBe(before)
  await show(first, 'visible')
  await rows.nth(before).waitFor()
  // No stream was refused.
  expect(stage.faults()).toEqual([])
  await context.close()
}

async function copiesReport() {
  const page = await stage.open('/requests?statusClass=4xx')
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('row').filter({ hasText: 'model_not_found' }).first().click()
  await page.getByRole('button', { name: 'Copy a problem report' }).click()
  await page.getByText('Copied').waitFor()
  const report = await page.evaluate(() => navigator.clipboard.readText())
  expect(report).toContain(`Request: ${new URL(page.url()).searchParams.get('open')}`)
  expect(report).toContain('Error: model_not_found')
  await page.close()
}
