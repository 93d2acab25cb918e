// Tests the key of the console's playground: its owner, its lifetime, and its limits.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createManagementKey } from '../../src/admin/management-keys.ts'
import { openStore } from '../../src/store/open.ts'
import { adminOf } from '../support/admin.ts'
import { eventually } from '../support/clients.ts'
import { type ControlStage, controlStage, manager, person } from '../support/control.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'

const path = '/api/playground/key'

describe('the route', () => {
  const ann = person('ann')
  const root = person('root', 'admin')
  let stage: ControlStage
  beforeEach(async () => {
    stage = await controlStage()
    for (const account of ['ann', 'bob', 'root', 'eve'])
      await stage.store.accounts.ensure(account, 1)
    await stage.store.deployment.rememberGroups(['default', 'fast'])
  })
  afterEach(async () => {
    expect(stage.crashes).toEqual([])
    await stage.close()
  })

  const ask = (as = ann, body?: object, headers = {}) =>
    stage.send(as, 'POST', path, { body, headers })

  test('gives a key of the own account for an hour, and another secret of the same when asked again', async () => {
    const before = Date.now()
    const first = await ask()
    const hour = Date.parse(first.json.expiresAt) - before
    expect([first.status, first.json.group]).toEqual([201, 'default'])
    expect(hour >= 3_600_000 && hour < 3_660_000).toBe(true)
    const again = await ask(ann, { group: 'default' })
    expect(again.json.id).toBe(first.json.id)
    expect(again.json.key).not.toBe(first.json.key)
    const fast = await ask(ann, { group: 'fast' })
    const others = await ask(root)
    expect(new Set([first, fast, others].map(({ json }) => json.id)).size).toBe(3)
    const rows = await stage.store.keys.all()
    expect(rows.map(({ account, group }) => [account, group]).sort()).toEqual([
      ['ann', 'default'],
      ['ann', 'fast'],
      ['root', 'default'],
    ])
    expect(JSON.stringify(rows)).not.toContain(again.json.key)
  })

  test('pages that ask at once get secrets of one key', async () => {
    const asked = await Promise.all(Array.from({ length: 5 }, () => ask()))
    expect(asked.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201])
    expect(new Set(asked.map(({ json }) => json.id)).size).toBe(1)
    expect(await stage.store.keys.all()).toHaveLength(1)
  })

  test('is for the account itself: no auditor, nobody who looks as somebody else, no account named', async () => {
    expect((await ask(person('eve', 'auditor'))).status).toBe(403)
    expect((await ask(root, {}, { 'x-tollgate-view-as': 'ann' })).status).toBe(403)
    expect((await ask(manager('ann', ['read']))).status).toBe(403)
    expect((await ask(manager(null, ['read', 'write']))).status).toBe(404)
    const named = await ask(root, { account: 'ann' })
    expect([named.status, named.json.field]).toEqual([400, 'account'])
    expect(await stage.store.keys.all()).toEqual([])
  })

  test('is of a group the account may use', async () => {
    await stage.store.people.change('ann', { groups: ['fast'] })
    expect((await ask()).json.group).toBe('fast')
    const refused = await ask(ann, { group: 'default' })
    expect([refused.status, refused.json.field]).toEqual([400, 'group'])
    expect((await ask(ann, { group: 'fats' })).json.detail).toContain('did you mean fast')
  })

  test('what its owner limited or disabled stays so', async () => {
    const { id } = (await ask()).json
    await stage.send(ann, 'PATCH', `/api/keys/${id}`, { body: { requestsPerMinute: 3 } })
    await ask()
    const shown = await stage.send(ann, 'GET', `/api/keys/${id}`)
    expect(shown.json).toMatchObject({ limits: { requestsPerMinute: 3 }, showCost: true })
    await stage.send(ann, 'POST', `/api/keys/${id}/disable`)
    const refused = await ask()
    expect([refused.status, refused.json.field]).toEqual([409, 'group'])
    expect((await stage.send(person('bob'), 'GET', `/api/keys/${id}`)).status).toBe(404)
  })

  test('stands among the keys only where it is asked for', async () => {
    const { id } = (await ask()).json
    const made = await stage.send(ann, 'POST', '/api/keys', {
      body: { name: 'app', group: 'fast' },
    })
    const list = async (query: string) =>
      (await stage.send(ann, 'GET', `/api/keys${query}`)).json.items.map(
        (key: { id: string }) => key.id,
      )
    expect(await list('')).toEqual([made.json.id])
    expect(await list('?playground=only')).toEqual([id])
    expect((await list('?playground=with')).sort()).toEqual([id, made.json.id].sort())
    expect((await stage.send(ann, 'GET', '/api/keys/summary')).json.active).toBe(1)
    expect((await stage.send(ann, 'GET', '/api/keys?playground=x')).status).toBe(400)
  })
})

describe('the key at work', () => {
  let gateway: Gateway
  const secrets: Record<string, string> = {}
  beforeAll(async () => {
    gateway = await startGateway({
      config: { channels: [{ id: 'sandbox', vendor: 'sandbox', models: ['sandbox/*'] }] },
    })
    const store = await openStore({ dataDir: gateway.dataDir, databaseUrl: null })
    for (const account of ['default', 'poor', null]) {
      const input = { name: 'test', account, scopes: ['read' as const, 'write' as const] }
      if (account !== null) await store.accounts.ensure(account, 1)
      secrets[String(account)] = (await createManagementKey(adminOf(store), input)).secret
    }
    await store.close()
  })
  afterAll(() => gateway.stop())

  async function manage(as: string, method: string, address: string, body: object = {}) {
    const reply = await fetch(gateway.url + address, {
      method,
      headers: { authorization: `Bearer ${secrets[as]}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: reply.status, json: await reply.json() }
  }

  async function call(key: string) {
    const body = { model: 'sandbox/chat', messages: [{ role: 'user', content: 'Hello' }] }
    const headers = { authorization: `Bearer ${key}` }
    const reply = await gateway.post('/v1/chat/completions', body, { headers })
    return { status: reply.status, json: await reply.json() }
  }

  test('works at once, shows what it cost, and so does the secret before it', async () => {
    const first = (await manage('default', 'POST', path)).json.key
    const answer = await call(first)
    expect([answer.status, typeof answer.json.usage.cost]).toEqual([200, 'string'])
    const second = (await manage('default', 'POST', path)).json.key
    expect((await call(second)).status).toBe(200)
    expect((await call(first)).status).toBe(200)
    await manage('default', 'POST', path)
    expect((await call(first)).status).toBe(401)
    expect((await call(second)).status).toBe(200)
  })

  test('ends at its time, and one asked for after that works', async () => {
    const { key, id } = (await manage('default', 'POST', path)).json
    await manage('default', 'PATCH', `/api/keys/${id}`, {
      expiresAt: new Date(Date.now() + 500).toISOString(),
    })
    await eventually(async () => (await call(key)).status === 401 || undefined, 5_000)
    const { json } = await manage('default', 'POST', path)
    expect((await call(json.key)).status).toBe(200)
  })

  test('spends what the account has and no more', async () => {
    const { key } = (await manage('poor', 'POST', path)).json
    const refused = await call(key)
    expect([refused.status, refused.json.error.code]).toEqual([429, 'insufficient_quota'])
  })

  test('ends with the account: suspended, it is refused, and no other is given', async () => {
    const { key } = (await manage('poor', 'POST', path)).json
    expect((await manage('null', 'POST', '/api/people/poor/suspend')).status).toBe(200)
    expect((await call(key)).status).toBe(401)
    expect((await manage('poor', 'POST', path)).status).toBe(401)
  })
})
