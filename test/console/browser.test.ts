// The console itself, as it is built from this checkout, in a real browser.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { chromiumPath, startBrowser } from '../support/browser.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'

const root = join(import.meta.dir, '../..')
/** Of a first build with its installation, on a busy machine. */
const buildLimitMs = 300_000

let server: ServerProcess
let browser: Browser
let page: Page
const complaints: string[] = []

afterAll(async () => {
  await browser?.close()
  await server?.kill()
  server?.remove()
})

// Where the machine has no browser, the test script says that these are left out.
if (chromiumPath !== null) {
  beforeAll(async () => {
    const built = Bun.spawnSync([process.execPath, 'scripts/console.mjs'], { cwd: root })
    expect([built.exitCode, built.exitCode === 0 ? '' : built.stderr.toString()]).toEqual([0, ''])
    server = await startServer(undefined, { env: { TOLLGATE_CONSOLE: 'on' } })
    browser = await startBrowser(chromiumPath ?? '')
    page = await (await browser.newContext()).newPage()
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text())
    })
    page.on('pageerror', (error) => complaints.push(error.message))
  }, buildLimitMs)
  test('the printed link ends in the console, signed in, and nothing breaks its policy', signsIn)
  test('an address within the console is found when it is loaded anew', loadsAnew)
}

async function signsIn() {
  const link = /http\S+\/api\/auth\/link\S+/.exec(server.stdout)?.[0] ?? ''
  await page.goto(link)
  await page.waitForURL(/\/console\/?/)
  await page.locator('nav a').first().waitFor()
  expect(await page.locator('#root').innerText()).not.toBe('')
  expect(await page.evaluate(async () => (await fetch('/api/me')).status)).toBe(200)
  expect(complaints).toEqual([])
}

async function loadsAnew() {
  const reply = await page.goto(`${server.url}/console/keys`)
  expect(reply?.status()).toBe(200)
  await page.locator('nav a').first().waitFor()
  expect(new URL(page.url()).pathname).toBe('/console/keys')
  expect(complaints).toEqual([])
}
