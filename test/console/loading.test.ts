// Tests in a real browser that what is read first stays where it is when the rest of its page arrives.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page, Route } from 'playwright-core'
import { type ConsoleStage, hasBrowser, startConsole } from '../support/console.ts'

let stage: ConsoleStage

/** Half of the limit below which people hardly notice that a page moves (https://web.dev/articles/cls). */
const mostShift = 0.05

/** On a busy machine a page takes five seconds. */
const mostMs = 45_000

/** Pages, and a text that each shows once it is complete. */
const pages = [
  { path: '/', last: 'Top keys' },
  { path: '/get-started', last: 'Listening for your first request' },
  { path: '/models', last: 'sandbox/chat' },
  { path: '/keys', last: 'Spend today (UTC)' },
  { path: '/billing', last: 'Statements' },
  { path: '/billing/top-up', last: 'Redeem a code' },
  { path: '/admin/payments', last: 'Redemption codes' },
  { path: '/admin/channels', last: 'sandbox' },
  { path: '/admin/settings', last: 'Public status page' },
  { path: '/settings?tab=history', last: 'Delete what is kept' },
  { path: '/settings?tab=alerts', last: 'What you were told' },
]

/** Answers come one by one: those asked for first come first, or last. */
const orders = ['first', 'last'] as const
/** Otherwise each page has one of them. */
const isWhole = Bun.env['CONSOLE_LOOKS'] === 'all'

afterAll(async () => stage?.close())

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
    const messages = [{ role: 'user', content: 'Hello' }]
    for (let each = 0; each < 12; each += 1)
      expect((await stage.call({ model: 'sandbox/chat', messages })).status).toBe(200)
    // An order that can still be paid stands above other parts.
    const page = await stage.open('/billing/top-up')
    await page.getByRole('button', { name: /^Pay / }).click()
    await page.getByText('I have paid').waitFor()
    await page.close()
  })
  const cases = pages.flatMap((page, place) =>
    orders
      .filter((_, index) => isWhole || index === place % orders.length)
      .map((order) => ({ ...page, order })),
  )
  test.each(cases)('$path on a phone, with slow answers, the $order asked for first', stays)
}

async function stays({ path, last, order }: (typeof pages)[number] & { order: string }) {
  // Of one's own account, which has a balance and orders.
  const own = `${path}${path.includes('?') ? '&' : '?'}account=default`
  const page = await stage.open('/sign-in', { width: 390 })
  // Ends what that page asks for: an answer to a request that is aborted while it is held may never come.
  await page.goto('about:blank')
  const held: Route[] = []
  await page.route(isHeld, (route) => void held.push(route))
  await page.addInitScript(countShifts)
  await page.goto(`${stage.server.url}/console${own}`)
  await page.getByRole('main').waitFor()
  let awaited = last
  async function answerAll(): Promise<void> {
    while (held.length > 0 || !(await isComplete(page, last))) {
      const route = order === 'first' ? held.shift() : held.pop()
      awaited = route?.request().url() ?? last
      await answer(page, route)
    }
  }
  try {
    await within(answerAll(), () => `${path} is not complete: it waits for ${awaited}`)
    const { shift, moved } = await shifts(page)
    expect(shift, moved.join('\n')).toBeLessThan(mostShift)
  } finally {
    await page.close()
  }
}

/** Throws below the limit of a test, so that what is missing is named, and the server stays for the next test. */
async function within(work: Promise<void>, complaint: () => string): Promise<void> {
  const late = Promise.withResolvers<never>()
  const end = AbortSignal.timeout(mostMs)
  end.addEventListener('abort', () => late.reject(new Error(complaint())))
  // Where the work ends first, nobody is told of what comes later.
  late.promise.catch(() => undefined)
  await Promise.race([work, late.promise])
}

/** Streams do not end, and who is signed in is known before a page is shown. */
function isHeld({ pathname }: URL): boolean {
  return pathname.startsWith('/api/') && !/^\/api\/me$|\/(live|events)$/.test(pathname)
}

/** undefined: none is waiting. */
async function answer(page: Page, route: Route | undefined): Promise<void> {
  await route?.continue()
  // null: the page no longer waits for it.
  const reply = await route?.request().response()
  await reply?.finished()
  await twoFrames(page)
}

/** The browser reports a shift with the frame after it. */
function twoFrames(page: Page): Promise<void> {
  return page.evaluate(
    () =>
      new Promise<void>((resolve) =>
        requestAnimationFrame(() => requestAnimationFrame(() => resolve())),
      ),
  )
}

async function isComplete(page: Page, last: string): Promise<boolean> {
  const main = page.getByRole('main')
  const isWaiting = await main.getByRole('status', { name: 'Loading' }).first().isVisible()
  return !isWaiting && (await main.getByText(last, { exact: true }).first().isVisible())
}

interface Shifts {
  readonly shift: number
  /** What moved, for the message of a failure. */
  readonly moved: readonly string[]
}

function countShifts(): void {
  const seen = { shift: 0, moved: [] as string[] }
  Object.assign(globalThis, { seen })
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { value, sources } = entry as unknown as {
        readonly value: number
        readonly sources: readonly { readonly node: Node | null }[]
      }
      seen.shift += value
      const texts = sources.map(({ node }) => node?.textContent?.slice(0, 40))
      seen.moved.push(`${value.toFixed(3)}: ${texts.join(' | ')}`)
    }
  }).observe({ type: 'layout-shift', buffered: true })
}

async function shifts(page: Page): Promise<Shifts> {
  await twoFrames(page)
  return page.evaluate(() => (globalThis as unknown as { readonly seen: Shifts }).seen)
}
