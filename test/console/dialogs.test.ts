// Tests dialogs and the frame of pages in a real browser: where the focus is, what closes them, copying, a first start
// on a phone.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { type ConsoleStage, hasBrowser, startConsole } from '../support/console.ts'
import { run } from '../support/server-process.ts'

let stage: ConsoleStage

afterAll(async () => stage?.close())

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
  })
  // Before the first request.
  test.each(['/', '/requests'])(
    '%s of a first start fits a phone, with a call to copy',
    async (path) => {
      const page = await stage.open(path, { width: 390 })
      await page.getByText('"model": "sandbox/chat"').waitFor()
      expect(await tooWide(page)).toEqual([])
      await page.close()
    },
  )
  test('the palette has the focus at once', async () => {
    const page = await stage.open('/')
    await page.keyboard.press('Control+k')
    const box = page.getByRole('combobox', { name: 'Search or paste an id' })
    await box.waitFor()
    await page.keyboard.type('reque')
    expect(await box.inputValue()).toBe('reque')
    await page.close()
  })
  test('the focus is back where it was once a dialog has closed', async () => {
    const page = await stage.open('/keys')
    const create = page.getByRole('button', { name: 'Create key' })
    await create.focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Create key' })
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await create.evaluate((button) => button === document.activeElement)).toBe(true)
    await page.close()
  })
  test('a form in a dialog begins at its first field, and Enter sends it', async () => {
    const page = await stage.open('/keys?tab=management&dialog=create')
    const dialog = page.getByRole('dialog', { name: 'Create management key' })
    await dialog.waitFor()
    await page.keyboard.press('Enter')
    await dialog.getByText('Give the key a name.').waitFor()
    await page.keyboard.type('script')
    expect(await dialog.getByLabel('Name').inputValue()).toBe('script')
    await page.close()
  })
  test(
    'what was typed stays where a text is marked past the edge, and at Escape pressed twice',
    keeps,
  )
  test(
    'a secret shown once stays until it is saved, and is copied on a page that is not secure',
    copies,
  )
  test('going back closes no dialog that would lose what was typed, or a secret', staysAtBack)
  test('a notice is shown and read aloud above a dialog, and goes on when it closes', notices)
  test('a balance of many digits is cut and covers nothing', fits)
  test('an address that is broken shows the page as it usually is', async () => {
    const page = await stage.open('/requests?since=yesterday&range=9y')
    await page.getByText('Last 24 hours').waitFor()
    expect(new URL(page.url()).pathname).toBe('/console/requests')
    await page.close()
  })
  test('a range without its start is refused', async () => {
    const page = await stage.open('/requests')
    await page.getByRole('button', { name: /Last 24 hours/ }).click()
    await page.getByLabel('From (').fill('')
    await page.getByRole('button', { name: 'Show this range' }).click()
    await page.getByText('The end must be after the start, and both from 1970 on.').waitFor()
    expect(new URL(page.url()).search).toBe('')
    await page.close()
  })
  test('an address that is no page says so in the title too, and the sidebar leads on', async () => {
    const page = await stage.open('/nowhere')
    expect(await page.title()).toBe('There is no such page · Tollgate')
    await page.getByRole('navigation').getByRole('link', { name: 'Usage' }).click()
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor()
    await page.close()
  })
}

function tooWide(page: Page): Promise<readonly number[]> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    return scrollWidth > clientWidth ? [scrollWidth, clientWidth] : []
  })
}

async function keeps() {
  const page = await stage.open('/keys?dialog=create')
  const dialog = page.getByRole('dialog', { name: 'Create key' })
  const name = dialog.getByLabel('Name')
  const box = await name.boundingBox()
  if (box === null) throw new Error('the field is not shown')
  await page.mouse.move(box.x + 20, box.y + 10)
  await page.mouse.down()
  await page.mouse.move(20, 400, { steps: 4 })
  await page.mouse.up()
  expect(await dialog.isVisible()).toBe(true)
  await name.fill('laptop')
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  expect(await name.inputValue()).toBe('laptop')
  expect(await dialog.isVisible()).toBe(true)
  // Nothing is typed any more, so a click outside closes it.
  await name.fill('')
  await page.mouse.click(20, 400)
  await dialog.waitFor({ state: 'detached' })
  await page.close()
}

async function staysAtBack() {
  const page = await stage.open('/keys')
  await page.getByRole('button', { name: 'Create key' }).click()
  const dialog = page.getByRole('dialog', { name: 'Create key' })
  await dialog.getByLabel('Name').fill('typed')
  await goesBackAndReturns(page)
  expect(await dialog.getByLabel('Name').inputValue()).toBe('typed')
  await page.keyboard.press('Enter')
  const secret = page.getByRole('dialog', { name: 'Save the secret of typed' })
  await secret.waitFor()
  await goesBackAndReturns(page)
  expect(await secret.locator('[data-secret]').textContent()).toStartWith('sk-tg-')
  await secret.getByLabel('I saved it').check()
  await secret.getByRole('button', { name: 'Done' }).click()
  await secret.waitFor({ state: 'detached' })
  await page.close()
}

/** Goes back in the browser's history; resolves when the page has gone forward again by itself. */
function goesBackAndReturns(page: Page): Promise<void> {
  return page.evaluate(
    (address) =>
      new Promise<void>((resolve) => {
        let moves = 0
        addEventListener('popstate', () => {
          moves += 1
          if (moves > 1 && location.href === address) resolve()
        })
        history.back()
      }),
    page.url(),
  )
}

async function notices() {
  await stage.call({ model: 'none', messages: [{ role: 'user', content: 'Hi' }] })
  const page = await stage.open('/requests?statusClass=4xx')
  await page.evaluate(() => {
    Object.defineProperty(navigator, 'clipboard', { value: undefined })
    document.execCommand = () => false
  })
  await page.getByRole('row').filter({ hasText: 'model_not_found' }).first().click()
  await page.getByRole('button', { name: 'Copy a problem report' }).click()
  const notice = page.getByText('Not copied: the browser refuses it')
  await notice.waitFor()
  await page.keyboard.press('Control+k')
  const dialog = page.getByRole('dialog')
  const inside = dialog.locator('[aria-live]').filter({ has: notice })
  await inside.waitFor()
  const { x = 0, y = 0 } = (await notice.boundingBox()) ?? {}
  const onTop = await page.evaluate(
    ([left, top]) => document.elementFromPoint(left, top)?.textContent,
    [x + 5, y + 5] as const,
  )
  expect(onTop).toContain('Not copied')
  await inside.getByRole('button', { name: 'Dismiss' }).hover()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await notice.waitFor()
  expect(await notice.count()).toBe(1)
  await page.close()
}

async function copies() {
  const page = await stage.open('/keys?dialog=create')
  await page.evaluate(() => {
    Object.defineProperty(navigator, 'clipboard', { value: undefined })
    document.addEventListener('copy', ({ target }) => {
      document.title = target instanceof HTMLTextAreaElement ? target.value : 'nothing'
    })
  })
  await page.getByRole('dialog', { name: 'Create key' }).getByLabel('Name').fill('copied')
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Save the secret of copied' })
  const secret = (await dialog.locator('[data-secret]').textContent()) ?? ''
  for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press('Escape')
  expect(await dialog.isVisible()).toBe(true)
  await dialog.getByRole('button', { name: 'Copy the secret' }).click()
  await dialog.getByRole('button', { name: 'Copied' }).waitFor()
  expect(await page.title()).toBe(secret)
  await page.close()
}

async function fits() {
  const words = ['account', 'credit', 'default', '123456789', '--reason', 'test']
  await run(stage.server.dataDir, ...words)
  const page = await stage.open('/billing', { width: 390 })
  const figures = page.getByRole('main').locator('dd.text-metric')
  await figures.filter({ hasText: '$123,456,' }).first().waitFor()
  expect(await tooWide(page)).toEqual([])
  const boxes = await figures.evaluateAll((all) =>
    all.map((each) => {
      const range = document.createRange()
      range.selectNodeContents(each)
      const { left, right, top, bottom } = range.getBoundingClientRect()
      return { left, right, top, bottom }
    }),
  )
  const over = boxes.flatMap((one, at) =>
    boxes
      .slice(at + 1)
      .filter(
        (other) =>
          one.left < other.right &&
          other.left < one.right &&
          one.top < other.bottom &&
          other.top < one.bottom,
      ),
  )
  expect(over).toEqual([])
  await page.close()
}
