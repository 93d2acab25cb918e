// Tests that an operator finds an account, sees what it sees without changing anything, and invites somebody.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type ConsoleStage, hasBrowser, seriousFindings, startConsole } from '../support/console.ts'

let stage: ConsoleStage

afterAll(async () => stage?.close())

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
    const made = Bun.spawn(
      [
        'bin/tollgate',
        ...'account credit ann 5 --create --reason test --data'.split(' '),
        stage.server.dataDir,
      ],
      { stdout: 'ignore' },
    )
    expect(await made.exited).toBe(0)
    const messages = [{ role: 'user', content: 'Hello' }]
    expect((await stage.call({ model: 'sandbox/chat', messages })).status).toBe(200)
  })
  test('an account is found in the header, stays from page to page, and is let go of', async () => {
    const page = await stage.open('/requests')
    await page.getByRole('button', { name: 'All accounts' }).click()
    await page.getByLabel('Find an account').fill('an')
    await page.getByRole('button', { name: /^ann/ }).click()
    await page.getByText('Account ann', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Balance of the account ann $5.00' }).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await page.getByRole('link', { name: 'Usage' }).click()
    await page.waitForURL(/\/usage\?account=ann/)
    await page.getByRole('button', { name: 'Show all accounts' }).click()
    await page.getByRole('button', { name: 'All accounts' }).waitFor()
    expect(new URL(page.url()).searchParams.get('account')).toBeNull()
    await page.getByRole('link', { name: /^Balance \$9/ }).waitFor()
    await page.goto(`${stage.server.url}/console/requests?account=nobody`)
    await page.getByText('There is no account nobody').waitFor()
    await page.close()
  })
  test('who is viewed is said on every page; nothing is changed, and the audit log has it', views)
  test('an account that there is not says so, with a way back', async () => {
    const page = await stage.open('/?view-as=nobody')
    await page.getByText('there is no account "nobody"').waitFor()
    expect(await page.getByRole('link', { name: 'Stop viewing' }).count()).toBe(1)
    await page.close()
  })
  test('an invitation is made, shown once, and taken back', invites)
  test('who takes the name of somebody else is told apart by the account', namesAccounts)
}

async function views() {
  const page = await stage.open('/admin/users?open=ann')
  await page.getByRole('link', { name: 'See what they see' }).click()
  await page.getByText('You see what ann sees.', { exact: false }).waitFor()
  // Five pages of their own, and none of the operators' pages.
  await page.getByRole('link', { name: /\$5\.00/ }).waitFor()
  expect(await page.getByRole('link', { name: 'Channels' }).count()).toBe(0)
  await page.getByRole('link', { name: 'Requests', exact: true }).click()
  await page.waitForURL(/view-as=ann/)
  await page.getByText('You see what ann sees.', { exact: false }).waitFor()
  expect(await page.getByRole('row').filter({ hasText: 'sandbox/chat' }).count()).toBe(0)
  expect(await seriousFindings(page)).toEqual([])
  await page.getByRole('link', { name: 'API keys' }).click()
  await page.getByRole('button', { name: 'Create key' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('not mine')
  await dialog.getByRole('button', { name: 'Create key' }).click()
  await dialog.getByText('Not while you view as somebody else', { exact: false }).waitFor()
  await page.keyboard.press('Escape')
  await page.goto(`${stage.server.url}/console/?view-as=ann`)
  await page.getByRole('link', { name: 'Stop viewing' }).click()
  await page.getByRole('complementary', { name: 'Account ann' }).waitFor()
  await page.goto(`${stage.server.url}/console/admin/audit`)
  await page.getByRole('row').filter({ hasText: 'View the console as a user' }).first().waitFor()
  await page.close()
}

async function invites() {
  const page = await stage.open('/admin/users?view=invitations')
  await page.getByRole('button', { name: 'Invite somebody' }).click()
  await page.getByText('Nobody can accept an invitation here').waitFor()
  await page.getByLabel('Note').fill('for Bob')
  await page.getByRole('button', { name: 'Make invitation' }).click()
  const dialog = page.getByRole('dialog')
  const address = (await dialog.getByText('/console/sign-in?invitation=').textContent()) ?? ''
  expect(address).toStartWith(`${stage.server.url}/console/sign-in?invitation=`)
  expect(await seriousFindings(page)).toEqual([])
  await dialog.getByLabel('I saved it').check()
  await dialog.getByRole('button', { name: 'Done' }).click()
  const row = page.getByRole('listitem').filter({ hasText: 'for Bob' })
  await row.getByText('Not used yet').waitFor()
  await row.getByRole('button', { name: 'Take back' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Take back' }).click()
  await row.getByText('Taken back').waitFor()
  await page.close()
  const context = await stage.visitor(null)
  const invited = await stage.open(
    new URL(address).pathname.replace('/console', '') + new URL(address).search,
    { context },
  )
  await invited.getByText('Your invitation cannot be accepted yet').waitFor()
  expect(await seriousFindings(invited)).toEqual([])
  await context.close()
}

async function namesAccounts() {
  const context = await stage.visitor('user')
  const own = await stage.open('/settings', { context })
  const status = await own.evaluate(async () => {
    const { revision } = await (await fetch('/api/me')).json()
    const headers = { 'content-type': 'application/json', 'if-match': `"${revision}"` }
    const body = JSON.stringify({ name: 'ann' })
    return (await fetch('/api/me', { method: 'PATCH', headers, body })).status
  })
  expect(status).toBe(200)
  await own.reload()
  await own.getByRole('button', { name: 'Account menu of ann' }).click()
  await own.getByRole('menu').getByText('uma', { exact: true }).waitFor()
  expect(await seriousFindings(own)).toEqual([])
  await context.close()
  const page = await stage.open('/admin/users')
  await page.getByRole('row').filter({ hasText: 'uma' }).click()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('dialog').getByText('It gives up the $1.00 that are left.').waitFor()
  await page.close()
  const phone = await stage.open('/admin/users', { width: 390 })
  await phone.getByRole('listitem').filter({ hasText: 'uma' }).waitFor()
  await phone.close()
}
