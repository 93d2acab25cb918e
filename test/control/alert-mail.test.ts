// Tests alerts by mail: confirmation of the address, contents, language, and what happens if the mail is not accepted.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createSecretBox } from '../../src/identity/secret-box.ts'
import { type AlertOptions, lookAfterAlerts } from '../../src/main/alerts.ts'
import { type Mail, type Mailer, MailNotSent } from '../../src/upstream/mail.ts'
import { type ControlStage, controlStage, person } from '../support/control.ts'
import { fund } from '../support/ledger-scene.ts'

const ann = person('ann')
const path = '/api/me/alerts'
const low = { lowBalanceNano: '90000000000' }
const email = 'ann@example.com'

let stage: ControlStage
let sent: Mail[]
let refusal: MailNotSent | null

const mailer: Mailer = {
  async send(mail) {
    if (refusal !== null) throw refusal
    sent.push(mail)
  },
}

beforeEach(async () => {
  sent = []
  refusal = null
  stage = await controlStage({
    services: { mail: { server: async () => mailer } },
  })
  await fund(stage.store, 'ann', 10_000_000_000n)
})
afterEach(async () => {
  expect(stage.crashes).toEqual([])
  await stage.close()
})

const put = (body: object, as = ann) => stage.send(as, 'PUT', path, { body })
const verify = (code: string) => stage.send(ann, 'POST', `${path}/email/verify`, { body: { code } })
const codeIn = (mail: Mail | undefined) => /^[0-9A-Z]{5}-[0-9A-Z]{5}$/m.exec(mail?.text ?? '')?.[0]
const notices = async () => (await stage.send(ann, 'GET', '/api/me/notices')).json.items

function options(change: Partial<AlertOptions> = {}): AlertOptions {
  return {
    store: stage.store,
    config: () => ({ currency: 'USD', keys: [], webhooks: [] }),
    box: createSecretBox(new Uint8Array(32), 'alert webhooks'),
    turnMs: 0,
    post: async () => undefined,
    postHome: async () => undefined,
    operatorAlerts: async () => [],
    mailer: async () => mailer,
    address: async () => 'https://gateway.example',
    ...change,
  }
}

async function verified(): Promise<void> {
  await put({ ...low, email })
  expect((await verify(codeIn(sent[0]) ?? '')).json.emailVerified).toBeTrue()
  sent = []
}

test('an address gets nothing until its code was entered, and a code counts once', async () => {
  const { json } = await put({ ...low, email })
  expect(json).toMatchObject({ email, emailVerified: false, accountEmail: null })
  expect(sent).toMatchObject([{ to: email, subject: 'Confirm this address' }])
  const code = codeIn(sent[0]) ?? ''
  expect(JSON.stringify(await stage.store.alerts.settings())).not.toContain(code)
  await lookAfterAlerts(options())
  expect(sent).toHaveLength(1)
  expect((await notices())[0].mail).toBeNull()
  // Saved again: no new code, until one is requested.
  await put({ ...low, email })
  expect(sent).toHaveLength(1)
  const wrong = await verify('00000-00000')
  expect([wrong.status, wrong.json.field]).toEqual([400, 'code'])
  expect((await verify(code.toLowerCase().replace('-', ' '))).json).toMatchObject({
    emailVerified: true,
  })
  expect((await verify(code)).status).toBe(400)
  // Another address has to be confirmed again, and the first is not remembered.
  expect((await put({ ...low, email: 'eve@example.com' })).json.emailVerified).toBeFalse()
  expect(sent.map(({ to }) => to)).toEqual([email, 'eve@example.com'])
  expect((await put({ ...low, email })).json.emailVerified).toBeFalse()
})

test('nobody has strangers mailed: five codes an hour, ten tries a minute', async () => {
  const statuses = []
  for (let each = 0; each < 7; each++) statuses.push((await put({ email, newCode: true })).status)
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429])
  expect(sent).toHaveLength(5)
  const tries = []
  for (let each = 0; each < 12; each++) tries.push((await verify('1')).status)
  expect(tries.filter((status) => status === 400)).toHaveLength(10)
  expect(tries.slice(10)).toEqual([429, 429])
})

test('one address gets five codes a day from all accounts together, however it is written', async () => {
  const statuses = []
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f'])
    statuses.push(
      (await put({ email: name < 'd' ? email : 'Ann@Example.COM' }, person(name))).status,
    )
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
  expect((await put({ email: 'eve@example.com' }, person('f'))).status).toBe(200)
})

test('one network has 30 addresses mailed in an hour', async () => {
  const statuses = []
  for (let each = 0; each < 31; each++)
    statuses.push((await put({ email: `u${each}@example.com` }, person(`u${each}`))).status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(30)
  expect(statuses.at(-1)).toBe(429)
})

test('the address that whoever signs in is known to read needs no code', async () => {
  for (const emailVerified of [true, false]) {
    const id = emailVerified ? 'bob' : 'cat'
    const about = { name: id, email: `${id}@example.com`, emailVerified, createdAt: 1 }
    const identity = { ...about, id: `identity_${id}`, issuer: 'x', subject: id, account: id }
    const row = { ...about, id, role: 'user', groups: null } as const
    await stage.store.people.create(row, { ...identity, usedAt: 1 }, null)
    const { json } = await put({ email: `${id}@Example.com` }, person(id))
    const accountEmail = emailVerified ? `${id}@example.com` : null
    expect(json).toMatchObject({ emailVerified, accountEmail })
  }
  expect(sent.map(({ to }) => to)).toEqual(['cat@Example.com'])
})

test('what is no address, or would be more than one, is refused', async () => {
  const wrong = [
    ...['me', 'a b@c.example', '<a@b.example>', 'a@b.example,c@d.example', '"a"@b.example'],
    ...['a@b.example\r\nBcc: c@d.example', `${'a'.repeat(65)}@b.example`, '@b.example', 'a@-'],
  ]
  for (const each of wrong) {
    const { status, json } = await put({ email: each })
    expect([each, status, json.field]).toEqual([each, 400, 'email'])
  }
  expect(sent).toEqual([])
})

test('what is raised is mailed once, in the language of the account', async () => {
  await verified()
  await lookAfterAlerts(options())
  await lookAfterAlerts(options())
  expect(sent).toHaveLength(1)
  expect(sent[0]).toMatchObject({ to: email, subject: 'Your balance is low' })
  expect(sent[0]?.text).toStartWith('10 USD is left in your account, less than 90 USD.\n')
  expect(sent[0]?.text).toContain('https://gateway.example/console/settings?tab=alerts')
  const delivered = { state: 'delivered', attempts: 1, failure: null }
  expect((await notices())[0]).toMatchObject({ mail: delivered, delivery: null })
  const body = { language: 'zh-CN' }
  await stage.send(ann, 'PUT', '/api/me/preferences', { body })
  await put({ email })
  await lookAfterAlerts(options())
  await put({ ...low, email })
  await lookAfterAlerts(options())
  expect(sent[1]).toMatchObject({ subject: '账户余额不足' })
  expect(sent[1]?.text).toStartWith('您的账户余额为 10 USD')
})

test('a mail that is put off is tried again, one that is refused for good is not', async () => {
  await verified()
  const told: string[] = []
  const onMailProblem = (error: MailNotSent, account: string) => {
    told.push(`${account} ${error.detail}`)
  }
  refusal = new MailNotSent('the mail server answered 451', false, '451 by mx7')
  await lookAfterAlerts(options({ onMailProblem }))
  const [notice] = await notices()
  const failure = 'the mail server answered 451'
  expect(notice.mail).toEqual({ state: 'waiting', attempts: 1, failure })
  expect(told).toEqual(['ann 451 by mx7'])
  const [due] = await stage.store.alertNotices.due('mail', Date.now() + 61_000, 1)
  expect((due?.mail.dueAt ?? 0) - Date.now()).toBeGreaterThan(30_000)
  await stage.store.alertNotices.posted(notice.id, 'mail', { dueAt: 1, attempts: 1, failure })
  refusal = null
  await lookAfterAlerts(options())
  expect((await notices())[0].mail).toEqual({ state: 'delivered', attempts: 2, failure: null })
  await stage.store.alertNotices.posted(notice.id, 'mail', { dueAt: 1, attempts: 2, failure })
  refusal = new MailNotSent('the mail server answered 550', true, '550')
  await lookAfterAlerts(options())
  expect((await notices())[0].mail).toMatchObject({ state: 'failed', attempts: 3 })
})

test('where no mail server is configured an address is refused', async () => {
  const other = await controlStage()
  try {
    const { status, json } = await other.send(ann, 'PUT', path, { body: { email } })
    expect([status, json.field]).toEqual([400, 'email'])
    expect((await other.send(ann, 'GET', path)).json.mailOffered).toBeFalse()
  } finally {
    await other.close()
  }
})
