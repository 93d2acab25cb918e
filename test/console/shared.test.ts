// Tests a link to a request in a real browser: made by its owner, opened by somebody who is not signed in.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type ConsoleStage, hasBrowser, seriousFindings, startConsole } from '../support/console.ts'

let stage: ConsoleStage

afterAll(async () => stage?.close())

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
    const messages = [{ role: 'user', content: 'Hello' }]
    expect((await stage.call({ model: 'no-such-model', messages })).status).toBe(404)
  })
  test('whoever has a link to it sees how it went, without signing in', async () => {
    const page = await stage.open('/requests?statusClass=4xx')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('row').filter({ hasText: 'model_not_found' }).first().click()
    await page.getByRole('button', { name: 'Share how it went' }).click()
    await page.getByText('A link was copied.', { exact: false }).waitFor()
    const link = new URL(await page.evaluate(() => navigator.clipboard.readText()))
    await page.close()
    const context = await stage.visitor(null)
    const path = `${link.pathname.replace('/console', '')}${link.search}`
    const shown = await stage.open(path, { context, width: 390, theme: 'dark' })
    await shown.getByText('no-such-model').first().waitFor()
    await shown.getByRole('region', { name: 'Whose fault it was' }).waitFor()
    expect(await shown.getByText('default').count()).toBe(0)
    expect(await seriousFindings(shown)).toEqual([])
    await context.close()
    const other = await stage.visitor(null)
    const wrong = await stage.open('/shared?request=nothing', { context: other, language: 'zh-CN' })
    await wrong.getByText('此链接已失效，或不是有效链接。').waitFor()
    await other.close()
  })
}
