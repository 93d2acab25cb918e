// Tests settings in a real browser: name, sessions, message history with sealed messages opened again, appearance,
// data.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eventually } from '../support/clients.ts'
import { type ConsoleStage, hasBrowser, seriousFindings, startConsole } from '../support/console.ts'

let stage: ConsoleStage

afterAll(async () => stage?.close())

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
  })
  test('the name is saved, and the session that asks is marked', async () => {
    const page = await stage.open('/settings')
    await page.getByText('you sign in by one-time links.').waitFor()
    await page.getByText('Link a provider to sign in without them.').waitFor({ state: 'detached' })
    await page.getByLabel('Name').fill('Ann Lee')
    await page.getByRole('button', { name: 'Save the name' }).click()
    await page.getByText('Your name was saved.').waitFor()
    await page.getByText('Sessions', { exact: true }).click()
    const own = page.getByRole('listitem').filter({ hasText: 'this one' })
    await own.getByText(/^Chrome \d+ on Linux$/).waitFor()
    expect(await own.textContent()).not.toContain('Mozilla')
    await page.setViewportSize({ width: 390, height: 844 })
    const isCut = await own
      .getByText(/^Chrome \d+ on Linux$/)
      .locator('..')
      .evaluate((name) => name.scrollWidth > name.clientWidth)
    expect(isCut).toBe(false)
    expect(new URL(page.url()).searchParams.get('tab')).toBe('sessions')
    expect(await seriousFindings(page)).toEqual([])
    await page.close()
  })
  test('messages sealed to a key made here are read only with its file', sealsMessages)
  test('theme, density and zone are kept; an unknown zone is named', async () => {
    const page = await stage.open('/settings?tab=appearance')
    await page.getByText('Dark', { exact: true }).click()
    await page.getByText('Compact', { exact: true }).click()
    expect(await page.evaluate(() => ({ ...document.documentElement.dataset }))).toEqual({
      theme: 'dark',
      density: 'compact',
    })
    await page.getByLabel('Time zone', { exact: true }).fill('Atlantis/Harbour')
    await page.getByText('There is no time zone of this name.').waitFor()
    await page.getByLabel('Time zone', { exact: true }).fill('Asia/Kolkata')
    await page.getByRole('button', { name: 'Time zone: Asia/Kolkata' }).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await page.close()
  })
  test('deleting all messages has to be typed, and nothing was a fault', async () => {
    const page = await stage.open('/settings?tab=history', { width: 390 })
    await page.getByRole('button', { name: 'Delete all my messages' }).click()
    const dialog = page.getByRole('dialog')
    const confirm = dialog.getByRole('button', { name: 'Delete all my messages' })
    expect(await confirm.isDisabled()).toBe(true)
    await dialog.getByRole('textbox').fill('delete')
    await confirm.click()
    await page.getByText('Your messages were deleted.').waitFor()
    expect(stage.faults()).toEqual([])
    await page.close()
  })
}

async function sealsMessages() {
  const page = await stage.open('/settings?tab=history')
  await page.getByLabel('Sealed messages').check()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Make a key and save its secret file' }).click(),
  ])
  const file = await download.path()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Saved. It applies to requests that begin from now on.').waitFor()
  const url =
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const picture = { type: 'image_url', image_url: { url } }
  const text = { type: 'text', text: 'The password is swordfish' }
  const messages = [{ role: 'user', content: [text, picture] }]
  // Messages are written in the background: on a busy machine after the request's reply, and after the page has asked
  // for them.
  await eventually(async () => {
    const reply = await stage.call({ model: 'sandbox/chat', messages })
    const id = reply.headers.get('x-request-id')
    await page.goto(`${stage.server.url}/console/requests?open=${id}&tab=messages`)
    const shown = page.getByText('These messages are sealed.').waitFor({ timeout: 3_000 })
    return shown.then(
      () => true,
      () => undefined,
    )
  }, 30_000)
  await page.getByLabel('File with the secret key').setInputFiles(file)
  await page.getByText('The password is swordfish', { exact: true }).waitFor()
  // A picture that its browser cannot read would have no width.
  const image = page.getByAltText('Image of the message')
  await image.waitFor()
  expect(await image.evaluate((shown: HTMLImageElement) => shown.decode().then(() => true))).toBe(
    true,
  )
  expect(await seriousFindings(page)).toEqual([])
  await page.close()
}
