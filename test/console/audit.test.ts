// Tests that the audit log names every operation that it can record in plain words, in both languages.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { isNoted } from '../../src/http/control/events.ts'
import { controlRoutes } from '../../src/http/control/routes.ts'
import { type ConsoleStage, hasBrowser, seriousFindings, startConsole } from '../support/console.ts'
import { person } from '../support/control.ts'

let stage: ConsoleStage

afterAll(async () => stage?.close())

const asked = { principal: person('ann', 'admin') } as Parameters<typeof isNoted>[1]
const actions = [
  ...controlRoutes.filter((route) => isNoted(route, asked)).map(({ id }) => id),
  'viewAs',
]

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
  })
  test.each(['en', 'zh-CN'] as const)('in %s', async (language) => {
    expect(actions.length).toBeGreaterThan(60)
    const page = await stage.open('/admin/audit', { language })
    const choices = page.getByRole('combobox').last().locator('option')
    const values = await choices.evaluateAll((all) => all.map((each) => each.getAttribute('value')))
    expect(values.toSorted()).toEqual(['', ...actions].toSorted())
    for (const text of await choices.allTextContents())
      expect(text).toMatch(language === 'en' ? /^[A-Z][a-z]+,? [^A-Z]+$/ : /^[^a-z]+( Webhook)?$/)
    await page.close()
  })
  test('an action is filtered by its text, and its id is beside it', async () => {
    const page = await stage.open('/admin/audit')
    const status = await page.evaluate(async () => {
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify({ value: 400 })
      return (await fetch('/api/settings/usage.keepDays', { method: 'PUT', headers, body })).status
    })
    expect(status).toBe(200)
    await page.getByLabel('Action').selectOption({ label: 'Change a setting' })
    await page.waitForURL(/action=setSetting/)
    await page.getByRole('row').filter({ hasText: 'usage.keepDays' }).click()
    const drawer = page.getByRole('complementary', { name: 'Change a setting' })
    await drawer.getByText('setSetting', { exact: true }).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await page.close()
  })
}
