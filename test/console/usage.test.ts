// Tests Overview and Usage in a real browser: before the first request, then figures, chart, table, filters, files,
// what-if.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { eventually } from '../support/clients.ts'
import { type ConsoleStage, hasBrowser, seriousFindings, startConsole } from '../support/console.ts'

let stage: ConsoleStage

afterAll(async () => stage?.close())

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
  })
  test('before the first request the first page says how to make it', saysHowToBegin)
  test('the first page has the figures of the period, the last requests and the keys', hasFigures)
  test(
    'today is the same on both pages, and compared with yesterday until the same time',
    isSameDay,
  )
  test('the chart adds up to the table, and is one as well', addsUp)
  test('the arrow keys read the chart, and Enter leads to the requests of a bar', isReadByKeys)
  test('dragging over the chart shows that span', zooms)
  test('filters, grouping and metric stand in the address', standsInAddress)
  test('by tag, requests without one have a row, and a bar leads to those with one', sumsUpByTag)
  test('a file has what is shown', givesFiles)
  test('what-if says what another model would have cost, and what it cannot price', tellsWhatIf)
  test('no request that read from a cache is a figure, and not that nothing was used', async () => {
    const page = await stage.open('/usage?range=1h&metric=cacheRate')
    await page.getByRole('table', { name: 'Breakdown' }).waitFor()
    await page.getByRole('img', { name: /^Cache rate/ }).waitFor()
    await page.goto(`${stage.server.url}/console/usage?range=1h&metric=ttftP50&statusClass=4xx`)
    await page.getByText('No request in this range has this figure.').waitFor()
    expect(await page.getByText('Nothing in this range').count()).toBe(0)
    await page.close()
  })
  test('a contrast theme shows what is chosen, and the colours of series', showsInContrast)
  test('in Chinese, dark and narrow both pages are without a fault', isSameElsewhere)
}

const messages = [{ role: 'user', content: 'Hello' }]

async function showsInContrast(): Promise<void> {
  const page = await stage.open('/usage?range=7d')
  await page.emulateMedia({ forcedColors: 'active' })
  const outline = (text: string) =>
    page
      .locator('label, nav a')
      .getByText(text, { exact: true })
      .first()
      .evaluate((each) => getComputedStyle(each.closest('label, a') ?? each).outlineStyle)
  expect([await outline('Spend'), await outline('Tokens')]).toEqual(['solid', 'none'])
  expect([await outline('Usage'), await outline('Overview')]).toEqual(['solid', 'none'])
  const table = page.getByRole('table', { name: 'Breakdown' })
  const swatch = table.locator('[style*="background"]').first()
  expect(await swatch.evaluate((each) => getComputedStyle(each).backgroundColor)).not.toBe(
    await table.evaluate(
      (each) => getComputedStyle(each.closest('section') ?? each).backgroundColor,
    ),
  )
  await page.close()
}

async function saysHowToBegin(): Promise<void> {
  const page = await stage.open('/')
  await page.getByText('Spend, tokens and latency of your requests appear here.').waitFor()
  expect(await page.locator('pre').textContent()).toContain(`curl ${stage.server.url}/v1/chat`)
  expect(await seriousFindings(page)).toEqual([])
  await page.getByRole('main').getByRole('link', { name: 'Get started' }).click()
  await page.waitForURL(/\/console\/get-started/)
  await page.close()
}

/** Of a query, in Unix milliseconds. */
interface Span {
  readonly since: number
  readonly until: number
}

async function isSameDay(): Promise<void> {
  const page = await stage.open('/?period=today')
  const spans: Span[] = []
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url())
    const at = (name: string) => Date.parse(searchParams.get(name) ?? '')
    if (pathname === '/api/statistics') spans.push({ since: at('since'), until: at('until') })
  })
  await page.getByRole('main').getByRole('link', { name: 'Usage' }).click()
  await page.waitForURL('**/usage?range=today')
  await page.getByRole('button', { name: 'Time range: Today' }).waitFor()
  await page.getByLabel('Compare with the period before').check()
  await page.waitForURL('**/usage?*compare=*')
  const dayMs = 86_400_000
  // The visitor's zone is UTC.
  const isToday = ({ since }: Span) => since % dayMs === 0 && Date.now() - since < dayMs
  const isBefore = (before: Span, { since, until }: Span) =>
    since - before.since === dayMs && until - before.until === dayMs
  const compared = () =>
    spans.filter(isToday).find((today) => spans.some((before) => isBefore(before, today)))
  expect(await eventually(compared)).toBeDefined()
  await page.close()
}

/** Resolves once its requests are settled. */
async function makeRequests(page: Page): Promise<void> {
  for (const model of ['sandbox/chat', 'sandbox/reasoning'])
    expect((await stage.call({ model, messages })).status).toBe(200)
  const tagged = await stage.call({ model: 'sandbox/chat', messages }, '/v1/chat/completions', {
    'x-tollgate-tag': 'checkout',
  })
  expect(tagged.status).toBe(200)
  const input = { model: 'sandbox/embedding', input: 'Hello' }
  expect((await stage.call(input, '/v1/embeddings')).status).toBe(200)
  expect((await stage.call({ model: 'no-such-model', messages })).status).toBe(404)
  await page.waitForFunction(async () => {
    const reply = await fetch('/api/statistics?metric=requests&since=1h')
    return (await reply.json()).total.total === 5
  })
}

async function sumsUpByTag(): Promise<void> {
  const page = await stage.open('/usage?range=1h&metric=requests&by=tag')
  const table = page.getByRole('table', { name: 'Breakdown' })
  const row = table.getByRole('row', { name: /^checkout/ })
  await row.waitFor()
  expect(await row.textContent()).toMatch(/^checkout11/)
  expect(await table.getByRole('row', { name: /^No tag/ }).textContent()).toMatch(/^No tag431/)
  await page.getByRole('button', { name: 'Filter by Tag' }).click()
  await page.getByRole('group', { name: 'Tag', exact: true }).getByText('checkout').click()
  await page.waitForURL(/[?&]tag=checkout/)
  await page.getByRole('img', { name: 'Requests, Last hour: 1' }).waitFor()
  const choices = page.getByRole('group', { name: 'Tag', exact: true })
  await choices.getByLabel('checkout').uncheck()
  await choices.getByLabel('No tag').check()
  await page.getByRole('img', { name: 'Requests, Last hour: 4' }).waitFor()
  await page.reload()
  await page.getByRole('img', { name: 'Requests, Last hour: 4' }).waitFor()
  await page.goto(`${stage.server.url}/console/requests?tag=checkout`)
  await page.getByRole('row').filter({ hasText: 'sandbox/chat' }).click()
  const drawer = page.getByRole('complementary')
  await drawer.getByRole('definition').getByText('checkout').waitFor()
  await page.close()
}

async function hasFigures(): Promise<void> {
  const first = await stage.open('/settings')
  await makeRequests(first)
  await first.close()
  const page = await stage.open('/?period=today')
  const figures = page.getByRole('main')
  await figures.getByRole('heading', { name: 'Requests', exact: true }).waitFor()
  const tile = page.getByRole('listitem').filter({ hasText: 'Error rate' })
  expect(await tile.textContent()).toContain('20.0\u00a0%')
  const hits = page.getByRole('listitem').filter({ hasText: 'Cache hits' })
  expect(await hits.textContent()).toContain('no earlier data')
  await page.getByRole('img', { name: /^Spend by model: \$0\.0/ }).waitFor()
  const rows = page.getByRole('table', { name: 'Last requests' }).getByRole('row')
  const ended = rows.filter({ hasText: /^(●Ok|▲404)/ })
  await ended.nth(4).waitFor()
  expect(await ended.count()).toBe(5)
  await page.getByRole('link', { name: 'first', exact: true }).waitFor()
  await page.getByRole('radio', { name: '30 days' }).check({ force: true })
  await page.waitForURL(/period=days30/)
  expect(await seriousFindings(page)).toEqual([])
  await page.getByRole('row', { name: /sandbox\/reasoning/ }).click()
  await page.waitForURL(/\/console\/requests\?open=req_/)
  await page.close()
}

async function addsUp(): Promise<void> {
  const page = await stage.open('/usage?range=1h&metric=requests')
  await page.getByRole('img', { name: 'Requests, Last hour: 5' }).waitFor()
  const table = page.getByRole('table', { name: 'Breakdown' })
  const totals = table.getByRole('row', { name: /^Total/ })
  expect(await totals.textContent()).toMatch(/^Total541/)
  expect(await table.getByRole('row', { name: /^sandbox\/chat/ }).textContent()).toContain('220')
  await page.getByRole('button', { name: 'View as table' }).click()
  const figures = page.getByRole('table', { name: 'Requests, Last hour: 5' })
  expect(await figures.getByRole('columnheader').allTextContents()).toContain('sandbox/chat')
  expect(await seriousFindings(page)).toEqual([])
  await page.getByRole('button', { name: 'View as chart' }).click()
  await page.getByRole('img', { name: 'Requests, Last hour: 5' }).waitFor()
  await page.close()
}

function chartOf(page: Page) {
  return page.getByRole('group', { name: /^Chart/ })
}

async function isReadByKeys(): Promise<void> {
  const page = await stage.open('/usage?range=1h&metric=requests')
  await page.getByRole('img', { name: /^Requests/ }).waitFor()
  await chartOf(page).focus()
  // The requests were made just now; a quarter of an hour may have ended since.
  const spoken = chartOf(page).locator('[aria-live]')
  await page.keyboard.press('End')
  while (!/sandbox\/chat [1-9]/.test((await spoken.textContent()) ?? ''))
    await page.keyboard.press('ArrowLeft')
  expect(await spoken.textContent()).toMatch(/sandbox\/chat 2$/)
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/console\/requests\?/)
  const { searchParams } = new URL(page.url())
  expect(searchParams.get('model')).toBe('sandbox/chat')
  expect(Date.parse(searchParams.get('since') ?? '')).toBeLessThan(Date.now())
  await page.close()
}

async function zooms(): Promise<void> {
  const page = await stage.open('/usage?range=24h&metric=requests&interval=hour')
  await page.getByRole('img', { name: /^Requests/ }).waitFor()
  const box = await chartOf(page).boundingBox()
  if (box === null) throw new Error('the chart has no place')
  await page.mouse.move(box.x + box.width * 0.5, box.y + 100)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * 0.8, box.y + 100, { steps: 4 })
  await page.mouse.up()
  await page.waitForURL(/since=.*until=/)
  const { searchParams } = new URL(page.url())
  const [since, until] = ['since', 'until'].map((name) => Date.parse(searchParams.get(name) ?? ''))
  const hours = ((until ?? 0) - (since ?? 0)) / 3_600_000
  expect(hours).toBeGreaterThan(4)
  expect(hours).toBeLessThan(12)
  await page.close()
}

async function standsInAddress(): Promise<void> {
  const page = await stage.open('/usage?range=1h')
  await page.getByRole('button', { name: 'Filter by Model' }).click()
  await page.getByRole('checkbox', { name: 'sandbox/reasoning' }).check()
  await page.waitForURL(/model=sandbox%2Freasoning/)
  await page.keyboard.press('Escape')
  await page.getByRole('row', { name: /^sandbox\/chat/ }).waitFor({ state: 'detached' })
  await page.getByRole('radio', { name: 'Tokens' }).check({ force: true })
  await page.getByLabel('Group by', { exact: true }).selectOption('key')
  await page.getByLabel('Group by as well').selectOption('statusClass')
  await page.waitForURL(/metric=tokens.*by=key.*by2=statusClass/)
  await page.getByRole('row', { name: /^first · 2xx/ }).waitFor()
  await page.reload()
  await page.getByRole('row', { name: /^first · 2xx/ }).waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByRole('row', { name: /^first · 4xx/ }).waitFor()
  expect(page.url()).not.toContain('model=')
  await page.close()
}

async function givesFiles(): Promise<void> {
  const page = await stage.open('/usage?range=1h&statusClass=2xx&sort=requests')
  await page.getByRole('row', { name: /^sandbox\/chat/ }).waitFor()
  await page.getByRole('button', { name: 'Export' }).click()
  const waiting = page.waitForEvent('download')
  await page.getByRole('menuitem', { name: 'Table as CSV' }).click()
  const download = await waiting
  const lines = (await Bun.file(await download.path()).text()).trim().split('\r\n')
  expect(lines).toHaveLength(5)
  expect(lines[1]).toStartWith('sandbox/chat,2,')
  await page.close()
}

async function tellsWhatIf(): Promise<void> {
  const page = await stage.open('/usage?range=1h')
  await page.getByRole('button', { name: 'What if' }).click()
  const drawer = page.getByRole('complementary', { name: 'What if' })
  await drawer.getByText('Choose a model or a group to compare with.').waitFor()
  await drawer.getByLabel('Model').selectOption('sandbox/reasoning')
  await page.waitForURL(/toModel=sandbox%2Freasoning/)
  await drawer.getByRole('row', { name: /^first/ }).waitFor()
  await drawer.getByText('Not in these sums').waitFor()
  await drawer.getByText('The model does not answer such requests:').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await page.keyboard.press('Escape')
  await drawer.waitFor({ state: 'detached' })
  await page.close()
}

async function isSameElsewhere(): Promise<void> {
  const view = { language: 'zh-CN', theme: 'dark', width: 390 } as const
  const usage = await stage.open('/usage?range=1h', view)
  await usage.getByRole('heading', { name: '明细' }).waitFor()
  await usage.getByRole('img', { name: /^支出，最近 1 小时：/ }).waitFor()
  const overview = await stage.open('/', view)
  await overview.getByRole('heading', { name: '最近的请求' }).waitFor()
  for (const page of [usage, overview]) {
    expect(await seriousFindings(page)).toEqual([])
    const isWider = () =>
      document.documentElement.scrollWidth > document.documentElement.clientWidth
    expect(await page.evaluate(isWider)).toBe(false)
    await page.close()
  }
  expect(stage.faults()).toEqual([])
}
