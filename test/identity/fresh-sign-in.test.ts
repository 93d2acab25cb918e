// Tests `identity.adminFreshMinutes`: an older session reads on, but changes money, prices and channels only after
// another sign-in.

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory } from '../contract/databases.ts'
import { run, type ServerProcess, startServer } from '../support/server-process.ts'

const folder = makeDirectory()
const configFile = join(folder.path, 'tollgate.yaml')
let server: ServerProcess
beforeAll(async () => {
  writeFileSync(configFile, JSON.stringify({ identity: { adminFreshMinutes: 5 } }))
  server = await startServer(undefined, { words: ['--config', configFile] })
})
afterAll(async () => {
  await server.kill()
  server.remove()
  folder.remove()
})

/** The cookie of a new session of the first administrator. */
async function signIn(): Promise<string> {
  const link = (await run(server.dataDir, 'admin', 'link', '--config', configFile)).trim()
  const { pathname, search } = new URL(link)
  const reply = await fetch(server.url + pathname + search, { redirect: 'manual' })
  return reply.headers.get('set-cookie')?.split(';')[0] ?? ''
}

async function ask(method: string, path: string, as: Record<string, string>, body?: object) {
  const headers = { ...as, ...(body !== undefined && { 'content-type': 'application/json' }) }
  const text = body === undefined ? {} : { body: JSON.stringify(body) }
  const reply = await fetch(server.url + path, { method, headers, ...text })
  const json = reply.status === 204 ? {} : await reply.json()
  return { status: reply.status, reason: json.reason ?? null, json }
}

const adjustment = { amount: '1', direction: 'credit', reason: 'a gift' }
const prices = { model: 'gpt-4o-mini', prices: { input: '1', output: '2' }, source: 'a test' }
const channel = { id: 'other', vendor: 'openai', key: 'sk-a-key-of-a-vendor', models: ['x'] }
const changes = [
  ['POST', '/api/accounts/default/adjustments', adjustment],
  ['POST', '/api/prices', prices],
  ['POST', '/api/channels', channel],
  ['PUT', '/api/settings/usage.keepDays', { value: 30 }],
  ['POST', '/api/keys', { name: 'for another', account: 'bell', group: 'default' }],
  ['POST', '/api/management-keys', { name: 'for ever', scopes: ['read', 'write'] }],
] as const

test('an older sign-in changes nothing as an administrator, and another sign-in does', async () => {
  const early = await signIn()
  const made = await ask('POST', '/api/management-keys', { cookie: early }, changes[5][2])
  expect(made.status).toBe(201)
  const bells = await ask('POST', '/api/keys', { cookie: early }, changes[4][2])
  const mine = await ask('POST', '/api/keys', { cookie: early }, { name: 'own', group: 'default' })
  expect([bells.status, mine.status]).toEqual([201, 201])
  const database = new Database(join(server.dataDir, 'tollgate.db'))
  database.run('UPDATE session SET created_at = created_at - 301000')
  database.close()

  for (const [method, path, body] of changes) {
    const { status, reason } = await ask(method, path, { cookie: early }, body)
    expect({ path, status, reason }).toEqual({ path, status: 403, reason: 'sign_in_again' })
  }
  const other = `/api/keys/${bells.json.id}`
  const managing = `/api/management-keys/${made.json.id}`
  for (const [method, path, body] of [
    ['PATCH', other, { name: 'x' }],
    ['POST', `${other}/disable`],
    ['DELETE', other],
    ['POST', `${managing}/enable`],
    ['POST', `${managing}/disable`],
    ['DELETE', managing],
    ['POST', '/api/redeem', { code: 'x', account: 'bell' }],
  ] as const) {
    const { status, reason } = await ask(method, path, { cookie: early }, body)
    expect({ method, path, status, reason }).toMatchObject({ status: 403, reason: 'sign_in_again' })
  }
  const own = `/api/keys/${mine.json.id}`
  expect((await ask('PATCH', own, { cookie: early }, { name: 'mine' })).status).toBe(200)
  const kept = '/api/history?account=bell'
  expect((await ask('DELETE', kept, { cookie: early })).reason).toBe('sign_in_again')
  expect((await ask('GET', '/api/people', { cookie: early })).status).toBe(200)
  expect((await ask('PATCH', '/api/me', { cookie: early }, { name: 'Ann' })).status).toBe(200)

  const authorization = `Bearer ${made.json.secret}`
  const byKey = await ask('POST', changes[0][1], { authorization }, adjustment)
  expect(byKey.status).toBe(200)
  const late = await signIn()
  expect((await ask('DELETE', kept, { cookie: late })).reason).not.toBe('sign_in_again')
  for (const [method, path, body] of changes) {
    const { status } = await ask(method, path, { cookie: late }, body)
    expect({ path, isDone: status === 200 || status === 201 }).toEqual({ path, isDone: true })
  }
})
