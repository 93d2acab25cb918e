// Tests management keys over the control API: who may make which, and that none can give more rights than it has.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { findManagementKey } from '../../src/identity/management-keys.ts'
import { type ControlStage, controlStage, manager, person } from '../support/control.ts'

const ann = person('ann')
const root = person('root', 'admin')
const path = '/api/management-keys'

let stage: ControlStage
beforeEach(async () => {
  stage = await controlStage()
  for (const account of ['ann', 'bob', 'root']) await stage.store.accounts.ensure(account, 1)
})
afterEach(async () => {
  expect(stage.crashes).toEqual([])
  await stage.close()
})

const asked = { name: 'ci', scopes: ['read'] }

test('a user makes keys of the own account, an admin any, an auditor none', async () => {
  const own = await stage.send(ann, 'POST', path, { body: asked })
  expect(own).toMatchObject({ status: 201, json: { account: 'ann', scopes: ['read'] } })
  expect(own.json.secret).toStartWith('sk-tgm-')
  expect(await findManagementKey(stage.store, own.json.secret, Date.now())).toMatchObject({
    account: 'ann',
    scopes: ['read'],
  })
  const body = { ...asked, account: 'bob' }
  expect((await stage.send(ann, 'POST', path, { body })).status).toBe(404)
  expect((await stage.send(root, 'POST', path, { body })).json.account).toBe('bob')
  expect((await stage.send(root, 'POST', path, { body: asked })).json.account).toBeNull()
  const nobody = { ...asked, account: 'zoe' }
  expect((await stage.send(root, 'POST', path, { body: nobody })).status).toBe(404)
  expect((await stage.send(person('eve', 'auditor'), 'POST', path, { body: asked })).status).toBe(
    403,
  )
  expect((await stage.send(ann, 'GET', path)).json.items).toMatchObject([{ account: 'ann' }])
  expect((await stage.send(root, 'GET', path)).json.items).toHaveLength(3)
  expect(JSON.stringify((await stage.send(root, 'GET', path)).json)).not.toContain('secret')
})

test('a key gives no other key a scope or an account that it does not have', async () => {
  const writer = manager('ann', ['write'])
  const refused = await stage.send(writer, 'POST', path, { body: asked })
  expect(refused).toMatchObject({ status: 403, json: { field: 'scopes' } })
  const { json } = await stage.send(writer, 'POST', path, { body: { ...asked, scopes: ['write'] } })
  expect(json).toMatchObject({ account: 'ann', scopes: ['write'] })
  const both = { body: { scopes: ['read', 'write'] } }
  expect((await stage.send(writer, 'PATCH', `${path}/${json.id}`, both)).status).toBe(403)
  const elsewhere = { ...asked, scopes: ['write'], account: 'bob' }
  expect((await stage.send(writer, 'POST', path, { body: elsewhere })).status).toBe(404)
  expect((await stage.send(manager(null, ['read']), 'POST', path, { body: asked })).status).toBe(
    403,
  )
})

test('a key that expires makes no key valid for longer, and does not outlive its own expiry', async () => {
  const expiresAt = Date.now() + 60_000
  const writer = manager('ann', ['write'], expiresAt)
  const timed = (ms: number) => ({ name: 'ci', scopes: ['write'], expiresAt: new Date(ms) })
  const made = await stage.send(writer, 'POST', path, { body: timed(expiresAt) })
  expect(made.status).toBe(201)
  const refused = { status: 403, json: { field: 'expiresAt' } }
  for (const body of [timed(expiresAt + 1), { name: 'ci', scopes: ['write'] }])
    expect(await stage.send(writer, 'POST', path, { body })).toMatchObject(refused)
  const own = `${path}/${made.json.id}`
  for (const body of [{ expiresAt: null }, { expiresAt: new Date(expiresAt + 1) }])
    expect(await stage.send(writer, 'PATCH', own, { body })).toMatchObject(refused)
  expect((await stage.send(writer, 'PATCH', own, { body: { name: 'other' } })).status).toBe(200)
})

test('the key of another is not there, and one that was changed since is stale', async () => {
  const body = { ...asked, account: 'bob' }
  const { id } = (await stage.send(root, 'POST', path, { body })).json
  const changes: readonly (readonly [string, string, object?])[] = [
    ['GET', ''],
    ['PATCH', '', { name: 'mine' }],
    ['POST', '/disable'],
    ['POST', '/enable'],
    ['DELETE', ''],
  ]
  for (const [method, verb, sent] of changes) {
    const reply = await stage.send(ann, method, `${path}/${id}${verb}`, { body: sent })
    expect(reply.status).toBe(404)
  }
  const bob = person('bob')
  const renamed = await stage.send(bob, 'PATCH', `${path}/${id}`, { body: { name: 'new' } })
  expect(renamed.json).toMatchObject({ name: 'new', scopes: ['read'], revision: 2 })
  expect(renamed.headers.get('etag')).toBe('"2"')
  const headers = { 'if-match': '"1"' }
  expect((await stage.send(bob, 'DELETE', `${path}/${id}`, { headers })).status).toBe(412)
  expect((await stage.send(bob, 'POST', `${path}/${id}/disable`)).json.status).toBe('disabled')
  expect((await stage.send(bob, 'POST', `${path}/${id}/enable`)).json.status).toBe('active')
  expect((await stage.send(bob, 'DELETE', `${path}/${id}`)).status).toBe(204)
  expect((await stage.send(bob, 'GET', `${path}/${id}`)).status).toBe(404)
})

test.each([
  [{ name: '', scopes: ['read'] }, 'name'],
  [{ name: 'x', scopes: [] }, 'scopes'],
  [{ name: 'x', scopes: ['read', 'read'] }, 'scopes'],
  [{ name: 'x', scopes: ['admin'] }, 'scopes[0]'],
  [{ name: 'x', scopes: ['read'], expiresAt: '2020-01-01' }, 'expiresAt'],
])('%j is refused by the name of its field', async (body, field) => {
  const { status, json } = await stage.send(root, 'POST', path, { body })
  expect([status, json.field]).toEqual([400, field])
})
