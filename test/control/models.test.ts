// Tests models, their prices and the feeds of price changes over the control API: who sees what, and what feeds
// contain.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { setPrices } from '../../src/admin/prices.ts'
import { shippedPrices } from '../../src/catalog/shipped-prices.ts'
import type { ControlPrincipal } from '../../src/identity/principal.ts'
import { ensurePrices } from '../../src/meter/ensure-prices.ts'
import { append, keyRow, usageRow } from '../contract/store.ts'
import { adminOf } from '../support/admin.ts'
import { type ControlStage, controlStage, manager, person } from '../support/control.ts'

const dayMs = 86_400_000
const changedMs = Date.now() - 2 * dayMs
const ahead = Date.now() + 9 * dayMs
const odd = { ...{ allowLarge: true, source: 'a contract' }, model: 'sandbox/chat' }

let stage: ControlStage

beforeAll(async () => {
  stage = await controlStage()
  await ensurePrices(stage.store.prices, {}, shippedPrices('USD'), changedMs - dayMs)
  const at = adminOf(stage.store, { nowMs: changedMs })
  await setPrices(at, { ...odd, prices: { input: '1', output: '3' } })
  await setPrices(at, { ...odd, prices: { input: '2', output: '3' }, from: ahead })
})
afterAll(() => stage.close())

test('anyone reads models and prices of a public group, and of no other', async () => {
  const list = await stage.send(null, 'GET', '/api/models?limit=3&sort=price')
  expect(list).toMatchObject({ status: 200, json: { items: [{ group: 'default' }, {}, {}] } })
  const next = await stage.send(
    null,
    'GET',
    `/api/models?limit=3&sort=price&cursor=${list.json.next}`,
  )
  expect(next.json.items[0].id).not.toBe(list.json.items[2].id)
  const choices = await stage.send(null, 'GET', '/api/model-choices')
  expect(choices.json).toMatchObject({ vendors: ['sandbox'] })
  expect(choices.json.kinds).toContain('image')
  const thinking = await stage.send(null, 'GET', '/api/models?reasoning=true')
  expect(thinking.json.items).toMatchObject([{ id: 'sandbox/reasoning', reasoning: true }])
  const one = await stage.send(null, 'GET', '/api/models/sandbox%2Fchat')
  expect(one).toMatchObject({
    status: 200,
    json: {
      id: 'sandbox/chat',
      kind: 'chat',
      live: null,
      price: { origin: 'set', lines: [{ name: 'input', priceNano: '1000000000' }, {}] },
    },
  })
  for (const [path, status, field] of [
    ['/api/models?group=inner', 404, 'group'],
    ['/api/models/nope', 404, 'model'],
    ['/api/models?sort=fast', 400, 'sort'],
    ['/api/models?context=-1', 400, 'context'],
    ['/api/models?reasoning=maybe', 400, 'reasoning'],
    ['/api/model-choices?group=inner', 404, 'group'],
    ['/api/models?tools=maybe', 400, 'tools'],
    ['/api/models?limit=501', 400, 'limit'],
    ['/api/models/nope/prices', 404, 'model'],
    ['/api/prices/feed.json?group=inner', 404, 'group'],
  ] as const) {
    const refused = await stage.send(null, 'GET', path)
    expect([path, refused.status, refused.json.field]).toEqual([path, status, field])
  }
  expect(stage.crashes).toEqual([])
})

test('the prices of a model are shown as they were, are and will be', async () => {
  const { json } = await stage.send(person('ann'), 'GET', '/api/models/sandbox%2Fchat/prices')
  expect(json.items).toMatchObject([
    {
      state: 'scheduled',
      from: new Date(ahead).toISOString(),
      announcedAt: new Date(changedMs).toISOString(),
      steps: [
        { name: 'input', beforeNano: '1000000000', afterNano: '2000000000', percent: '+100.0' },
      ],
    },
    { state: 'in force', from: new Date(changedMs).toISOString() },
    { state: 'past', from: new Date(changedMs - dayMs).toISOString() },
  ])
  const pages = []
  for (let cursor = ''; ; ) {
    const page = await stage.send(null, 'GET', `/api/models/sandbox%2Fchat/prices?limit=1${cursor}`)
    pages.push(...page.json.items)
    if (page.json.next === null) break
    cursor = `&cursor=${page.json.next}`
  }
  expect(pages).toEqual(json.items)
})

test('a feed has what changed since the beginning, and says when nothing did', async () => {
  const json = await stage.send(null, 'GET', '/api/prices/feed.json')
  expect(json.headers.get('content-type')).toBe('application/feed+json; charset=utf-8')
  expect(json.headers.get('cache-control')).toBe('public, max-age=60')
  const { items, ...feed } = json.json
  expect(feed).toMatchObject({
    version: 'https://jsonfeed.org/version/1.1',
    feed_url: 'http://127.0.0.1:8787/api/prices/feed.json',
  })
  expect(items).toHaveLength(2)
  expect(items.map(({ date_published }: { date_published: string }) => date_published)).toEqual(
    Array(2).fill(new Date(changedMs).toISOString()),
  )
  expect(items.map(({ title }: { title: string }) => title)).toContain(
    'sandbox/chat: input 1 \u2192 2 (+100.0 %)',
  )
  expect(new Set(items.map(({ id }: { id: string }) => id)).size).toBe(2)
  const rss = await stage.send(null, 'GET', '/api/prices/feed.rss')
  expect(rss.headers.get('content-type')).toBe('application/rss+xml; charset=utf-8')
  expect(rss.json.match(/<item>/g)).toHaveLength(2)
  expect(rss.json).toContain('<title>sandbox/chat: input 1 \u2192 2 (+100.0 %)</title>')
  for (const [path, etag] of [
    ['/api/prices/feed.json', json.headers.get('etag')],
    ['/api/prices/feed.rss', rss.headers.get('etag')],
  ] as const) {
    const known = { headers: { 'if-none-match': `"other", W/${etag}` } }
    expect(await stage.send(null, 'GET', path, known)).toMatchObject({ status: 304, json: '' })
    const other = { headers: { 'if-none-match': '"other"' } }
    expect((await stage.send(null, 'GET', path, other)).status).toBe(200)
  }
})

test('a user asks what the own requests would cost now, and nobody else’s', async () => {
  const row = usageRow({ account: 'ann', at: Date.now() - 1_000, modelAsked: 'sandbox/chat' })
  await stage.store.accounts.ensure('ann', 1)
  await append(stage.store, [
    { ...row, chargeNano: 5n },
    { ...row, requestId: 'bobs', account: 'bob' },
  ])
  const mine = await stage.send(person('ann'), 'GET', '/api/what-if?days=1')
  expect(mine).toMatchObject({
    status: 200,
    json: { exact: true, total: { requests: 1, thenNano: '5' } },
  })
  expect(
    (await stage.send(person('root', 'admin'), 'GET', '/api/what-if')).json.total.requests,
  ).toBe(2)
  for (const [who, path, status] of [
    [person('ann'), '/api/what-if?account=bob', 404],
    [person('ann'), '/api/what-if?model=nope', 404],
    [person('ann'), '/api/what-if?group=nope', 404],
    [person('ann'), '/api/what-if?days=0', 400],
    [null, '/api/what-if', 401],
  ] as const)
    expect((await stage.send(who, 'GET', path)).status).toBe(status)
})

test('whoever has keys of a group is told so, an admin too', async () => {
  for (const account of ['ann', 'root']) {
    await stage.store.accounts.ensure(account, 1)
    await stage.store.keys.insert(keyRow({ id: `key-${account}`, account, hash: account }))
  }
  const groups = async (as: ControlPrincipal) =>
    (await stage.send(as, 'GET', '/api/groups')).json.items.map(
      ({ id, hasKeys }: { id: string; hasKeys: boolean }) => [id, hasKeys],
    )
  expect(await groups(person('ann'))).toEqual([['default', true]])
  expect(await groups(person('root', 'admin'))).toEqual([['default', true]])
  expect(await groups(person('bob'))).toEqual([['default', false]])
  expect(await groups(manager(null, ['read']))).toEqual([['default', false]])
})
