// Tests settings at run time over the control API: who may see and change them, versions, and notices.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { runTimeDefaults } from '../../src/config/run-time.ts'
import { type ControlStage, controlStage, manager, person } from '../support/control.ts'

const notice = {
  severity: 'warning',
  text: { en: 'Soon.', 'zh-CN': '\u5f88\u5feb\u3002' },
  from: null,
  until: null,
} as const
const past = { ...notice, until: '2020-01-01T00:00:00.000Z' }

let stage: ControlStage

beforeAll(async () => {
  const settings = () => ({ ...runTimeDefaults, notices: [past, notice] })
  stage = await controlStage({ running: { settings } })
})
afterAll(() => stage.close())

test('an admin changes a setting by the version that was read', async () => {
  const admin = person('root', 'admin')
  const path = '/api/settings/usage.keepDays'
  const set = await stage.send(admin, 'PUT', path, {
    body: { value: 30 },
    headers: { origin: 'http://127.0.0.1:8787' },
  })
  expect(set).toMatchObject({
    status: 200,
    json: { name: 'usage.keepDays', value: 30, actor: 'account root' },
  })
  const etag = set.headers.get('etag') ?? ''
  const headers = { origin: 'http://127.0.0.1:8787', 'if-match': etag }
  expect(await stage.send(admin, 'PUT', path, { body: { value: 31 }, headers })).toMatchObject({
    status: 200,
    json: { value: 31 },
  })
  expect((await stage.send(admin, 'PUT', path, { body: { value: 32 }, headers })).status).toBe(412)
  expect((await stage.send(admin, 'DELETE', path, { headers })).status).toBe(412)
  const { origin } = headers
  const bad = await stage.send(admin, 'PUT', path, { body: { value: -1 }, headers: { origin } })
  expect(bad).toMatchObject({ status: 400, json: { field: 'value' } })
  const unset = await stage.send(admin, 'DELETE', path, { headers: { origin } })
  expect(unset).toMatchObject({ status: 200, json: { value: null, revision: 0 } })
  const list = await stage.send(person('eye', 'auditor'), 'GET', '/api/settings')
  expect(list.json.items).toHaveLength(7)
  expect(
    (
      await stage.send(admin, 'PUT', '/api/settings/nope', {
        body: { value: 1 },
        headers: { origin },
      })
    ).status,
  ).toBe(404)
})

test('others neither see settings nor change them', async () => {
  const headers = { origin: 'http://127.0.0.1:8787' }
  const change = { body: { value: 'closed' }, headers }
  const path = '/api/settings/identity.signUp'
  expect((await stage.send(person('ann'), 'GET', '/api/settings')).status).toBe(403)
  for (const who of [
    person('ann'),
    person('eye', 'auditor'),
    manager('ann', ['read', 'write']),
    manager(null, ['read']),
  ])
    expect((await stage.send(who, 'PUT', path, change)).status).toBe(403)
  expect((await stage.send(null, 'GET', '/api/settings')).status).toBe(401)
})

test('whoever is signed in reads the notices of the moment', async () => {
  expect((await stage.send(person('ann'), 'GET', '/api/notices')).json).toEqual({
    items: [notice],
    next: null,
  })
  expect((await stage.send(null, 'GET', '/api/notices')).status).toBe(401)
})
