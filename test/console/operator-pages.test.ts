// Tests the operator's pages in a real browser: operations, users, audit log, reconcile.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type ConsoleStage, hasBrowser, seriousFindings, startConsole } from '../support/console.ts'

let stage: ConsoleStage

/** The browser writes into its log that a wrong value was refused, and that a model has no prices. */
const isExpected = (fault: string) => / 400 | 409 |404 .*unpriced/.test(fault)

afterAll(async () => stage?.close())

if (hasBrowser) {
  beforeAll(async () => {
    stage = await startConsole()
    const messages = [{ role: 'user', content: 'Hello' }]
    expect((await stage.call({ model: 'sandbox/chat', messages })).status).toBe(200)
    expect((await stage.call({ model: 'no-such-model', messages })).status).toBe(404)
  })
  test('operations show channels, money and the errors of the hour, which lead to their requests', async () => {
    const page = await stage.open('/admin')
    await page.getByText('The gateway knows of no problem.').waitFor()
    await page.getByText('sandbox', { exact: true }).first().waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await page.getByRole('link', { name: 'model_not_found' }).click()
    await page.getByRole('row').filter({ hasText: 'no-such-model' }).waitFor()
    await page.close()
  })
  test('what is wrong is named, with what it is about, in both languages', namesAlerts)
  test.each(['en', 'zh-CN'] as const)('how much is wrong, and why, is told in %s', tellsDetails)
  test('many alerts of one kind are folded', foldsAlerts)
  test('a user is found, suspended and taken back, which the audit log tells', suspends)
  test('a role changes once that is confirmed, and one’s own with a warning', changesRole)
  test.each([
    ['/admin/channels', 'Search channels', 'Channels'],
    ['/admin/users', 'Search users', 'Users'],
    ['/keys', 'Search by name or last characters', 'API keys'],
  ])(
    'the search of %s keeps its caret, and is emptied with the address',
    async (path, label, link) => {
      const page = await stage.open(path)
      const field = page.getByRole('searchbox', { name: label })
      await field.click()
      await page.keyboard.type('default')
      await page.keyboard.press('Home')
      await page.keyboard.type(' not ')
      await page.waitForURL(/search=not\+default$/)
      expect(await field.inputValue()).toBe(' not default')
      await page.getByRole('navigation').getByRole('link', { name: link, exact: true }).click()
      await page.waitForURL((url) => url.search === '')
      await page.waitForFunction(
        () => document.querySelector<HTMLInputElement>('main input[type="search"]')?.value === '',
      )
      await page.close()
    },
  )
  test('reconciling says that requests, ledger and totals agree', async () => {
    const page = await stage.open('/admin/reconcile?range=24h')
    await page.getByRole('button', { name: 'Reconcile this period' }).click()
    await page.getByText('All three agree, to the last digit.').waitFor()
    expect(await page.getByRole('row').filter({ hasText: 'Equal' }).count()).toBeGreaterThan(0)
    expect(await seriousFindings(page)).toEqual([])
    await page.close()
  })
  test('a day whose sums differ is no agreement, and another period starts anew', tellsDays)
  test.each(['en', 'zh-CN'] as const)('requests that differ are named in %s, all counted', findsAll)
  test('the audit log is had as a file of lines of JSON', exportsLog)
  test('a setting is changed, a wrong value is named, and the default comes back', changesSetting)
  test.each([
    ['/admin/settings', 'Remove notice 1', 'Add a notice', 1],
    ['/admin/prices?open=sandbox/chat', 'Remove Input', 'Another price', 0],
    ['/admin/channels?dialog=new', 'Remove the key key', 'Add a key', 0],
  ])('on %s the focus is where a row is added after one is removed', async (...row) => {
    const [path, remove, add, added] = row
    const page = await stage.open(path)
    const adding = page.getByRole('button', { name: add, exact: true })
    for (let count = 0; count < added; count += 1) await adding.click()
    const removing = page.getByRole('button', { name: remove, exact: true })
    await removing.press('Enter')
    await removing.waitFor({ state: 'detached' })
    expect(await adding.evaluate((each) => each === document.activeElement)).toBe(true)
    await page.close()
  })
  test.each([
    ['/admin/prices', 'sandbox/chat', 'Price of Input'],
    ['/admin/settings', null, 'usage.keepDays'],
  ])('what is typed on %s is not left without a question', keepsTyped)
  test('notices are written in a form, refused in words, shown and taken away', writesNotices)
  test.each(['/admin', '/admin/users', '/admin/audit', '/admin/reconcile', '/admin/settings'])(
    '%s in Chinese, dark and narrow has no fault',
    async (path) => {
      const page = await stage.open(path, { language: 'zh-CN', theme: 'dark', width: 390 })
      expect(await seriousFindings(page)).toEqual([])
      expect(stage.faults().filter((text) => !isExpected(text))).toEqual([])
      await page.close()
    },
  )
}

const sums = (requests: number, nano: number, writeoff = 0) => ({
  requests,
  chargeNano: String(nano),
  writeoffNano: String(writeoff),
})

/** A period's answer in one part: what is given replaces what is in order. */
const part = (given: object) => ({
  currency: 'USD',
  since: '2027-01-31T00:00:00.000Z',
  until: '2027-02-01T00:00:00.000Z',
  ok: true,
  items: [],
  differences: [],
  moreDifferences: 0,
  next: null,
  ...given,
})

const day = { day: '2027-01-31', account: 'ann', state: 'equal' }
/** Of a day that is split: its totals have a request less in the second part. */
const halves = [
  part({
    items: [{ ...day, rows: sums(2, 30), entries: sums(2, 30), totals: sums(2, 30) }],
    next: 'more',
  }),
  part({
    ok: false,
    items: [
      {
        ...day,
        state: 'different',
        rows: sums(3, 12, 5),
        entries: sums(3, 12, 5),
        totals: sums(2, 8, 5),
      },
    ],
  }),
]

async function tellsDays() {
  const page = await stage.open('/admin/reconcile')
  await page.route('**/api/reconcile', (route) =>
    route.fulfill({ json: halves[route.request().postDataJSON().cursor === 'more' ? 1 : 0] }),
  )
  await page.getByRole('button', { name: 'Reconcile this period' }).click()
  await page.getByText('They differ: see the days below.').waitFor()
  expect(await page.getByText('All three agree').count()).toBe(0)
  const rows = page.getByRole('row').filter({ hasText: '2027-01-31' })
  expect(await rows.getByRole('cell').allTextContents()).toEqual([
    expect.stringContaining('Different'),
    '2027-01-31',
    'ann',
    '5, in the totals 4',
    '$0.000000042, written off $0.000000005',
    '$0.000000042, written off $0.000000005',
    '$0.000000038, written off $0.000000005',
  ])
  await page.getByRole('button', { name: 'Last 7 days' }).click()
  await page.getByRole('button', { name: 'Last 30 days' }).click()
  await page.getByText('Nothing was added up yet.').waitFor()
  expect(await page.getByText('They differ').count()).toBe(0)
  await page.close()
}

const findings = {
  en: {
    button: 'Reconcile this period',
    words: [
      'They differ: 1,203 findings below.',
      'The ledger has another amount',
      'Its prices give another amount',
      'The ledger charged a request that is not recorded',
      '1,200 more are not listed: choose a shorter period to see them.',
    ],
  },
  'zh-CN': {
    button: '对此时间段对账',
    words: [
      '不一致：共 1,203 处，见下。',
      '流水中的金额不同',
      '按价格算出的金额不同',
      '流水中的扣费没有对应的请求记录',
      '另有 1,200 处未列出：请选择更短的时间段查看。',
    ],
  },
} as const

async function findsAll(language: keyof typeof findings) {
  const requestId = 'req_01a210828fe40001056746008f23'
  const differences = (['entry', 'price', 'row'] as const).map((kind) => ({
    requestId,
    account: 'ann',
    at: '2027-01-31T12:00:00.000Z',
    kind,
    message: `${kind} of 80 nano`,
  }))
  const page = await stage.open('/admin/reconcile', { language })
  await page.route('**/api/reconcile', (route) =>
    route.fulfill({ json: part({ ok: false, differences, moreDifferences: 1_200 }) }),
  )
  const { button, words } = findings[language]
  await page.getByRole('button', { name: button }).click()
  for (const text of words) await page.getByText(text).waitFor()
  const links = page.getByRole('link', { name: '10828fe4' })
  expect(await links.count()).toBe(2)
  expect(await links.first().getAttribute('href')).toContain(`open=${requestId}`)
  expect(await seriousFindings(page)).toEqual([])
  await page.close()
}

async function keepsTyped(path: string, opened: string | null, label: string) {
  const page = await stage.open('/admin/users')
  const pages = page.getByRole('navigation', { name: 'Pages' })
  await pages.locator(`a[href$="${path}"]`).click()
  if (opened !== null) {
    await page.getByRole('searchbox', { name: 'Search models' }).fill(opened)
    await page.getByRole('cell', { name: opened, exact: true }).click()
  }
  const field = page.getByLabel(label)
  await field.fill('9')
  // From then on the page asks, also whoever closes the window.
  await page.waitForFunction(
    () => !globalThis.dispatchEvent(new Event('beforeunload', { cancelable: true })),
  )
  const question = page.getByRole('dialog', { name: 'Discard what you typed?' })
  for (const leave of [
    () => page.goBack(),
    () => pages.getByRole('link', { name: 'Users' }).click(),
  ]) {
    await leave()
    await question.getByRole('button', { name: 'Cancel' }).click()
    await question.waitFor({ state: 'detached' })
    expect(await field.inputValue()).toBe('9')
  }
  await pages.getByRole('link', { name: 'Users' }).click()
  await question.getByRole('button', { name: 'Discard' }).click()
  await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor()
  await page.close()
}

async function namesAlerts() {
  const body = { model: 'sandbox/unpriced', messages: [{ role: 'user', content: 'Hello' }] }
  expect((await stage.call(body)).status).toBe(503)
  for (const [language, name, refused] of [
    ['en', 'A model has no price', 'One request was refused in the last hour.'],
    ['zh-CN', '模型没有价格', '最近一小时有 1 个请求被拒绝。'],
  ] as const) {
    const page = await stage.open('/admin', { language })
    const alert = page.getByRole('listitem').filter({ hasText: name })
    await alert.getByText(refused).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await alert.getByRole('link', { name: 'sandbox/unpriced' }).click()
    await page.waitForURL('**/console/admin/prices?open=sandbox*')
    // Including the message about a model without prices.
    await page
      .getByRole('complementary')
      .getByText(/sandbox\/unpriced .+/)
      .waitFor()
    await page.close()
  }
}

async function foldsAlerts() {
  const page = await stage.open('/admin', { width: 390 })
  await page.route('**/api/operations?*', async (route) => {
    const response = await route.fetch()
    const known = await response.json()
    const channels = Array.from({ length: 40 }, (_, place) => ({
      ...known.channels[0],
      id: `channel-${place}`,
      // The last ones are well.
      state: place < 30 ? 'degraded' : 'ok',
      reason: place < 30 ? 'rate_limited' : null,
    })).toReversed()
    await route.fulfill({ response, json: { ...known, alerts: [], channels } })
  })
  await page.reload()
  const folded = page.getByRole('listitem').filter({ hasText: 'A channel is degraded' }).first()
  await folded.getByText('× 30').waitFor()
  expect((await folded.boundingBox())?.height).toBeLessThan(100)
  await folded.getByText('× 30').click()
  await folded.getByRole('link', { name: 'channel-29' }).waitFor()
  const list = page.getByRole('list', { name: 'Channels' })
  expect((await list.boundingBox())?.height).toBeLessThan(400)
  expect(await list.getByRole('listitem').first().innerText()).toContain('channel-29')
  expect(await list.getByRole('listitem').last().innerText()).toContain('channel-30')
  expect(await seriousFindings(page)).toEqual([])
  await page.close()
}

/** The texts as the server sends them, and what the page shows in their place. */
const details = [
  {
    alert: { code: 'settlement_late', count: 12, cause: null },
    en: 'A request that ended 12 s ago is not settled yet.',
    'zh-CN': '12 秒前结束的请求尚未结算。',
  },
  {
    alert: { code: 'set_aside', count: 1, cause: null },
    en: 'One settlement that the ledger refused.',
    'zh-CN': '共 1 笔结算，账本无法接收。',
  },
  {
    alert: { code: 'records_missing', count: 3, cause: null },
    en: '3 requests; tollgate audit names them.',
    'zh-CN': '共 3 个请求，可用 tollgate audit 列出。',
  },
  {
    alert: { code: 'reconcile_difference', subject: 'alipay 2027-01-01', count: 2, cause: null },
    en: 'In 2 places.',
    'zh-CN': '有 2 处差异。',
  },
  {
    alert: { code: 'channel_disabled', subject: 'a', count: null, cause: null },
    en: 'its vendor refuses the key',
    'zh-CN': '供应商拒绝了密钥',
  },
  {
    alert: { code: 'channel_open', subject: 'b', count: null, cause: 'rate_limited' },
    en: 'its vendor limits its rate',
    'zh-CN': '供应商正在限速',
  },
  {
    alert: { code: 'ledger_closed', count: null, cause: 'the gateway is shutting down' },
    en: 'the gateway is shutting down',
    'zh-CN': '网关正在关闭',
  },
  // Other texts are shown as they were written.
  {
    alert: { code: 'archive_failing', count: null, cause: 'no space is left' },
    en: 'no space is left',
    'zh-CN': 'no space is left',
  },
] as const

async function tellsDetails(language: 'en' | 'zh-CN') {
  const page = await stage.open('/admin', { language })
  const about = { severity: 'critical', subject: null, message: 'in English', since: null }
  await page.route('**/api/operations?*', async (route) => {
    const response = await route.fetch()
    const alerts = details.map(({ alert }) => ({ ...about, ...alert }))
    await route.fulfill({ response, json: { ...(await response.json()), alerts } })
  })
  await page.reload()
  for (const each of details) await page.getByText(each[language], { exact: true }).waitFor()
  expect(await page.getByText('in English').count()).toBe(0)
  expect(await seriousFindings(page)).toEqual([])
  await page.close()
}

async function suspends() {
  const { dataDir } = stage.server
  const made = Bun.spawn(
    ['bin/tollgate', ...'account credit ann 5 --create --reason test --data'.split(' '), dataDir],
    { stdout: 'ignore' },
  )
  expect(await made.exited).toBe(0)
  const page = await stage.open('/admin/users')
  await page.getByLabel('Search users').fill('ann')
  await page.getByRole('row').filter({ hasText: 'ann' }).click()
  const drawer = page.getByRole('complementary')
  await drawer.getByRole('button', { name: 'Suspend' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click()
  await drawer.getByText('Suspended').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await drawer.getByRole('button', { name: 'End the suspension' }).click()
  await drawer.getByText('Active').waitFor()
  await page.goto(`${stage.server.url}/console/admin/audit`)
  await page.getByRole('row').filter({ hasText: 'Suspend a user' }).first().click()
  await page.getByRole('columnheader', { name: 'Before' }).waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await page.close()
}

async function changesRole() {
  const page = await stage.open('/admin/users?open=ann')
  const role = page.getByRole('complementary').getByLabel('Role')
  await role.focus()
  await page.keyboard.press('ArrowDown')
  expect(await role.inputValue()).toBe('auditor')
  const change = page.getByRole('complementary').getByRole('button', { name: 'Change the role' })
  await change.click()
  const dialog = page.getByRole('dialog', { name: 'Change the role of ann?' })
  await dialog.getByText('Auditors read everything and change nothing.').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  expect(await role.inputValue()).toBe('user')
  await role.selectOption('auditor')
  await change.click()
  await dialog.getByRole('button', { name: 'Change the role' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('row').filter({ hasText: 'ann' }).getByText('auditor').waitFor()
  expect(await role.inputValue()).toBe('auditor')
  await page.goto(`${stage.server.url}/console/admin/users?open=default`)
  await role.selectOption('user')
  await change.click()
  const own = page.getByRole('dialog', { name: 'Change the role of default?' })
  await own.getByText('This is your own account.').waitFor()
  await own.getByRole('button', { name: 'Change the role' }).click()
  await own.getByText('It is the last administrator').waitFor()
  await page.close()
}

async function changesSetting() {
  const page = await stage.open('/admin/settings')
  const form = page.locator('form').filter({ hasText: 'usage.keepDays' })
  await form.getByRole('textbox').fill('zero')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByRole('alert').waitFor()
  await form.getByRole('textbox').fill('400')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByRole('button', { name: 'Back to the default: For ever' }).click()
  await page.getByText('Saved.').last().waitFor()
  expect(await seriousFindings(page)).toEqual([])
  const groups = page.getByRole('combobox', { name: 'identity.defaultGroup' }).locator('option')
  expect(await groups.allTextContents()).toEqual(['default'])
  await page.close()
}

async function writesNotices() {
  const page = await stage.open('/admin/settings')
  const form = page.locator('form').filter({ hasText: 'Add a notice' })
  const save = form.getByRole('button', { name: 'Save' })
  await form.getByRole('button', { name: 'Add a notice' }).click()
  const notice = form.getByRole('group', { name: 'Notice 1' })
  await save.click()
  await form.getByText('Each notice needs a text.').waitFor()
  await notice.getByRole('combobox', { name: 'Severity' }).selectOption('Warning')
  await notice.getByRole('textbox', { name: 'Text in English' }).fill('Slow on Sunday.')
  await notice.getByRole('textbox', { name: 'Text in Chinese' }).fill('周日较慢。')
  await notice.getByLabel('Shown from').fill('2027-01-30T08:00')
  await notice.getByLabel('Shown until').fill('2027-01-30T07:00')
  await save.click()
  await form.getByText('expected a time after from').waitFor()
  const from = notice.getByLabel('Shown from')
  await from.press('Home')
  await from.pressSequentially('01302')
  await save.click()
  await form.getByText('with a year from 1970 on').waitFor()
  await from.press('Home')
  await from.pressSequentially('01302026')
  expect(await from.inputValue()).toBe('2026-01-30T08:00')
  await from.fill('')
  await save.click()
  await page.getByText('Saved.').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  const shown = page.getByRole('list', { name: 'Notices' })
  await page.getByRole('link', { name: 'Overview' }).click()
  await shown.getByText('Warning').waitFor()
  await shown.getByText('Slow on Sunday.').waitFor()
  await page.goBack()
  expect(await notice.getByLabel('Shown until').inputValue()).toBe('2027-01-30T07:00')
  // All of them would go, and nothing brings them back.
  await form.getByRole('button', { name: 'Back to the default: None' }).click()
  const dialog = page.getByRole('dialog', { name: 'Back to the default?' })
  await dialog.waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await form.getByRole('button', { name: 'Remove notice 1' }).click()
  await save.click()
  await form.getByRole('button', { name: 'Save', disabled: true }).waitFor()
  await page.getByRole('link', { name: 'Overview' }).click()
  await shown.waitFor({ state: 'detached' })
  await page.close()
}

async function exportsLog() {
  const page = await stage.open('/admin/audit?text=ann')
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Export JSON' }).click(),
  ])
  const lines = (await Bun.file(await download.path()).text()).trim().split('\n')
  const events = lines.map((line) => JSON.parse(line))
  expect(events.length).toBeGreaterThan(0)
  for (const event of events) expect(JSON.stringify(event)).toContain('ann')
  await page.close()
}
