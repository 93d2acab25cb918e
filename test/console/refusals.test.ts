// Tests refusals that people can cause, in a real browser in Chinese: each is shown only in Chinese.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { type ConsoleStage, hasBrowser, startConsole } from '../support/console.ts'

let stage: ConsoleStage

afterAll(async () => stage?.close())

const open = (path: string) => stage.open(path, { language: 'zh-CN' })

/** The reason for the refusal that the topmost dialog shows. */
async function refusal(page: Page): Promise<string> {
  const alert = page.getByRole('dialog').getByRole('alert').last()
  await alert.waitFor()
  return (await alert.textContent()) ?? ''
}

async function confirm(page: Page, typed?: string): Promise<void> {
  const dialog = page.getByRole('dialog')
  if (typed !== undefined) await dialog.getByRole('textbox').fill(typed)
  await dialog.locator('button[type=submit]').click()
}

const lastAdmin = '这是最后一位管理员：请先设置另一位管理员。'

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
  })
  test.each(['停用', '删除'])('the last administrator stays: %s', async (action) => {
    const page = await open('/admin/users?open=default')
    await page.getByRole('button', { name: action, exact: true }).click()
    await confirm(page, action === '删除' ? 'default' : undefined)
    expect(await refusal(page)).toBe(lastAdmin)
    await page.close()
  })
  test('the last administrator cannot leave, nor anybody who has money without giving it up', async () => {
    const page = await open('/settings?tab=data')
    await page.getByRole('button', { name: '删除我的账户' }).click()
    await confirm(page, 'default')
    expect(await refusal(page)).toBe('账户中还有余额：请先同意放弃。')
    await page.getByRole('dialog').getByRole('checkbox').check()
    await confirm(page)
    await page.getByText(lastAdmin).waitFor()
    await page.close()
  })
  test('an interval that is too fine for the range says what to choose', async () => {
    const page = await open('/usage?range=30d&interval=quarter')
    await page.getByText('时间粒度对此时间范围过细：请选择更粗的粒度').first().waitFor()
    expect(await page.getByText('interval:').count()).toBe(0)
    await page.close()
  })
  test('what an address names and is not there is said in a sentence', async () => {
    const page = await stage.open('/requests?open=req_none')
    await page.getByRole('complementary').getByRole('alert').waitFor()
    const said = await page.getByRole('complementary').getByRole('alert').innerText()
    expect(said).toStartWith('There is no request "req_none"')
    await page.close()
  })
  test('a name that is taken, and a code that is none', async () => {
    const groups = await open('/admin/groups?make=true')
    const status = await groups.evaluate(async () => {
      const body = JSON.stringify({ id: 'vip', models: ['*'] })
      const headers = { 'content-type': 'application/json' }
      return (await fetch('/api/groups', { method: 'POST', body, headers })).status
    })
    expect(status).toBe(201)
    const dialog = groups.getByRole('dialog')
    await dialog.getByRole('textbox').first().fill('vip')
    await dialog.locator('button[type=submit]').click()
    expect(await refusal(groups)).toBe('此名称已被使用。')
    await groups.close()
    const codes = await open('/billing/top-up')
    await codes.getByLabel('兑换码').fill('ABCDE-ABCDE-ABCDE-ABCDE')
    await codes.getByRole('button', { name: '兑换', exact: true }).click()
    const alert = codes.getByRole('alert')
    await alert.waitFor()
    expect(await alert.textContent()).toBe('没有这个兑换码，请检查是否输错了字符。')
    await codes.close()
  })
}
