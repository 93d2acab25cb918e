// Tests the record of what operators did over the control API: before and after, search, and as a file.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type ControlStage, controlStage, manager, origin, person } from '../support/control.ts'

const root = person('root', 'admin')
const eye = person('eye', 'auditor')
const headers = { origin }

let stage: ControlStage
beforeAll(async () => {
  stage = await controlStage()
  await stage.store.accounts.ensure('ann', 1)
  await stage.store.accounts.ensure('root', 1)
  await stage.store.people.change('root', { role: 'admin' })
  const send = (method: string, path: string, body: object) =>
    stage.send(root, method, path, { body, headers })
  await send('PATCH', '/api/people/ann', { name: '=Ann', groups: null })
  await send('POST', '/api/people/ann/suspend', {})
  await send('PUT', '/api/settings/usage.keepDays', { value: 30 })
  const gift = { amount: '1.5', direction: 'credit', reason: '100%_off' }
  await send('POST', '/api/accounts/ann/adjustments', gift)
  await send('POST', '/api/invitations', { note: 'for Bob' })
  await stage.send(manager(null, ['write']), 'DELETE', '/api/people/ann')
})
afterAll(() => stage.close())

const list = async (query: string) =>
  (await stage.send(eye, 'GET', `/api/events?${query}`)).json.items.map(
    ({ action }: { action: string }) => action,
  )
const one = async (action: string) =>
  (await stage.send(eye, 'GET', `/api/events?action=${action}`)).json.items[0]

test('a change says what was before it and what is after it', async () => {
  expect((await one('updatePerson')).changes).toEqual({ name: { before: '', after: '=Ann' } })
  expect(await one('suspendPerson')).toMatchObject({
    target: { id: 'ann' },
    changes: { status: { before: 'active', after: 'suspended' }, suspendedAt: { before: null } },
  })
  const { changes } = await one('setSetting')
  expect(changes.value).toEqual({ before: null, after: 30 })
  expect((await one('adjustBalance')).changes.postedNano).toEqual({
    before: '0',
    after: '1500000000',
  })
})

test('what is made anew or forgotten leaves nothing but what was asked for', async () => {
  const made = await one('createInvitation')
  expect([made.changes, made.detail.note]).toEqual([null, 'for Bob'])
  // The event names what was made.
  const { items } = (await stage.send(eye, 'GET', '/api/invitations')).json
  expect(made.target).toEqual({ id: items[0].id })
  expect(JSON.stringify(made)).not.toContain('code')
  const gone = await one('deletePerson')
  expect([gone.changes, gone.detail, gone.actor]).toEqual([null, {}, 'management key mk_test'])
})

test('events are found by who, what, when and any text, which is no pattern', async () => {
  expect(await list('actor=account%20root&action=setSetting')).toEqual(['setSetting'])
  expect(await list('actor=management%20key%20mk_test')).toEqual(['deletePerson'])
  expect(await list('actor=mk_test')).toEqual(['deletePerson'])
  expect(await list('text=SUSPENDED')).toEqual(['suspendPerson'])
  expect(await list('text=100%25_o')).toEqual(['adjustBalance'])
  expect(await list('text=%25nothing')).toEqual([])
  expect(await list('until=2020-01-01T00:00:00Z')).toEqual([])
  expect((await list('since=1h')).length).toBe(6)
})

test('an event is found by its id, and an unknown id is refused', async () => {
  const event = await one('setSetting')
  const found = await stage.send(eye, 'GET', `/api/events/${event.id}`)
  expect(found).toMatchObject({ status: 200, json: event })
  const none = await stage.send(eye, 'GET', '/api/events/evt_none')
  expect(none).toMatchObject({ status: 404, json: { code: 'not_found', field: 'id' } })
  expect((await stage.send(person('ann'), 'GET', `/api/events/${event.id}`)).status).toBe(403)
})

test('a file has what the list has, and no formula', async () => {
  const json = await stage.reply(eye, '/api/events/export?format=json', {})
  const lines = (await json.text()).trim().split('\n')
  const { items } = (await stage.send(eye, 'GET', '/api/events')).json
  expect(lines.map((line) => JSON.parse(line))).toEqual(items)
  const csv = await stage.reply(eye, '/api/events/export?action=updatePerson', {})
  expect(csv.headers.get('content-disposition')).toBe('attachment; filename="events.csv"')
  const [head, line] = (await csv.text()).split('\r\n')
  expect(head).toBe('at,id,actor,role,action,address,target,detail,changes')
  expect(line).toContain(',updatePerson,127.0.0.1,"{""id"":""ann""}",')
  const none = await stage.reply(eye, '/api/events/export?text=nothing%20such', {})
  expect((await none.text()).trim()).toBe(head ?? '')
  expect((await stage.reply(person('ann'), '/api/events/export', {})).status).toBe(403)
})

test('a limit of tokens is no secret', async () => {
  const send = (method: string, path: string, body: object) =>
    stage.send(root, method, path, { body, headers })
  const { id } = (await send('POST', '/api/keys', { name: 'k', tokensPerMinute: 100 })).json
  await send('PATCH', `/api/keys/${id}`, { tokensPerMinute: 200 })
  const { detail, changes } = await one('updateKey')
  expect(detail).toEqual({ tokensPerMinute: 200 })
  expect([changes.limits.before.tokensPerMinute, changes.limits.after.tokensPerMinute]).toEqual([
    100, 200,
  ])
})
