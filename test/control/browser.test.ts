// Tests the control API with a real browser: the session's cookie, pages of other origins, and the page at /docs.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { chromiumPath, startBrowser } from '../support/browser.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'

let server: ServerProcess
let browser: Browser
let context: BrowserContext
let page: Page
const blank = () => new Response('<title>x</title>', { headers: { 'content-type': 'text/html' } })
/** Another port of the same machine: for browsers the same site, so the cookie is sent. */
const neighbour = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: blank })

afterAll(async () => {
  await browser?.close()
  await neighbour.stop(true)
  await server?.kill()
  server?.remove()
})

const keys = async () =>
  page.evaluate(async () => (await (await fetch('/api/keys')).json()).items.length)

// On a machine without a browser, the test script reports that these are left out.
if (chromiumPath !== null) {
  beforeAll(async () => {
    server = await startServer()
    browser = await startBrowser(chromiumPath ?? '')
    context = await browser.newContext()
    page = await context.newPage()
  })
  test('S6: the link signs in by a cookie that pages cannot read', signsIn)
  test('S7: what a page of another origin asks for in a person’s name is refused', refusesOthers)
  test('S21: /docs loads nothing from elsewhere and breaks no policy of its own', showsDocs)
}

async function signsIn() {
  const link = /http\S+\/api\/auth\/link\S+/.exec(server.stdout)?.[0] ?? ''
  await page.goto(link)
  expect(page.url()).toBe(`${server.url}/`)
  const [cookie] = await context.cookies()
  expect(cookie).toMatchObject({
    name: '__Host-tollgate',
    httpOnly: true,
    secure: true,
    sameSite: 'Lax',
    path: '/',
  })
  expect(await page.evaluate(() => document.cookie)).toBe('')
  // The policy of the page at / does not allow fetching.
  expect((await page.goto(`${server.url}/api/me`))?.status()).toBe(200)
}

async function refusesOthers() {
  const before = await keys()
  const own = await page.evaluate(async () => {
    const body = JSON.stringify({ name: 'own', group: 'default' })
    const headers = { 'content-type': 'application/json' }
    return (await fetch('/api/keys', { method: 'POST', body, headers })).status
  })
  expect([own, await keys()]).toEqual([201, before + 1])
  const other = await context.newPage()
  await other.goto(neighbour.url.href)
  const statuses: number[] = []
  other.on('response', (reply) => {
    if (reply.url().startsWith(server.url)) statuses.push(reply.status())
  })
  // A form, and a fetch that needs no preflight: both send the cookie.
  const form = { action: `${server.url}/api/keys`, body: '{"name":"x","group":"default"}' }
  await other.evaluate(
    ({ action, body }) =>
      fetch(action, { method: 'POST', mode: 'no-cors', credentials: 'include', body }),
    form,
  )
  await Promise.all([
    other.waitForNavigation(),
    other.evaluate(({ action }) => {
      const sent = document.createElement('form')
      sent.method = 'POST'
      sent.action = action
      sent.enctype = 'text/plain'
      document.body.append(sent)
      sent.submit()
    }, form),
  ])
  expect(statuses).toEqual([403, 403])
  // With a preflight it is not even sent.
  await other.goto(neighbour.url.href)
  const blocked = await other.evaluate(
    (action) =>
      fetch(action, {
        method: 'POST',
        credentials: 'include',
        headers: { 'content-type': 'application/json' },
        body: '{}',
      }).then(
        () => 'sent',
        () => 'blocked',
      ),
    form.action,
  )
  expect(blocked).toBe('blocked')
  expect(await keys()).toBe(before + 1)
  await other.close()
}

async function showsDocs() {
  const asked: string[] = []
  const complaints: string[] = []
  const docs = await context.newPage()
  docs.on('request', (request) => asked.push(new URL(request.url()).origin))
  docs.on('console', (message) => complaints.push(message.text()))
  const reply = await docs.goto(`${server.url}/docs`)
  const policy = reply?.headers()['content-security-policy'] ?? ''
  expect(policy).toContain("default-src 'none'")
  expect(policy).not.toContain('unsafe')
  expect(policy).toContain("frame-ancestors 'none'")
  expect(new Set(asked)).toEqual(new Set([server.url]))
  expect(complaints).toEqual([])
  const text = (await docs.textContent('body')) ?? ''
  for (const path of ['/v1/chat/completions', '/api/keys', '/api/requests/{id}'])
    expect(text).toContain(path)
  await docs.close()
}
