// Tests in a real browser that what somebody else changed meanwhile is not deleted, rotated, reset or enabled unseen.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { eventually } from '../support/clients.ts'
import { type ConsoleStage, hasBrowser, startConsole } from '../support/console.ts'
import { run } from '../support/server-process.ts'

let stage: ConsoleStage

afterAll(async () => stage?.close())

const told = 'Somebody else changed this meanwhile. Load it again'
const newest = 'Somebody else changed this meanwhile. You now see the newest state'

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
  test('a key: Enable', async () => {
    const page = await stage.open('/keys')
    const { id } = await asked(page, 'POST', '/api/keys', { name: 'stopped', group: 'default' })
    await asked(page, 'POST', `/api/keys/${id}/disable`, {})
    await page.goto(`${stage.server.url}/console/keys?open=${id}`)
    const drawer = page.getByRole('complementary')
    const enable = drawer.getByRole('button', { name: 'Enable' })
    await enable.waitFor()
    await asked(page, 'PATCH', `/api/keys/${id}`, { name: 'leaked, keep it stopped' })
    await enable.click()
    await page.getByText(newest).waitFor()
    await drawer.getByRole('heading', { name: 'leaked, keep it stopped' }).waitFor()
    await enable.click()
    await drawer.getByRole('button', { name: 'Disable' }).waitFor()
    // To stop it succeeds also with an older state.
    await asked(page, 'PATCH', `/api/keys/${id}`, { name: 'changed again' })
    await drawer.getByRole('button', { name: 'Disable' }).click()
    await enable.waitFor()
    expect((await asked(page, 'GET', `/api/keys/${id}`)).status).toBe('disabled')
    await page.close()
  })
  test('a person: End the suspension', async () => {
    const page = await stage.open('/keys')
    await run(stage.server.dataDir, ...'account credit bob 5 --create --reason test'.split(' '))
    await asked(page, 'POST', '/api/people/bob/suspend', {})
    await page.goto(`${stage.server.url}/console/admin/users?open=bob`)
    const drawer = page.getByRole('complementary')
    await drawer.getByRole('button', { name: 'End the suspension' }).waitFor()
    await asked(page, 'PATCH', '/api/people/bob', { name: 'Bob, blocked for fraud' })
    await drawer.getByRole('button', { name: 'End the suspension' }).click()
    await page.getByText(newest).waitFor()
    await drawer.getByText('Bob, blocked for fraud').waitFor()
    await drawer.getByRole('button', { name: 'End the suspension' }).click()
    await drawer.getByRole('button', { name: 'Suspend' }).waitFor()
    await asked(page, 'PATCH', '/api/people/bob', { name: 'Bob' })
    await drawer.getByRole('button', { name: 'Suspend' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click()
    await drawer.getByText('Suspended').waitFor()
    expect((await asked(page, 'GET', '/api/people/bob')).status).toBe('suspended')
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
    await page.getByText(newest).waitFor()
    const shown = () => form.getByRole('textbox').inputValue()
    expect(await eventually(async () => ((await shown()) === '500' ? true : undefined))).toBeTrue()
    await reset.click()
    await reset.waitFor({ state: 'detached' })
    await page.close()
  })
}

/** What the same person does in another tab. */
function asked(
  page: Page,
  method: string,
  path: string,
  body?: object,
): Promise<{ readonly id: string; readonly status: string }> {
  return page.evaluate(
    async ([method, path, body]) => {
      const headers = { 'content-type': 'application/json' }
      const reply = await fetch(path, { method, headers, ...(body !== undefined && { body }) })
      if (!reply.ok) throw new Error(await reply.text())
      return reply.json()
    },
    [method, path, body && JSON.stringify(body)] as const,
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
