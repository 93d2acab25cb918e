// Alerts in a real browser: what to be warned of is saved, refused at its field, and what was told is read.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type ConsoleStage, hasBrowser, seriousFindings, startConsole } from '../support/console.ts'

let stage: ConsoleStage

afterAll(async () => stage?.close())

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
  })
  test('what to be warned of is saved; what is wrong is said at its field and stays', async () => {
    const page = await stage.open('/settings?tab=alerts')
    await page.getByLabel('When less is left than').fill('12.5')
    await page.getByLabel('When a key has spent of its limit').fill('101')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('A whole number from 1 to 100.').waitFor()
    await page.getByLabel('When a key has spent of its limit').fill('80')
    await page.getByLabel('Also post to').fill('http://example.com/hook')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('expected an https address', { exact: false }).waitFor()
    expect(await page.getByLabel('When less is left than').inputValue()).toBe('12.5')
    await page.getByLabel('Also post to').fill('https://example.com/hook')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('This is the only time it is shown.', { exact: false }).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await page.getByRole('button', { name: 'I saved it' }).click()
    await page.getByLabel('Make a new secret for it').waitFor()
    expect(await page.getByLabel('When less is left than').inputValue()).toBe('12.5')
    await page.close()
  })
  test('what was told is counted in the header, listed in words, and marked as read', async () => {
    const page = await stage.open('/settings?tab=alerts')
    await page.getByLabel('Also post to').fill('')
    // More than the account has.
    await page.getByLabel('When less is left than').fill('1000000')
    await page.getByRole('button', { name: 'Save' }).click()
    const bell = page.getByRole('link', { name: 'Warnings, 1 unread' })
    await bell.waitFor({ timeout: 150_000 })
    await bell.click()
    await page.reload()
    await page.getByText('is left, less than $1,000,000.00.', { exact: false }).waitFor()
    await page.getByRole('button', { name: 'Mark all as read' }).click()
    await page.getByRole('link', { name: 'Warnings, none unread' }).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    expect(stage.faults().filter((text) => !text.includes('400'))).toEqual([])
    await page.close()
  }, 180_000)
}
