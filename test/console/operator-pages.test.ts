// The operator's pages in a real browser: operations, users, audit log, reconcile.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type ConsoleStage, hasBrowser, seriousFindings, startConsole } from '../support/console.ts'

let stage: ConsoleStage

/** The browser writes into its log that a wrong value was refused, and that a model has no prices. */
const isExpected = (fault: string) => / 400 |404 .*unpriced/.test(fault)

afterAll(async () => stage?.close())

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
    const messages = [{ role: 'user', content: 'Hello' }]
    expect((await stage.call({ model: 'sandbox/chat', messages })).status).toBe(200)
    expect((await stage.call({ model: 'no-such-model', messages })).status).toBe(404)
  })
  test('operations show channels, money and the errors of the hour, which lead to their requests', async () => {
    const page = await stage.open('/admin')
    await page.getByText('Nothing is wrong that the gateway knows of.').waitFor()
    await page.getByText('sandbox', { exact: true }).first().waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await page.getByRole('link', { name: 'model_not_found' }).click()
    await page.getByRole('row').filter({ hasText: 'no-such-model' }).waitFor()
    await page.close()
  })
  test('what is wrong is named, with what it is about, in both languages', namesAlerts)
  test('a user is found, suspended and taken back, which the audit log tells', suspends)
  test('reconciling says that requests, ledger and totals agree', async () => {
    const page = await stage.open('/admin/reconcile?range=24h')
    await page.getByRole('button', { name: 'Reconcile this period' }).click()
    await page.getByText('All three agree, to the last digit.').waitFor()
    expect(await page.getByRole('row').filter({ hasText: 'Equal' }).count()).toBeGreaterThan(0)
    expect(await seriousFindings(page)).toEqual([])
    await page.close()
  })
  test('the audit log is had as a file of lines of JSON', exportsLog)
  test('a setting is changed, a wrong value is named, and the default comes back', changesSetting)
  test.each(['/admin', '/admin/users', '/admin/audit', '/admin/reconcile', '/admin/settings'])(
    '%s in Chinese, dark and narrow has no fault',
    async (path) => {
      const page = await stage.open(path, { language: 'zh-CN', theme: 'dark', width: 390 })
      expect(await seriousFindings(page)).toEqual([])
      expect(stage.faults().filter((text) => !isExpected(text))).toEqual([])
      await page.close()
    },
  )
}

async function namesAlerts() {
  const body = { model: 'sandbox/unpriced', messages: [{ role: 'user', content: 'Hello' }] }
  expect((await stage.call(body)).status).toBe(503)
  for (const [language, name] of [
    ['en', 'A model has no price'],
    ['zh-CN', '模型没有价格'],
  ] as const) {
    const page = await stage.open('/admin', { language })
    const alert = page.getByRole('listitem').filter({ hasText: name })
    await alert.getByText('1 request was refused in the last hour').waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await alert.getByRole('link', { name: 'sandbox/unpriced' }).click()
    await page.waitForURL('**/console/admin/prices?open=sandbox*')
    // With what is said of a model without prices.
    await page
      .getByRole('complementary')
      .getByText(/sandbox\/unpriced .+/)
      .waitFor()
    await page.close()
  }
}

async function suspends() {
  const { dataDir } = stage.server
  const made = Bun.spawn(
    ['bin/tollgate', ...'account credit ann 5 --create --reason test --data'.split(' '), dataDir],
    { stdout: 'ignore' },
  )
  expect(await made.exited).toBe(0)
  const page = await stage.open('/admin/users')
  await page.getByLabel('Search users').fill('ann')
  await page.getByRole('row').filter({ hasText: 'ann' }).click()
  const drawer = page.getByRole('complementary')
  await drawer.getByRole('button', { name: 'Suspend' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click()
  await drawer.getByText('Suspended').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await drawer.getByRole('button', { name: 'Take the suspension back' }).click()
  await drawer.getByText('Active').waitFor()
  await page.goto(`${stage.server.url}/console/admin/audit`)
  await page.getByRole('row').filter({ hasText: 'suspendPerson' }).first().click()
  await page.getByRole('columnheader', { name: 'Before' }).waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await page.close()
}

async function changesSetting() {
  const page = await stage.open('/admin/settings')
  const form = page.locator('form').filter({ hasText: 'usage.keepDays' })
  await form.getByRole('textbox').fill('zero')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByRole('alert').waitFor()
  await form.getByRole('textbox').fill('400')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByRole('button', { name: 'Back to the default: null' }).click()
  await page.getByText('Saved.').last().waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await page.close()
}

async function exportsLog() {
  const page = await stage.open('/admin/audit?text=ann')
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Export JSON' }).click(),
  ])
  const lines = (await Bun.file(await download.path()).text()).trim().split('\n')
  const events = lines.map((line) => JSON.parse(line))
  expect(events.length).toBeGreaterThan(0)
  for (const event of events) expect(JSON.stringify(event)).toContain('ann')
  await page.close()
}
