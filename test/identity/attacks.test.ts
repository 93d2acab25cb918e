// S8, S10: Tests forged, replayed and missing fields of an answer, invalid tokens, and misbehaving providers.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import { createHmac } from 'node:crypto'
import type { JWTPayload } from 'jose'
import { Browser } from './browser.ts'
import { honest, type Stage, setStage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await setStage()
})
afterAll(() => stage.close())

let count = 0
beforeEach(() => {
  count += 1
  const person = {
    sub: `eve${count}`,
    name: 'Eve',
    email: 'eve@mail.example',
    email_verified: true,
  }
  stage.one.person = person
  stage.two.person = person
  stage.tamper = honest
  stage.waitMs = null
})

/** Nobody is signed in, and no account was made. */
async function expectRefused(browser: Browser, reply: Response, status = 400): Promise<string> {
  const { type } = (await reply.json()) as { readonly type: string }
  expect({ status: reply.status, type }).toEqual({ status, type })
  expect(reply.headers.get('content-type')).toBe('application/problem+json')
  expect(browser.cookie(stage.url, '__Host-tollgate')).toBeUndefined()
  expect(await stage.who(browser)).toBeNull()
  expect(await stage.store.identities.find(stage.one.issuer, `eve${count}`)).toBeNull()
  expect(await stage.store.identities.find(stage.two.issuer, `eve${count}`)).toBeNull()
  return type.replace('urn:tollgate:problem:', '')
}

function changed(address: string, change: Readonly<Record<string, string | null>>): string {
  const url = new URL(address)
  for (const [name, value] of Object.entries(change)) {
    if (value === null) url.searchParams.delete(name)
    else url.searchParams.set(name, value)
  }
  return url.href
}

describe('answers', () => {
  const changes: readonly (readonly [string, Readonly<Record<string, string | null>>])[] = [
    ['no state', { state: null }],
    ['a forged state', { state: 'A'.repeat(32) }],
    ['an empty state', { state: '' }],
    ['a state with a NUL', { state: 'a\0b' }],
    ['no code', { code: null }],
    ['a forged code', { code: 'forged' }],
    ['an empty code', { code: '' }],
    ['another issuer', { iss: 'https://evil.example' }],
    ['no issuer', { iss: null }],
    ['a refusal beside the code', { error: 'access_denied' }],
  ]
  for (const [name, change] of changes) {
    test(`with ${name} sign nobody in`, async () => {
      const browser = new Browser()
      const address = await stage.callback(browser, 'one')
      await expectRefused(browser, await browser.go(changed(address, change)))
    })
  }

  test('count in the browser that began alone', async () => {
    const [victim, attacker] = [new Browser(), new Browser()]
    const address = await stage.callback(attacker, 'one')
    expect(await expectRefused(victim, await victim.go(address))).toBe('invalid_state')
    // Nor in one that began another sign-in.
    await stage.callback(victim, 'one')
    expect(await expectRefused(victim, await victim.go(address))).toBe('invalid_state')
  })

  test('count once: neither state nor code is taken again', async () => {
    const browser = new Browser()
    const address = await stage.callback(browser, 'one')
    const state = browser.cookie(stage.url, '__Host-tollgate-state') ?? ''
    expect((await browser.go(address)).status).toBe(303)
    const again = new Browser()
    again.setCookie(stage.url, '__Host-tollgate-state', state)
    const reply = await again.go(address)
    expect(reply.status).toBe(400)
    expect(await stage.who(again)).toBeNull()
    // The used code, within another sign-in.
    const fresh = await stage.callback(again, 'one')
    const code = new URL(address).searchParams.get('code')
    expect((await again.go(changed(fresh, { code }))).status).toBe(400)
    expect(await stage.who(again)).toBeNull()
  })

  test('of two at once with one state, one signs in', async () => {
    const browser = new Browser()
    const address = await stage.callback(browser, 'one')
    const statuses = await Promise.all(
      [1, 2, 3].map(async () => (await browser.go(address)).status),
    )
    expect(statuses.filter((status) => status === 303)).toHaveLength(1)
    expect(statuses.filter((status) => status === 400)).toHaveLength(2)
  })

  test('of a sign-in that began more than 10 minutes ago are refused', async () => {
    const browser = new Browser()
    const address = await stage.callback(browser, 'one')
    const { setSystemTime } = await import('bun:test')
    setSystemTime(Date.now() + 601_000)
    try {
      expect(await expectRefused(browser, await browser.go(address))).toBe('invalid_state')
    } finally {
      setSystemTime()
    }
  })

  test('of one provider do not finish what was begun at another', async () => {
    const browser = new Browser()
    const ofOne = await stage.callback(browser, 'one')
    const mixed = ofOne.replace('/callback/one', '/callback/two')
    await expectRefused(browser, await browser.go(mixed))
    // Also if the answer names the other one.
    const again = await stage.callback(browser, 'one')
    const renamed = changed(again.replace('/callback/one', '/callback/two'), {
      iss: stage.two.issuer,
    })
    expect(await expectRefused(browser, await browser.go(renamed))).toBe('invalid_state')
    // And if it contains a real code of the other.
    const other = new Browser()
    const ofTwo = await stage.callback(other, 'two')
    const code = new URL(ofTwo).searchParams.get('code')
    const injected = await stage.callback(browser, 'one')
    await expectRefused(browser, await browser.go(changed(injected, { code })))
    await expectRefused(
      browser,
      await browser.go(changed(await stage.callback(browser, 'github'), { code })),
    )
  })

  test('that say no, as people may, sign nobody in', async () => {
    stage.one.person = null
    const browser = new Browser()
    expect(await expectRefused(browser, await stage.signIn(browser, 'one'))).toBe('denied')
  })
})

describe('ID tokens', () => {
  type Forge = (claims: JWTPayload) => Promise<string | null>
  const sign = (change: JWTPayload, key?: 'foreign'): Forge => {
    return (claims) => stage.one.sign({ ...claims, ...change }, key)
  }
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const unsigned: Forge = async (claims) => `${encode({ alg: 'none' })}.${encode(claims)}.`
  const bySecret: Forge = async (claims) => {
    const body = `${encode({ alg: 'HS256' })}.${encode(claims)}`
    const mac = createHmac('sha256', stage.one.clientSecret).update(body).digest('base64url')
    return `${body}.${mac}`
  }
  const forged: readonly (readonly [string, Forge])[] = [
    ['of another issuer', sign({ iss: 'https://evil.example' })],
    ['for another client', sign({ aud: 'somebody-else' })],
    ['for several clients, made for another', sign({ aud: ['gateway-at-one', 'b'], azp: 'b' })],
    ['for several clients, made for nobody', sign({ aud: ['gateway-at-one', 'b'] })],
    ['of another sign-in', sign({ nonce: 'another' })],
    ['without a nonce', sign({ nonce: undefined as never })],
    ['that is over', sign({ exp: 1_700_000_000 })],
    ['that never ends', sign({ exp: undefined as never })],
    ['that is not valid yet', sign({ nbf: 4_000_000_000 })],
    ['of nobody', sign({ sub: undefined as never })],
    ['of a blank', sign({ sub: ' ', email: 'x@y.example' })],
    ['signed by another key', sign({}, 'foreign')],
    ['signed by nobody', unsigned],
    ['signed by the client secret', bySecret],
    ['that are no tokens', async () => 'rubbish'],
    ['that are left out', async () => null],
  ]
  for (const [name, forge] of forged) {
    test(`${name} sign nobody in`, async () => {
      const browser = new Browser()
      stage.tamper = async (question, real) => {
        const reply = await real(question)
        if (question.method !== 'POST') return reply
        const { id_token, ...tokens } = JSON.parse(reply.text)
        const claims = JSON.parse(Buffer.from(id_token.split('.')[1], 'base64url').toString())
        const token = await forge(claims)
        return { ...reply, text: JSON.stringify({ ...tokens, ...(token && { id_token: token }) }) }
      }
      const reply = await stage.signIn(browser, 'one')
      expect(await expectRefused(browser, reply)).toBe('not_believed')
    })
  }

  test('that hold are taken, so that the others fail for what was changed', async () => {
    const browser = new Browser()
    stage.tamper = async (question, real) => {
      const reply = await real(question)
      if (question.method !== 'POST') return reply
      const { id_token, ...tokens } = JSON.parse(reply.text)
      const claims = JSON.parse(Buffer.from(id_token.split('.')[1], 'base64url').toString())
      const text = JSON.stringify({ ...tokens, id_token: await sign({})(claims) })
      return { ...reply, text }
    }
    expect((await stage.signIn(browser, 'one')).status).toBe(303)
  })

  test('of one person beside the particulars of another sign nobody in', async () => {
    const browser = new Browser()
    stage.tamper = async (question, real) => {
      const reply = await real(question)
      if (!question.url.endsWith('/me')) return reply
      return { ...reply, text: JSON.stringify({ sub: 'admin', email: 'admin@corp.example' }) }
    }
    expect(await expectRefused(browser, await stage.signIn(browser, 'one'))).toBe('not_believed')
  })
})

describe('providers', () => {
  /**
   * A stage keeps its providers' documents once they are read, so these tests change the answers to calls that are made
   * each time.
   */
  const answers: readonly (readonly [string, { status: number; text: string }, number])[] = [
    ['that fail', { status: 500, text: 'oops' }, 503],
    ['that are busy', { status: 429, text: '{}' }, 503],
    ['that send elsewhere', { status: 302, text: '' }, 400],
    ['that answer with HTML', { status: 200, text: '<html>' }, 503],
    ['that answer with nothing', { status: 200, text: '' }, 503],
    ['that answer with a list', { status: 200, text: '[]' }, 503],
    ['that answer with null', { status: 200, text: 'null' }, 503],
    [
      'whose token would break a header',
      { status: 200, text: '{"access_token":"a\\r\\nb: c"}' },
      400,
    ],
    ['that give a number for a token', { status: 200, text: '{"access_token":1}' }, 400],
  ]
  for (const [name, answer, status] of answers) {
    test(`${name} sign nobody in`, async () => {
      for (const provider of ['one', 'github']) {
        const browser = new Browser()
        const address = await stage.callback(browser, provider)
        stage.tamper = async (question, real) =>
          question.method === 'POST' ? answer : real(question)
        await expectRefused(browser, await browser.go(address), status)
        stage.tamper = honest
      }
    })
  }

  test('that cannot be reached are away, for a while', async () => {
    const browser = new Browser()
    const address = await stage.callback(browser, 'one')
    stage.tamper = () => Promise.reject(new Error('connection refused'))
    const reply = await browser.go(address)
    expect(reply.headers.get('retry-after')).toBe('5')
    expect(await expectRefused(browser, reply, 503)).toBe('provider_away')
  })

  test('that nobody configured are not found, nor is anything else here', async () => {
    const browser = new Browser()
    for (const path of [
      'sign-in/three',
      'sign-in/',
      'callback/three?code=a&state=b',
      'sign-up',
      'a/b/c',
    ])
      expect((await browser.go(`${stage.url}/api/auth/${path}`)).status).toBe(404)
    for (const path of [
      'sign-in/social',
      'get-session',
      'list-sessions',
      'sign-in/__proto__',
      'toString',
    ])
      expect((await browser.go(`${stage.url}/api/auth/${path}`)).status).toBe(404)
    const posted = await browser.go(`${stage.url}/api/auth/sign-in/one`, { method: 'POST' })
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET'])
    const head = await browser.go(`${stage.url}/api/auth/link?token=x`, { method: 'HEAD' })
    expect(head.status).toBe(405)
  })
})

test('return-to goes nowhere but to a path of this gateway', async () => {
  const browser = new Browser()
  const elsewhere = [
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '/..//evil.example',
    '/./\\evil.example',
    'javascript:alert(1)',
    'usage',
    '',
    '/ä',
    '/a b',
    '/\0',
  ]
  for (const path of elsewhere) {
    const query = `?return-to=${encodeURIComponent(path)}`
    const reply = await browser.go(`${stage.url}/api/auth/sign-in/one${query}`)
    expect([path, reply.status]).toEqual([path, 400])
  }
  for (const [path, expected] of [
    ['/', '/'],
    ['/a/../b?c=//d#e', '/b?c=//d#e'],
    ['/%2F%2Fevil.example', '/%2F%2Fevil.example'],
    ['/@evil.example', '/@evil.example'],
  ] as const) {
    const query = `?return-to=${encodeURIComponent(path)}`
    const reply = await stage.signIn(browser, 'one', query)
    expect(reply.headers.get('location')).toBe(expected)
  }
})

test('S10: attempts are counted by network, on the way out, on the way back and at links', async () => {
  const browser = new Browser()
  stage.networks.length = 0
  stage.address = '2001:DB8::7'
  const address = await stage.callback(browser, 'one')
  stage.address = '2001:db8:0:0:ffff::'
  stage.waitMs = 1_500
  const replies = [
    await browser.go(address),
    await browser.go(`${stage.url}/api/auth/sign-in/one`),
    await browser.go(`${stage.url}/api/auth/link?token=x`),
  ]
  stage.address = '192.0.2.7'
  for (const reply of replies) {
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([429, '2'])
  }
  expect(new Set(stage.networks)).toEqual(new Set(['2001:db8:0:0::/64']))
  expect(await stage.who(browser)).toBeNull()
  stage.waitMs = null
  expect((await browser.go(address)).status).toBe(303)
})

test('a browser is told on a page, in which nothing of the request stands', async () => {
  const browser = new Browser()
  const query = 'code=a&state=%3Cscript%3E&error=%3Cimg%3E&error_description=%3Cb%3E'
  const reply = await browser.go(`${stage.url}/api/auth/callback/one?${query}`, {
    headers: { accept: 'text/html,application/xhtml+xml' },
  })
  expect([reply.status, reply.headers.get('content-type')]).toEqual([
    400,
    'text/html; charset=utf-8',
  ])
  expect(reply.headers.get('content-security-policy')).toContain("default-src 'none'")
  const text = await reply.text()
  expect(text).toContain('Sign-in was refused')
  const leads = 'http-equiv="refresh" content="0; url=/console/sign-in?error=not_believed"'
  expect(text).toContain(leads)
  expect(text).not.toMatch(/script|<img|<b>/)
})
