// Tests API keys in a real browser: made, shown once, found, changed, rotated, tested, stopped, deleted; drafts that
// survive failures.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { type ConsoleStage, hasBrowser, seriousFindings, startConsole } from '../support/console.ts'

let stage: ConsoleStage

afterAll(async () => stage?.close())

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
  })
  test('an expiry stays where it is if another zone is chosen beside the form', keepsExpiry)
  test('a key is made with limits, each refusal at its field, and its secret is shown once', makes)
  test('a refusal is told in Chinese, and a name may have joined emoji', refusesInChinese)
  test('what was typed outlives a failure, and a repeat makes one key', outlives)
  test('a key is changed, tested, rotated, disabled and deleted beside its list', lives)
  test('keys are found by what the address says, sorted, and stopped together', finds)
  test('a management key is made, and deleted by its menu', manages)
  test('in Chinese, dark and narrow it is the same page without a fault', narrow)
  test('many keys load as one scrolls, and the focus follows J and K', scrolls)
}

async function created(page: Page, name: string): Promise<string> {
  await page.getByRole('button', { name: 'Create key' }).click()
  const dialog = page.getByRole('dialog', { name: 'Create key' })
  await dialog.getByLabel('Name').fill(name)
  await dialog.getByRole('button', { name: 'Create key' }).click()
  return saved(page.getByRole('dialog', { name: `Save the secret of ${name}` }))
}

/** Closes the dialog that shows a secret, and returns the secret. */
async function saved(dialog: Locator): Promise<string> {
  const secret = (await dialog.locator('[data-secret]').textContent()) ?? ''
  await dialog.getByLabel('I saved it').check()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await dialog.waitFor({ state: 'hidden' })
  return secret
}

async function refusesInChinese() {
  const page = await stage.open('/keys?dialog=create', { language: 'zh-CN' })
  const dialog = page.getByRole('dialog')
  await dialog.locator('input').first().fill('a\u200Bb')
  await page.keyboard.press('Enter')
  await dialog.getByText('应为 1 至 128 个字符，不含不可见字符，首尾不能有空格。').waitFor()
  await dialog.locator('input').first().fill('\u{1F469}\u200D\u{1F4BB}')
  await page.keyboard.press('Enter')
  expect(await page.locator('[data-secret]').textContent()).toMatch(/^sk-/)
  await page.close()
}

async function makes() {
  const page = await stage.open('/keys?dialog=create')
  const dialog = page.getByRole('dialog', { name: 'Create key' })
  await dialog.getByRole('table', { name: 'What two of its models cost' }).waitFor()
  expect(
    await dialog.getByLabel('Name').evaluate((field) => field === document.activeElement),
  ).toBe(true)
  await dialog.getByRole('button', { name: 'Create key' }).click()
  await dialog.getByText('Give the key a name.').waitFor()
  await dialog.getByLabel('Name').fill('website')
  await dialog.getByLabel('Spend limit').fill('25')
  await dialog.getByText('Rate limits').click()
  await dialog.getByLabel('Requests a minute').fill('60')
  await dialog.getByText('Addresses, history and cost').click()
  await dialog.getByLabel('Only from these addresses').fill('10.0.0.0/8\nnowhere')
  await dialog.getByRole('button', { name: 'Create key' }).click()
  const refusal = dialog.getByRole('alert')
  await refusal.waitFor()
  expect(await refusal.textContent()).toContain('Write IP addresses')
  const addresses = dialog.getByLabel('Only from these addresses')
  expect(await addresses.getAttribute('aria-invalid')).toBe('true')
  expect(await seriousFindings(page)).toEqual([])
  await addresses.fill('127.0.0.0/8')
  await dialog.getByRole('button', { name: 'Create key' }).click()
  const shown = page.getByRole('dialog', { name: 'Save the secret of website' })
  await shown.getByText('Claude Code', { exact: true }).click()
  const setup = await shown.getByRole('region', { name: 'Terminal' }).textContent()
  expect(setup).toContain(`ANTHROPIC_BASE_URL=${stage.server.url}\n`)
  await page.keyboard.press('Escape')
  expect(await shown.getByRole('button', { name: 'Done' }).isDisabled()).toBe(true)
  expect(await seriousFindings(page)).toEqual([])
  const secret = await saved(shown)
  expect(secret).toMatch(/^sk-tg-[0-9A-Za-z]{38}$/)
  expect(setup).toContain(secret)
  const row = page.getByRole('row').filter({ hasText: 'website' })
  await row.getByText(`sk-tg-…${secret.slice(-4)}`).waitFor()
  expect(await row.textContent()).toMatch(/Active.*default.*\$0\.00 \/ \$25\.00/)
  await page.close()
}

async function keepsExpiry() {
  const page = await stage.open('/keys')
  const expiresAt = '2099-12-31T16:00:00.000Z'
  const id = await page.evaluate(async (expiresAt) => {
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ name: 'zoned', group: 'default', expiresAt })
    return (await (await fetch('/api/keys', { method: 'POST', headers, body })).json()).id
  }, expiresAt)
  await page.goto(`${stage.server.url}/console/keys?open=${id}`)
  const drawer = page.getByRole('complementary', { name: 'Key' })
  await drawer.getByLabel('Expires at').waitFor()
  // Chosen in another tab.
  await page.evaluate((key) => {
    localStorage.setItem(key, JSON.stringify({ timeZone: 'Asia/Shanghai' }))
    dispatchEvent(new StorageEvent('storage', { key }))
  }, 'tollgate.preferences')
  await page.getByRole('button', { name: 'Time zone: Asia/Shanghai' }).waitFor()
  await drawer.getByLabel('Name').fill('zoned anew')
  await drawer.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Key changed').waitFor()
  const path = `/api/keys/${id}`
  const kept = await page.evaluate(async (path) => (await fetch(path)).json(), path)
  expect([kept.name, kept.expiresAt]).toEqual(['zoned anew', expiresAt])
  await page.evaluate(() => localStorage.removeItem('tollgate.preferences'))
  await page.close()
}

async function outlives() {
  const page = await stage.open('/keys?dialog=create')
  const dialog = page.getByRole('dialog', { name: 'Create key' })
  const repeats: (string | undefined)[] = []
  const ends = ['fail', 'lose', 'pass']
  await page.route('**/api/keys', async (route) => {
    if (route.request().method() !== 'POST') return route.continue()
    repeats.push(route.request().headers()['idempotency-key'])
    const end = ends.shift()
    if (end === 'fail') return route.fulfill({ status: 500, body: 'no JSON' })
    if (end === 'pass') return route.continue()
    // The server has made it, but its answer is lost.
    await route.fetch()
    return route.abort()
  })
  await dialog.getByLabel('Name').fill('draft')
  await dialog.getByLabel('Expires').selectOption('90d')
  const create = dialog.getByRole('button', { name: 'Create key' })
  await create.click()
  await dialog.getByText('The gateway failed').waitFor()
  await create.click()
  await dialog.getByText('The gateway cannot be reached').waitFor()
  expect(await dialog.getByLabel('Name').inputValue()).toBe('draft')
  await page.keyboard.press('Escape')
  await create.click()
  expect(await saved(page.getByRole('dialog', { name: 'Save the secret of draft' }))).toMatch(
    /^sk-/,
  )
  expect([repeats.length, new Set(repeats).size]).toEqual([3, 1])
  await page.getByRole('row').filter({ hasText: 'draft' }).waitFor()
  expect(await page.getByRole('row').filter({ hasText: 'draft' }).count()).toBe(1)
  await page.close()
}

async function lives() {
  const page = await stage.open('/keys')
  const secret = await created(page, 'laptop')
  const reply = await fetch(`${stage.server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox/chat', messages: [{ role: 'user', content: 'Hi' }] }),
  })
  expect(reply.status).toBe(200)
  await page.getByRole('row').filter({ hasText: 'laptop' }).click()
  await page.waitForURL(/open=key_/)
  const drawer = page.getByRole('complementary', { name: 'Key' })
  await drawer.getByRole('button', { name: 'Test key' }).click()
  await drawer.getByText(/It would be accepted now, for \d+ models/).waitFor()
  await drawer.getByLabel('Name').fill('notebook')
  await drawer.getByRole('button', { name: 'Save changes' }).click()
  await drawer.getByRole('heading', { name: 'notebook' }).waitFor()
  await drawer.getByRole('button', { name: 'Rotate' }).click()
  const rotating = page.getByRole('dialog', { name: 'Rotate notebook' })
  await rotating.getByLabel('The secret it has now works for').selectOption('3600')
  await rotating.getByRole('button', { name: 'Rotate' }).click()
  const next = await saved(page.getByRole('dialog', { name: 'Save the secret of notebook' }))
  expect(next).not.toBe(secret)
  await drawer.getByText('works until').waitFor()
  await drawer.getByRole('button', { name: 'Disable' }).click()
  await drawer.getByRole('button', { name: 'Enable' }).waitFor()
  // What was tested before counts no longer.
  await drawer.getByText('It would be refused now.').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await drawer.getByRole('button', { name: 'Delete' }).click()
  const deleting = page.getByRole('dialog', { name: 'Delete notebook' })
  await deleting.getByText('1 request in the last 24 hours.').waitFor()
  const button = deleting.getByRole('button', { name: 'Delete key' })
  expect(await button.isDisabled()).toBe(true)
  await deleting.getByLabel('Type notebook to confirm').fill(' notebook')
  await button.click()
  await drawer.waitFor({ state: 'hidden' })
  await page.getByRole('row').filter({ hasText: 'notebook' }).waitFor({ state: 'hidden' })
  await page.close()
}

async function finds() {
  const page = await stage.open('/keys?search=ALPHA&sort=name&order=asc')
  await page.getByText('No key is like that').waitFor()
  for (const name of ['alpha one', 'alpha two']) await created(page, name)
  const rows = page.getByRole('table', { name: 'Keys' }).getByRole('row')
  await rows.filter({ hasText: 'alpha two' }).waitFor()
  expect((await rows.allTextContents()).slice(1)).toEqual([
    expect.stringContaining('alpha one'),
    expect.stringContaining('alpha two'),
  ])
  await page.getByRole('button', { name: 'Name', exact: true }).click()
  await page.waitForURL(/order=desc/)
  await rows.filter({ hasText: 'alpha one' }).click()
  const drawer = page.getByRole('complementary', { name: 'Key' })
  await drawer.getByRole('heading', { name: 'alpha one' }).waitFor()
  await page.keyboard.press('k')
  await drawer.getByRole('heading', { name: 'alpha two' }).waitFor()
  await page.keyboard.press('j')
  await drawer.getByRole('heading', { name: 'alpha one' }).waitFor()
  await page.keyboard.press('Escape')
  await drawer.waitFor({ state: 'hidden' })
  // A row's checkbox has the name of the key.
  await page.getByLabel('Select alpha one').check()
  await page.getByText('1 key chosen').waitFor()
  await page.getByLabel('Select all that are shown').check()
  await page.getByText('2 keys chosen').waitFor()
  await page.getByRole('button', { name: 'Disable', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Disable these keys' })
  await dialog.getByText('None of them was used today.').waitFor()
  await dialog.getByRole('button', { name: 'Disable' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await page.getByLabel('Status').selectOption('disabled')
  await page.waitForURL(/status=disabled/)
  await rows.filter({ hasText: 'Disabled' }).nth(1).waitFor()
  await page.close()
}

async function manages() {
  const page = await stage.open('/keys?tab=management')
  await page.getByText('Your management keys appear here').waitFor()
  await page.getByRole('button', { name: 'Create management key' }).click()
  const dialog = page.getByRole('dialog', { name: 'Create management key' })
  await dialog.getByLabel('Name').fill('terraform')
  await dialog.getByLabel('May change things').check()
  await dialog.getByRole('button', { name: 'Create management key' }).click()
  const secret = await saved(page.getByRole('dialog', { name: 'Save the secret of terraform' }))
  const headers = { authorization: `Bearer ${secret}` }
  const { status } = await fetch(`${stage.server.url}/api/keys`, { headers })
  expect(status).toBe(200)
  const row = page.getByRole('row').filter({ hasText: 'terraform' })
  expect(await row.textContent()).toMatch(/the whole deployment.*read.*change/)
  await row.getByRole('button', { name: 'Actions for terraform' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  const deleting = page.getByRole('dialog', { name: 'Delete terraform' })
  const typed = deleting.getByLabel('Type terraform to confirm')
  if (await typed.isVisible()) await typed.fill('terraform')
  await deleting.getByRole('button', { name: 'Delete key' }).click()
  await row.waitFor({ state: 'hidden' })
  expect((await fetch(`${stage.server.url}/api/keys`, { headers })).status).toBe(401)
  await page.close()
}

async function narrow() {
  const page = await stage.open('/keys', { language: 'zh-CN', theme: 'dark', width: 390 })
  await page.getByRole('heading', { name: 'API 密钥' }).waitFor()
  await page.getByText('website').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  const wide = await page.evaluate(() => document.documentElement.scrollWidth)
  expect(wide).toBe(390)
  // The failures that this file causes are in the browser's log.
  expect(stage.faults().filter((text) => !text.includes('Failed to load resource'))).toEqual([])
  await page.close()
}

async function scrolls() {
  const page = await stage.open('/keys?sort=name&order=asc')
  await page.evaluate(async () => {
    const headers = { 'content-type': 'application/json' }
    for (let place = 100; place < 260; place += 1) {
      const body = JSON.stringify({ name: `many ${place}`, group: 'default' })
      await fetch('/api/keys', { method: 'POST', headers, body })
    }
  })
  await page.goto(`${stage.server.url}/console/keys?sort=name&order=asc&search=many`)
  const list = page.getByRole('region', { name: 'Keys' })
  const row = (name: string) => list.getByRole('row', { name: new RegExp(`many ${name}`) })
  await row('100').waitFor()
  await list.focus()
  await page.waitForFunction(() => {
    const region = document.querySelector('[role="region"][aria-label="Keys"]')
    region?.scrollTo(0, region.scrollHeight)
    return region?.textContent?.includes('many 259')
  })
  await list.evaluate((region) => region.scrollTo(0, 0))
  await row('100').click()
  const drawer = page.getByRole('complementary')
  for (const name of ['many 101', 'many 102', 'many 103']) {
    await drawer.getByRole('heading', { name: /many/ }).first().waitFor()
    await page.keyboard.press('j')
    await drawer.getByText(name).first().waitFor()
  }
  await page.keyboard.press('Escape')
  await drawer.waitFor({ state: 'hidden' })
  const focused = await page.evaluate(() => document.activeElement?.textContent ?? '')
  expect(focused).toContain('many 103')
  await page.close()
}
