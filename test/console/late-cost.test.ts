// Tests the playground's cost in a real browser if the request's record is late: the page says so, and shows the cost
// later.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eventually } from '../support/clients.ts'
import { type ConsoleStage, hasBrowser, startConsole } from '../support/console.ts'

let stage: ConsoleStage

afterAll(async () => stage?.close())

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
  })
  test('a late record is named with a link to the request, and its cost is shown once it comes', async () => {
    const page = await stage.open('/playground')
    await page.getByRole('log').first().waitFor()
    let isLate = true
    await page.route(/\/api\/requests\?/, (route) =>
      isLate ? route.fulfill({ json: { items: [], next: null } }) : route.continue(),
    )
    await page.clock.install()
    await page.getByLabel('Your message').fill('Hello')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('The cost is shown as soon as').waitFor()
    await page.clock.fastForward(60_000)
    await page.getByText('The gateway has no record of this request yet.').waitFor()
    const link = page.getByRole('link', { name: 'Open the request' })
    expect(await link.getAttribute('href')).toContain('/requests?open=req_')
    isLate = false
    // A request for the record that is under way now still finds none, and the next comes a tenth of the wait later.
    await eventually(async () => {
      await page.clock.fastForward(60_000)
      return (await page.locator('[data-cost-nano]').isVisible()) || undefined
    })
    expect(await link.count()).toBe(0)
    await page.close()
  })
}
