// Models and prices in a real browser: found, sorted, opened; honest where little was measured.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type ConsoleStage, hasBrowser, seriousFindings, startConsole } from '../support/console.ts'

let stage: ConsoleStage

afterAll(async () => stage?.close())

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
    const messages = [{ role: 'user', content: 'Hello' }]
    expect((await stage.call({ model: 'sandbox/chat', messages })).status).toBe(200)
  })
  test('a model is found by its name and shows what each kind of token costs', async () => {
    const page = await stage.open('/models')
    await page.getByLabel('Search models').fill('sandbox/chat')
    const row = page.getByRole('row').filter({ hasText: 'sandbox/chat' })
    await row.waitFor()
    expect(await row.textContent()).toContain('$0.50')
    expect(await row.textContent()).toMatch(/too little traffic, n = \d/)
    await row.click()
    const drawer = page.getByRole('complementary')
    await drawer.getByText('Prices of the group default, for a million').waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await page.close()
  })
  test('what fits no filter has a way back', async () => {
    const page = await stage.open('/models?search=no-such-model')
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('row').filter({ hasText: 'sandbox/chat' }).waitFor()
    expect(new URL(page.url()).search).toBe('')
    await page.close()
  })
  test('in Chinese, dark and narrow it is the same page without a fault', async () => {
    const page = await stage.open('/models', { language: 'zh-CN', theme: 'dark', width: 390 })
    await page.getByText('sandbox/chat').first().waitFor()
    expect(await seriousFindings(page)).toEqual([])
    expect(stage.faults()).toEqual([])
    await page.close()
  })
}
