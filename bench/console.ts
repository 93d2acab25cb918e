// Measures how fast the console's pages load and react: `bun bench/console.ts DIR [ROUNDS]`, where DIR is a
// data directory of bench/ordinary.ts. Server and Chromium share cores 0 and 1; prints the table of its page.

import { execFileSync } from 'node:child_process'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { chromiumPath, startBrowser } from '../test/support/browser.ts'
import { startServer } from '../test/support/server-process.ts'

interface Act {
  readonly name: string
  readonly run: (page: Page) => Promise<void>
}

interface Visit {
  readonly name: string
  readonly path: string
  readonly acts: readonly Act[]
}

/** A role's element by its name; the first of them. */
const clickOn =
  (role: 'button' | 'radio' | 'checkbox', name: string | RegExp) => async (page: Page) => {
    const element = page.getByRole(role, { name }).first()
    await (role === 'radio' ? element.locator('..') : element).click()
  }
const press = (key: string) => (page: Page) => page.keyboard.press(key)
const sortBy = (name: string) => (page: Page) =>
  page.getByRole('columnheader', { name }).getByRole('button').click()
const firstRow = (page: Page) => page.locator('tbody tr[data-id]').first().click()
const range = (preset: string): readonly Act[] => [
  { name: 'open the ranges', run: clickOn('button', /^Time range/) },
  { name: preset, run: clickOn('button', preset) },
]

const visits: readonly Visit[] = [
  {
    name: 'Overview',
    path: '/',
    acts: [
      { name: '7 days', run: clickOn('radio', '7 days') },
      { name: '30 days', run: clickOn('radio', '30 days') },
    ],
  },
  {
    name: 'Usage',
    path: '/usage?range=7d',
    acts: [
      { name: 'metric', run: clickOn('radio', 'Requests') },
      { name: 'sort', run: sortBy('Requests') },
      ...range('Last 30 days'),
    ],
  },
  {
    name: 'Requests',
    path: '/requests?range=24h',
    acts: [
      { name: 'open a request', run: firstRow },
      { name: 'next (J)', run: press('j') },
      { name: 'next again (J)', run: press('j') },
      { name: 'previous (K)', run: press('k') },
      { name: 'close (Esc)', run: press('Escape') },
      { name: 'next page', run: nextPage },
      { name: 'open the filter Model', run: clickOn('button', /^Filter by Model/) },
      { name: 'filter by a model', run: clickOn('checkbox', 'gpt-4o-mini') },
      ...range('Last 30 days'),
    ],
  },
  {
    name: 'API keys',
    path: '/keys',
    acts: [
      { name: 'sort', run: sortBy('Last used') },
      { name: 'open a key', run: firstRow },
      { name: 'next (J)', run: press('j') },
      { name: 'close (Esc)', run: press('Escape') },
    ],
  },
  { name: 'Models', path: '/models', acts: [{ name: 'open a model', run: firstRow }] },
  {
    name: 'Operations',
    path: '/admin',
    acts: [
      { name: '7 days', run: clickOn('radio', '7 days') },
      { name: '30 days', run: clickOn('radio', '30 days') },
    ],
  },
]

/** Scrolls to the end of the loaded rows, which loads the next page. */
async function nextPage(page: Page): Promise<void> {
  await page.getByRole('region', { name: 'Requests' }).focus()
  await page.keyboard.press('End')
}

interface Timing {
  readonly interactionsMs: number[]
  lcpMs: number
}

declare global {
  var timing: Timing
}

/** In the page: the time of its largest paint, and from each input to the paint after it, as the browser takes them. */
function observe(): void {
  const timing: Timing = { interactionsMs: [], lcpMs: 0 }
  globalThis.timing = timing
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) timing.lcpMs = entry.startTime
  }).observe({ type: 'largest-contentful-paint', buffered: true })
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as (PerformanceEntry & { interactionId: number })[])
      if (entry.interactionId > 0) timing.interactionsMs.push(entry.duration)
  }).observe({ type: 'event', durationThreshold: 16, buffered: true } as PerformanceObserverInit)
}

/** Waits until nothing is loading any more and everything is painted. */
async function untilShown(page: Page): Promise<void> {
  await page.waitForFunction(
    () => document.querySelector('h1') && !document.querySelector('.skeleton, [aria-busy="true"]'),
    undefined,
    { polling: 'raf' },
  )
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))))
}

interface Sample {
  readonly visit: string
  readonly what: string
  /** For a page its largest paint; for an action from the input to the next paint, 16 if it took less. */
  readonly paintMs: number
  /** Time until everything that the page requests is shown. */
  readonly shownMs: number
}

async function measure(context: BrowserContext, url: string, visit: Visit): Promise<Sample[]> {
  const page = await context.newPage()
  await page.goto(`${url}/console${visit.path}`)
  await untilShown(page)
  const shownMs = await page.evaluate(() => performance.now())
  const { lcpMs } = await page.evaluate(() => globalThis.timing)
  const samples: Sample[] = [{ visit: visit.name, what: 'load', paintMs: lcpMs, shownMs }]
  for (const { name, run } of visit.acts) {
    await page.evaluate(() => globalThis.timing.interactionsMs.splice(0))
    const beganMs = performance.now()
    await run(page)
    await untilShown(page)
    const took = performance.now() - beganMs
    const durations = await page.evaluate(() => globalThis.timing.interactionsMs)
    samples.push({
      visit: visit.name,
      what: name,
      paintMs: Math.max(16, ...durations),
      shownMs: took,
    })
  }
  await page.close()
  return samples
}

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

function print(samples: readonly Sample[]): void {
  console.log('| page | what | paint p50 | paint p95 | all shown p50 | all shown p95 | n |')
  console.log('| --- | --- | --: | --: | --: | --: | --: |')
  const names = new Set(samples.map(({ visit, what }) => `${visit} | ${what}`))
  for (const name of names) {
    const own = samples.filter(({ visit, what }) => `${visit} | ${what}` === name)
    const cells = [
      own.map((sample) => sample.paintMs),
      own.map((sample) => sample.shownMs),
    ].flatMap((values) => [percentile(values, 0.5), percentile(values, 0.95)])
    console.log(
      `| ${name} | ${cells.map((ms) => `${Math.round(ms)} ms`).join(' | ')} | ${own.length} |`,
    )
  }
}

/** Each round uses a new browser profile, so that nothing of the console is cached from the one before. */
async function visitAll(browser: Browser, url: string, link: string, rounds: number) {
  const first = await browser.newContext()
  await (await first.newPage()).goto(link)
  const storageState = await first.storageState()
  await first.close()
  const samples: Sample[] = []
  for (let round = 0; round <= rounds; round++)
    for (const visit of visits) {
      const viewport = { width: 1440, height: 900 }
      const context = await browser.newContext({ storageState, viewport })
      await context.addInitScript(observe)
      const measured = await measure(context, url, visit)
      // The first round fills the server's own caches.
      if (round > 0) samples.push(...measured)
      await context.close()
    }
  return samples
}

const [dataDir, rounds = '10'] = process.argv.slice(2)
if (dataDir === undefined) throw new Error('usage: bun bench/console.ts DIR [ROUNDS]')
if (chromiumPath === null) throw new Error('needs Chromium: apt-get install chromium')
execFileSync('taskset', ['-acp', '0,1', String(process.pid)], { stdio: 'ignore' })
execFileSync('node', ['scripts/console.mjs'], { stdio: 'inherit' })
const server = await startServer(dataDir, { env: { TOLLGATE_CONSOLE: 'on' } })
const browser = await startBrowser(chromiumPath)
try {
  const said = execFileSync('bin/tollgate', ['admin', 'link', '--data', dataDir], { stdio: 'pipe' })
  const link = /\/api\/auth\/link\S+/.exec(String(said))?.[0]
  if (link === undefined) throw new Error(`no link in: ${said}`)
  print(await visitAll(browser, server.url, server.url + link, Number(rounds)))
} finally {
  await browser.close()
  await server.kill()
}
