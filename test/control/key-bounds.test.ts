// Tests how many keys, and how many new secrets a minute, an account gets by its own doing.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { hashSecret } from '../../src/identity/secret.ts'
import { keyRow } from '../contract/store.ts'
import { type ControlStage, controlStage, manager, person } from '../support/control.ts'

const ann = person('ann')
const root = person('root', 'admin')

let stage: ControlStage
beforeEach(async () => {
  stage = await controlStage()
  for (const account of ['ann', 'root']) await stage.store.accounts.ensure(account, 1)
  await stage.store.deployment.rememberGroups(['default', 'fast'])
})
afterEach(async () => {
  expect(stage.crashes).toEqual([])
  await stage.close()
})

const make = (as: typeof ann, body: object = {}) =>
  stage.send(as, 'POST', '/api/keys', { body: { name: 'laptop', ...body } })

async function fill(account: string, keys: number) {
  for (let index = 0; index < keys; index += 1) {
    const id = `key_${account}_${index}`
    await stage.store.keys.insert(keyRow({ id, account, hash: hashSecret(id) }))
  }
}

test('an account with identity.mostKeys keys gets another from operators alone', async () => {
  await fill('ann', 999)
  const playground = { body: { group: 'fast' } }
  expect((await stage.send(ann, 'POST', '/api/playground/key', playground)).status).toBe(201)
  const refused = await make(ann)
  expect([refused.status, refused.json.field]).toEqual([409, 'account'])
  expect(refused.json.detail).toContain('ann has 1000 keys or more')
  const other = { body: { group: 'default' } }
  expect((await stage.send(ann, 'POST', '/api/playground/key', other)).status).toBe(409)
  // It has a key already, which gets another secret.
  expect((await stage.send(ann, 'POST', '/api/playground/key', playground)).status).toBe(201)
  expect((await make(root, { account: 'ann' })).status).toBe(201)
  await stage.send(ann, 'DELETE', '/api/keys/key_ann_0')
  await stage.send(ann, 'DELETE', '/api/keys/key_ann_1')
  expect((await make(ann)).status).toBe(201)
})

test('an account gets 30 new secrets a minute in all, operators any number', async () => {
  const { id } = (await make(ann)).json
  const ofAnn = manager('ann', ['write'])
  for (let made = 1; made < 30; made += 3) {
    expect((await make(ofAnn)).status).toBe(201)
    expect((await stage.send(ann, 'POST', `/api/keys/${id}/rotate`)).status).toBe(200)
    if (made < 28) expect((await stage.send(ann, 'POST', '/api/playground/key')).status).toBe(201)
  }
  // One share of the minute may have come back meanwhile.
  const late = [await make(ann), await make(ann), await make(ann), await make(ann)]
  expect(late.at(-1)?.status).toBe(429)
  expect((await stage.send(ann, 'POST', `/api/keys/${id}/rotate`)).status).toBe(429)
  expect((await stage.send(ann, 'POST', '/api/playground/key')).status).toBe(429)
  for (let made = 0; made < 35; made += 1)
    expect((await make(root, { account: 'ann' })).status).toBe(201)
})
