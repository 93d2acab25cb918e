// Tests in a real browser that pages name prices, times and objects so that a stranger understands them.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type ConsoleStage, hasBrowser, startConsole } from '../support/console.ts'

let stage: ConsoleStage

afterAll(async () => stage?.close())

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
  })
  test.each([
    {
      language: 'en',
      second: 'Second 768p 0.08 / second · Second 0.13 / second',
      tier: /^Input 0\.3 · Output 1\.2 · Input above 512\sK tokens 0\.6 · /,
    },
    {
      language: 'zh-CN',
      second: '秒 768p 0.08 / 秒 · 秒 0.13 / 秒',
      tier: /^输入 0\.3 · 输出 1\.2 · 输入（超过 512\sK token） 0\.6 · /,
    },
  ] as const)('prices have names and units in $language', async ({ language, second, tier }) => {
    const page = await stage.open('/admin/prices?search=minimax', { language })
    const row = (model: string) => page.getByRole('row').filter({ hasText: model })
    await row('MiniMax-H3').getByText(second, { exact: true }).waitFor()
    expect(await row('MiniMax-M3').first().getByText(tier).count()).toBe(1)
    await page.close()
  })
  test('nobody has ordered yet, or no order matches', async () => {
    const page = await stage.open('/admin/payments')
    await page.getByText('No credit was ordered yet.').waitFor()
    await page.getByLabel('State').selectOption('paid')
    await page.getByText('No orders match these filters.').waitFor()
    expect(await page.getByText('No credit was ordered yet.').count()).toBe(0)
    await page.close()
  })
  test('the list of keys says by which days it adds up', async () => {
    const page = await stage.open('/keys')
    await page.getByRole('columnheader', { name: 'Today (UTC)' }).waitFor()
    await page.getByRole('columnheader', { name: 'This month (UTC)' }).waitFor()
    expect(await page.getByText('Spend today (UTC)').count()).toBe(1)
    await page.close()
  })
  test('the audit log names the key that somebody made', async () => {
    const page = await stage.open('/keys')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('made here')
    const made = page.waitForResponse((reply) => reply.request().method() === 'POST')
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
    const { id } = await (await made).json()
    await page.goto(`${stage.server.url}/console/admin/audit`)
    const row = page.getByRole('row').filter({ hasText: 'Create a key' })
    await row.getByText(id).waitFor()
    expect(await page.getByRole('columnheader').allInnerTexts()).toEqual([
      ...['Time', 'Who', 'Action', 'Object', 'Changed', 'Address'],
    ])
    await page.close()
  })
  test('the menu of a person whose name begins with an emoji shows all of it', async () => {
    const page = await stage.open('/settings')
    await page.getByLabel('Name').fill('👩‍🚀 Ada')
    await page.getByRole('button', { name: 'Save the name' }).click()
    const menu = page.getByRole('button', { name: 'Account menu of 👩‍🚀 Ada' })
    await menu.waitFor()
    expect(await menu.innerText()).toBe('👩‍🚀')
    await page.close()
  })
}
