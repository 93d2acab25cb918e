// Tests in a real browser that a form keeps what was typed if somebody else saves first, until its reader decides.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { eventually } from '../support/clients.ts'
import { type ConsoleStage, hasBrowser, seriousFindings, startConsole } from '../support/console.ts'

let stage: ConsoleStage

afterAll(async () => stage?.close())

interface Case {
  readonly form: string
  readonly path: string
  readonly scope?: (page: Page) => Locator
  /** The field that is typed into, and the one that somebody else changes. */
  readonly mine: string
  readonly theirs: string
  readonly save: string
  readonly elsewhere: (value: string) => readonly [method: string, path: string, body: object]
}

let keyId: string

const cases: readonly Case[] = [
  {
    form: 'a key',
    path: '/keys?open=KEY',
    scope: (page) => page.getByRole('complementary'),
    mine: 'Name',
    theirs: 'Requests a minute',
    save: 'Save changes',
    elsewhere: (value) => ['PATCH', `/api/keys/${keyId}`, { requestsPerMinute: Number(value) }],
  },
  {
    form: 'a group',
    path: '/admin/groups?open=team',
    scope: (page) => page.getByRole('complementary'),
    mine: 'Requests a minute',
    theirs: 'Multiplier',
    save: 'Save',
    elsewhere: (value) => ['PATCH', '/api/groups/team', { multiplier: value }],
  },
  {
    form: 'the alerts',
    path: '/settings?tab=alerts',
    mine: 'When this part of an hour’s requests fails',
    theirs: 'When a key has spent this part of its limit',
    save: 'Save',
    elsewhere: (value) => ['PUT', '/api/me/alerts', { ...alerts, keyLimitPercent: Number(value) }],
  },
  {
    form: 'the message history',
    path: '/settings?tab=history',
    mine: 'Kept for',
    theirs: 'Kept for',
    save: 'Save',
    elsewhere: (value) => ['PUT', '/api/me/history', { mode: 'off', retentionDays: Number(value) }],
  },
  {
    form: 'a setting',
    path: '/admin/settings',
    scope: (page) => page.locator('form').filter({ hasText: 'usage.keepDays' }),
    mine: 'usage.keepDays',
    theirs: 'usage.keepDays',
    save: 'Save',
    elsewhere: (value) => ['PUT', '/api/settings/usage.keepDays', { value: Number(value) }],
  },
  {
    form: 'the profile',
    path: '/settings',
    mine: 'Name',
    theirs: 'Name',
    save: 'Save the name',
    elsewhere: (value) => ['PATCH', '/api/me', { name: `Ann ${value}` }],
  },
]

const alerts = {
  lowBalanceNano: null,
  daySpendNano: null,
  timeZone: 'UTC',
  keyLimitPercent: null,
  errorRatePercent: null,
  webhook: null,
  email: null,
}

const deletions = [
  {
    of: 'a key',
    list: '/keys',
    api: '/api/keys',
    body: { name: 'leaves', group: 'default' },
    tab: null,
    field: 'Spend limit',
    press: 'Delete',
    confirm: 'Delete key',
  },
  {
    of: 'a group',
    list: '/admin/groups',
    api: '/api/groups',
    body: { id: 'leaves', multiplier: '1', models: ['*'] },
    tab: null,
    field: 'Requests a minute',
    press: 'Delete group',
    confirm: 'Delete group',
  },
  {
    of: 'a channel',
    list: '/admin/channels',
    api: '/api/channels',
    body: { id: 'leaves', vendor: 'sandbox', models: { 'sandbox/chat': 'sandbox/chat' } },
    tab: 'Settings',
    field: 'Priority',
    press: 'Delete',
    confirm: 'Delete the channel',
  },
]

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
    const page = await stage.open('/keys')
    keyId = (await ask(page, 'POST', '/api/keys', { name: 'shared', group: 'default' })).id
    await ask(page, 'POST', '/api/groups', { id: 'team', multiplier: '1', models: ['*'] })
    await page.close()
  })
  test.each(cases)('$form keeps what was typed', async (each) => {
    const { path, scope = (page: Page) => page.getByRole('main'), mine, theirs, save } = each
    const page = await stage.open(path.replace('KEY', keyId))
    const form = scope(page)
    const field = (label: string) => form.getByLabel(label, { exact: true }).first()
    const note = form.getByRole('alert').filter({ hasText: 'What you typed is not lost.' })
    const button = (name: string) => form.getByRole('button', { name, exact: true })
    const press = (name: string) => button(name).click()
    /** Somebody else saves first: the page tells by itself, after which nothing can be saved, or when saving is refused. */
    const conflict = async (value: string) => {
      await ask(page, ...each.elsewhere(value))
      await eventually(async () => {
        if (await note.isVisible()) return true
        await button(save)
          .click({ timeout: 500 })
          .catch(() => undefined)
        return undefined
      })
    }

    await field(mine).fill('41')
    await conflict('51')
    expect(await field(mine).inputValue()).toBe('41')
    // Pressed again, it would only be refused again.
    expect(await button(save).isDisabled()).toBe(true)
    expect(await seriousFindings(page)).toEqual([])
    await press('Load the newest and keep my changes')
    await note.waitFor({ state: 'detached' })
    expect(await field(mine).inputValue()).toBe('41')
    if (mine !== theirs) expect(await field(theirs).inputValue()).toBe('51')
    const saved = page.waitForResponse((reply) => /P(UT|ATCH)/.test(reply.request().method()))
    await press(save)
    expect((await saved).status()).toBe(200)
    await page.getByText(/Saved\.|saved\.|Key changed/).waitFor()
    expect(await note.count()).toBe(0)

    await field(mine).fill('42')
    await conflict('52')
    await press('Load the newest without my changes')
    await note.waitFor({ state: 'detached' })
    expect(await field(theirs).inputValue()).toEndWith('52')
    if (mine !== theirs) expect(await field(mine).inputValue()).not.toBe('42')
    await page.close()
  })
  test.each(deletions)('deleting $of discards what was typed without asking again', deletesTyped)
  test.each([
    { path: '/keys?status=active', text: 'sk-tg-' },
    { path: '/admin/groups', text: 'team' },
  ])('closing a drawer of $path asks first', async ({ path, text }) => {
    const page = await stage.open(path)
    const listed = page.url()
    const sent: string[] = []
    page.on('request', (request) => {
      if (request.method() !== 'GET' || request.isNavigationRequest()) sent.push(request.url())
    })
    await page.getByRole('row').filter({ hasText: text }).first().click()
    const drawer = page.getByRole('complementary')
    const field = drawer.getByLabel('Requests a minute')
    await field.fill('43')
    await drawer.getByRole('button', { name: 'Close (Esc)' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Discard what you typed?').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(await field.inputValue()).toBe('43')
    // So does the browser's Back button.
    await page.evaluate(() => history.back())
    await dialog.getByRole('button', { name: 'Discard' }).waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await drawer.getByRole('button', { name: 'Close (Esc)' }).click()
    await dialog.getByRole('button', { name: 'Discard' }).click()
    await drawer.waitFor({ state: 'detached' })
    expect(page.url()).toBe(listed)
    // Neither saved nor loaded again.
    expect(sent).toEqual([])
    await page.close()
  })
  test.each([
    { path: '/settings', label: 'Name' },
    { path: '/settings?tab=alerts', label: 'When a key has spent this part of its limit' },
    { path: '/settings?tab=history', label: 'Kept for' },
  ])('leaving $path for another tab or page asks first', asksBeforeLeaving)
}

async function asksBeforeLeaving({ path, label }: { path: string; label: string }) {
  const page = await stage.open(path)
  const field = page.getByRole('main').getByLabel(label, { exact: true })
  const dialog = page.getByRole('dialog', { name: 'Discard what you typed?' })
  await field.fill('44')
  await page.getByText('Appearance', { exact: true }).click()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  expect(await field.inputValue()).toBe('44')
  await page.getByRole('link', { name: 'Usage' }).click()
  await dialog.getByRole('button', { name: 'Discard' }).click()
  await page.waitForURL(/\/console\/usage/)
  await page.close()
}

/** Types into a form beside a list, then deletes the item: only the deletion is confirmed. */
async function deletesTyped(each: (typeof deletions)[number]) {
  const page = await stage.open(each.list)
  await ask(page, 'POST', each.api, each.body)
  await page.goto(`${stage.server.url}/console${each.list}`)
  await page.getByRole('row').filter({ hasText: 'leaves' }).first().click()
  const drawer = page.getByRole('complementary')
  if (each.tab !== null) await drawer.getByText(each.tab, { exact: true }).click()
  await drawer.getByLabel(each.field, { exact: true }).fill('7')
  if (each.tab !== null) await drawer.getByText('Overview', { exact: true }).click()
  await drawer.getByRole('button', { name: each.press, exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: each.confirm, exact: true }).click()
  await drawer.waitFor({ state: 'detached' })
  expect(await page.getByRole('dialog').count()).toBe(0)
  await page.close()
}

/** What the same person does in another tab. */
function ask(page: Page, method: string, path: string, body: object): Promise<{ id: string }> {
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
