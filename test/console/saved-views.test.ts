// Tests saved views of Requests in a real browser: saved, opened in another browser, chosen, renamed, deleted and
// restored.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { type ConsoleStage, hasBrowser, seriousFindings, startConsole } from '../support/console.ts'

let stage: ConsoleStage

afterAll(async () => stage?.close())

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
  })
  test('filters and range are saved by name, and another browser has them', saves)
  test('a view is renamed, a name twice is refused, and a deletion is taken back', changes)
  test('saving goes by what another window has saved meanwhile', async () => {
    const first = await openViews('/requests?model=one')
    const second = await openViews('/requests?model=two')
    await save(first, 'One')
    await save(second, 'Two')
    const one = second.getByRole('button', { name: 'One', exact: true })
    await one.waitFor()
    expect(await one.isVisible()).toBe(true)
    await first.close()
    await second.close()
  })
  test('in Chinese, dark and narrow it is without a fault', async () => {
    const look = { language: 'zh-CN', theme: 'dark', width: 390 } as const
    const page = await stage.open('/requests', look)
    await page.getByRole('button', { name: '已保存的视图' }).click()
    await page.getByLabel('将筛选条件和时间范围保存为').waitFor()
    expect(await seriousFindings(page)).toEqual([])
    // A name was refused before, which the browser writes into its log.
    expect(stage.faults().filter((text) => !text.includes('400'))).toEqual([])
    await page.close()
  })
}

async function openViews(path: string, context?: Awaited<ReturnType<ConsoleStage['visitor']>>) {
  const page = await stage.open(path, context === undefined ? {} : { context })
  await page.getByRole('button', { name: 'Saved views' }).click()
  await page.getByLabel('Save the filters and range as').waitFor()
  return page
}

async function saves() {
  const page = await openViews('/requests?model=sandbox%2Fchat&range=7d')
  await page.getByText('Nothing is saved yet.').waitFor()
  await save(page, 'Weekly chats')
  expect(await seriousFindings(page)).toEqual([])
  await page.close()
  const other = await openViews('/requests?statusClass=5xx&live=true', await stage.visitor('admin'))
  await other.getByRole('button', { name: 'Weekly chats', exact: true }).click()
  await other.waitForURL((url) => url.searchParams.get('model') === 'sandbox/chat')
  expect(Object.fromEntries(new URL(other.url()).searchParams)).toEqual({
    model: 'sandbox/chat',
    range: '7d',
  })
  await other.close()
}

async function changes() {
  const page = await openViews('/requests?statusClass=4xx')
  await save(page, 'Refused')
  await page.getByRole('button', { name: 'Rename Refused' }).click()
  await page.getByLabel('New name').fill('Weekly chats')
  await page.getByLabel('New name').press('Enter')
  await page.getByRole('alert').waitFor()
  // What was typed is still there.
  expect(await page.getByLabel('New name').inputValue()).toBe('Weekly chats')
  await page.getByLabel('New name').fill('Turned away')
  await page.getByLabel('New name').press('Enter')
  const view = page.getByRole('button', { name: 'Turned away', exact: true })
  await view.waitFor()
  await page.getByRole('button', { name: 'Delete Turned away' }).click()
  await view.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Undo' }).click()
  // Clicking outside closes the list.
  await page.getByRole('button', { name: 'Saved views' }).waitFor()
  if (!(await view.isVisible())) await page.getByRole('button', { name: 'Saved views' }).click()
  await view.waitFor()
  await page.close()
}

async function save(page: Page, name: string) {
  await page.getByLabel('Save the filters and range as').fill(name)
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('button', { name, exact: true }).waitFor()
}
