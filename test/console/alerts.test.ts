// Tests alerts in a real browser: rules are saved or refused at their field, and notices are read.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConsoleStage, hasBrowser, seriousFindings, startConsole } from '../support/console.ts'
import { type SmtpServer, startSmtpServer } from '../support/smtp-server.ts'

let stage: ConsoleStage
const folder = mkdtempSync(join(tmpdir(), 'tollgate-alerts-'))
let mailServer: SmtpServer | null = null
let refuses = false
const receiver = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: () => new Response(refuses ? 'no such channel' : 'taken', { status: refuses ? 404 : 200 }),
})

afterAll(async () => {
  await stage?.close()
  await receiver.stop(true)
  await mailServer?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

if (hasBrowser) {
  beforeAll(async () => {
    mailServer = await startSmtpServer()
    const { port } = mailServer
    const smtp = { host: '127.0.0.1', port, tls: 'none', from: 'no-reply@gateway.example' }
    const config = join(folder, 'tollgate.json')
    const webhook = {
      id: 'ops',
      url: `http://127.0.0.1:${receiver.port}/hook`,
      secret: 'of operators alone',
    }
    writeFileSync(config, JSON.stringify({ smtp, webhooks: [webhook] }))
    stage = await startConsole({ words: ['--config', config] })
  })
  test('an address is mailed a code, which is entered here', async () => {
    const page = await stage.open('/settings?tab=alerts')
    await page.getByLabel('Also mail to').fill('ann@example.com')
    await page.getByRole('button', { name: 'Save' }).click()
    const code = page.getByLabel('Code that was mailed to ann@example.com')
    await code.fill('nothing')
    await page.getByRole('button', { name: 'Confirm' }).click()
    await page.getByText('It is not the code that was mailed last', { exact: false }).waitFor()
    await page.getByRole('button', { name: 'Mail another code' }).click()
    await page.getByText('Another code was mailed.').waitFor()
    expect(await seriousFindings(page)).toEqual([])
    const mails = mailServer?.taken ?? []
    expect(mails.map(({ to }) => to)).toEqual([['ann@example.com'], ['ann@example.com']])
    await code.fill(/^[0-9A-Z]{5}-[0-9A-Z]{5}$/m.exec(mails[1]?.data ?? '')?.[0] ?? '')
    await page.getByRole('button', { name: 'Confirm' }).click()
    await page.getByText('Confirmed.').waitFor()
    expect(await code.count()).toBe(0)
    await page.getByLabel('Also mail to').fill('')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Confirmed.').waitFor({ state: 'detached' })
    await page.close()
  })
  test('a webhook of operators is sent a test, and what it answered is said', async () => {
    for (const view of [
      { width: 1440, theme: 'light', language: 'en' },
      { width: 390, theme: 'dark', language: 'zh-CN' },
    ] as const) {
      refuses = false
      const page = await stage.open('/admin/settings', view)
      const isEnglish = view.language === 'en'
      await page.getByText(`http://127.0.0.1:${receiver.port}/***`).waitFor()
      const send = page.getByRole('button', {
        name: isEnglish ? 'Send a test to ops' : '向 ops 发送测试',
      })
      await send.click()
      await page.getByText(isEnglish ? 'It was accepted.' : '已接收。').waitFor()
      refuses = true
      await send.press('Enter')
      await page.getByText('answered 404: no such channel', { exact: false }).waitFor()
      expect(await seriousFindings(page)).toEqual([])
      const wide = await page.evaluate(() => document.documentElement.scrollWidth)
      expect(wide).toBeLessThanOrEqual(view.width)
      await page.close()
    }
  })
  test('the header calls a balance low that is below what to be warned of', async () => {
    const page = await stage.open('/settings?tab=alerts')
    const chip = page.getByRole('banner').getByRole('link', { name: 'Balance' })
    const below = page.getByLabel('When less is left than')
    await below.fill('100000')
    await page.getByRole('button', { name: 'Save' }).click()
    await chip.getByText('low', { exact: true }).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await below.fill('')
    await page.getByRole('button', { name: 'Save' }).click()
    await chip.getByText('low', { exact: true }).waitFor({ state: 'detached' })
    await page.close()
  })
  test('what to be warned of is saved; what is wrong is said at its field and stays', async () => {
    const page = await stage.open('/settings?tab=alerts')
    await page.getByLabel('When less is left than').fill('12.5')
    await page.getByLabel('When a key has spent this part of its limit').fill('101')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Write a whole number from 1 to 100.').waitFor()
    await page.getByLabel('When a key has spent this part of its limit').fill('80')
    // Not by the browser, whose message is in a language of its own and names one field alone.
    await page.getByLabel('Also post to').fill('example')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('expected an https address', { exact: false }).waitFor()
    await page.getByLabel('Also post to').fill('https://example.com/hook')
    await page.getByLabel('Also post to').fill('http://example.com/hook')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('expected an https address', { exact: false }).waitFor()
    expect(await page.getByLabel('When less is left than').inputValue()).toBe('12.5')
    await page.getByLabel('Also post to').fill('https://example.com/hook')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('This is the only time it is shown.', { exact: false }).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await page.getByRole('button', { name: 'I saved it' }).click()
    await page.getByLabel('Make a new secret for it').waitFor()
    expect(await page.getByLabel('When less is left than').inputValue()).toBe('12.5')
    await page.close()
  })
  test('what was told is counted in the header, listed in words, and marked as read', async () => {
    const page = await stage.open('/settings?tab=alerts')
    await page.getByLabel('Also post to').fill('')
    // More than the account has.
    await page.getByLabel('When less is left than').fill('1000000')
    await page.getByRole('button', { name: 'Save' }).click()
    const bell = page.getByRole('link', { name: 'Warnings, 1 unread' })
    await bell.waitFor({ timeout: 150_000 })
    await bell.click()
    await page.reload()
    await page.getByText('is left, less than $1,000,000.00.', { exact: false }).waitFor()
    await page.getByRole('button', { name: 'Mark all as read' }).click()
    await page.getByRole('link', { name: 'Warnings, none unread' }).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    expect(stage.faults().filter((text) => !text.includes('400'))).toEqual([])
    await page.close()
  }, 180_000)
}
