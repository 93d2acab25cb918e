// Tests signing in, the first request and the palette in a real browser.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eventually } from '../support/clients.ts'
import { type ConsoleStage, hasBrowser, seriousFindings, startConsole } from '../support/console.ts'

let stage: ConsoleStage

afterAll(async () => stage?.close())

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
  })
  test('a page asks to sign in first, and a link that was used says so there', refusesLinks)
  test('who is signed in goes on, to pages of this console alone', goesOn)
  test('the first request turns the page green, and each mistake is named with its fix', listens)
  test.each([-86_400_000, 86_400_000])(
    'the first request is seen by a browser whose clock is %i ms off',
    listensByWrongClock,
  )
  test('the palette finds keys, requests and models, by keyboard alone', searches)
  test('in Chinese, dark and narrow it is the same page without a fault', narrow)
}

async function refusesLinks() {
  const context = await stage.visitor(null)
  const page = await stage.open('/keys?search=x', { context })
  await page.waitForURL(/\/console\/sign-in\?return-to=%2Fkeys%3Fsearch%3Dx$/)
  await page.getByText('tollgate admin link', { exact: true }).waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await page.getByText('中文', { exact: true }).click()
  await page.getByRole('heading', { name: '登录' }).waitFor()
  await page.getByText('English', { exact: true }).click()
  await page.getByText('Dark', { exact: true }).click()
  expect(await page.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark')
  await page.goto(`${stage.server.url}/api/auth/link?token=never-was`)
  await page.waitForURL(/\/console\/sign-in\?error=link_not_valid/)
  await page.getByRole('alert').getByText('This link is not valid').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await context.close()
}

async function goesOn() {
  const page = await stage.open('/sign-in?error=linked_elsewhere&return-to=%2Fkeys')
  await page.getByText('That identity belongs to another account').waitFor()
  await page.getByRole('link', { name: 'Go on as default' }).click()
  await page.waitForURL(/\/console\/keys$/)
  for (const elsewhere of ['//evil.example', 'https://evil.example', '/\\evil.example']) {
    await page.goto(
      `${stage.server.url}/console/sign-in?return-to=${encodeURIComponent(elsewhere)}`,
    )
    await page.waitForURL(`${stage.server.url}/console/`)
  }
  expect(new URL(page.url()).origin).toBe(stage.server.url)
  await page.close()
}

const chromeOnWindows =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36'

async function listens() {
  const page = await stage.open('/get-started?client=claude-code')
  const heard = page.getByText('Listening for your first request')
  await heard.waitFor()
  await page.getByLabel('Name').fill('phone')
  await page.getByRole('button', { name: 'Create key' }).click()
  const secret = (await page.locator('[data-secret]').textContent()) ?? ''
  const focused = page.locator(':focus')
  expect(await focused.textContent()).toContain('Key phone is made.')
  const setup = await page.getByRole('region', { name: 'Terminal' }).textContent()
  expect(setup).toContain(`export ANTHROPIC_BASE_URL=${stage.server.url}\n`)
  expect(setup).toContain(`export ANTHROPIC_AUTH_TOKEN=${secret}\n`)
  await page.getByText('Codex CLI', { exact: true }).click()
  await page.waitForURL(/client=codex/)
  const file = page.getByRole('region', { name: '~/.codex/config.toml' })
  expect(await file.textContent()).toContain(`base_url = "${stage.server.url}/v1"`)
  expect(page.url()).not.toContain(secret)
  const ask = (model: string, key = secret, userAgent = 'curl/8.14.1') =>
    fetch(`${stage.server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'user-agent': userAgent,
      },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
    })
  await ask('sandbx/chat', secret, chromeOnWindows)
  const doctor = page.getByRole('region', { name: 'Setup doctor' })
  const unknown = doctor.getByRole('listitem').filter({ hasText: 'group has no such model' })
  await unknown.getByText('sandbox/chat', { exact: true }).waitFor()
  await unknown.getByText('Chrome 141 on Windows', { exact: true }).waitFor()
  expect(await unknown.textContent()).not.toContain('Mozilla')
  await ask('sandbox/chat', `"${secret}"`)
  await doctor.getByText('The header has more than the key').waitFor()
  expect(await page.getByText('It works').count()).toBe(0)
  const fromClaudeCode = await ask('sandbox/chat', secret, 'claude-cli/2.0.14 (external, cli)')
  expect(fromClaudeCode.status).toBe(200)
  const arrived = page.locator('[data-arrived]')
  await arrived.getByText('It works').waitFor()
  await arrived.getByText(/\$0\.0000\d+/).waitFor()
  await arrived.getByText('Claude Code 2.0.14', { exact: true }).waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await arrived.getByRole('link', { name: 'See this request' }).click()
  await page.waitForURL(/\/console\/requests\?open=req_/)
  await page.close()
}

async function listensByWrongClock(offMs: number) {
  const ask = () =>
    stage.call({ model: 'sandbox/chat', messages: [{ role: 'user', content: 'Hi' }] })
  // A request from before the page was opened is not its first request.
  expect((await ask()).status).toBe(200)
  const page = await stage.open('/get-started')
  await page.clock.setSystemTime(Date.now() + offMs)
  await page.reload()
  await page.getByText('Listening for your first request').waitFor()
  const listed = page.waitForResponse(/\/api\/doctor\?/)
  await page.reload()
  await listed
  await page.getByText('Listening for your first request').waitFor()
  expect(await page.getByText('It works').count()).toBe(0)
  expect((await ask()).status).toBe(200)
  await page.locator('[data-arrived]').getByText('It works').waitFor()
  await page.close()
}

async function searches() {
  const page = await stage.open('/get-started')
  // As soon as it is there keys go into its field, with no moment in which they would go elsewhere. Observing begins
  // in a call of its own: a busy browser handles a key before a script that was sent first.
  await page.evaluate(() => {
    const focused = new Promise<string | null | undefined>((resolve) => {
      const look = () => {
        if (document.querySelector('dialog[open]') === null) return
        resolve(document.activeElement?.getAttribute('role'))
      }
      const options = { subtree: true, childList: true, attributes: true }
      new MutationObserver(look).observe(document.body, options)
    })
    Object.assign(window, { focused: () => focused })
  })
  await page.keyboard.press('Control+k')
  expect(await page.evaluate('focused()')).toBe('combobox')
  const field = page.getByRole('combobox', { name: 'Search or paste an id' })
  await field.fill('billing')
  await page.getByRole('option', { name: 'Billing' }).waitFor()
  // Enter that takes what an input method proposes goes nowhere.
  const options = { key: 'Enter', isComposing: true, bubbles: true, cancelable: true }
  await field.dispatchEvent('keydown', options)
  expect(await field.inputValue()).toBe('billing')
  await field.fill('phone')
  await page.getByRole('option', { name: /phone.*Key/ }).waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowUp')
  await field.fill('no such thing at all')
  await page.getByText('Nothing matches.').waitFor()
  const listed = await fetch(`${stage.server.url}/v1/models`, {
    headers: { authorization: `Bearer ${stage.key}` },
  })
  expect(listed.status).toBe(200)
  const reply = await stage.call({
    model: 'sandbox/chat',
    messages: [{ role: 'user', content: 'Hi' }],
  })
  const requestId = reply.headers.get('x-request-id') ?? ''
  const url = `${stage.server.url}/api/requests/${requestId}`
  await eventually(async () => (await page.request.get(url)).ok() || undefined)
  await field.fill(requestId)
  await page.getByRole('option', { name: /Request$/ }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(`${stage.server.url}/console/requests?open=${requestId}`)
  await page.close()
}

async function narrow() {
  const view = { language: 'zh-CN', theme: 'dark', width: 390 } as const
  const page = await stage.open('/get-started', view)
  await page.getByRole('heading', { name: '快速开始' }).waitFor()
  await page.getByText('正在等待您的第一个请求').waitFor()
  // Of what the gateway says in English only the reply is repeated, and called that.
  const messages = [{ role: 'user', content: 'Hi' }]
  const body = { model: 'sandbox/chat', temperature: 9, messages }
  expect((await stage.call(body)).status).toBe(400)
  const replied = page.getByText(/^回复内容：/).filter({ hasText: 'temperature must be' })
  expect(await replied.locator('[lang=en]').textContent()).toMatch(/^temperature must be/)
  await page.getByText('密钥前后有多余').waitFor()
  expect(await page.getByText(/Quotes, brackets|The group/).count()).toBe(0)
  expect(await seriousFindings(page)).toEqual([])
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  // The browser's log says that nobody was signed in at first, and that a link was refused.
  expect(stage.faults().filter((text) => !/status of 40[01]/.test(text))).toEqual([])
  await page.close()
}
