// Tests the operator's prices in a real browser: set, used for charges, scheduled, withdrawn, compared with a list,
// rolled back.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { type ConsoleStage, hasBrowser, seriousFindings, startConsole } from '../support/console.ts'
import { run } from '../support/server-process.ts'

const model = 'sandbox/chat'
const messages = [{ role: 'user', content: 'Hello' }]

let stage: ConsoleStage

afterAll(async () => stage?.close())

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
    expect((await stage.call({ model, messages })).status).toBe(200)
  })
  test(
    'a price is set after what it would have brought was shown, and the next request is charged by it',
    sets,
  )
  test('a change of more than tenfold is asked about', async () => {
    const { page, drawer } = await openModel()
    await priceOf(drawer, 'Output').fill('900')
    await drawer.getByLabel('Source').fill('a test')
    await drawer.getByRole('button', { name: 'Set prices' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('more than tenfold').first().waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    // What was typed is still there.
    expect(await priceOf(drawer, 'Output').inputValue()).toBe('900')
    await page.close()
  })
  test('a price that leaves requests refused, for a name that nobody knows, says so', async () => {
    const { page, drawer } = await openModel('acme/mistyped')
    await priceOf(drawer, 'Input').fill('1')
    await drawer.getByLabel('Source').fill('a test')
    await drawer.getByRole('button', { name: 'Set prices' }).click()
    const said = page.getByText('but no model is called so here')
    await said.waitFor()
    expect(await said.count()).toBe(1)
    await page.close()
  })
  test('from one model to the next by J and K, each for a group that has it', async () => {
    const page = await stage.open('/admin/prices?search=sandbox')
    await page.evaluate(() => {
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify({ id: 'aaa', models: ['none'] })
      return fetch('/api/groups', { method: 'POST', headers, body })
    })
    await page.getByRole('row').nth(1).click()
    const group = page.getByRole('complementary').getByLabel('As the group pays it')
    await group.locator('option').nth(1).waitFor({ state: 'attached' })
    expect(await group.inputValue()).toBe('default')
    const opened = () => new URL(page.url()).searchParams.get('open')
    const first = opened()
    await page.keyboard.press('j')
    await page.waitForURL((url) => url.searchParams.get('open') !== first)
    await page.keyboard.press('k')
    await page.waitForURL((url) => url.searchParams.get('open') === first)
    await page.close()
  })
  test('a model to price is asked for until it is named', async () => {
    const page = await stage.open('/admin/prices')
    await page.getByRole('button', { name: 'Price another model' }).click()
    const field = page.getByLabel('Name of the model')
    await field.press('Enter')
    await page.getByText('Write the name of a model.').waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await field.press('Escape')
    await page.locator('button:focus', { hasText: 'Price another model' }).press('Enter')
    expect(await page.getByText('Write the name of a model.').count()).toBe(0)
    await field.fill('acme/new')
    await field.press('Enter')
    await page.getByRole('complementary', { name: 'Prices of acme/new' }).waitFor()
    await page.close()
  })
  test('a price that begins later is listed, and taken back', async () => {
    const { page, drawer } = await openModel()
    await priceOf(drawer, 'Output').fill('4')
    await drawer.getByLabel('Begins').fill('2099-01-01T00:00')
    await drawer.getByLabel('Source').fill('a contract')
    await drawer.getByRole('button', { name: 'Set prices' }).click()
    await drawer.getByText('scheduled', { exact: true }).waitFor()
    await page.goto(`${stage.server.url}/console/admin/prices?view=scheduled`)
    await page.getByText('output 4').waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await page.getByRole('button', { name: 'Cancel it' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Take back' }).click()
    await page.getByText('Nothing is scheduled.').waitFor()
    await page.close()
  })
  test('an earlier version is brought back, and is a new one', bringsBack)
  test('after more than a hundred changes the prices in force are still shown', async () => {
    const page = await stage.open('/admin/prices')
    await page.evaluate(async () => {
      const headers = { 'content-type': 'application/json' }
      for (let change = 0; change <= 100; change += 1) {
        const prices = { input: '1', output: String(change + 1) }
        const body = JSON.stringify({ model: 'acme/often', prices, source: 'a test' })
        await fetch('/api/prices', { method: 'POST', headers, body })
      }
    })
    await page.goto(`${stage.server.url}/console/admin/prices?open=acme%2Foften`)
    const drawer = page.getByRole('complementary')
    await drawer.getByText('in force').waitFor()
    expect(await drawer.getByText('has no price').count()).toBe(0)
    expect(await drawer.getByRole('listitem').count()).toBe(101)
    await page.close()
  })
  test('a draft stays when somebody else sets the prices meanwhile', keepsDraft)
  test('an auditor sees the prices and changes nothing', audits)
  test('one row of what differs from the shipped prices is taken', async () => {
    const page = await stage.open('/admin/prices?view=shipped')
    await page.getByRole('button', { name: 'Take the shipped prices' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Take the shipped prices' }).click()
    await page.getByText('Every shipped price is in force as it is.').waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await page.close()
  })
  test('one model of a published list is taken, by itself', compares)
  test(
    'a price for long prompts is set by words, kept exactly, and refused if it is there twice',
    tiers,
  )
  // Some were refused or not found before, which the browser writes into its log.
  test('in Chinese, dark and narrow it is without a fault', async () => {
    for (const view of ['missing', 'import']) {
      const look = { language: 'zh-CN', theme: 'dark', width: 390 } as const
      const page = await stage.open(`/admin/prices?view=${view}`, look)
      expect(await seriousFindings(page)).toEqual([])
      await page.close()
    }
    expect(stage.faults().filter((text) => !/ 40[04] /.test(text))).toEqual([])
  })
}

async function sets() {
  const { page, drawer } = await openModel()
  await priceOf(drawer, 'Input').fill('2')
  await priceOf(drawer, 'Output').fill('3')
  await drawer.getByRole('button', { name: 'What would the last 7 days have earned?' }).click()
  await drawer.getByText('By these prices').waitFor()
  await drawer.getByRole('button', { name: 'Set prices' }).click()
  await drawer.getByText('Say where the prices are from.').waitFor()
  await drawer.getByLabel('Source').fill('a contract')
  await drawer.getByRole('button', { name: 'Set prices' }).click()
  await drawer.getByText('set here').first().waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await page.close()
  const reply = await stage.call({ model, messages })
  const { usage } = (await reply.json()) as {
    usage: { prompt_tokens: number; completion_tokens: number }
  }
  const nano = usage.prompt_tokens * 2_000 + usage.completion_tokens * 3_000
  const id = reply.headers.get('x-request-id') ?? ''
  const requests = await stage.open(`/requests?open=${id}`)
  await requests
    .getByRole('complementary')
    .getByText(`$${nano / 1e9}`)
    .first()
    .waitFor()
  await requests.close()
}

async function tiers() {
  const { page, drawer } = await openModel('sandbox/reasoning')
  const add = async (what: string, price: string) => {
    await drawer.getByRole('button', { name: 'Another price' }).click()
    await drawer.getByRole('combobox').last().selectOption({ label: what })
    await priceOf(drawer, what).last().fill(price)
  }
  await add('Input', ' 0.123456789 ')
  await drawer.getByLabel('Source').fill('a contract')
  await drawer.getByRole('button', { name: 'Set prices' }).click()
  await drawer.getByText('This price is here twice.').waitFor()
  const above = drawer.getByLabel('Prompts longer than, in tokens, for Input').last()
  await above.fill('200,000')
  await drawer.getByRole('button', { name: 'Set prices' }).click()
  await drawer.getByText('Write a whole number from 1 to 999,999,999.').waitFor()
  await above.fill('200000')
  await add('Web search', '10000')
  expect(await seriousFindings(page)).toEqual([])
  await drawer.getByRole('button', { name: 'Set prices' }).click()
  await drawer.getByText('set here').first().waitFor()
  await page.close()
  const listed = await run(stage.server.dataDir, 'price', 'list', 'sandbox/reasoning', '--json')
  expect(JSON.parse(listed)).toMatchObject([
    { prices: { 'input>200000': '0.123456789', webSearch: '10000', output: '1.5' } },
  ])
}

async function compares() {
  const page = await stage.open('/admin/prices?view=import')
  const cost = { input: 1, output: 2 }
  const models = { 'list-one': { id: 'list-one', cost }, 'list-two': { id: 'list-two', cost } }
  const document = { acme: { id: 'acme', models } }
  await page.getByLabel('Document').fill('no JSON')
  await page.getByRole('button', { name: 'Compare' }).click()
  await page.getByRole('alert').waitFor()
  await page.getByLabel('Document').fill(JSON.stringify(document))
  await page.getByLabel('Only of the vendor').fill('acme')
  await page.getByRole('button', { name: 'Compare' }).click()
  const row = page.getByRole('listitem').filter({ hasText: 'list-one' })
  await row.waitFor()
  // What was compared is taken, not what is typed since.
  await page.getByLabel('Only of the vendor').fill('another')
  await row.getByRole('button', { name: 'Take', exact: true }).click()
  await row.waitFor({ state: 'detached' })
  const two = page.getByRole('listitem').filter({ hasText: 'list-two' })
  await two.waitFor()
  const all = page.getByRole('button', { name: 'Take all 1' })
  const dialog = page.getByRole('dialog', { name: 'Take the price of 1 model?' })
  await all.click()
  await dialog.waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await two.waitFor()
  await page.goto(`${stage.server.url}/console/admin/prices?search=list-`)
  const found = page.getByRole('row').filter({ hasText: 'list-one' })
  await found.getByText('imported').waitFor()
  expect(await page.getByRole('row').filter({ hasText: 'list-two' }).count()).toBe(0)
  await page.goBack()
  await page.getByLabel('Document').fill(JSON.stringify(document))
  await page.getByLabel('Only of the vendor').fill('acme')
  await page.getByRole('button', { name: 'Compare' }).click()
  await all.click()
  await dialog.getByRole('button', { name: 'Take all', exact: true }).click()
  await page.getByText('The prices in force are those of the list.').waitFor()
  await page.close()
}

async function openModel(name = model) {
  const page = await stage.open(`/admin/prices?open=${encodeURIComponent(name)}`)
  const drawer = page.getByRole('complementary', { name: `Prices of ${name}` })
  await drawer.getByLabel('Source').waitFor()
  return { page, drawer }
}

/** By the name in the form: `Output`, `Input 200000`. */
function priceOf(drawer: ReturnType<Page['getByRole']>, name: string) {
  return drawer.getByLabel(`Price of ${name}`, { exact: true })
}

async function bringsBack() {
  const { page, drawer } = await openModel()
  const versions = drawer.getByRole('listitem')
  const latest = versions.first()
  const before = await versions.count()
  await priceOf(drawer, 'Output').fill('5')
  await drawer.getByLabel('Source').fill('a mistake')
  await drawer.getByRole('button', { name: 'Set prices' }).click()
  await latest.getByText('output 5').waitFor()
  const earlier = versions.filter({ hasText: 'output 3' }).last()
  await earlier.getByRole('button', { name: 'Bring back' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Bring back' }).click()
  await latest.getByText('output 3').waitFor()
  // Each change also repeats the cancellation above, whose time is still to come: what it cancels is listed once.
  expect(await versions.count()).toBe(before + 2)
  expect(await versions.filter({ hasText: 'cancelled' }).count()).toBe(1)
  expect(await versions.filter({ hasText: 'scheduled' }).count()).toBe(0)
  await page.close()
}

async function keepsDraft() {
  const { page, drawer } = await openModel('acme/draft')
  const elsewhere = (output: string) =>
    page.evaluate(
      async (prices) => {
        const headers = { 'content-type': 'application/json' }
        const body = JSON.stringify({ model: 'acme/draft', prices, source: 'a test' })
        await fetch('/api/prices', { method: 'POST', headers, body })
        // So that the page asks again, as after a while in the background.
        const now = Date.now
        Date.now = () => now() + 60_000
        globalThis.dispatchEvent(new Event('visibilitychange'))
      },
      { input: '1', output },
    )
  await elsewhere('2')
  await drawer.getByText('output 2').first().waitFor()
  const output = priceOf(drawer, 'Output')
  await output.fill('7')
  await elsewhere('3')
  await drawer.getByText('What you typed is not lost.', { exact: false }).waitFor()
  expect(await output.inputValue()).toBe('7')
  await drawer.getByRole('button', { name: 'Set prices', disabled: true }).waitFor()
  await drawer.getByRole('button', { name: 'Load the newest without my changes' }).click()
  expect(await output.inputValue()).toBe('3')
  await page.close()
}

async function audits() {
  const context = await stage.visitor('auditor')
  const page = await stage.open(`/admin/prices?open=${encodeURIComponent(model)}`, { context })
  await page.getByRole('complementary').getByText('output 3').first().waitFor()
  expect(await seriousFindings(page)).toEqual([])
  for (const name of ['Set prices', 'Bring back', 'Withdraw: back to the shipped prices'])
    expect(await page.getByRole('button', { name }).count()).toBe(0)
  await page.goto(`${stage.server.url}/console/admin/prices?view=shipped`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  expect(await page.getByRole('button', { name: 'Take the shipped prices' }).count()).toBe(0)
  await context.close()
}
