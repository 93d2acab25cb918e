// The console as people use it: the server by its own command, the built console in Debian's Chromium, signed in.

import type { AxeResults } from 'axe-core'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { chromiumPath, startBrowser } from './browser.ts'
import { run, type ServerOptions, type ServerProcess, startServer } from './server-process.ts'

/** Tests of the console run if there is a browser; elsewhere the test script reports what is left out. */
export const hasBrowser = chromiumPath !== null

const axeSource = Bun.resolveSync('axe-core/axe.min.js', import.meta.dir)

interface View {
  readonly width?: 390 | 1024 | 1440
  readonly theme?: 'light' | 'dark'
  readonly language?: 'en' | 'zh-CN'
  /** The account of the session; left out: the first administrator's. */
  readonly context?: BrowserContext
}

type Visitor = 'admin' | 'auditor' | 'user' | null

export interface ConsoleStage {
  readonly server: ServerProcess
  /** The first key, which the server printed. */
  readonly key: string
  /**
   * Another person's browser: signed in by another link, as another role with a separate account, or with `null` not at
   * all.
   */
  visitor(as: Visitor): Promise<BrowserContext>
  /** A new page at a path of the console (`/requests?range=7d`). */
  open(path: string, view?: View): Promise<Page>
  /** A call to a model with the first key; resolves with the reply once it is read. */
  call(body: object, path?: string, headers?: Readonly<Record<string, string>>): Promise<Response>
  /** Errors of all pages so far: in the browser's log, of scripts, of the content security policy. */
  faults(): readonly string[]
  close(): Promise<void>
}

/** Rejects if the console could not be built or nobody can be signed in. */
export async function startConsole(options: ServerOptions = {}): Promise<ConsoleStage> {
  await built()
  const env = { TOLLGATE_CONSOLE: 'on', ...options.env }
  const server = await startServer(undefined, { ...options, env })
  const browser = await startBrowser(chromiumPath ?? '')
  const link = /http\S+\/api\/auth\/link\S+/.exec(server.stdout)?.[0] ?? ''
  const key = /sk-tg-\S+/.exec(server.stdout)?.[0].replace(/["']$/, '') ?? ''
  const faults: string[] = []
  const own = await visit(browser, link)
  return {
    server,
    key,
    visitor: (as) => visitAs(browser, server, as),
    open: (path, view = {}) => openPage(own, `${server.url}/console${path}`, view, faults),
    async call(body, path = '/v1/chat/completions', more = {}) {
      const always = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const reply = await fetch(server.url + path, {
        method: 'POST',
        headers: { ...always, ...more },
        body: JSON.stringify(body),
      })
      return new Response(await reply.arrayBuffer(), reply)
    },
    faults: () => faults,
    async close() {
      await browser.close()
      await server.kill()
      server.remove()
    },
  }
}

/** Takes almost no time if it is built; the first of several tests at once builds it. */
async function built(): Promise<void> {
  const run = Bun.spawn(['node', 'scripts/console.mjs'], { stderr: 'pipe' })
  const said = await new Response(run.stderr).text()
  if ((await run.exited) !== 0) throw new Error(`the console cannot be built: ${said}`)
}

async function visit(browser: Browser, link: string | null): Promise<BrowserContext> {
  const context = await browser.newContext()
  // Below the limit of a test, so that the missing thing is named.
  context.setDefaultTimeout(15_000)
  if (link === null) return context
  const page = await context.newPage()
  await page.goto(link)
  await page.close()
  return context
}

async function visitAs(browser: Browser, server: ServerProcess, as: Visitor) {
  if (as === null) return visit(browser, null)
  const { dataDir, url } = server
  const said = (...words: string[]) => run(dataDir, ...words)
  const account = { admin: null, auditor: 'eye', user: 'uma' }[as]
  const own = account === null ? [] : ['--account', account]
  if (account !== null)
    await said('account', 'credit', account, '1', '--create', '--reason', 'test')
  const link = /\/api\/auth\/link\S+/.exec(await said('admin', 'link', ...own))?.[0] ?? ''
  const context = await visit(browser, url + link)
  // A person who signs in by a link of the command line is an administrator.
  if (account !== null) await said('user', 'role', account, as)
  return context
}

async function openPage(
  own: BrowserContext,
  url: string,
  { width = 1440, theme = 'light', language = 'en', context = own }: View,
  faults: string[],
): Promise<Page> {
  const page = await context.newPage()
  await page.setViewportSize({ width, height: width === 390 ? 844 : 900 })
  // An element that fades in is half transparent for a moment, and then has too little contrast.
  await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
  await page.addInitScript(
    (chosen) => {
      const kept = JSON.parse(localStorage.getItem('tollgate.preferences') ?? '{}')
      localStorage.setItem('tollgate.preferences', JSON.stringify({ ...kept, ...chosen }))
    },
    { language },
  )
  page.on('console', (message) => {
    if (message.type() !== 'error') return
    // For resources that could not be loaded, the browser gives the address separately.
    faults.push(`${page.url()}: ${message.text()} ${message.location().url}`)
  })
  page.on('pageerror', (error) => faults.push(`${page.url()}: ${error.stack ?? error.message}`))
  await page.goto(url)
  await page.getByRole('heading', { level: 1 }).waitFor()
  return page
}

/** Axe's findings that keep people from using the page: `expect(await seriousFindings(page)).toEqual([])`. */
export async function seriousFindings(page: Page): Promise<readonly string[]> {
  await page.evaluate(await Bun.file(axeSource).text())
  let { violations, wasBusy } = await runAxe(page)
  // Data that is requested again is shown paler until the answer arrives, and a page may request again while axe runs.
  for (let again = 0; wasBusy && violations.length > 0 && again < 4; again += 1) {
    ;({ violations, wasBusy } = await runAxe(page))
  }
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`)
}

async function runAxe(
  page: Page,
): Promise<Pick<AxeResults, 'violations'> & { readonly wasBusy: boolean }> {
  await page.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null)
  return await page.evaluate(async () => {
    const isBusy = () => document.querySelector('[aria-busy="true"]') !== null
    let wasBusy = isBusy()
    const observer = new MutationObserver(() => {
      wasBusy ||= isBusy()
    })
    observer.observe(document, { subtree: true, childList: true, attributes: true })
    const { violations } = await (
      globalThis as unknown as { axe: { run(): Promise<AxeResults> } }
    ).axe.run()
    observer.disconnect()
    return { violations, wasBusy }
  })
}
