// Tests the playground in a real browser: answers with their exact cost, stopping, comparing, tools, files, error
// messages, drafts.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { type ConsoleStage, hasBrowser, seriousFindings, startConsole } from '../support/console.ts'

let stage: ConsoleStage

afterAll(async () => stage?.close())

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
  })
  test('an answer shows its tokens and the cost that the ledger took', answers)
  test('an answer is stopped: what came stays, with its cost', stops)
  test('two models are asked at once, and a third from where the first is', compares)
  test('at 1440 px four models stand side by side without scrolling', fitsFour)
  test('a tool is declared, called and answered; broken JSON says where it breaks', usesTools)
  test('a picture is sent along; what cannot be sent says why', attaches)
  test('messages are edited, answered again and deleted', edits)
  test('the request is shown as code', showsCode)
  test('pictures and speech are made, with their cost', makesMedia)
  test('a draft and a conversation survive a reload, files by name alone', keepsDraft)
  test('who signs out leaves no conversation in the browser', forgets)
  test('what was cleared is brought back', bringsBack)
  test('a kept request is opened, and one that was not kept says so', opensKept)
  test('a key that another page replaced is asked for again', renewsKey)
  test('what fails says why in words, and the empty wallet last', failsInWords)
  test('in Chinese, dark and narrow it is the same page without a fault', async () => {
    const look = { language: 'zh-CN', theme: 'dark', width: 390 } as const
    const page = await stage.open('/playground', look)
    await page.getByLabel('您的消息').waitFor()
    await page.setViewportSize({ width: 360, height: 780 })
    // A question can be sent without scrolling.
    const send = await page.getByRole('button', { name: '发送' }).boundingBox()
    expect((send?.y ?? 780) + (send?.height ?? 0)).toBeLessThanOrEqual(780)
    expect(await seriousFindings(page)).toEqual([])
    expect(unexpected()).toEqual([])
    await page.close()
  })
}

/** A browser logs every refused request, and some requests of these tests are refused. */
const unexpected = () => stage.faults().filter((fault) => !/status of (401|404|429) /.test(fault))

async function open(search = '') {
  const page = await stage.open(`/playground${search}`)
  await page.getByRole('log').first().waitFor()
  const clear = page.getByRole('button', { name: 'Clear', exact: true })
  if (await clear.isEnabled()) await clear.click()
  return page
}

async function bringsBack() {
  const page = await open('?model=sandbox/chat')
  await send(page, 'Not yet')
  await costs(page).first().waitFor()
  await page.getByRole('button', { name: 'Clear', exact: true }).click()
  await page.getByText('You said: Not yet').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Undo' }).last().click()
  await page.getByText('You said: Not yet').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await page.close()
}

async function send(page: Page, text: string) {
  await page.getByLabel('Your message').fill(text)
  await page.getByRole('button', { name: 'Send', exact: true }).click()
}

const costs = (page: Page) => page.locator('[data-cost-nano]')

async function costOf(page: Page, place = 0): Promise<bigint> {
  return BigInt((await costs(page).nth(place).getAttribute('data-cost-nano')) ?? '-1')
}

/** A request to the control API with the page's own session. */
function api(page: Page, method: string, path: string, body?: object) {
  return page.evaluate(
    async ({ method, path, body }) => {
      const headers = { 'content-type': 'application/json' }
      const text = body === undefined ? null : JSON.stringify(body)
      const reply = await fetch(path, { method, headers, body: text })
      return reply.status === 204 ? null : reply.json()
    },
    { method, path, body },
  )
}

const postedNano = async (page: Page) => BigInt((await api(page, 'GET', '/api/balance')).postedNano)

async function answers() {
  const page = await open()
  const before = await postedNano(page)
  await send(page, 'What is **a ledger**?')
  const log = page.getByRole('log')
  await log.getByText('You said: What is').waitFor()
  expect(await log.locator('strong').textContent()).toBe('a ledger')
  await log.getByText(/\d+ in, \d+ out/).waitFor()
  const cost = await costOf(page)
  expect(cost > 0n).toBe(true)
  expect(before - (await postedNano(page))).toBe(cost)
  expect(await seriousFindings(page)).toEqual([])
  await costs(page).click()
  await page.getByRole('complementary').getByText('Recomputed in this browser').waitFor()
  const { items } = await api(page, 'GET', '/api/keys?playground=only')
  expect(items).toMatchObject([{ name: 'Playground', month: { chargeNano: String(cost) } }])
  // The key is only in memory.
  expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('sk-tg-')
  expect(unexpected()).toEqual([])
  await page.close()
}

async function stops() {
  const page = await open('?model=sandbox/chat%2Bgap=40%2Btokens=400')
  await send(page, 'Count')
  await page.getByRole('log').getByText('This is').waitFor()
  await page.getByRole('button', { name: 'Stop', exact: true }).click()
  await page.getByText('stopped', { exact: true }).waitFor()
  await costs(page).first().waitFor()
  expect(await costOf(page)).toBeGreaterThan(0n)
  expect(await page.getByRole('log').textContent()).toContain('This is')
  await page.getByRole('button', { name: 'Send', exact: true }).waitFor()
  await page.close()
}

async function compares() {
  const page = await open('?model=sandbox/chat,sandbox/reasoning')
  await send(page, 'Hello')
  await costs(page).nth(1).waitFor()
  const one = page.getByRole('log', { name: 'Conversation with sandbox/reasoning' })
  await one.getByText('Reasoning', { exact: true }).click()
  expect(await page.getByText('You said: Hello').count()).toBe(2)
  await page.getByRole('button', { name: 'Compare' }).click()
  await page.getByRole('button', { name: 'Answer', exact: true }).click()
  await costs(page).nth(2).waitFor()
  expect(new URL(page.url()).searchParams.get('model')?.split(',')).toHaveLength(3)
  await page.getByRole('button', { name: 'Remove sandbox/reasoning' }).click()
  await page.waitForFunction(() => document.querySelectorAll('[role=log]').length === 2)
  expect(await page.getByText('You said: Hello').count()).toBe(2)
  await page.close()
}

const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
}

async function fitsFour() {
  const page = await open('?model=sandbox/chat,sandbox/reasoning,sandbox/chat,sandbox/reasoning')
  const last = page.getByRole('log').nth(3)
  const { x = 0, width = 0 } = (await last.boundingBox()) ?? {}
  expect(x + width).toBeGreaterThan(0)
  expect(x + width).toBeLessThanOrEqual(1440)
  // Whoever wants the parameters beside them has them, with one column fewer as well.
  const prompt = page.getByLabel('System prompt')
  expect(await prompt.count()).toBe(0)
  await page.getByRole('button', { name: 'Parameters', exact: true }).click()
  await prompt.waitFor()
  await page
    .getByRole('button', { name: /^Remove / })
    .last()
    .click()
  await expect(page.getByRole('log').count()).resolves.toBe(3)
  expect(await prompt.isVisible()).toBe(true)
  await page.close()
}

async function usesTools() {
  const page = await open('?model=sandbox/chat')
  await page.getByLabel('Tools').fill('[\n  {"type": }\n]')
  await page.getByText('This is not JSON: the error is in line 2, column 12.').waitFor()
  await send(page, 'use get_weather for Paris')
  expect(await costs(page).count()).toBe(0)
  await page.getByLabel('Tools').fill(JSON.stringify([weather]))
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByLabel('What get_weather gives back').fill('12 degrees')
  await page.getByRole('button', { name: 'Send the results' }).click()
  await costs(page).nth(1).waitFor()
  expect(await page.getByRole('log').textContent()).toContain('12 degrees')
  expect(await page.getByLabel('What get_weather gives back').count()).toBe(0)
  await page.getByLabel('Tools').fill('')
  await page.close()
}

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

async function attaches() {
  const page = await open('?model=sandbox/chat')
  const files = page.getByLabel('Files to attach')
  const buffer = Buffer.from(png, 'base64')
  await files.setInputFiles({ name: 'a.exe', mimeType: 'application/x-msdownload', buffer })
  await page.getByText('a.exe is of a kind that cannot be sent').waitFor()
  await page.evaluate(() => {
    const dataTransfer = new DataTransfer()
    dataTransfer.items.add(new File([new Uint8Array(21 * 1024 * 1024)], 'large.txt'))
    const drop = new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true })
    document.querySelector('form[aria-label=Message]')?.dispatchEvent(drop)
  })
  await page.getByText('may have 20 MiB together').waitFor()
  await files.setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer })
  await page.getByAltText('dot.png').waitFor()
  const [request] = await Promise.all([
    page.waitForRequest('**/v1/chat/completions'),
    send(page, 'What is this?'),
  ])
  expect(request.postDataJSON().messages[0].content).toEqual([
    { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
    { type: 'text', text: 'What is this?' },
  ])
  await costs(page).first().waitFor()
  await page.close()
}

async function edits() {
  const page = await open('?model=sandbox/chat')
  await send(page, 'One')
  await costs(page).first().waitFor()
  const log = page.getByRole('log')
  await log.getByRole('button', { name: 'Edit' }).first().click()
  await log.getByLabel('Text of the message').fill('Two')
  await log.getByRole('button', { name: 'Save and answer again' }).click()
  await log.getByText('You said: Two').waitFor()
  expect(await log.getByText('You said: One').count()).toBe(0)
  await costs(page).first().waitFor()
  await log.getByRole('button', { name: 'Answer again' }).click()
  await costs(page).first().waitFor()
  await log.getByRole('button', { name: 'Delete' }).last().click()
  await log.getByRole('button', { name: 'Answer', exact: true }).waitFor()
  await page.close()
}

async function showsCode() {
  const page = await open('?model=sandbox/chat')
  await page.getByLabel('Temperature').fill('7')
  await page.getByText('A number from 0 to 2.').waitFor()
  await page.getByLabel('Temperature').fill('0.5')
  await page.getByLabel('Your message').fill("It's code")
  await page.getByRole('button', { name: 'View code' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('"temperature": 0.5').waitFor()
  await dialog.getByText('Python', { exact: true }).click()
  await dialog.getByText('temperature=0.5,').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await page.keyboard.press('Escape')
  await page.getByLabel('Temperature').fill('')
  await page.close()
}

async function makesMedia() {
  const page = await stage.open('/playground?model=sandbox/image')
  await page.getByLabel('What the picture shows').fill('A red cat')
  await page.getByRole('button', { name: 'Make a picture' }).click()
  await page.getByAltText('A red cat').waitFor()
  await costs(page).first().waitFor()
  expect(await costOf(page)).toBeGreaterThan(0n)
  await page.getByRole('button', { name: 'Model: sandbox/image' }).click()
  await page.getByRole('button', { name: /^sandbox\/speech/ }).click()
  await page.getByLabel('What is spoken').fill('Good morning')
  await page.getByRole('button', { name: 'Speak' }).click()
  await page.getByLabel('Speech: Good morning').waitFor()
  await costs(page).first().waitFor()
  expect(await seriousFindings(page)).toEqual([])
  expect(unexpected()).toEqual([])
  await page.close()
}

async function keepsDraft() {
  const page = await open('?model=sandbox/chat')
  const buffer = Buffer.from(png, 'base64')
  await page.getByLabel('Files to attach').setInputFiles({
    name: 'dot.png',
    mimeType: 'image/png',
    buffer,
  })
  await page.getByAltText('dot.png').waitFor()
  await send(page, 'Remember me')
  await costs(page).first().waitFor()
  await page.getByLabel('System prompt').fill('Be brief.')
  await page.getByLabel('Your message').fill('Half a thought')
  await page.reload()
  await page.getByText('You said: Remember me').waitFor()
  expect(await page.getByLabel('Your message').inputValue()).toBe('Half a thought')
  expect(await page.getByLabel('System prompt').inputValue()).toBe('Be brief.')
  await page.getByText('not kept').waitFor()
  expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain(png)
  await costs(page).first().waitFor()
  await page.getByLabel('System prompt').fill('')
  await page.close()
}

async function forgets() {
  const context = await stage.visitor('admin')
  const page = await stage.open('/playground?model=sandbox/chat', { context })
  await send(page, 'Between us')
  await costs(page).first().waitFor()
  const stored = () => page.evaluate(() => JSON.stringify(localStorage))
  await page.reload()
  await page.getByText('You said: Between us').waitFor()
  expect(await stored()).toContain('Between us')
  const other = await stage.open('/playground?model=sandbox/chat', { context })
  await other.getByText('You said: Between us').waitFor()
  await page.getByRole('button', { name: /^Account menu/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.waitForURL(/\/console\/sign-in/)
  expect(await stored()).not.toContain('Between us')
  // A tab that is left open stores nothing again.
  await other.reload()
  expect(await stored()).not.toContain('Between us')
  await context.close()
}

async function opensKept() {
  const page = await open('?model=sandbox/chat')
  const ask = () =>
    stage.call({ model: 'sandbox/reasoning', messages: [{ role: 'user', content: 'Kept?' }] })
  const unkept = (await ask()).headers.get('x-request-id')
  await page.goto(`${stage.server.url}/console/playground?from=${unkept}`)
  await page.getByText('No messages of this request were kept.').waitFor()
  await api(page, 'PUT', '/api/me/history', { mode: 'full' })
  // A changed choice takes effect within a second.
  let id: string | null = null
  while (id === null) {
    const asked = (await ask()).headers.get('x-request-id')
    const { items } = await api(page, 'GET', `/api/history?id=${asked}`)
    if (items.length > 0) id = asked
  }
  await page.goto(`${stage.server.url}/console/requests?open=${id}&tab=messages`)
  const link = page.getByRole('link', { name: 'Open in the playground' })
  await link.click()
  await page.getByRole('log', { name: 'Conversation with sandbox/reasoning' }).waitFor()
  await send(page, 'And then?')
  await page.getByText('You said: And then?').waitFor()
  await page.goBack()
  await link.click()
  const dialog = page.getByRole('dialog', { name: 'Replace what is in the playground?' })
  await dialog.waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await page.keyboard.press('Escape')
  await page.getByText('You said: And then?').waitFor()
  await page.goBack()
  await link.click()
  await dialog.getByRole('button', { name: 'Replace' }).click()
  await page.getByText('You said: And then?').waitFor({ state: 'detached' })
  await page.getByText('You said: Kept?').waitFor()
  expect(new URL(page.url()).searchParams.get('from')).toBeNull()
  await api(page, 'PUT', '/api/me/history', { mode: 'off' })
  await page.close()
}

async function renewsKey() {
  const page = await open('?model=sandbox/chat')
  await send(page, 'First')
  await costs(page).first().waitFor()
  for (const _ of [1, 2]) await api(page, 'POST', '/api/playground/key', {})
  await send(page, 'Second')
  await page.getByText('You said: Second').waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
  await page.close()
}

async function failsInWords() {
  const page = await open('?model=no-such-model')
  await send(page, 'Hello')
  await page.getByRole('alert').getByText('This group has no such model.').waitFor()
  await page.goto(`${stage.server.url}/console/playground?model=sandbox/chat%2Bfault=cut%2Bafter=3`)
  await page.getByRole('button', { name: 'Clear', exact: true }).click()
  await send(page, 'Hello')
  const alert = page.getByRole('alert')
  await alert.waitFor()
  expect(await page.getByRole('log').textContent()).toContain('This is')
  expect(await alert.getByRole('button', { name: 'Try again' }).count()).toBe(1)
  await costs(page).first().waitFor()
  expect(await seriousFindings(page)).toEqual([])
  const { availableNano } = await api(page, 'GET', '/api/balance')
  const whole = BigInt(availableNano)
  const amount = `${whole / 1_000_000_000n}.${String(whole % 1_000_000_000n).padStart(9, '0')}`
  const taken = { amount, direction: 'debit', reason: 'to see an empty wallet' }
  await api(page, 'POST', '/api/accounts/default/adjustments', taken)
  await page.getByRole('button', { name: 'Clear', exact: true }).click()
  await send(page, 'Hello')
  await alert.getByText('There is not enough money for this request.').waitFor()
  expect(await alert.textContent()).toContain('insufficient_quota')
  expect(unexpected()).toEqual([])
  await page.close()
}
