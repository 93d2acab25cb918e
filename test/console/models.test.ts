// Tests models and prices in a real browser: found, filtered, compared, opened, and without claims from few
// measurements; as a visitor, a user of a discounted group and an operator see them.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { eventually } from '../support/clients.ts'
import { type ConsoleStage, hasBrowser, seriousFindings, startConsole } from '../support/console.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-models-'))
const config = join(folder, 'tollgate.json')
const measured = 30
let stage: ConsoleStage

afterAll(async () => {
  await stage?.close()
  rmSync(folder, { recursive: true, force: true })
})

if (hasBrowser) {
  beforeAll(prepare)
  test('a model is found by its name and shows what each kind of token costs', finds)
  test('every filter narrows the list and stands in the address', narrows)
  test('what is sold by image, second, character or request shows its price', sells)
  test('figures say of how many requests they are, and fewer than 30 say only that', measures)
  test('cards show the same, and open the same', showsCards)
  test('a model has its prices over time, those ahead, a call to copy and its days', details)
  test('what fits no filter has a way back', clears)
  test('a visitor sees the public group, and nothing of an account', visits)
  test.each(['en', 'zh-CN'] as const)('in %s it is without a fault, wide and narrow', looks)
  // It takes the administrator's role, so it comes last.
  test('a user of a cheaper group sees what the vendor asks struck through', discounts)
}

async function prepare(): Promise<void> {
  const groups = { default: { models: ['*'] }, partner: { models: ['*'], multiplier: '0.8' } }
  const channels = [{ id: 'sandbox', vendor: 'sandbox' }]
  const accounts = { other: { credit: '1' } }
  writeFileSync(config, JSON.stringify({ groups, channels, accounts, publicGroups: ['default'] }))
  stage = await startConsole({ words: ['--config', config] })
  const messages = [{ role: 'user', content: 'Hello' }]
  const models = [...Array<string>(measured).fill('sandbox/reasoning'), 'sandbox/chat']
  for (const model of models)
    expect((await stage.call({ model, messages, stream: true })).status).toBe(200)
  // Recent figures of models are read once a minute, so no page is opened before all are recorded.
  await eventually(async () => {
    const headers = { authorization: `Bearer ${stage.key}` }
    const reply = await fetch(`${stage.server.url}/api/me/usage?limit=100`, { headers })
    const { data } = (await reply.json()) as { data: readonly unknown[] }
    return data.length === models.length || undefined
  })
  const dearer = ['input=0.6', 'cachedInput=0.05', 'output=1.5']
  await tollgate('price', 'schedule', 'sandbox/chat', '--from', '2035-01-31T00:00:00Z', ...dearer)
  await tollgate('settings', 'set', 'statusPage', 'true')
}

/** A command beside the running server. */
async function tollgate(...words: readonly string[]): Promise<void> {
  const own = ['--data', stage.server.dataDir, '--config', config]
  const run = Bun.spawn(['bin/tollgate', ...words, ...own], { stderr: 'pipe', stdout: 'ignore' })
  const said = await new Response(run.stderr).text()
  if ((await run.exited) !== 0) throw new Error(`${words.join(' ')}: ${said}`)
}

const rowOf = (page: Page, id: string) => page.getByRole('row').filter({ hasText: id }).first()
const namesIn = async (page: Page) => {
  const texts = await page.getByRole('row').locator('td:first-child').allTextContents()
  return texts.map((text) => text.trim())
}

async function finds() {
  const page = await stage.open('/models')
  await page.getByLabel('Search models').fill('sandbox/chat')
  const row = rowOf(page, 'sandbox/chat')
  await row.waitFor()
  expect(await row.textContent()).toContain('$0.50')
  await row.click()
  const drawer = page.getByRole('complementary', { name: 'Model sandbox/chat' })
  await drawer.getByText('Prices of the group default', { exact: true }).waitFor()
  const prices = drawer.getByRole('table').first().getByRole('row')
  expect(await prices.allTextContents()).toEqual([
    'Input$0.50/ 1 M tokens',
    'Cached input$0.05/ 1 M tokens',
    'Output$1.50/ 1 M tokens',
  ])
  expect(await seriousFindings(page)).toEqual([])
  await page.close()
}

async function narrows() {
  const page = await stage.open('/models')
  const choose = async (filter: string, value: string) => {
    await page.getByRole('button', { name: `Filter by ${filter}` }).click()
    await page.getByRole('checkbox', { name: value, exact: true }).check()
    await page.keyboard.press('Escape')
  }
  await choose('Vendor', 'Sandbox')
  await choose('Kind', 'chat')
  await choose('Endpoint', '/v1/messages')
  await choose('Takes', 'Text')
  await choose('Context', 'at least 32 K')
  await rowOf(page, 'sandbox/embedding').waitFor({ state: 'detached' })
  expect(await namesIn(page)).toEqual(['sandbox/chat', 'sandbox/reasoning'])
  await choose('Can', 'Reasoning')
  await rowOf(page, 'sandbox/chat').waitFor({ state: 'detached' })
  await page.getByLabel('Sort by').selectOption({ label: 'Cheapest output first' })
  await page.waitForURL(/sort=outputPrice/)
  const { search } = new URL(page.url())
  expect(Object.fromEntries(new URLSearchParams(search))).toEqual({
    ...{ vendor: 'sandbox', kind: 'chat', endpoint: '/v1/messages', modality: 'text' },
    ...{ context: '32000', reasoning: 'true', sort: 'outputPrice' },
  })
  await page.reload()
  await rowOf(page, 'sandbox/reasoning').waitFor()
  expect(await namesIn(page)).toEqual(['sandbox/reasoning'])
  await page.close()
}

async function sells() {
  const page = await stage.open('/models?vendor=sandbox')
  for (const [id, price] of [
    ['sandbox/image', '$0.001 / image'],
    ['sandbox/transcription', '$0.00001 / second'],
    ['sandbox/speech', '$1.50 / 1 M characters'],
    ['sandbox/moderation', '$0.00001 / request'],
  ] as const) {
    const text = await rowOf(page, id).innerText()
    expect(text.replace(/\s+/g, ' ')).toContain(price)
  }
  await page.close()
}

async function measures() {
  const page = await stage.open('/models?vendor=sandbox')
  expect(await rowOf(page, 'sandbox/chat').innerText()).toContain('too little traffic, n = 1')
  const text = await rowOf(page, 'sandbox/reasoning').innerText()
  expect(text).toMatch(/\d\sms · \d+\sms n = 30/)
  expect(text).toMatch(/100\s% n = 30/)
  expect(await rowOf(page, 'sandbox/image').innerText()).not.toContain('n =')
  await page.close()
}

async function showsCards() {
  const page = await stage.open('/models?vendor=sandbox')
  await page.getByText('Cards', { exact: true }).click()
  const cards = page.getByRole('list', { name: 'Models' }).getByRole('listitem')
  const card = cards.filter({ hasText: 'sandbox/image' })
  expect((await card.innerText()).replace(/\s+/g, ' ')).toContain('$0.001 / image')
  expect(await seriousFindings(page)).toEqual([])
  await card.getByRole('button', { name: 'sandbox/image' }).click()
  await page.getByRole('complementary', { name: 'Model sandbox/image' }).waitFor()
  expect(new URL(page.url()).searchParams.get('view')).toBe('cards')
  await page.close()
}

async function details() {
  const page = await stage.open('/models?open=sandbox%2Fchat')
  const drawer = page.getByRole('complementary', { name: 'Model sandbox/chat' })
  await drawer.getByRole('img', { name: /^Prices of sandbox\/chat .*Changes: 2,/ }).waitFor()
  await drawer.getByText('Jan 31, 2035', { exact: false }).first().waitFor()
  expect(await drawer.getByRole('list').first().innerText()).toContain('$0.50 → $0.60 (+20.0 %)')
  await drawer.getByRole('button', { name: 'View as table' }).click()
  await drawer.getByRole('columnheader', { name: 'Cached input' }).waitFor()
  const call = drawer.getByRole('region', { name: 'Terminal' })
  expect(await call.innerText()).toContain(`curl ${stage.server.url}/v1/chat/completions`)
  await drawer.getByText('OpenAI Python').click()
  await drawer.getByText(/base_url=".*\/v1"/).waitFor()
  await drawer.getByRole('slider', { name: /^sandbox\/chat, 90 days: / }).waitFor()
  expect(await drawer.getByRole('link', { name: 'Status page' }).getAttribute('href')).toContain(
    '/status?search=sandbox%2Fchat',
  )
  expect(await seriousFindings(page)).toEqual([])
  await page.keyboard.press('j')
  await page.getByRole('complementary', { name: 'Model sandbox/completion' }).waitFor()
  await page.close()
}

async function clears() {
  const page = await stage.open('/models?search=no-such-model&tools=true&context=1000')
  await page.getByRole('button', { name: 'Clear filters' }).last().click()
  await rowOf(page, 'sandbox/chat').waitFor()
  expect(new URL(page.url()).search).toBe('')
  expect(await page.getByLabel('Search models').inputValue()).toBe('')
  await page.close()
}

async function visits() {
  const context = await stage.visitor(null)
  const page = await stage.open('/models?open=sandbox%2Fchat', { context })
  const drawer = page.getByRole('complementary', { name: 'Model sandbox/chat' })
  await drawer.getByText('Prices of the group default', { exact: true }).waitFor()
  expect(await drawer.getByRole('link', { name: 'Set up a client' }).count()).toBe(0)
  expect(await page.getByLabel('Group', { exact: true }).count()).toBe(0)
  await page.getByRole('link', { name: 'RSS' }).waitFor()
  await page.close()
  await context.close()
}

async function looks(language: 'en' | 'zh-CN') {
  for (const width of [390, 1440] as const) {
    const theme = width === 390 ? 'dark' : 'light'
    const page = await stage.open('/models', { language, theme, width })
    await page.getByText('sandbox/chat').first().waitFor()
    if (width === 390) await page.locator('summary').click()
    expect(await seriousFindings(page)).toEqual([])
    await page.close()
  }
  // A visitor who is not signed in requests who they are, and nothing else that is private.
  expect(stage.faults().filter((text) => !/ 401 .*\/api\/me$/.test(text))).toEqual([])
}

async function discounts() {
  await tollgate('user', 'role', 'other', 'admin')
  await tollgate('user', 'role', 'default', 'user')
  await tollgate('user', 'groups', 'default', 'partner')
  const page = await stage.open('/models?vendor=sandbox')
  await page.getByLabel('Group', { exact: true }).selectOption('partner')
  const row = rowOf(page, 'sandbox/chat').filter({ hasText: '$0.40' })
  await row.waitFor()
  expect(await row.locator('s').allInnerTexts()).toEqual([
    expect.stringContaining('$0.50'),
    expect.stringContaining('$1.50'),
  ])
  const said = await row.locator('[title*="×"]').first().getAttribute('title')
  expect(said).toBe('$0.40 / 1 M tokens: $0.50 × 0.8, in USD. The vendor’s list price: $0.50.')
  expect(await page.getByRole('link', { name: 'Operations' }).count()).toBe(0)
  expect(stage.faults().filter((text) => !/ 401 .*\/api\/me$/.test(text))).toEqual([])
  await page.close()
}
