// Tests in a real browser that what is read first stays where it is when the rest of its page arrives.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type ConsoleStage, hasBrowser, startConsole } from '../support/console.ts'

let stage: ConsoleStage

/** The limit below which people hardly notice that a page moves (https://web.dev/articles/cls). */
const mostShift = 0.1

afterAll(async () => stage?.close())

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
  })
  test.each([
    { path: '/admin/settings', api: '/api/settings', first: 'Backup', last: 'Public status page' },
    { path: '/admin/channels', api: '/api/channels', first: 'Channels', last: 'sandbox' },
  ])('$path', async ({ path, api, first, last }) => {
    const page = await stage.open('/sign-in')
    const held = Promise.withResolvers<void>()
    const isHeld = ({ pathname }: URL) => pathname === api
    await page.route(isHeld, async (route) => {
      await held.promise
      await route.continue()
    })
    await page.addInitScript(() => {
      const seen = globalThis as unknown as { shift: number }
      seen.shift = 0
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries())
          seen.shift += (entry as unknown as { readonly value: number }).value
      }).observe({ type: 'layout-shift', buffered: true })
    })
    await page.goto(`${stage.server.url}/console${path}`)
    await page.getByRole('main').getByText(first, { exact: true }).first().waitFor()
    const loading = page.getByRole('main').getByRole('status', { name: 'Loading' }).first()
    await loading.waitFor()
    held.resolve()
    await page.getByRole('main').getByText(last, { exact: true }).first().waitFor()
    await loading.waitFor({ state: 'detached' })
    // The browser reports a shift with the frame after it.
    const shift = await page.evaluate(
      () =>
        new Promise<number>((resolve) =>
          requestAnimationFrame(() =>
            requestAnimationFrame(() =>
              resolve((globalThis as unknown as { shift: number }).shift),
            ),
          ),
        ),
    )
    expect(shift).toBeLessThan(mostShift)
    await page.close()
  })
}
