// Tests people as operators find them, and the control API viewed as one of them.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { keyRow, settlement, usageRow } from '../contract/store.ts'
import { type ControlStage, controlStage, manager, origin, person } from '../support/control.ts'
import { fund } from '../support/ledger-scene.ts'

const root = person('root', 'admin')
const eye = person('eye', 'auditor')

let stage: ControlStage
beforeAll(async () => {
  stage = await controlStage()
  const { store } = stage
  const funds = { ann: 500n, bob: 5_000_000_000_000_000_003n, cem: 9_007_199_254_740_992n }
  for (const [account, amount] of Object.entries(funds)) await fund(store, account, amount)
  await store.accounts.ensure('dan', 5)
  await store.keys.insert(keyRow({ account: 'bob', name: 'Build server', hint: 'sk-tg-…Zq9x' }))
  const at = Date.now() - 60_000
  const spent = { ann: 100n, cem: 300n }
  const rows = Object.entries(spent).map(([account, chargeNano]) =>
    usageRow({ requestId: `req_${account}`, account, at, chargeNano }),
  )
  await store.settlements.settle(rows.map((row) => settlement({ row })))
  await store.keyUses.note([{ keyId: 'key_1', at: 7_000, address: null, client: null }])
})
afterAll(() => stage.close())

const list = async (query: string) =>
  (await stage.send(eye, 'GET', `/api/people?${query}`)).json.items.map(
    ({ id }: { id: string }) => id,
  )

test('each has what it has, spends and uses beside it', async () => {
  const { json } = await stage.send(eye, 'GET', '/api/people')
  const shown = Object.fromEntries(
    json.items.map(({ id, balanceNano, spendNano, keys, lastSeenAt }: Record<string, string>) => [
      id,
      [balanceNano, spendNano, keys, lastSeenAt],
    ]),
  )
  expect(shown).toEqual({
    ann: ['400', '100', 0, null],
    bob: ['5000000000000000003', '0', 1, '1970-01-01T00:00:07.000Z'],
    cem: ['9007199254740692', '300', 0, null],
    dan: ['0', '0', 0, null],
  })
})

test('pages in each order hold everybody once, to the last nano', async () => {
  for (const [sort, expected] of [
    ['balance', ['bob', 'cem', 'ann', 'dan']],
    ['spend', ['cem', 'ann']],
    ['lastSeen', ['bob', 'dan', 'cem', 'ann']],
  ] as const) {
    const seen: string[] = []
    let cursor = ''
    do {
      const path = `/api/people?sort=${sort}&limit=1${cursor}`
      const { json } = await stage.send(eye, 'GET', path)
      seen.push(...json.items.map(({ id }: { id: string }) => id))
      cursor = json.next === null ? '' : `&cursor=${json.next}`
    } while (cursor !== '')
    expect([sort, ...seen]).toEqual([sort, ...expected])
  }
  const { next } = (await stage.send(eye, 'GET', '/api/people?sort=spend&limit=1')).json
  const other = await stage.send(eye, 'GET', `/api/people?sort=balance&cursor=${next}`)
  expect([other.status, other.json.field]).toEqual([400, 'cursor'])
})

test('a key finds its holder; the search is no pattern', async () => {
  expect(await list('search=zq9x')).toEqual(['bob'])
  expect(await list('search=build')).toEqual(['bob'])
  expect(await list('search=key_1')).toEqual(['bob'])
  expect(await list('search=key%25')).toEqual([])
  expect(await list('sort=spend&search=an')).toEqual(['ann'])
})

test('an operator sees what a person sees, changes nothing, and is noted once', async () => {
  const headers = { 'x-tollgate-view-as': 'ann' }
  const get = (who: typeof root, path: string) => stage.send(who, 'GET', path, { headers })
  expect((await get(root, '/api/requests')).json.items).toMatchObject([{ requestId: 'req_ann' }])
  expect((await get(root, '/api/me')).json).toMatchObject({ id: 'ann', role: 'user' })
  expect((await get(root, '/api/requests/req_cem')).status).toBe(404)
  // Requests that a browser makes by itself carry it in the address.
  const asked = (path: string) => stage.send(root, 'GET', path)
  expect((await asked('/api/me?view-as=ann')).json).toMatchObject({ id: 'ann', role: 'user' })
  expect((await asked('/api/requests/export?view-as=ann&format=csv')).json).not.toContain('req_cem')
  expect((await asked('/api/people?view-as=ann')).status).toBe(403)
  expect((await get(root, '/api/people')).status).toBe(403)
  expect((await get(root, '/api/requests?account=cem')).status).toBe(404)
  expect((await get(eye, '/api/me')).status).toBe(200)
  const key = manager(null, ['read'])
  const asKey = { headers: { ...headers, authorization: 'Bearer sk-tgm-test' } }
  expect((await stage.send(key, 'GET', '/api/me', asKey)).status).toBe(200)
  for (const [method, path, body] of [
    ['POST', '/api/keys', { name: 'x', group: 'default' }],
    ['PATCH', '/api/people/ann', { name: 'x' }],
    ['DELETE', '/api/history?all=true', undefined],
  ] as const) {
    const refused = await stage.send(root, method, path, { body, headers: { ...headers, origin } })
    expect([path, refused.status]).toEqual([path, 403])
  }
  // Messages and sessions belong to the person alone.
  for (const path of ['/api/history', '/api/history/req_ann', '/api/me/export', '/api/me/sessions'])
    expect([path, (await get(root, path)).status]).toEqual([path, 403])
  const events = (await stage.send(eye, 'GET', '/api/events?action=viewAs')).json.items
  expect(
    events.map(({ actor, target }: { actor: string; target: object }) => [actor, target]),
  ).toEqual([
    ['management key mk_test', { id: 'ann' }],
    ['account eye', { id: 'ann' }],
    ['account root', { id: 'ann' }],
  ])
})

test('nobody else looks as anybody, and nobody is made up', async () => {
  const headers = { 'x-tollgate-view-as': 'ann' }
  expect((await stage.send(person('bob'), 'GET', '/api/me', { headers })).status).toBe(403)
  const bound = { headers: { ...headers, authorization: 'Bearer sk-tgm-test' } }
  expect((await stage.send(manager('bob', ['read']), 'GET', '/api/me', bound)).status).toBe(403)
  expect((await stage.send(manager(null, ['write']), 'GET', '/api/me', bound)).status).toBe(403)
  expect((await stage.send(null, 'GET', '/api/me', { headers })).status).toBe(401)
  const unknown = { headers: { 'x-tollgate-view-as': 'nobody' } }
  const refused = await stage.send(root, 'GET', '/api/me', unknown)
  expect([refused.status, refused.json.field]).toEqual([404, 'x-tollgate-view-as'])
})
