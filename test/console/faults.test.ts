// Tests every page of the console while the API fails: slow, refusing, replaced by a proxy's page, signed out, offline.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { BrowserContext, Page, Route } from 'playwright-core'
import { type ConsoleStage, hasBrowser, startConsole } from '../support/console.ts'

/** Every page of the router within the frame, so that a new page is tested as soon as it exists. */
const router = readFileSync('console/src/app/router.tsx', 'utf8')
const paths = [...router.matchAll(/\.\.\.inShell,\s+path: '([^'$]+)'/g)].map(
  ([, path = '']) => path,
)
const together = 5
/** Pages that request nothing until somebody uses them. */
const firstQuestions: Readonly<Record<string, string>> = {
  '/admin/reconcile': 'Reconcile this period',
}
/** Pages that request nothing without a part of their address. */
const addresses: Readonly<Record<string, string>> = { '/shared': '/shared?request=of-nobody' }

const problem = (status: number, code: string) => (route: Route) =>
  route.fulfill({
    status,
    contentType: 'application/problem+json',
    headers: { 'x-request-id': 'req_of_the_fault' },
    body: JSON.stringify({ status, code, title: code, detail: 'It was made to fail.' }),
  })
const proxyPage = (status: number) => (route: Route) =>
  route.fulfill({ status, contentType: 'text/html', body: '<html><h1>Proxy</h1></html>' })

const faults = {
  broken: problem(500, 'internal_error'),
  away: problem(503, 'store_unavailable'),
  badGateway: proxyPage(502),
  captivePortal: proxyPage(200),
} as const

let stage: ConsoleStage

afterAll(async () => stage?.close())

/** The browser's own messages about requests that were made to fail are not errors of the console. */
function unexpected(): readonly string[] {
  return stage
    .faults()
    .filter(
      (text) =>
        !/Failed to load resource|EventSource's response|dynamically imported module/.test(text),
    )
}

/** A browser whose requests to the API are answered by a fault, while one is set. */
class Faulty {
  readonly context: BrowserContext
  fault: ((route: Route) => Promise<void>) | null = null
  /** Paths of requests that are answered nevertheless. */
  spared: RegExp = /^$/

  private constructor(context: BrowserContext) {
    this.context = context
  }

  static async start(): Promise<Faulty> {
    const faulty = new Faulty(await stage.visitor('admin'))
    await faulty.context.route('**/api/**', async (route) => {
      const isSpared = faulty.spared.test(new URL(route.request().url()).pathname)
      await (isSpared || faulty.fault === null ? route.fallback() : faulty.fault(route))
    })
    return faulty
  }
}

const failures = (page: Page) => page.getByRole('alert')
const frame = (page: Page) => page.getByRole('navigation', { name: 'Pages' })

/** Clicks every such button that exists: some parts request again by themselves meanwhile. */
async function tryAgain(page: Page): Promise<void> {
  await failures(page).getByRole('button', { name: 'Try again' }).first().waitFor()
  await page.evaluate(() => {
    for (const button of document.querySelectorAll<HTMLElement>('[role=alert] button'))
      button.click()
  })
}

async function isWhole(page: Page): Promise<void> {
  expect(await frame(page).isVisible(), page.url()).toBe(true)
  expect(await page.getByRole('heading', { level: 1 }).count(), page.url()).toBe(1)
  expect(await page.getByText('This page could not be shown').count(), page.url()).toBe(0)
}

/** Opened while everything fails, then one fault after another, each of which ends after a time. */
async function standsFaults(faulty: Faulty, path: string): Promise<void> {
  faulty.spared = /^\/api\/me$/
  const answer = Promise.withResolvers<void>()
  // No answer until the page was seen, however many seconds that takes.
  faulty.fault = async (route) => {
    await answer.promise
    await faults.captivePortal(route)
  }
  const page = await stage.open(addresses[path] ?? path, { context: faulty.context })
  await isWhole(page)
  expect(await failures(page).count(), path).toBe(0)
  answer.resolve()
  faulty.fault = faults.captivePortal
  const action = firstQuestions[path]
  if (action !== undefined) await page.getByRole('button', { name: action }).click()
  await failures(page).filter({ hasText: 'Something between this browser' }).first().waitFor()
  await isWhole(page)
  faulty.fault = faults.broken
  await tryAgain(page)
  await failures(page).filter({ hasText: 'The gateway failed' }).first().waitFor()
  await isWhole(page)
  faulty.fault = null
  await tryAgain(page)
  await failures(page).first().waitFor({ state: 'detached' })
  await isWhole(page)
  await page.close()
}

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
    const messages = [{ role: 'user', content: 'Hello' }]
    expect((await stage.call({ model: 'sandbox/chat', messages })).status).toBe(200)
  })
  test('all pages of the router are known here', () => {
    expect(paths).toContain('/requests')
    expect(paths.length).toBeGreaterThan(12)
  })
  test('every page stands while the API is slow and fails, says so, and shows its data in the end', async () => {
    await Promise.all(
      Array.from({ length: together }, async (_, worker) => {
        const faulty = await Faulty.start()
        for (const path of paths.filter((_, index) => index % together === worker))
          await standsFaults(faulty, path).catch((error: Error) => {
            throw new Error(`${path}: ${error.message}`, { cause: error })
          })
        await faulty.context.close()
      }),
    )
    expect(unexpected()).toEqual([])
  }, 170_000)
  test(
    'who is signed in cannot be asked: that is said, and the page comes once it can',
    firstQuestion,
  )
  test(
    'figures stay while the store is away, with the reason, and go on by themselves',
    staysAndRecovers,
  )
  test('a fault stays in sight while the page tries again by itself', staysInSight)
  test('a session that ends is taken up in place, and what was typed is sent', keepsDrafts)
  test('nothing of a person is shown to another who signs in in another tab', startsAnew)
  test('offline is said, a page that was not loaded comes once online, all by itself', offline)
  test('a page whose code did not come is asked for again, all by itself', loadsAgain)
  test('a page whose code is of an earlier build is loaded in the new one', loadsUpdate)
  test('following requests goes on after a proxy refused the stream', followsOn)
}

async function staysInSight() {
  const faulty = await Faulty.start()
  faulty.spared = /^\/api\/me$/
  faulty.fault = faults.away
  const page = await stage.open('/admin/users', { context: faulty.context })
  const said = failures(page).filter({ hasText: 'The database cannot be reached' })
  await said.waitFor()
  await said.getByRole('button').focus()
  await said.evaluate((alert) => {
    const observer = new MutationObserver(() => {
      if (!alert.isConnected) document.title = 'it was gone'
    })
    observer.observe(document.body, { childList: true, subtree: true })
  })
  await said.locator('[aria-busy=true]').waitFor()
  await said.locator('button:not([aria-busy=true])').waitFor()
  expect(await page.title()).not.toBe('it was gone')
  expect(await said.locator('button:focus').count()).toBe(1)
  faulty.fault = null
  await said.waitFor({ state: 'detached' })
  await faulty.context.close()
}

async function firstQuestion() {
  const faulty = await Faulty.start()
  for (const [fault, reason] of [
    [faults.broken, 'The gateway failed'],
    [faults.badGateway, 'Something between this browser'],
  ] as const) {
    faulty.fault = fault
    const page = await stage.open('/keys', { context: faulty.context })
    await failures(page).filter({ hasText: reason }).waitFor()
    faulty.fault = null
    await tryAgain(page)
    await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor()
    await page.close()
  }
  await faulty.context.close()
  expect(unexpected()).toEqual([])
}

async function staysAndRecovers() {
  const faulty = await Faulty.start()
  const page = await stage.open('/admin', { context: faulty.context })
  const figures = page.getByText('Requests per second')
  await figures.waitFor()
  faulty.fault = faults.away
  await failures(page).first().waitFor()
  expect(await figures.isVisible()).toBe(true)
  await isWhole(page)
  faulty.fault = null
  await failures(page).first().waitFor({ state: 'detached' })
  await faulty.context.close()
  expect(unexpected()).toEqual([])
}

interface Draft {
  readonly path: string
  /** Opens the form if it is not open yet. */
  readonly open?: (page: Page) => Promise<void>
  readonly typed: Readonly<Record<string, string>>
  readonly button: string
  readonly sent: (page: Page) => Promise<void>
}

const drafts: readonly Draft[] = [
  {
    path: '/keys?dialog=create',
    typed: { Name: 'kept over a night' },
    button: 'Create key',
    sent: (page) => page.getByRole('heading', { name: /^Save the secret of/ }).waitFor(),
  },
  {
    path: '/billing',
    open: (page) => page.getByRole('button', { name: 'Adjust the balance' }).click(),
    typed: { Amount: '2.5', Reason: 'a test of faults' },
    button: 'Adjust',
    sent: (page) => page.getByText('was adjusted').waitFor(),
  },
  {
    path: '/settings',
    typed: { Name: 'Ada of the night' },
    button: 'Save the name',
    sent: (page) => page.getByText('Your name was saved.').waitFor(),
  },
]

async function keepsDrafts() {
  const context = await stage.visitor('admin')
  const session = await context.cookies()
  for (const { path, open, typed, button, sent } of drafts) {
    const page = await stage.open(path, { context })
    await open?.(page)
    for (const [label, text] of Object.entries(typed))
      await page.getByLabel(label, { exact: true }).fill(text)
    const submit = page
      .getByRole('main')
      .or(page.getByRole('dialog'))
      .getByRole('button', { name: button, exact: true })
      .last()
    await context.clearCookies()
    await submit.click()
    const notice = page.getByRole('dialog', { name: 'Your session has ended' })
    await notice.waitFor()
    await context.addCookies(session)
    await notice.getByRole('button', { name: 'I have signed in' }).click()
    await notice.waitFor({ state: 'detached' })
    for (const [label, text] of Object.entries(typed))
      expect(await page.getByLabel(label, { exact: true }).inputValue(), path).toBe(text)
    await submit.click()
    await sent(page)
    await page.close()
  }
  await context.close()
  expect(unexpected()).toEqual([])
}

async function startsAnew() {
  const context = await stage.visitor('admin')
  const other = await stage.visitor('user')
  const page = await stage.open('/keys', { context })
  await page.getByRole('row').filter({ hasText: 'first' }).waitFor()
  const loading = page.waitForEvent('load')
  await context.clearCookies()
  await context.addCookies(await other.cookies())
  await page.evaluate(() =>
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true })),
  )
  await loading
  await page.getByRole('button', { name: 'Account menu of uma' }).waitFor()
  expect(await page.getByText('first', { exact: true }).count()).toBe(0)
  await page
    .getByRole('navigation', { name: 'Pages' })
    .getByText('Users')
    .waitFor({ state: 'detached' })
  await context.close()
  await other.close()
}

async function offline() {
  const context = await stage.visitor('admin')
  const page = await stage.open('/keys', { context })
  await page.getByRole('row').nth(1).waitFor()
  await context.setOffline(true)
  await page.getByText('You are offline.').waitFor()
  await page.getByRole('link', { name: 'Billing' }).click()
  await page.getByRole('heading', { name: 'This page could not be shown' }).waitFor()
  expect(await frame(page).isVisible()).toBe(true)
  await context.setOffline(false)
  await page.getByRole('heading', { level: 1, name: 'Billing' }).waitFor()
  await page.getByText('You are offline.').waitFor({ state: 'detached' })
  await context.close()
  expect(unexpected()).toEqual([])
}

async function loadsAgain() {
  const page = await stage.open('/keys')
  let isAway = true
  await page.route('**/assets/billing*.js', (route) => (isAway ? route.abort() : route.continue()))
  await page.getByRole('link', { name: 'Billing' }).click()
  await page.getByRole('heading', { name: 'This page could not be shown' }).waitFor()
  isAway = false
  await page.getByRole('heading', { level: 1, name: 'Billing' }).waitFor()
  await page.close()
  expect(unexpected()).toEqual([])
}

async function loadsUpdate() {
  const page = await stage.open('/keys')
  // As after an update: the files of this tab's build are gone, and the page names other ones.
  await page.route('**/assets/billing*.js', (route) => route.fulfill({ status: 404, json: {} }))
  await page.route(
    ({ pathname }) => pathname === '/console/',
    (route) => route.fulfill({ contentType: 'text/html', body: '<script src="/other.js">' }),
  )
  const isReload = ({ pathname }: URL) => pathname === '/console/billing'
  const reloaded = new Promise<void>((resolve) => {
    void page.route(isReload, async (route) => {
      await route.continue()
      await page.unrouteAll()
      resolve()
    })
  })
  await page.getByRole('link', { name: 'Billing' }).click()
  await reloaded
  await page.getByRole('heading', { level: 1, name: 'Billing' }).waitFor()
  await page.close()
  expect(unexpected()).toEqual([])
}

async function followsOn() {
  const faulty = await Faulty.start()
  faulty.fault = faults.badGateway
  faulty.spared = /^\/api\/(?!requests\/live)/
  const page = await stage.open('/requests?live=true', { context: faulty.context })
  await page.waitForResponse((reply) => reply.url().includes('/api/requests/live'))
  faulty.fault = null
  await page.waitForResponse((reply) => reply.url().includes('/api/requests/live') && reply.ok())
  const messages = [{ role: 'user', content: 'Are you there again?' }]
  expect((await stage.call({ model: 'sandbox/chat', messages, user: 'follows' })).status).toBe(200)
  await page.getByRole('row').nth(2).waitFor()
  await faulty.context.close()
  expect(unexpected()).toEqual([])
}
