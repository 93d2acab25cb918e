// Tests how / becomes the console in a browser: by itself, signed in, within the policy of its pages.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { chromiumPath, startBrowser } from '../support/browser.ts'
import { type Clone, makeClone } from './clone.ts'

let clone: Clone
let browser: Browser

afterAll(async () => {
  await browser?.close()
  await clone?.remove()
})

// On a machine without a browser, the test script reports that these are left out.
if (chromiumPath !== null) {
  beforeAll(async () => {
    clone = makeClone()
    browser = await startBrowser(chromiumPath ?? '')
  })
  test('the printed link ends at /, which becomes the console once it is built', becomesConsole)
  test('the page of a failed build breaks no policy of its own', showsFailure)
}

async function openPage(): Promise<{ page: Page; complaints: string[] }> {
  const page = await browser.newPage({ locale: 'en-GB' })
  const complaints: string[] = []
  page.on('console', (message) => complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  return { page, complaints }
}

async function becomesConsole() {
  const release = clone.hold()
  const server = await clone.start()
  const { page, complaints } = await openPage()
  await page.goto(/http\S+\/api\/auth\/link\S+/.exec(server.stdout)?.[0] ?? '')
  expect(page.url()).toBe(`${server.url}/`)
  expect(await page.title()).toBe('Tollgate: The console is being built')
  const font = () => page.evaluate(() => getComputedStyle(document.documentElement).fontFamily)
  expect(await font()).toContain('system-ui')
  await release()
  await page.getByText('text').first().waitFor()
  expect(await page.title()).toBe('The first console')
  expect(await page.evaluate(async () => (await fetch('/api/me')).status)).toBe(200)
  expect(complaints).toEqual([])
  await page.close()
  await server.kill()
}

async function showsFailure() {
  clone.write('broken for a browser')
  Bun.spawnSync(['rm', '-r', 'console/dist'], { cwd: clone.folder })
  const server = await clone.start()
  await server.said('the console could not be built')
  const { page, complaints } = await openPage()
  await page.goto(`${server.url}/console/keys`)
  expect(await page.title()).toBe('Tollgate: The console could not be built')
  expect(await page.locator('pre').first().innerText()).toContain('<b>broken for a browser</b>')
  expect(complaints).toEqual([])
  await page.close()
}
