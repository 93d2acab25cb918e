// Tests in a real browser that what somebody else changed meanwhile is not deleted, rotated or reset unseen.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { type ConsoleStage, hasBrowser, startConsole } from '../support/console.ts'
import { run } from '../support/server-process.ts'

let stage: ConsoleStage

afterAll(async () => stage?.close())

const told = 'Somebody else changed this meanwhile.'

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
    const words = ['account', 'credit', 'ann', '5', '--create', '--reason', 'test']
    await run(stage.server.dataDir, ...words)
  })
  test('a person', async () => {
    const page = await stage.open('/admin/users?open=ann')
    const drawer = page.getByRole('complementary')
    await drawer.getByRole('button', { name: 'Delete' }).click()
    await asked(page, 'PATCH', '/api/people/ann', { name: 'Ann B.' })
    await page.getByRole('dialog').getByRole('textbox').fill('ann')
    await refusedAtFirst(page, 'Delete the account')
    await drawer.getByText('Ann B.').waitFor()
    await drawer.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('textbox').fill('ann')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the account' }).click()
    await drawer.getByText('Deleted').waitFor()
    await page.close()
  })
  test.each([
    { action: 'Delete', confirm: 'Delete key' },
    { action: 'Rotate', confirm: 'Rotate' },
  ])('a key: $action', async ({ action, confirm }) => {
    const page = await stage.open('/keys')
    const { id } = await asked(page, 'POST', '/api/keys', { name: action, group: 'default' })
    await page.goto(`${stage.server.url}/console/keys?open=${id}`)
    const drawer = page.getByRole('complementary')
    await drawer.getByRole('button', { name: action }).click()
    await page.getByRole('dialog').getByRole('heading', { name: action }).waitFor()
    await asked(page, 'PATCH', `/api/keys/${id}`, { name: 'in use now' })
    await refusedAtFirst(page, confirm)
    await drawer.getByRole('heading', { name: 'in use now' }).waitFor()
    await drawer.getByRole('button', { name: action }).click()
    await page.getByRole('dialog').getByRole('button', { name: confirm, exact: true }).click()
    await (action === 'Rotate'
      ? page.locator('[data-secret]').waitFor()
      : drawer.waitFor({ state: 'detached' }))
    await page.close()
  })
  test('a management key', async () => {
    const page = await stage.open('/keys?tab=management')
    const body = { name: 'script', scopes: ['read'], account: 'default' }
    const { id } = await asked(page, 'POST', '/api/management-keys', body)
    await page.reload()
    await page.getByRole('button', { name: 'Actions for script' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('dialog').waitFor()
    await asked(page, 'PATCH', `/api/management-keys/${id}`, { name: 'nightly script' })
    await refusedAtFirst(page, 'Delete key')
    await page.getByRole('row').filter({ hasText: 'nightly script' }).waitFor()
    await page.close()
  })
  test('a setting', async () => {
    const page = await stage.open('/admin/settings')
    await asked(page, 'PUT', '/api/settings/usage.keepDays', { value: 400 })
    await page.reload()
    const form = page.locator('form').filter({ hasText: 'usage.keepDays' })
    const reset = form.getByRole('button', { name: 'Back to the default' })
    await reset.waitFor()
    await asked(page, 'PUT', '/api/settings/usage.keepDays', { value: 500 })
    await reset.click()
    await form.getByText(told).waitFor()
    expect(await form.getByRole('textbox').inputValue()).toBe('400')
    await page.reload()
    await reset.click()
    await reset.waitFor({ state: 'detached' })
    await page.close()
  })
}

/** What the same person does in another tab. */
function asked(page: Page, method: string, path: string, body: object): Promise<{ id: string }> {
  return page.evaluate(
    async ([method, path, body]) => {
      const headers = { 'content-type': 'application/json' }
      const reply = await fetch(path, { method, headers, body })
      if (!reply.ok) throw new Error(await reply.text())
      return reply.json()
    },
    [method, path, JSON.stringify(body)] as const,
  )
}

async function refusedAtFirst(page: Page, action: string): Promise<void> {
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: action, exact: true }).click()
  await dialog.getByText(told).waitFor()
  expect(await dialog.getByRole('button', { name: action, exact: true }).count()).toBe(0)
  await dialog.getByRole('button', { name: 'Load it again' }).click()
  await dialog.waitFor({ state: 'detached' })
}
