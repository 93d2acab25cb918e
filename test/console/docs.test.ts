// Tests the API documentation at /docs in a real browser: nothing is wider than a phone, and no serious finding of axe.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type ConsoleStage, hasBrowser, seriousFindings, startConsole } from '../support/console.ts'

let stage: ConsoleStage

afterAll(async () => stage?.close())

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
  })
  test.each([320, 390, 1280])('with everything opened it fits %d px', async (width) => {
    const context = await stage.visitor(null)
    const page = await context.newPage()
    await page.setViewportSize({ width, height: 844 })
    await page.goto(`${stage.server.url}/docs`)
    const wide = await page.evaluate(() => {
      for (const details of document.querySelectorAll('details')) details.open = true
      const { clientWidth } = document.documentElement
      return [...document.querySelectorAll('body *')]
        .filter((each) => each.getBoundingClientRect().right > clientWidth + 1)
        .map(({ tagName, textContent }) => `${tagName} ${textContent.slice(0, 40)}`)
    })
    expect(wide).toEqual([])
    await context.close()
  })
  test('a phone shows it without a serious finding', async () => {
    const context = await stage.visitor(null)
    const page = await context.newPage()
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(`${stage.server.url}/docs#operation-updateKey`)
    expect(await seriousFindings(page)).toEqual([])
    await context.close()
  })
}
