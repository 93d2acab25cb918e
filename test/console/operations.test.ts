// Tests in a real browser that the page Operations and the page Channels tell the same of a channel.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConsoleStage, hasBrowser, seriousFindings, startConsole } from '../support/console.ts'

/** Nothing listens on port 9, so each attempt fails. */
const configuration = `
channels:
  - { id: broken, vendor: openai, key: sk-none, baseUrl: "http://127.0.0.1:9/v1", models: [gpt-4o-mini] }
  - { id: drained, vendor: sandbox, state: draining }
  - { id: off, vendor: sandbox, disabled: true }
  - { id: fine, vendor: sandbox }
`

const directory = mkdtempSync(join(tmpdir(), 'tollgate-operations-'))
let stage: ConsoleStage

afterAll(async () => {
  await stage?.close()
  rmSync(directory, { recursive: true })
})

if (hasBrowser) {
  beforeAll(async () => {
    const file = join(directory, 'tollgate.yaml')
    writeFileSync(file, configuration)
    stage = await startConsole({ words: ['--config', file] })
    const messages = [{ role: 'user', content: 'Hello' }]
    expect((await stage.call({ model: 'gpt-4o-mini', messages })).status).toBe(503)
  })
  test.each([
    {
      language: 'en',
      problem: 'A channel is degraded',
      words: { broken: 'Degraded', drained: 'Draining', off: 'Disabled', fine: 'Healthy' },
    },
    {
      language: 'zh-CN',
      problem: '渠道降级',
      words: { broken: '降级', drained: '排空中', off: '已停用', fine: '正常' },
    },
  ] as const)('in $language', async ({ language, problem, words }) => {
    const page = await stage.open('/admin', { language })
    const alert = page.getByRole('listitem').filter({ hasText: problem })
    await alert.waitFor()
    expect(await alert.getByRole('link').allInnerTexts()).toEqual(['broken'])
    expect(await page.getByText(/knows of no problem|未发现任何异常/).count()).toBe(0)
    const strip = page.getByRole('listitem').filter({ has: page.getByRole('link') })
    for (const [id, word] of Object.entries(words)) {
      await strip.filter({ hasText: id }).filter({ hasText: word }).first().waitFor()
    }
    // What is stopped on purpose needs no reason.
    expect(await page.getByText('configuration', { exact: true }).count()).toBe(0)
    expect(await seriousFindings(page)).toEqual([])
    await alert.getByRole('link').click()
    await page.waitForURL('**/admin/channels?open=broken')
    for (const [id, word] of Object.entries(words)) {
      await page.getByRole('row').filter({ hasText: id }).filter({ hasText: word }).waitFor()
    }
    await page.close()
  })
}
