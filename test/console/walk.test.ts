// Tests every page of the console in both languages, both themes and three widths: no serious finding of axe, no error
// in the browser, nothing wider than the screen, no level of headings left out, no text left in English. With
// CONSOLE_LOOKS=all each page is opened in all combinations (ten minutes); CONSOLE_PICTURES names a directory for
// screenshots.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { type ConsoleStage, hasBrowser, seriousFindings, startConsole } from '../support/console.ts'

const isWhole = Bun.env['CONSOLE_LOOKS'] === 'all'
const pictures = Bun.env['CONSOLE_PICTURES']
const root = join(import.meta.dir, '../..')
const widths = [390, 1024, 1440] as const
const looks = widths.flatMap((width) =>
  (['light', 'dark'] as const).flatMap((theme) =>
    (['en', 'zh-CN'] as const).map((language) => ({ width, theme, language })),
  ),
)

/** A page is included as soon as the router has it. */
const paths = [
  ...readFileSync(join(root, 'console/src/app/router.tsx'), 'utf8').matchAll(/path: '([^'$]+)'/g),
].map(([, path = '']) => path)

let stage: ConsoleStage

afterAll(async () => stage?.close())

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
    await traffic(stage)
  })
  // Otherwise each page is opened in one combination, a different one each, so that all occur.
  const walks = paths.flatMap((path, place) =>
    looks
      .filter((_, look) => isWhole || look === (place * 5) % 12)
      .map((look) => ({ path, ...look })),
  )
  test.each(walks)('$path at $width px, $theme, $language', async ({ path, ...look }) => {
    const before = stage.faults().length
    const page = await stage.open(path, look)
    expect(await seriousFindings(page)).toEqual([])
    expect(await tooWide(page)).toEqual([])
    expect(await skippedLevels(page)).toEqual([])
    if (look.language === 'zh-CN') expect(await english(page)).toEqual([])
    expect(stage.faults().slice(before)).toEqual([])
    if (pictures !== undefined) await picture(page, path, Object.values(look).join('-'))
    await page.close()
  })
}

async function traffic({ call }: ConsoleStage): Promise<void> {
  const messages = [{ role: 'user', content: 'What is a ledger?' }]
  for (const model of ['sandbox/chat', 'sandbox/chat+tokens=200', 'no-such-model']) {
    for (const stream of [false, true]) await call({ model, stream, messages })
  }
  await call({ model: 'sandbox/embedding', input: 'a' }, '/v1/embeddings')
}

/** What makes the page wider than the screen; elements that scroll by themselves may be wider. */
function tooWide(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    return scrollWidth > clientWidth ? [`${scrollWidth} px wide on ${clientWidth} px`] : []
  })
}

/** Headings more than one level below the one before them: who reads by headings looks for what is missing between. */
function skippedLevels(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const level = (heading: Element | undefined) => Number(heading?.tagName.slice(1) ?? 0)
    return [...document.querySelectorAll('h1, h2, h3, h4')]
      .filter((each, place, all) => level(each) > level(all[place - 1]) + 1)
      .map((each) => each.outerHTML)
  })
}

/** Headings and labels of controls without a Chinese character, except names, which are not translated. */
function english(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const shown = document.querySelectorAll('h1, h2, h3, th, nav a, label, button')
    return [...shown]
      .map((each) => each.textContent?.trim() ?? '')
      .filter((text) => /^[A-Z][a-z]+( [a-z]+)+$/.test(text))
  })
}

async function picture(page: Page, path: string, look: string): Promise<void> {
  const name = path === '/' ? 'overview' : path.slice(1).replaceAll('/', '-')
  await page.screenshot({ path: join(pictures ?? '', `${name}-${look}.png`), fullPage: true })
}
