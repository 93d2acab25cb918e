// Tests who may join, how a second provider is linked, and the effect of suspending and deleting an account on signing
// in.

import { afterAll, beforeAll, beforeEach, expect, setSystemTime, test } from 'bun:test'
import { createInvitation } from '../../src/admin/sign-in.ts'
import { adminOf } from '../support/admin.ts'
import { Browser } from './browser.ts'
import { octo } from './github.ts'
import { type Stage, setStage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await setStage()
})
afterAll(() => stage.close())

let count = 0
beforeEach(() => {
  count += 1
  stage.one.person = { sub: `one${count}`, name: 'One' }
  stage.two.person = { sub: `two${count}`, name: 'Two' }
  stage.github.person = { ...octo, id: count }
  stage.mode = 'open'
})

async function problemOf(reply: Response): Promise<string> {
  const { type } = (await reply.json()) as { readonly type: string }
  return `${reply.status} ${type.replace('urn:tollgate:problem:', '')}`
}

/** The address to which a link leads, once it was requested. */
async function link(browser: Browser, provider: string, init: RequestInit = {}): Promise<Response> {
  const post = { ...init, method: 'POST' }
  return browser.go(`${stage.url}/api/auth/link/${provider}?return-to=/me`, post)
}

async function linked(browser: Browser, provider: string): Promise<Response> {
  const { url } = (await (await link(browser, provider)).json()) as { readonly url: string }
  return browser.go(await browser.until(`${stage.url}/api/auth/callback/`, url))
}

const invite = async (days = 1) => {
  const admin = adminOf(stage.store, { nowMs: Date.now() })
  return createInvitation(admin, { note: '', role: 'auditor', groups: ['team'], days })
}

test('by invitation only: a code makes one account, of its role and groups', async () => {
  stage.mode = 'invite'
  const browser = new Browser()
  expect(await problemOf(await stage.signIn(browser, 'one'))).toBe('403 invitation_needed')
  expect(await problemOf(await stage.signIn(browser, 'one', '?invitation=guessed'))).toBe(
    '403 invitation_needed',
  )
  expect(await stage.who(browser)).toBeNull()
  const { code, id } = await invite()
  expect((await stage.signIn(browser, 'one', `?invitation=${code}`)).status).toBe(303)
  const who = await stage.who(browser)
  expect(await stage.store.people.find(who?.account ?? '')).toMatchObject({
    role: 'auditor',
    groups: ['team'],
  })
  const { items } = { items: await stage.store.invitations.list({ limit: 1 }) }
  expect(items).toMatchObject([{ id, usedBy: who?.account }])
  const other = new Browser()
  expect(await problemOf(await stage.signIn(other, 'two', `?invitation=${code}`))).toBe(
    '403 invitation_needed',
  )
  // A person with an account needs no invitation.
  expect((await stage.signIn(browser, 'one')).status).toBe(303)
})

test('an invitation that two use at once makes one account', async () => {
  stage.mode = 'invite'
  const { code } = await invite()
  const replies = await Promise.all(
    ['one', 'two', 'github'].map(async (provider) =>
      stage.signIn(new Browser(), provider, `?invitation=${code}`),
    ),
  )
  expect(replies.map(({ status }) => status).toSorted()).toEqual([303, 403, 403])
})

test('closed: nobody new, invited or not; who is known comes in', async () => {
  const browser = new Browser()
  await stage.signIn(browser, 'one')
  stage.mode = 'closed'
  expect((await stage.signIn(browser, 'one')).status).toBe(303)
  const { code } = await invite()
  expect(await problemOf(await stage.signIn(new Browser(), 'two', `?invitation=${code}`))).toBe(
    '403 sign_up_closed',
  )
  const reply = await browser.go(`${stage.url}/api/auth/providers`)
  expect(await reply.json()).toEqual({
    providers: [
      { id: 'one', name: 'one' },
      { id: 'two', name: 'two' },
      { id: 'github', name: 'GitHub' },
    ],
    signUp: 'closed',
  })
})

test('S9: a second provider is linked by who is signed in, also while nobody new is taken', async () => {
  const browser = new Browser()
  await stage.signIn(browser, 'one')
  const { account = '' } = (await stage.who(browser)) ?? {}
  stage.mode = 'closed'
  const reply = await linked(browser, 'two')
  expect([reply.status, reply.headers.get('location')]).toEqual([303, '/me'])
  expect((await stage.who(browser))?.account).toBe(account)
  const kept = await stage.store.identities.ofAccount(account)
  expect(kept.map(({ issuer }) => issuer)).toEqual([stage.one.issuer, stage.two.issuer])
  const other = new Browser()
  await stage.signIn(other, 'two')
  expect((await stage.who(other))?.account).toBe(account)
  // Linking it again changes nothing.
  expect((await linked(browser, 'two')).status).toBe(303)
  expect(await stage.store.identities.ofAccount(account)).toHaveLength(2)
})

test('an identity of another account is not taken over by linking it', async () => {
  const [owner, thief] = [new Browser(), new Browser()]
  await stage.signIn(owner, 'two')
  const { account = '' } = (await stage.who(owner)) ?? {}
  await stage.signIn(thief, 'one')
  expect(await problemOf(await linked(thief, 'two'))).toBe('409 linked_elsewhere')
  expect((await stage.store.identities.find(stage.two.issuer, `two${count}`))?.account).toBe(
    account,
  )
})

test.each(['ended their sessions', 'were suspended', 'were deleted'])(
  'an identity is not linked for people who %s after it was begun',
  async (what) => {
    const thief = new Browser()
    await stage.signIn(thief, 'one')
    const { account = '' } = (await stage.who(thief)) ?? {}
    const { url } = (await (await link(thief, 'two')).json()) as { readonly url: string }
    const answer = await thief.until(`${stage.url}/api/auth/callback/`, url)
    const { people, sessions } = stage.store
    if (what === 'were suspended') await people.change(account, { suspendedAt: Date.now() })
    else if (what === 'were deleted') await people.remove(account, Date.now())
    else await sessions.endAll(account, null)
    const before = await stage.store.identities.ofAccount(account)
    expect(await problemOf(await thief.go(answer))).toBe('401 not_signed_in')
    expect(await stage.store.identities.ofAccount(account)).toEqual(before)
    expect(await stage.store.identities.find(stage.two.issuer, `two${count}`)).toBeNull()
  },
)

test('of two first sign-ins of one person at once each ends in a session or is told to begin again', async () => {
  const browsers = [new Browser(), new Browser(), new Browser()]
  const replies = await Promise.all(browsers.map((browser) => stage.signIn(browser, 'one')))
  const results = await Promise.all(
    replies.map((reply) => (reply.status === 303 ? '303' : problemOf(reply))),
  )
  expect(results).toContain('303')
  for (const result of results) expect(['303', '400 invalid_state']).toContain(result)
  expect((await stage.signIn(new Browser(), 'one')).status).toBe(303)
})

test('linking asks for a session of just now, and for a page of our own', async () => {
  const browser = new Browser()
  expect(await problemOf(await link(browser, 'two'))).toBe('401 not_signed_in')
  await stage.signIn(browser, 'one')
  for (const headers of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site' },
  ])
    expect(await problemOf(await link(browser, 'two', { headers }))).toBe('403 foreign_origin')
  const own = { headers: { origin: stage.url, 'sec-fetch-site': 'same-origin' } }
  expect((await link(browser, 'two', own)).status).toBe(200)
  expect(await problemOf(await link(browser, 'three'))).toBe('404 not_found')
  setSystemTime(Date.now() + 16 * 60_000)
  try {
    expect(await problemOf(await link(browser, 'two'))).toBe('403 not_fresh')
  } finally {
    setSystemTime()
  }
})

test('a suspended account is signed out and stays out until it is resumed; a deleted one is gone', async () => {
  const browser = new Browser()
  await stage.signIn(browser, 'one')
  const { account = '' } = (await stage.who(browser)) ?? {}
  await stage.store.people.change(account, { suspendedAt: Date.now() })
  expect(await stage.who(browser)).toBeNull()
  expect(await problemOf(await stage.signIn(browser, 'one'))).toBe('403 account_closed')
  expect(await stage.who(browser)).toBeNull()
  await stage.store.people.change(account, { suspendedAt: null })
  expect((await stage.signIn(browser, 'one')).status).toBe(303)
  await stage.store.people.remove(account, Date.now())
  expect(await stage.who(browser)).toBeNull()
  await stage.signIn(browser, 'one')
  const next = await stage.who(browser)
  expect(next?.account).not.toBe(account)
})

test('a store that is away is told as such, and nobody is signed in', async () => {
  const browser = new Browser()
  const address = await stage.callback(browser, 'one')
  const away = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
  const create = stage.store.people.create
  const people = stage.store.people as { create: typeof create }
  people.create = () => Promise.reject(away)
  try {
    const reply = await browser.go(address)
    expect([reply.status, await reply.text()]).toEqual([503, 'ECONNREFUSED'])
    expect(await stage.who(browser)).toBeNull()
  } finally {
    people.create = create
  }
})
