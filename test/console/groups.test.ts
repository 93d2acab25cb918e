// Tests the operator's page of groups in a real browser: made, refused, changed, seen as its users do, brought back,
// deleted.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type ConsoleStage, hasBrowser, seriousFindings, startConsole } from '../support/console.ts'

let stage: ConsoleStage

afterAll(async () => stage?.close())

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
  })
  test('a group is made with a multiplier; what is wrong is said at its field', async () => {
    const page = await stage.open('/admin/groups')
    await page.getByRole('button', { name: 'New group' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('not a name')
    await dialog.getByLabel('Multiplier').fill('1.25')
    await dialog.getByText('Every price is 25 % higher.').waitFor()
    await dialog.getByRole('button', { name: 'Make group' }).click()
    await dialog.getByRole('alert').waitFor()
    // What was typed is still there.
    expect(await dialog.getByLabel('Multiplier').inputValue()).toBe('1.25')
    await dialog.getByLabel('Name').fill('paid')
    await dialog.getByLabel('Requests a minute').fill('60')
    await dialog.getByRole('button', { name: 'Make group' }).click()
    const drawer = page.getByRole('complementary', { name: 'Group paid' })
    await drawer.waitFor()
    const row = page.getByRole('row').filter({ hasText: 'paid' })
    expect(await row.textContent()).toContain('× 1.25')
    expect(await row.textContent()).toContain('60 requests/min')
    expect(await seriousFindings(page)).toEqual([])
    await page.close()
  })
  test('what its users see has its prices, and why a model is missing has a reason', async () => {
    const page = await stage.open('/admin/groups?open=paid')
    const drawer = page.getByRole('complementary', { name: 'Group paid' })
    await drawer.getByText('What does a user of this group see?').click()
    const row = drawer.getByRole('row').filter({ hasText: /^sandbox\/chat\$/ })
    // 0.50 with the multiplier.
    expect(await row.textContent()).toContain('$0.625')
    const image = drawer.getByRole('row').filter({ hasText: /^sandbox\/image/ })
    expect(await image.textContent()).toContain('$0.00125/ image')
    await drawer.getByLabel('Where would a request for this model go?').fill('no-such-model')
    await drawer.getByRole('button', { name: 'Look' }).click()
    await drawer.getByText('No channel serves no-such-model to this group.').waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await page.close()
  })
  test('hundreds of channels leave what stands below them in sight', async () => {
    const page = await stage.open('/')
    await page.route('**/api/groups/uses', async (route) => {
      const response = await route.fetch()
      const { items, ...rest } = (await response.json()) as { items: readonly object[] }
      const channels = Array.from({ length: 300 }, (_, place) => `channel-${place}`)
      const served = items.map((item) => ({ ...item, channels }))
      await route.fulfill({ response, json: { ...rest, items: served } })
    })
    await page.goto(`${stage.server.url}/console/admin/groups?open=paid`)
    const names = page.getByRole('region', { name: 'Served by' })
    await names.focus()
    await page.keyboard.press('End')
    await page.getByText('get another group').waitFor()
    const place = await page.getByText('get another group').boundingBox()
    expect(place?.y).toBeLessThan(900)
    expect(await seriousFindings(page)).toEqual([])
    await page.close()
  })
  test('some models have a multiplier of their own, and what is no multiplier is said', hasOthers)
  test('who was slower is told so, and keeps what was typed', isTold)
  test('an auditor sees it and its versions, and changes nothing', audits)
  test('it is changed, brought back, and deleted where nothing names it', async () => {
    const page = await stage.open('/admin/groups?open=paid')
    const drawer = page.getByRole('complementary', { name: 'Group paid' })
    await drawer.getByLabel('Multiplier').fill('2')
    await drawer.getByRole('button', { name: 'Save' }).click()
    const row = page.getByRole('row').filter({ hasText: 'paid' }).first()
    await row.getByText('× 2', { exact: true }).waitFor()
    await drawer.getByRole('button', { name: 'Bring back' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Bring back' }).click()
    await row.getByText('× 1.25').waitFor()
    await drawer.getByRole('button', { name: 'Delete group' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete group' }).click()
    await row.waitFor({ state: 'detached' })
    expect(new URL(page.url()).search).toBe('')
    // Its address shows what can be brought back.
    await page.goBack()
    await drawer.getByText('There is no group of this name.', { exact: false }).waitFor()
    await drawer.getByRole('button', { name: 'Bring back' }).first().click()
    await page.getByRole('dialog').getByRole('button', { name: 'Bring back' }).click()
    await row.getByText('× 1.25').waitFor()
    // The test caused a refusal, which the browser writes into its log.
    expect(stage.faults().filter((text) => !/ 4(00|12) /.test(text))).toEqual([])
    await page.close()
  })
}

async function isTold() {
  const slow = await stage.open('/admin/groups')
  await slow.getByRole('button', { name: 'New group' }).click()
  await slow.getByRole('dialog').getByLabel('Name').fill('both teams')
  await slow.getByRole('dialog').getByRole('button', { name: 'Make group' }).click()
  await slow.getByText('Begin with a letter', { exact: false }).waitFor()
  await slow.getByRole('dialog').getByLabel('Name').fill('both')
  await slow.getByRole('dialog').getByRole('button', { name: 'Make group' }).click()
  const own = slow.getByRole('complementary', { name: 'Group both' })
  await own.getByLabel('Requests a minute').fill('30')
  const fast = await stage.open('/admin/groups?open=both')
  const other = fast.getByRole('complementary', { name: 'Group both' })
  await other.getByLabel('Requests a minute').fill('90')
  await other.getByRole('button', { name: 'Save' }).click()
  await fast.getByRole('row').filter({ hasText: '90 requests/min' }).waitFor()
  await own.getByRole('button', { name: 'Save' }).click()
  await own.getByText('What you typed is not lost.').waitFor()
  expect(await own.getByLabel('Requests a minute').inputValue()).toBe('30')
  await slow.close()
  await fast.close()
}

async function audits() {
  const context = await stage.visitor('auditor')
  const page = await stage.open('/admin/groups?open=paid', { context })
  const drawer = page.getByRole('complementary', { name: 'Group paid' })
  await drawer.getByText('× 1.25 · all models · 60 requests/min').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  for (const name of ['New group', 'Save', 'Bring back', 'Delete group'])
    expect(await page.getByRole('button', { name }).count()).toBe(0)
  await context.close()
}

async function hasOthers() {
  const page = await stage.open('/admin/groups')
  await page.getByRole('button', { name: 'New group' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('sale')
  const others = page.getByLabel('Exceptions by model')
  await others.fill('sandbox/* 0.5\nsandbox/chat half')
  await dialog.getByRole('button', { name: 'Make group' }).click()
  await dialog.getByText('Write a model and a decimal, not “sandbox/chat half”.').waitFor()
  await others.fill('sandbox/* 0.5\n\nsandbox/chat 0.25')
  await dialog.getByRole('button', { name: 'Make group' }).click()
  const drawer = page.getByRole('complementary', { name: 'Group sale' })
  await drawer.getByText('What does a user of this group see?').click()
  // 0.50 with the multiplier.
  const row = drawer.getByRole('row').filter({ hasText: /^sandbox\/chatList price/ })
  expect(await row.textContent()).toContain('$0.50$0.125')
  await page.reload()
  expect(await others.inputValue()).toBe('sandbox/* 0.5\nsandbox/chat 0.25')
  expect(await seriousFindings(page)).toEqual([])
  await page.close()
}
