// Tests the channels page in a real browser: a channel made, tested, edited by two people, stopped, brought back; and
// permissions.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { type ConsoleStage, hasBrowser, seriousFindings, startConsole } from '../support/console.ts'
import { chatReply, json, startUpstream, type Upstream } from '../support/upstream.ts'

const secret = 'sk-vendor-0123456789-abcd'
const folder = mkdtempSync(join(tmpdir(), 'tollgate-channels-'))
const file = join(folder, 'tollgate.yaml')

let stage: ConsoleStage
let upstream: Upstream

afterAll(async () => {
  await stage?.close()
  await upstream?.close()
  rmSync(folder, { recursive: true })
})

if (hasBrowser) {
  beforeAll(async () => {
    upstream = await startUpstream()
    const data = [{ id: 'house-chat' }, { id: 'house-other' }]
    const list = json(200, { object: 'list', data })
    const chat = json(200, chatReply('ok'))
    upstream.on('*', [(turn) => (turn.request.method === 'GET' ? list : chat)(turn)])
    const config = {
      channels: [{ id: 'declared', vendor: 'sandbox', tags: ['spare'] }],
      models: { 'house-chat': { prices: { input: '1', output: '2' } } },
    }
    writeFileSync(file, JSON.stringify(config))
    stage = await startConsole({ words: ['--config', file] })
  })
  test(
    'a channel is made: refusals stand at their fields, models are chosen from the list of the vendor',
    makes,
  )
  test('it is tried by one small call, and the exchange is shown without its secret', tries)
  test('who was slower is told who changed it, and keeps what was typed', keepsDraft)
  test(
    'what it may be asked, its proxy and its further attempts are set, and refused at their fields',
    setsMore,
  )
  test('it is drained, enabled, and an earlier version is brought back', bringsBack)
  test('channels of a tag are disabled together, what they are is said first', disablesByTag)
  test('an import says what it would do first', imports)
  test('it is said where a request would go, and why not elsewhere', previews)
  test('what the file declares is shown with its file and not changed', async () => {
    const page = await stage.open('/admin/channels?open=declared')
    const drawer = page.getByRole('complementary', { name: 'declared' })
    await drawer.getByText(file).waitFor()
    expect(await drawer.getByRole('button', { name: 'Disable' }).count()).toBe(0)
    expect(await drawer.getByText('Settings', { exact: true }).count()).toBe(0)
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await seriousFindings(page)).toEqual([])
    await page.close()
  })
  test('an auditor sees all of it and changes nothing', audits)
  test('it is deleted, and its versions stay', deletes)
  test('a channel may be called as the form of a new one was', namesNew)
  test.each([390, 1024] as const)(
    'in Chinese, dark and %i px wide nothing is wrong with it',
    async (width) => {
      for (const path of ['', '?open=declared', '?dialog=routing&model=house-chat']) {
        const page = await stage.open(`/admin/channels${path}`, {
          language: 'zh-CN',
          theme: 'dark',
          width,
        })
        expect(await seriousFindings(page)).toEqual([])
        await page.close()
      }
    },
  )
  test('no page logged an error but for what was refused on purpose', () => {
    const refusals = /status of (400|404|409|412)/
    expect(stage.faults().filter((text) => !refusals.test(text))).toEqual([])
  })
}

function drawerOf(page: Page, name: string) {
  return page.getByRole('complementary', { name })
}

async function makes() {
  const page = await stage.open('/admin/channels')
  await page.getByRole('row').filter({ hasText: 'declared' }).waitFor()
  // What the page is for takes two lines in a small window, beside its actions.
  await page.setViewportSize({ width: 1280, height: 900 })
  const place = await page.getByRole('link', { name: 'New channel' }).boundingBox()
  expect(place?.x).toBeGreaterThan(1_000)
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.getByRole('link', { name: 'New channel' }).click()
  const drawer = drawerOf(page, 'New channel')
  await drawer.getByLabel('Name', { exact: true }).fill('not a name')
  await drawer.getByLabel('Name', { exact: true }).press('Enter')
  await drawer.getByText('Begin with a letter', { exact: false }).waitFor()
  const vendor = drawer.getByLabel('Vendor', { exact: true })
  await vendor.selectOption('openai-compatible')
  const shown = await vendor
    .locator('option')
    .evaluateAll((all) => (all as HTMLOptionElement[]).map(({ value, text }) => [value, text]))
  expect(shown.length).toBeGreaterThan(30)
  expect(shown.filter(([id, name]) => id === name)).toEqual([])
  await drawer.getByLabel('Base address').fill(upstream.url)
  await drawer.getByLabel('The vendor’s key').fill(secret)
  await drawer.getByText('These models').click()
  await drawer.getByRole('button', { name: 'Fetch the vendor’s list' }).click()
  // The name is refused before the vendor is asked.
  await drawer.getByRole('alert').first().waitFor()
  await drawer.getByLabel('Name', { exact: true }).fill('house')
  await drawer.getByRole('button', { name: 'Fetch the vendor’s list' }).click()
  await drawer.getByLabel('house-chat').check()
  await drawer.getByRole('button', { name: 'Add a model' }).click()
  const names = drawer.getByLabel('Name for clients')
  await names.last().fill('house-chat')
  await drawer.getByRole('button', { name: 'Make the channel' }).click()
  await drawer.getByText('This name is here twice.').waitFor()
  await names.last().fill('quick')
  await drawer.getByLabel('The vendor’s name').last().fill('no-such')
  await drawer.getByText('The vendor’s list does not name no-such.').waitFor()
  await drawer.getByLabel('The vendor’s name').last().fill('house-chat')
  await drawer.getByLabel('Tags').fill('own, spare')
  await drawer.getByText('What requests carry: parameters and headers').click()
  const parameters = drawer.getByLabel('Parameters (JSON)')
  await parameters.fill('{"set": []}')
  await drawer.getByLabel('Headers (JSON)').fill('{"x-team": 1}')
  await drawer.getByRole('button', { name: 'Make the channel' }).click()
  await drawer.getByText('A JSON object of texts').waitFor()
  await drawer.getByText('A JSON object such as {"set"').waitFor()
  await parameters.fill('{"set": {"model": "other"}}')
  await drawer.getByLabel('Headers (JSON)').fill('{"x-team": "ops"}')
  await drawer.getByRole('button', { name: 'Make the channel' }).click()
  await drawer.getByText('it belongs to the gateway').waitFor()
  await parameters.fill('{"set": {"temperature": 0.25}}')
  // Enter tests what is typed; it does not send the form.
  await drawer.getByLabel('Model to ask').press('Enter')
  await drawer.getByText('It answered').waitFor()
  expect(page.url()).not.toContain('open=house')
  expect(await seriousFindings(page)).toEqual([])
  await drawer.getByRole('button', { name: 'Make the channel' }).click()
  const made = drawerOf(page, 'house')
  await made.getByText('…abcd').waitFor()
  expect(page.url()).toContain('open=house')
  expect(await made.getByText('quick').count()).toBe(1)
  expect(await page.content()).not.toContain(secret)
  expect(await seriousFindings(page)).toEqual([])
  await page.close()
}

async function tries() {
  const page = await stage.open('/admin/channels?open=house&tab=test')
  const drawer = drawerOf(page, 'house')
  await drawer.getByLabel('Model to ask').fill('quick')
  await drawer.getByRole('button', { name: 'Test the channel' }).click()
  await drawer.getByText('It answered').waitFor()
  const asked = drawer.getByRole('region', { name: 'Request' })
  expect(await asked.textContent()).toContain('authorization: ***')
  expect(await asked.textContent()).toContain('x-team: ops')
  expect(await asked.textContent()).toContain('"temperature": 0.25')
  expect(await asked.textContent()).toContain('"model": "house-chat"')
  expect(await drawer.getByRole('region', { name: 'Reply' }).textContent()).toContain('HTTP 200')
  await page.setViewportSize({ width: 1920, height: 900 })
  await page
    .getByRole('row')
    .filter({ hasText: 'house' })
    .getByText(/second|now/)
    .waitFor()
  expect(upstream.of('house-chat')[0]?.headers.get('authorization')).toBe(`Bearer ${secret}`)
  expect(await seriousFindings(page)).toEqual([])
  await page.close()
}

async function keepsDraft() {
  const one = await stage.open('/admin/channels?open=house&tab=settings')
  const other = await stage.open('/admin/channels?open=house&tab=settings')
  const [slow, fast] = [drawerOf(one, 'house'), drawerOf(other, 'house')]
  await slow.getByLabel('Priority').fill('7')
  await fast.getByLabel('Weight').fill('3')
  await fast.getByRole('button', { name: 'Save changes' }).click()
  await other.getByText('Channel changed').waitFor()
  await slow.getByRole('button', { name: 'Save changes' }).click()
  await slow.getByText('What you typed is not lost.').waitFor()
  expect(await seriousFindings(one)).toEqual([])
  await slow.getByRole('button', { name: 'Load the newest and keep my changes' }).click()
  expect(await slow.getByLabel('Priority').inputValue()).toBe('7')
  expect(await slow.getByLabel('Weight').inputValue()).toBe('3')
  // A refusal keeps what was typed, and is shown at its field.
  await slow.getByLabel('Weight').fill('2000000000')
  await slow.getByRole('button', { name: 'Save changes' }).click()
  await slow.getByText('Write a whole number from 0 to 1,000,000.').waitFor()
  // Nor does another channel, unless one is configured to.
  await slow.getByRole('button', { name: 'Close (Esc)' }).click()
  await one.getByText('Discard what you typed?').waitFor()
  await one.getByRole('button', { name: 'Cancel' }).click()
  await slow.getByLabel('Weight').fill('3')
  await slow.getByRole('button', { name: 'Save changes' }).click()
  await one.getByText('Channel changed').waitFor()
  await one.close()
  await other.close()
}

async function setsMore() {
  const page = await stage.open('/admin/channels?open=house&tab=settings')
  const drawer = drawerOf(page, 'house')
  const save = drawer.getByRole('button', { name: 'Save changes' })
  await drawer.getByLabel('Requests a minute').fill('0')
  await drawer.getByText('Cost, format, proxy, options and notes').click()
  await drawer.getByText('Timers and further attempts').click()
  await save.click()
  await drawer.getByText('Write a whole number from 1 to 1,000,000,000.').waitFor()
  await drawer.getByLabel('Requests a minute').fill('500')
  await drawer.getByLabel('Tokens a minute').fill('200000')
  await drawer.getByLabel('Proxy').fill('http://ops:hidden-0123456789@127.0.0.1:3128')
  // Its vendor has no TLS, so the proxy would read its key.
  await save.click()
  await drawer.getByText('the proxy can read requests').waitFor()
  await drawer.getByLabel('Proxy').fill('')
  await drawer.getByLabel('Try another after, too').fill('400, 200')
  await save.click()
  await drawer.getByText('Write statuses from 400 to 599').waitFor()
  await drawer.getByLabel('Try another after, too').fill('400')
  await drawer.getByLabel('Try no other after').fill('500 503')
  await save.click()
  await page.getByText('Channel changed').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await page.close()
  const seen = await stage.open('/admin/channels?open=house')
  const facts = drawerOf(seen, 'house')
  await facts.getByText('add: [400]').waitFor()
  await facts.getByText('remove: [500,503]').waitFor()
  // Hidden on a window that is less wide.
  await seen.setViewportSize({ width: 1920, height: 900 })
  await seen.getByRole('row').filter({ hasText: 'house' }).getByText('500').first().waitFor()
  await facts.getByText('not offered').waitFor()
  expect(await seen.content()).not.toContain('hidden-0123456789')
  await seen.close()
}

async function bringsBack() {
  const page = await stage.open('/admin/channels?open=house')
  const drawer = drawerOf(page, 'house')
  await drawer.getByRole('button', { name: 'Drain' }).click()
  const asked = page.getByRole('dialog')
  await asked.getByText('Nothing is under way').waitFor()
  await asked.getByRole('button', { name: 'Drain' }).click()
  await drawer.getByText('Draining').waitFor()
  await drawer.getByRole('button', { name: 'Enable' }).click()
  await drawer.getByRole('button', { name: 'Drain' }).waitFor()
  await drawer.getByText('Versions').click()
  const first = drawer.getByRole('listitem').filter({ hasText: 'Version 1' })
  await first.getByRole('button', { name: 'Bring it back' }).click()
  await asked.getByRole('row').filter({ hasText: 'priority' }).waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await asked.getByRole('button', { name: 'Bring it back' }).click()
  await drawer.getByText('Version 6').waitFor()
  await page.goto(`${stage.server.url}/console/admin/channels?open=house&tab=settings`)
  expect(await drawer.getByLabel('Priority').inputValue()).toBe('0')
  await page.close()
}

async function disablesByTag() {
  const page = await stage.open('/admin/channels?tag=spare')
  await page.getByText('(1 declared elsewhere stays as it is)').waitFor()
  await page.getByRole('button', { name: 'Disable' }).click()
  const asked = page.getByRole('dialog')
  await asked.getByText('house').waitFor()
  expect(await asked.getByText('declared').count()).toBe(0)
  await asked.getByRole('button', { name: 'Disable' }).click()
  const row = page.getByRole('row').filter({ hasText: 'house' })
  await row.getByText('Disabled').waitFor()
  await row.getByRole('checkbox').check()
  await page.getByRole('button', { name: 'Enable' }).click()
  await asked.getByRole('button', { name: 'Enable' }).click()
  await row.getByText('Healthy').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await page.close()
}

async function imports() {
  const page = await stage.open('/admin/channels?dialog=import')
  const dialog = page.getByRole('dialog')
  const look = dialog.getByRole('button', { name: 'See what it would do' })
  const text = dialog.getByLabel('Channels (JSON)')
  await text.fill('{')
  await look.click()
  await dialog.getByText('This is not JSON').waitFor()
  const house = { id: 'house', vendor: 'openai-compatible', baseUrl: upstream.url, weight: 9 }
  await text.fill(
    JSON.stringify([
      { ...house, key: '***' },
      { id: 'bad', vendor: 'opnai' },
    ]),
  )
  await look.click()
  await dialog.getByText('unknown vendor').waitFor()
  expect(await dialog.getByRole('button', { name: 'Import all of it' }).count()).toBe(0)
  await text.fill(JSON.stringify([{ id: 'more', vendor: 'sandbox', weight: 9 }]))
  await look.click()
  await dialog.getByRole('row').filter({ hasText: 'weight' }).waitFor()
  expect(await seriousFindings(page)).toEqual([])
  expect(await page.getByRole('row').filter({ hasText: 'more' }).count()).toBe(0)
  await dialog.getByRole('button', { name: 'Import all of it' }).click()
  await page.getByRole('row').filter({ hasText: 'more' }).waitFor()
  await page.close()
}

async function previews() {
  const page = await stage.open('/admin/channels')
  await page.getByRole('link', { name: 'Where would a request go?' }).click()
  const drawer = drawerOf(page, 'Where would a request go?')
  await drawer.getByLabel('Model').fill('quick')
  await drawer.getByRole('button', { name: 'Show' }).click()
  await drawer.getByRole('list').first().getByRole('link', { name: 'house' }).waitFor()
  const left = drawer.getByRole('listitem').filter({ hasText: 'does not serve this model' })
  expect(await left.filter({ hasText: 'declared' }).count()).toBe(1)
  expect(page.url()).toContain('model=quick')
  expect(await seriousFindings(page)).toEqual([])
  await drawer.getByRole('link', { name: 'house' }).click()
  await drawerOf(page, 'house').waitFor()
  await page.close()
}

async function audits() {
  const context = await stage.visitor('auditor')
  const page = await stage.open('/admin/channels?open=house', { context })
  const drawer = drawerOf(page, 'house')
  await drawer.getByText('…abcd').waitFor()
  await drawer.getByText('Versions').click()
  await drawer.getByText('Version 1', { exact: true }).waitFor()
  for (const name of ['Disable', 'Delete', 'Bring it back', 'New channel'])
    expect(await page.getByRole('button', { name }).count()).toBe(0)
  expect(await page.getByRole('link', { name: 'New channel' }).count()).toBe(0)
  expect(await drawer.getByText('Settings', { exact: true }).count()).toBe(0)
  await page.goto(`${stage.server.url}/console/admin/channels?dialog=routing&model=quick`)
  await page.getByRole('link', { name: 'house' }).waitFor()
  await context.close()
}

async function deletes() {
  const page = await stage.open('/admin/channels?open=more')
  await drawerOf(page, 'more').getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete the channel' }).click()
  await page.getByRole('row').filter({ hasText: 'more' }).waitFor({ state: 'detached' })
  await page.goto(`${stage.server.url}/console/admin/channels?open=more`)
  const drawer = drawerOf(page, 'more')
  await drawer.getByText('It was removed.').waitFor()
  const first = drawer.getByRole('listitem').filter({ hasText: 'Version 1' })
  await first.getByRole('button', { name: 'Bring it back' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Bring it back' }).click()
  await drawer.getByText('Overview').waitFor()
  expect(await page.getByRole('row').filter({ hasText: 'more' }).count()).toBe(1)
  await page.close()
}

async function namesNew() {
  const page = await stage.open('/admin/channels')
  const made = await page.evaluate(async () => {
    const body = JSON.stringify({ id: 'new', vendor: 'sandbox' })
    const headers = { 'content-type': 'application/json' }
    return (await fetch('/api/channels', { method: 'POST', headers, body })).status
  })
  expect(made).toBe(201)
  await page.goto(`${stage.server.url}/console/admin/channels?open=new`)
  await drawerOf(page, 'new').getByRole('button', { name: 'Delete' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'New channel' }).click()
  await page.getByRole('form', { name: 'New channel' }).waitFor()
  expect(await page.getByRole('complementary', { name: 'new', exact: true }).count()).toBe(0)
  await page.close()
}
