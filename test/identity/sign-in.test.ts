// Tests signing in at two real OpenID providers and a stub of GitHub: the result, and the cookie.

import { afterAll, beforeAll, beforeEach, expect, setSystemTime, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import { Browser } from './browser.ts'
import { octo } from './github.ts'
import { honest, type Stage, setStage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await setStage()
})
afterAll(() => stage.close())

const ann = { sub: 'ann', name: 'Ann', email: 'ann@mail.example', email_verified: true }
let count = 0

beforeEach(() => {
  count += 1
  stage.one.person = { ...ann, sub: `ann${count}` }
  stage.two.person = { ...ann, sub: `ann${count}` }
  stage.github.person = { ...octo, id: count }
  stage.tamper = honest
  stage.mode = 'open'
  stage.waitMs = null
})

test('a new person has an account of a random id with a wallet, the default group, and an identity', async () => {
  const browser = new Browser()
  const reply = await stage.signIn(browser, 'one', '?return-to=/usage%3Fdays=7%23top')
  expect(reply.status).toBe(303)
  expect(reply.headers.get('location')).toBe('/usage?days=7#top')
  const who = await stage.who(browser)
  const account = who?.account ?? ''
  expect(account).toMatch(/^account_[0-9A-Za-z]{16}$/)
  expect(await stage.store.people.find(account)).toMatchObject({
    name: 'Ann',
    email: 'ann@mail.example',
    emailVerified: true,
    role: 'user',
    groups: ['default'],
  })
  expect(await stage.store.journal.wallet(account)).not.toBeNull()
  expect(await stage.store.identities.ofAccount(account)).toMatchObject([
    { issuer: stage.one.issuer, subject: `ann${count}` },
  ])
  expect(await stage.who(new Browser())).toBeNull()
})

test('the same person comes back to the same account, in a session of its own', async () => {
  const browser = new Browser()
  await stage.signIn(browser, 'one')
  const first = await stage.who(browser)
  const token = browser.cookie(stage.url, '__Host-tollgate') ?? ''
  await stage.signIn(browser, 'one')
  const second = await stage.who(browser)
  expect(second?.account).toBe(first?.account ?? '')
  expect(second?.sessionId).not.toBe(first?.sessionId)
  // The browser's earlier session is ended, also for anybody who copied it.
  const copy = new Browser()
  copy.setCookie(stage.url, '__Host-tollgate', token)
  expect(await stage.who(copy)).toBeNull()
})

test('a session is 256 random bits in a __Host- cookie, and a hash in the database', async () => {
  const browser = new Browser()
  const reply = await stage.signIn(browser, 'one')
  const cookie = reply.headers.getSetCookie().find((each) => each.startsWith('__Host-tollgate='))
  const attributes = (cookie ?? '').split('; ').slice(1)
  expect(attributes).toContain('Path=/')
  for (const name of ['HttpOnly', 'Secure', 'SameSite=Lax']) expect(attributes).toContain(name)
  expect(cookie).not.toMatch(/domain=/i)
  const token = browser.cookie(stage.url, '__Host-tollgate')?.split('.', 1)[0] ?? ''
  expect(Buffer.from(token, 'base64url')).toHaveLength(32)
  const who = await stage.who(browser)
  const kept = await stage.store.sessions.ofAccount(who?.account ?? '', {
    nowMs: Date.now(),
    idleMs: 1e12,
    longestMs: 1e12,
  })
  expect(kept).toMatchObject([{ id: who?.sessionId, address: '192.0.2.7' }])
  expect(JSON.stringify(kept)).not.toContain(token)
})

test('S6: a session that was planted before a sign-in is not the one that signs in', async () => {
  const browser = new Browser()
  browser.setCookie(stage.url, '__Host-tollgate', 'planted.signature')
  await stage.signIn(browser, 'one')
  expect(browser.cookie(stage.url, '__Host-tollgate')).not.toContain('planted')
  const attacker = new Browser()
  attacker.setCookie(stage.url, '__Host-tollgate', 'planted.signature')
  expect(await stage.who(attacker)).toBeNull()
  for (const rubbish of ['', '.', '%00', '=;=', 'a'.repeat(5_000)]) {
    attacker.setCookie(stage.url, '__Host-tollgate', rubbish)
    expect(await stage.who(attacker)).toBeNull()
  }
})

test('S6: a session that was signed out is over, whoever shows it', async () => {
  const browser = new Browser()
  await stage.signIn(browser, 'one')
  const token = browser.cookie(stage.url, '__Host-tollgate') ?? ''
  const foreign = { method: 'POST', headers: { origin: 'https://evil.example' } }
  expect((await browser.go(`${stage.url}/api/auth/sign-out`, foreign)).status).toBe(403)
  expect(await stage.who(browser)).not.toBeNull()
  const reply = await browser.go(`${stage.url}/api/auth/sign-out`, { method: 'POST' })
  expect(reply.status).toBe(204)
  expect(browser.cookie(stage.url, '__Host-tollgate')).toBeUndefined()
  browser.setCookie(stage.url, '__Host-tollgate', token)
  expect(await stage.who(browser)).toBeNull()
})

test('S6: a session ends after 7 days without use, and after 30 days of use', async () => {
  const [used, idle] = [new Browser(), new Browser()]
  await stage.signIn(used, 'one')
  await stage.signIn(idle, 'one')
  const day = 86_400_000
  const begun = Date.now()
  try {
    for (const days of [6, 12, 18, 24, 29]) {
      setSystemTime(begun + days * day)
      expect(await stage.who(used)).not.toBeNull()
      if (days > 7) expect(await stage.who(idle)).toBeNull()
    }
    setSystemTime(begun + 30 * day + 10_000)
    expect(await stage.who(used)).toBeNull()
  } finally {
    setSystemTime()
  }
})

test('S9: one verified e-mail address at two providers makes two accounts', async () => {
  const [one, two, hub] = [new Browser(), new Browser(), new Browser()]
  stage.github.person = {
    ...octo,
    id: 10_000 + count,
    emails: [{ email: ann.email, primary: true, verified: true }],
  }
  await stage.signIn(one, 'one')
  await stage.signIn(two, 'two')
  await stage.signIn(hub, 'github')
  const accounts = await Promise.all(
    [one, two, hub].map(async (each) => (await stage.who(each))?.account),
  )
  expect(new Set(accounts).size).toBe(3)
  for (const account of accounts)
    expect(await stage.store.people.find(account ?? '')).toMatchObject({ email: ann.email })
})

test('an address that is not verified is kept as such, and one that is missing is none', async () => {
  const browser = new Browser()
  stage.one.person = {
    sub: `unverified${count}`,
    email: 'boss@corp.example',
    email_verified: false,
  }
  await stage.signIn(browser, 'one')
  const unverified = await stage.who(browser)
  expect(await stage.store.people.find(unverified?.account ?? '')).toMatchObject({
    email: 'boss@corp.example',
    emailVerified: false,
    role: 'user',
  })
  stage.two.person = { sub: `nameless${count}` }
  await stage.signIn(browser, 'two')
  const nameless = await stage.who(browser)
  expect(await stage.store.people.find(nameless?.account ?? '')).toMatchObject({
    email: null,
    name: '',
  })
  stage.github.person = { ...octo, id: 20_000 + count, emails: null }
  await stage.signIn(browser, 'github')
  const hidden = await stage.who(browser)
  expect(await stage.store.people.find(hidden?.account ?? '')).toMatchObject({
    email: null,
    name: 'octo',
  })
})

test('GitHub knows people by their number: a login that changes hands is another person', async () => {
  const browser = new Browser()
  await stage.signIn(browser, 'github')
  const before = await stage.who(browser)
  expect(await stage.store.people.find(before?.account ?? '')).toMatchObject({
    name: 'octo',
    email: 'octo@mail.example',
    emailVerified: true,
  })
  stage.github.person = { ...octo, id: count, login: 'renamed' }
  await stage.signIn(browser, 'github')
  expect((await stage.who(browser))?.account).toBe(before?.account ?? '')
  stage.github.person = { ...octo, id: 30_000 + count }
  await stage.signIn(browser, 'github')
  expect((await stage.who(browser))?.account).not.toBe(before?.account)
})
