// Tests names of the maximum length in a real browser: every column stays visible, and no page is wider than the
// screen.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Locator, Page, Route } from 'playwright-core'
import { type ConsoleStage, hasBrowser, startConsole } from '../support/console.ts'
import { run } from '../support/server-process.ts'

const router = readFileSync('console/src/app/router.tsx', 'utf8')
const paths = [...router.matchAll(/\.\.\.inShell,\s+path: '([^'$]+)'/g)].map(
  ([, path = '']) => path,
)
const named = (kind: string, length = 128) => kind.padEnd(length, 'x')
const model = named('model', 100)
const opened = [
  `/admin/channels?open=${named('channel')}`,
  `/admin/groups?open=${named('group')}`,
  `/admin/prices?open=${model}`,
  `/admin/users?open=${named('account', 100)}`,
  '/keys?tab=management',
]

let stage: ConsoleStage

afterAll(async () => stage?.close())

/** A request to the control API with the page's own session. */
async function post(page: Page, path: string, body: object): Promise<unknown> {
  const { status, text } = await page.evaluate(
    async ([path, body]) => {
      const headers = { 'content-type': 'application/json' }
      const reply = await fetch(path, { method: 'POST', headers, body })
      return { status: reply.status, text: await reply.text() }
    },
    [path, JSON.stringify(body)] as const,
  )
  expect([200, 201], text).toContain(status)
  return JSON.parse(text)
}

async function makeNames(): Promise<void> {
  const page = await stage.open('/')
  const prices = { input: '1', output: '1' }
  await post(page, '/api/groups', { id: named('group'), models: ['*'], multiplier: '1234.567891' })
  const channel = { id: named('channel'), vendor: 'sandbox', models: { [model]: 'sandbox/chat' } }
  await post(page, '/api/channels', channel)
  await post(page, '/api/prices', { model, prices, source: named('source'), allowLarge: true })
  await post(page, '/api/invitations', { note: named('note'), role: 'user', groups: null, days: 7 })
  await post(page, '/api/redemption-batches', { codes: 1, amount: '3', note: named('note', 256) })
  await post(page, '/api/management-keys', { name: named('management'), scopes: ['read'] })
  const key = { name: named('key'), group: named('group') }
  const { secret } = (await post(page, '/api/keys', key)) as { secret: string }
  const order = { provider: 'stripe', method: 'checkout', amount: '10', attempt: 'first' }
  await post(page, '/api/orders', order)
  const account = ['account', 'credit', named('account', 100), '5', '--create', '--reason', 'test']
  await run(stage.server.dataDir, ...account)
  const reply = await fetch(`${stage.server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      'user-agent': named('agent', 200),
    },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
  })
  expect(reply.status, await reply.text()).toBe(200)
  const refused = { model: 'none', messages: [{ role: 'user', content: 'Hello' }] }
  expect((await stage.call(refused)).status).toBe(404)
  await page.close()
}

/** Answers with channels under full load, whose figures are as long as they get. */
async function busyChannels(route: Route): Promise<void> {
  const response = await route.fetch()
  const { items, ...rest } = (await response.json()) as { items: readonly object[] }
  const figures = { requests: 123_456, successPercent: 99.87, p95Ms: 12_345 }
  const money = { vendorCostNano: '123456789000000', chargeNano: '234567890000000' }
  const busy = items.map((item) => ({
    ...item,
    state: 'open',
    reason: 'quota',
    since: new Date().toISOString(),
    inFlight: 187,
    hour: { ...figures },
    day: { ...figures, ...money },
    quarters: [0, 15, 30, 45].map((minute) => ({
      since: new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString(),
      requests: 30_864,
      successPercent: 99.8,
    })),
  }))
  await route.fulfill({ response, json: { ...rest, items: busy } })
}

/** Runs in the page: the tables that are too wide still after 5 s, since columns follow a new width some time later. */
async function wideTables(): Promise<string[]> {
  const until = performance.now() + 5000
  for (;;) {
    const wide = [...document.querySelectorAll('[role="region"]:has(> table)')]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
      .map((each) => `${each.ariaLabel} ${each.scrollWidth} in ${each.clientWidth}`)
    if (wide.length === 0 || performance.now() > until) return wide
    await new Promise(requestAnimationFrame)
  }
}

/** Answers with orders whose state, finding and trade number are as long as they get. */
async function unusualOrders(route: Route): Promise<void> {
  const response = await route.fetch()
  const { items, ...rest } = (await response.json()) as { items: readonly object[] }
  const trade = { tradeNumber: '4200001234202611271234567890', flag: 'over' }
  await route.fulfill({
    response,
    json: { ...rest, items: items.map((item) => ({ ...item, ...trade })) },
  })
}

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
    await makeNames()
  })
  test.each([
    ['/', 'Last requests', 'Cost'],
    ['/requests', 'Requests', 'Cost'],
    ['/keys', 'Keys', 'Expires'],
  ])('at 1280 px the last column of %s is in sight', async (path, label, last) => {
    const page = await stage.open(path)
    await page.setViewportSize({ width: 1280, height: 900 })
    const table = page.getByRole('region', { name: label })
    await table.getByText('keyxxx').first().waitFor()
    const place = (await table.boundingBox()) ?? { x: 0, width: 0 }
    const head = table.getByRole('columnheader', { name: last })
    const box = (await head.boundingBox()) ?? { x: Number.POSITIVE_INFINITY, width: 0 }
    expect(box.x + box.width).toBeLessThanOrEqual(place.x + place.width + 1)
    // The whole of a shortened name is shown by hovering over it.
    const name = table.getByText('keyxxx').first()
    await name.hover()
    const titles = name.locator('xpath=ancestor-or-self::*[@title][1]')
    expect(await titles.getAttribute('title')).toMatch(/^key/)
    await page.close()
  })
  test.each(['en', 'zh-CN'] as const)(
    'at no width from 768 to 1920 px does a table scroll sideways in %s',
    async (language) => {
      const page = await stage.open('/', { language })
      await page.route('**/api/channels?*', (route) => busyChannels(route))
      await page.route('**/api/channels', (route) => busyChannels(route))
      await page.route('**/api/orders?*', (route) => unusualOrders(route))
      const wide: string[] = []
      for (const path of paths) {
        await page.goto(`${stage.server.url}/console${path}`)
        await page.getByRole('heading', { level: 1 }).waitFor()
        await page.waitForFunction(() => document.querySelector('.skeleton') === null)
        for (const width of [768, 1024, 1280, 1440, 1800, 1920]) {
          await page.setViewportSize({ width, height: 900 })
          const found = await page.evaluate(wideTables)
          wide.push(...found.map((table) => `${path} at ${width}: ${table}`))
        }
      }
      expect(wide).toEqual([])
      await page.close()
    },
  )
  test('a name that looks like a tag of a text is shown whole', async () => {
    const page = await stage.open('/keys')
    const name = '<b>prod</b> & <0/>'
    const { id } = (await post(page, '/api/keys', { name, group: 'default' })) as { id: string }
    await page.goto(`${stage.server.url}/console/keys?open=${id}`)
    await page.getByRole('complementary').getByRole('button', { name: 'Delete' }).click()
    const title = page.getByRole('dialog').getByRole('heading')
    await title.waitFor()
    expect(await title.textContent()).toBe(`Delete ${name}`)
    await page.close()
  })
  test('the group of new accounts keeps its name beside its mark', async () => {
    const page = await stage.open('/')
    await page.setViewportSize({ width: 1280, height: 900 })
    await page.route('**/api/groups/uses', async (route) => {
      const response = await route.fetch()
      const { items, ...rest } = (await response.json()) as { items: readonly object[] }
      const figures = { keys: 1_234_567, chargeNano: '123456789000000000' }
      const busy = items.map((item) => ({ ...item, ...figures }))
      await route.fulfill({ response, json: { ...rest, items: busy } })
    })
    await page.goto(`${stage.server.url}/console/admin/groups`)
    await page.getByText('$123,456,789.00').first().waitFor()
    const name = page.getByRole('cell').getByText('default', { exact: true })
    expect(await name.evaluate((each) => each.scrollWidth - each.clientWidth)).toBe(0)
    await page.close()
  })
  test('sums of keys and amounts of orders are whole where they are large', async () => {
    const page = await stage.open('/', { width: 1024 })
    await page.setViewportSize({ width: 768, height: 900 })
    await page.route('**/api/keys/summary*', async (route) => {
      const response = await route.fetch()
      const sum = { requests: 9_999_999, chargeNano: '123456789012345678' }
      await route.fulfill({
        response,
        json: { ...(await response.json()), today: sum, month: sum },
      })
    })
    await page.goto(`${stage.server.url}/console/keys`)
    const sum = page.getByText('$123,456,789.01').last()
    await sum.waitFor()
    const list = page.locator('dl', { has: sum })
    expect(await list.evaluate((each) => each.scrollWidth - each.clientWidth)).toBe(0)
    await page.route('**/api/orders?*', async (route) => {
      const response = await route.fetch()
      const { items, ...rest } = (await response.json()) as { items: readonly object[] }
      const large = items.map((item) => ({ ...item, amount: '1234567.50' }))
      await route.fulfill({ response, json: { ...rest, items: large } })
    })
    await page.goto(`${stage.server.url}/console/billing/orders`)
    await page.getByText('1,234,567.50 USD').first().waitFor()
    await page.close()
  })
  test('the name of a first key has its place beside a long name of a group', async () => {
    const page = await stage.open('/get-started')
    await page.getByLabel('Group').selectOption(named('group'))
    const { width = 0 } = (await page.getByLabel('Name', { exact: true }).boundingBox()) ?? {}
    expect(width).toBeGreaterThan(150)
    await page.close()
  })
  test('beside the long name of what is open, its state and its id are in sight', async () => {
    const page = await stage.open('/keys', { width: 390 })
    await page.getByText('keyxxx').first().click()
    const drawer = page.getByRole('complementary')
    const close = drawer.getByRole('button', { name: 'Close' })
    const placeOf = async (found: Locator) => (await found.boundingBox()) ?? { x: 0, width: 9_999 }
    const state = await placeOf(drawer.getByRole('heading').getByText('Active'))
    expect(state.x + state.width).toBeLessThan((await placeOf(close)).x)
    await page.route('**/api/people/default', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...(await response.json()), name: named('name') } })
    })
    await page.goto(`${stage.server.url}/console/admin/users?open=default`)
    await drawer.getByText('namexxx').waitFor()
    const id = await placeOf(drawer.locator('header code'))
    expect(id.width).toBeGreaterThan(40)
    await page.close()
  })
  test.each([
    ['/keys', 'keyxxx'],
    ['/models', 'modelxxx'],
    ['/requests', '404model_not_found'],
  ])('at 1024 px the names in %s stay readable', async (path, name) => {
    const page = await stage.open(path, { width: 1024 })
    const cell = page.getByRole('cell').filter({ hasText: name }).first()
    const { width = 0 } = (await cell.boundingBox()) ?? {}
    expect(width).toBeGreaterThanOrEqual(125)
    await page.close()
  })
  test.each([375, 1280])('no page is wider than %s px', async (width) => {
    const page = await stage.open('/')
    await page.setViewportSize({ width, height: 900 })
    const wide: string[] = []
    for (const path of [...paths, ...opened]) {
      await page.goto(`${stage.server.url}/console${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.waitForFunction(() => document.querySelector('.skeleton') === null)
      const { scrollWidth, clientWidth } = await page.evaluate(() => document.documentElement)
      if (scrollWidth > clientWidth) wide.push(`${path}: ${scrollWidth}`)
      const drawer = page.locator('aside[tabindex="-1"] > div')
      if ((await drawer.count()) > 0) {
        const inside = await drawer.evaluate((each) => [each.scrollWidth, each.clientWidth])
        if ((inside[0] ?? 0) > (inside[1] ?? 0)) wide.push(`${path}: drawer ${inside[0]}`)
      }
    }
    expect(wide).toEqual([])
    await page.close()
  })
}
