// Signing in at two real OpenID providers and a stub of GitHub: what comes of it, and the cookie it leaves.

import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
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
