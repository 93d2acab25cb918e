// Tests a machine without any provider: the command line's link signs in beside a running server, and people are
// managed there.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { tmpdir } from 'node:os'
import { makeSchema, testDatabaseUrl } from '../contract/databases.ts'
import { eventually } from '../support/clients.ts'
import { runCommand } from '../support/command-line.ts'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'
import { Browser } from './browser.ts'

const bobsKey = 'sk-test-of-bob-0123456789'
const config = {
  keys: [
    { name: 'test', secret: testKey },
    { name: 'bobs', account: 'bob', secret: bobsKey },
  ],
}

interface Console {
  readonly gateway: Gateway
  /** `tollgate ... --json` beside the server. */
  command(...args: string[]): Promise<ReturnType<typeof JSON.parse>>
  /** A browser that a link has signed in. */
  signIn(...args: string[]): Promise<Browser>
}

function consoleOver(gateway: Gateway, databaseUrl: string | null): Console {
  const where = databaseUrl === null ? ['--data', gateway.dataDir] : []
  const env = databaseUrl === null ? {} : { DATABASE_URL: databaseUrl }
  const command = async (...args: string[]) => {
    const { code, out, err } = await runCommand([...args, ...where, '--json'], tmpdir(), env)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    return JSON.parse(out)
  }
  return {
    gateway,
    command,
    async signIn(...args) {
      const browser = new Browser()
      const { url } = await command('admin', 'link', ...args)
      expect((await browser.go(url)).status).toBe(303)
      return browser
    },
  }
}

type Reply = ReturnType<typeof JSON.parse>

async function ask(stage: Console, browser: Browser, line: string, body?: object): Promise<Reply> {
  const [method = '', path = ''] = line.split(' ')
  const headers = { 'content-type': 'application/json' }
  const init = { method, ...(body !== undefined && { body: JSON.stringify(body), headers }) }
  const reply = await browser.go(`${stage.gateway.url}${path}`, init)
  const text = await reply.text()
  return { answered: reply.status, ...(text === '' ? {} : JSON.parse(text)) }
}

function peopleOf(stage: () => Console): void {
  test('a link signs the first administrator in, once, and says so to whoever comes later', async () => {
    const { gateway, command } = stage()
    const { url, account } = await command('admin', 'link')
    expect(account).toBe('default')
    expect(url).toStartWith(`${gateway.url}/api/auth/link?token=`)
    const browsers = [1, 2, 3].map(() => new Browser())
    const statuses = await Promise.all(browsers.map(async (each) => (await each.go(url)).status))
    expect(statuses.toSorted()).toEqual([303, 400, 400])
    const late = await new Browser().go(url, { headers: { accept: 'text/html' } })
    expect([late.status, await late.text()]).toEqual([400, expect.stringContaining('used before')])
    const browser = browsers[statuses.indexOf(303)] ?? new Browser()
    expect(await ask(stage(), browser, 'GET /api/me')).toMatchObject({
      answered: 200,
      id: 'default',
      role: 'admin',
      identities: [],
    })
    const events = await ask(stage(), browser, 'GET /api/events?action=signInByLink')
    const event = { actor: 'account default', target: { id: 'default' }, address: '127.0.0.1' }
    expect(events.items).toMatchObject([event])
    expect(await ask(stage(), new Browser(), 'GET /api/me')).toMatchObject({ answered: 401 })
    expect(await command('user', 'show', 'default')).toMatchObject({ role: 'admin' })
  })

  test('sessions are listed with the one that asks, and ended elsewhere or everywhere', async () => {
    const [here, there] = [await stage().signIn(), await stage().signIn()]
    const listed = await ask(stage(), here, 'GET /api/me/sessions')
    const current = listed.items.filter((each: Reply) => each.current)
    expect(current).toMatchObject([{ address: '127.0.0.1' }])
    const other = listed.items.find((each: Reply) => !each.current)
    expect(await ask(stage(), here, `DELETE /api/me/sessions/${other.id}`)).toEqual({
      answered: 204,
    })
    expect(await ask(stage(), here, `DELETE /api/me/sessions/${other.id}`)).toMatchObject({
      answered: 404,
    })
    await ask(stage(), here, 'DELETE /api/me/sessions')
    expect(await ask(stage(), there, 'GET /api/me')).toMatchObject({ answered: 401 })
    expect(await ask(stage(), here, 'DELETE /api/me/sessions?everywhere=true')).toMatchObject({
      ended: 1,
    })
    expect(await ask(stage(), here, 'GET /api/me')).toMatchObject({ answered: 401 })
  })

  test('the keys of a suspended account stop, also those of the file, and come back', async () => {
    const admin = await stage().signIn()
    const call = async () => {
      const headers = { authorization: `Bearer ${bobsKey}` }
      return (await fetch(`${stage().gateway.url}/v1/models`, { headers })).status
    }
    expect(await call()).toBe(200)
    expect(await ask(stage(), admin, 'POST /api/people/bob/suspend')).toMatchObject({
      answered: 200,
    })
    await eventually(async () => ((await call()) === 401 ? true : undefined))
    await stage().command('user', 'resume', 'bob')
    await eventually(async () => ((await call()) === 200 ? true : undefined))
  })
}

function rightsOf(stage: () => Console): void {
  test('what was changed since, or would leave nobody in charge, is refused', async () => {
    const admin = await stage().signIn()
    const before = await ask(stage(), admin, 'GET /api/people/bob')
    const etag = { 'if-match': `"${before.revision}"`, 'content-type': 'application/json' }
    const patch = (groups: readonly string[]) =>
      admin.go(`${stage().gateway.url}/api/people/bob`, {
        method: 'PATCH',
        headers: etag,
        body: JSON.stringify({ groups }),
      })
    expect((await patch(['default'])).status).toBe(200)
    expect((await patch(['default'])).status).toBe(412)
    const refused: readonly (readonly [string, object | undefined, object])[] = [
      ['POST /api/people/default/suspend', undefined, { answered: 409, field: 'id' }],
      ['DELETE /api/people/default', undefined, { answered: 409 }],
      ['PATCH /api/people/default', { role: 'user' }, { answered: 409 }],
      ['PATCH /api/people/bob', { role: 'king' }, { answered: 400, field: 'role' }],
      ['PATCH /api/people/bob', { groups: ['none'] }, { answered: 400, field: 'groups[0]' }],
      ['PATCH /api/people/bob', { email: 'x@y' }, { answered: 400, field: 'email' }],
      ['GET /api/people/zoe', undefined, { answered: 404 }],
      ['GET /api/people?cursor=rubbish', undefined, { answered: 400, field: 'cursor' }],
      ['GET /api/people?role=king', undefined, { answered: 400, field: 'role' }],
    ]
    for (const [line, body, expected] of refused)
      expect(await ask(stage(), admin, line, body)).toMatchObject(expected)
    expect(await ask(stage(), admin, 'GET /api/people?search=BO')).toMatchObject({
      items: [{ id: 'bob' }],
    })
  })

  test('a user sees and changes themselves alone, from the moment the role is taken away', async () => {
    const admin = await stage().signIn()
    const bob = await stage().signIn('--account', 'bob')
    expect(await ask(stage(), bob, 'GET /api/people/default')).toMatchObject({ answered: 200 })
    await ask(stage(), admin, 'PATCH /api/people/bob', { role: 'auditor' })
    expect(await ask(stage(), bob, 'GET /api/people/default')).toMatchObject({ answered: 200 })
    for (const line of ['POST /api/people/default/suspend', 'DELETE /api/people/default'])
      expect(await ask(stage(), bob, line)).toMatchObject({ answered: 403 })
    await ask(stage(), admin, 'PATCH /api/people/bob', { role: 'user' })
    for (const line of [
      'GET /api/people',
      'GET /api/people/bob',
      'POST /api/people/bob/resume',
      'GET /api/invitations',
    ])
      expect(await ask(stage(), bob, line)).toMatchObject({ answered: 403 })
    expect(await ask(stage(), bob, 'PATCH /api/people/bob', { role: 'admin' })).toMatchObject({
      answered: 403,
    })
    expect(await ask(stage(), bob, 'PATCH /api/me', { role: 'admin' })).toMatchObject({
      answered: 400,
    })
    expect(await ask(stage(), bob, 'PATCH /api/me', { name: 'Bob' })).toMatchObject({
      name: 'Bob',
      role: 'user',
    })
    const [mine] = (await ask(stage(), admin, 'GET /api/me/sessions')).items
    expect(await ask(stage(), bob, `DELETE /api/me/sessions/${mine.id}`)).toMatchObject({
      answered: 404,
    })
    const invited = await ask(stage(), admin, 'POST /api/invitations', { note: 'for cid' })
    expect(invited).toMatchObject({ answered: 201, createdBy: 'account default' })
    expect(await ask(stage(), admin, `DELETE /api/invitations/${invited.id}`)).toEqual({
      answered: 204,
    })
    await stage().command('user', 'delete', 'bob', '--yes')
    expect(await ask(stage(), bob, 'GET /api/me')).toMatchObject({ answered: 401 })
    expect(await stage().command('user', 'list', '--status', 'deleted')).toMatchObject([
      { id: 'bob', name: '', status: 'deleted' },
    ])
  })
}

describe('people on sqlite', () => {
  let stage: Console
  beforeAll(async () => {
    stage = consoleOver(await startGateway({ config }), null)
  })
  afterAll(() => stage.gateway.stop())
  peopleOf(() => stage)
  rightsOf(() => stage)
})

const url = testDatabaseUrl
if (url !== null)
  describe('people on postgres', () => {
    let stage: Console
    let drop: () => Promise<void>
    beforeAll(async () => {
      const schema = await makeSchema(url)
      drop = schema.drop
      const env = { DATABASE_URL: schema.url }
      stage = consoleOver(await startGateway({ config, env }), schema.url)
    })
    afterAll(async () => {
      await stage.gateway.stop()
      await drop()
    })
    peopleOf(() => stage)
    rightsOf(() => stage)
  })

test('S10: attempts of one network are bounded, whatever they say of where they are from', async () => {
  await using gateway = await startGateway()
  const statuses: number[] = []
  for (let attempt = 0; attempt < 40; attempt += 1) {
    const headers = {
      'x-forwarded-for': `198.51.100.${attempt}`,
      forwarded: `for=203.0.113.${attempt}`,
    }
    const reply = await fetch(`${gateway.url}/api/auth/link?token=guess${attempt}`, { headers })
    if (reply.status === 429) expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
    statuses.push(reply.status)
  }
  expect(statuses.slice(0, 30)).toEqual(new Array(30).fill(400))
  expect(statuses).toContain(429)
  // Signed-in people and requests to models are not delayed by it.
  expect((await fetch(`${gateway.url}/api/me`)).status).toBe(401)
})
