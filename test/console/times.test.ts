// Tests in a real browser that a half typed time, or a year of two digits, is refused: never taken for no time at all.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { type ConsoleStage, hasBrowser, startConsole } from '../support/console.ts'

let stage: ConsoleStage

afterAll(async () => stage?.close())

const refusal = 'Write the whole date and time, with a year from 1970 on.'

/** The bodies of this page's changes at a path. */
function sentTo(page: Page, path: string): unknown[] {
  const bodies: unknown[] = []
  page.on('request', (request) => {
    const isChange = request.method() === 'POST' && new URL(request.url()).pathname === path
    if (isChange) bodies.push(request.postDataJSON())
  })
  return bodies
}

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
  })
  test('codes with a half typed expiry are not made without one', async () => {
    const page = await stage.open('/admin/payments')
    const sent = sentTo(page, '/api/redemption-batches')
    await page.getByRole('button', { name: 'Make codes' }).click()
    const dialog = page.getByRole('dialog', { name: 'Make codes' })
    await dialog.getByLabel('Worth of each').fill('3')
    await dialog.getByLabel('Expires').focus()
    await page.keyboard.type('0131')
    await dialog.getByRole('button', { name: 'Make codes' }).click()
    await dialog.getByText(refusal).waitFor()
    await dialog.getByLabel('Expires').fill('0026-01-31T08:00')
    await dialog.getByText(refusal).waitFor()
    expect(sent).toEqual([])
    await dialog.getByLabel('Expires').fill('2126-01-31T08:00')
    await dialog.getByRole('button', { name: 'Make codes' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(sent).toMatchObject([{ expiresAt: '2126-01-31T08:00:00.000Z' }])
    await page.close()
  })
  test('prices of the year 26 are not set', async () => {
    const page = await stage.open('/admin/prices?open=sandbox/chat')
    const sent = sentTo(page, '/api/prices')
    const drawer = page.getByRole('complementary')
    await drawer.getByLabel('Source').fill('a contract')
    await drawer.getByLabel('Begins').fill('0026-01-31T08:00')
    await drawer.getByRole('button', { name: 'Set prices' }).click()
    await drawer.getByText(refusal).waitFor()
    expect(sent).toEqual([])
    await page.close()
  })
  test('a range of the year 26 is not shown', async () => {
    const page = await stage.open('/requests')
    await page.getByRole('button', { name: /Last 24 hours/ }).click()
    await page.getByLabel('From (').fill('0026-01-31T08:00')
    await page.getByRole('button', { name: 'Show this range' }).click()
    await page.getByText('both from 1970 on.', { exact: false }).waitFor()
    expect(new URL(page.url()).search).toBe('')
    await page.close()
  })
}
