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
  'signInByLink',
  'viewAs',
  // Recorded by the command line, and at starts.
  'applyFilePrices',
  'createSignInLink',
  'restartExport',
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
  test('a change that was only previewed is not listed as done', async () => {
    const page = await stage.open('/admin/audit')
    await page.evaluate(async () => {
      const headers = { 'content-type': 'application/json' }
      for (const output of ['1', '1000']) {
        const prices = { input: '1', output }
        const body = JSON.stringify({ model: 'acme/large', prices, source: 'a test' })
        await fetch('/api/prices', { method: 'POST', headers, body })
      }
    })
    await page.reload()
    const rows = page.getByRole('row').filter({ hasText: 'acme/large' })
    await rows.nth(1).waitFor()
    const texts = await rows.getByTitle('setPrices').allTextContents()
    expect(texts).toEqual(['Set pricesnot applied', 'Set prices'])
    await page.close()
  })
  test('an event opens by its address although the list leaves it out, in words', async () => {
    const { server } = stage
    const words = ['group', 'paid'] as const
    const page = await stage.open('/admin/audit', { language: 'zh-CN' })
    const [id, next] = await page.evaluate(async ([path, name]) => {
      const ask = (method: string, address: string, body?: object) =>
        fetch(`/api/${address}`, {
          method,
          headers: { 'content-type': 'application/json' },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        }).then((reply) => reply.json())
      await ask('POST', `${path}s`, { id: name })
      await ask('PATCH', `${path}s/${name}`, { multiplier: '1.25' })
      const { items } = await ask('GET', 'events?limit=1')
      return [items[0].id, items[0].actor]
    }, words)
    expect(next).toBe('account default')
    await page.goto(`${server.url}/console/admin/audit?actor=nobody&open=${id}`)
    const drawer = page.getByRole('complementary', { name: '修改分组' })
    await drawer.getByText('账户 default').waitFor()
    expect(await drawer.getByRole('row').last().innerText()).toMatch(/^倍率\s+null\s+1\.25$/)
    await page.goto(`${server.url}/console/admin/audit?actor=default`)
    await page.getByRole('cell', { name: '账户 default' }).first().waitFor()
    await page.getByRole('cell', { name: '倍率', exact: true }).waitFor()
    await page.goto(`${server.url}/console/admin/audit?open=evt_none`)
    await page.getByRole('complementary').getByText('它不存在，或已不存在。').waitFor()
    await page.close()
  })
}
