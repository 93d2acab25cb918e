// Tests which operators' pages each role sees in a real browser.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { BrowserContext } from 'playwright-core'
import { type ConsoleStage, hasBrowser, seriousFindings, startConsole } from '../support/console.ts'
import { run } from '../support/server-process.ts'

const router = readFileSync('console/src/app/router.tsx', 'utf8')
const paths = [...router.matchAll(/path: '(\/admin[^']*)'/g)].map(([, path = '']) => path)

let stage: ConsoleStage
let user: BrowserContext

afterAll(async () => stage?.close())

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
    user = await stage.visitor('user')
  })
  test.each(paths)('%s is refused to a user, with no part of the page', async (path) => {
    const page = await stage.open(path, { context: user })
    await page.getByRole('heading', { level: 1, name: 'This page is for operators' }).waitFor()
    const main = page.getByRole('main')
    expect(await main.locator('input, select, button, table').count()).toBe(0)
    expect(await main.getByRole('link', { name: 'To the overview' }).count()).toBe(1)
    expect(await seriousFindings(page)).toEqual([])
    await page.close()
  })
  test('a form goes without a question where somebody else has signed in meanwhile', async () => {
    const { server } = stage
    const link = /\/api\/auth\/link\S+/.exec(await run(server.dataDir, 'admin', 'link'))?.[0]
    const context = await stage.visitor('user')
    const page = await stage.open('/settings', { context })
    let asked = 0
    page.on('dialog', (dialog) => {
      asked += 1
      void dialog.dismiss()
    })
    const name = page.getByLabel('Name', { exact: true })
    await name.click()
    await page.keyboard.type('Uma')
    const other = await context.newPage()
    await other.goto(`${server.url}${link}`)
    await other.close()
    await page.evaluate(() => void globalThis.dispatchEvent(new Event('visibilitychange')))
    await page.getByRole('link', { name: 'Operations' }).first().waitFor()
    expect([asked, await name.inputValue()]).toEqual([0, ''])
    await page.close()
  })
  test('an auditor sees an operators’ page', async () => {
    const page = await stage.open('/admin/users', { context: await stage.visitor('auditor') })
    await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor()
    await page.getByRole('table').getByText('eye').first().waitFor()
    expect(stage.faults()).toEqual([])
    await page.close()
  })
  test('an auditor is offered no change of their own that is refused', async () => {
    const messages = [{ role: 'user', content: 'Hello' }]
    const reply = await stage.call({ model: 'sandbox/chat', messages })
    const context = await stage.visitor('auditor')
    const id = reply.headers.get('x-request-id')
    const request = await stage.open(`/requests?open=${id}`, { context })
    await request.getByRole('button', { name: 'Copy a problem report' }).waitFor()
    expect(await request.getByRole('button', { name: 'Share how it went' }).count()).toBe(0)
    await request.goto(`${stage.server.url}/console/keys`)
    await request.getByRole('row').filter({ hasText: 'first' }).click()
    await request.getByRole('button', { name: 'Test key' }).click()
    await request.getByText('No model was called.', { exact: false }).waitFor()
    await request.close()
    const orders = await stage.open('/billing/orders', { context })
    await orders.getByText('No credit was ordered yet.').waitFor()
    expect(await orders.getByRole('link', { name: 'Buy credit' }).count()).toBe(0)
    await orders.close()
    const start = await stage.open('/get-started', { context })
    await start.getByLabel('Secret of the key').waitFor()
    expect(await start.getByRole('button', { name: 'Create key' }).count()).toBe(0)
    await start.close()
    const page = await stage.open('/settings?tab=history', { context })
    await page.getByText('Auditors read everything and change nothing.').waitFor()
    expect(await page.getByRole('radio', { name: 'Keep nothing' }).isDisabled()).toBe(true)
    for (const name of ['Save', 'Delete all my messages'])
      expect(await page.getByRole('button', { name }).count()).toBe(0)
    expect(await seriousFindings(page)).toEqual([])
    await context.close()
  })
}
