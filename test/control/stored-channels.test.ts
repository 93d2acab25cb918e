// Tests channels, groups and models made at run time, over the control API alone.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { keyRow } from '../contract/store.ts'
import { type ControlStage, controlStage, origin, person } from '../support/control.ts'
import { chatReply, json, startUpstream, type Upstream } from '../support/upstream.ts'

const root = person('root', 'admin')
const eye = person('eye', 'auditor')
const ann = person('ann')
const secret = 'sk-vendor-0123456789-abcd'

let stage: ControlStage

beforeAll(async () => {
  stage = await controlStage()
})
afterAll(() => stage.close())

function ask(method: string, path: string, body?: unknown, who = root, ifMatch?: number) {
  const headers = { origin, ...(ifMatch !== undefined && { 'if-match': `"${ifMatch}"` }) }
  return stage.send(who, method, path, { headers, ...(body !== undefined && { body }) })
}

const post = (path: string, body: unknown, who = root) => ask('POST', path, body, who)

test('a channel is made, changed, disabled, brought back and removed; each is a version and an event', async () => {
  const made = await post('/api/channels', {
    id: 'main',
    vendor: 'sandbox',
    models: ['sandbox/chat'],
    keys: [{ name: 'first', key: secret }],
    tags: ['cheap'],
  })
  expect(made).toMatchObject({
    status: 201,
    json: {
      id: 'main',
      origin: 'stored',
      state: 'ok',
      keys: [{ name: 'first', hint: 'abcd', state: 'in use' }],
      document: { keys: [{ name: 'first', key: '***' }], weight: 1, state: 'enabled' },
      revision: 1,
      actor: 'account root',
      hour: { requests: 0, successPercent: null, p95Ms: null },
    },
  })
  expect(made.headers.get('etag')).toBe('"1"')
  expect((await post('/api/channels', { id: 'main', vendor: 'sandbox' })).status).toBe(409)
  const stale = await ask('PATCH', '/api/channels/main', { weight: 2 }, root, 7)
  expect(stale).toMatchObject({ status: 412, json: { code: 'stale' } })
  const renamed = await ask('PATCH', '/api/channels/main', { id: 'other' })
  expect([renamed.status, renamed.json.field]).toEqual([400, 'id'])
  const changed = await ask('PATCH', '/api/channels/main', { weight: 2, tags: null }, root, 1)
  expect(changed.json).toMatchObject({ revision: 2, weight: 2, tags: [], keys: [{ hint: 'abcd' }] })
  const drained = await post('/api/channels/main/state', { state: 'draining' })
  expect(drained.json).toMatchObject({ state: 'draining', revision: 3 })
  const versions = await stage.send(eye, 'GET', '/api/channels/main/versions?limit=2')
  expect(versions.json.items.map(({ version }: { version: number }) => version)).toEqual([3, 2])
  const older = `/api/channels/main/versions?cursor=${versions.json.next}`
  expect((await stage.send(eye, 'GET', older)).json).toMatchObject({
    items: [{ version: 1, document: { keys: [{ key: '***' }] }, actor: 'account root' }],
    next: null,
  })
  const back = await post('/api/channels/main/rollback', { version: 1 })
  expect(back.json).toMatchObject({ revision: 4, state: 'ok', tags: ['cheap'], weight: 1 })
  expect((await ask('DELETE', '/api/channels/main')).status).toBe(204)
  expect((await ask('GET', '/api/channels/main')).status).toBe(404)
  expect((await post('/api/channels/main/rollback', { version: 5 })).status).toBe(404)
  const again = await post('/api/channels/main/rollback', { version: 4 })
  expect(again.json).toMatchObject({ revision: 6, keys: [{ hint: 'abcd' }] })
  const events = await stage.send(eye, 'GET', '/api/events?action=updateChannel')
  expect(events.json.items[0]).toMatchObject({
    detail: { before: { tags: ['cheap'] }, after: { weight: 2, keys: [{ key: '***' }] } },
  })
  expect(events.json.items[0].changes).toEqual({
    tags: { before: ['cheap'], after: null },
    weight: { before: null, after: 2 },
  })
  const seen = JSON.stringify([made.json, versions.json, events.json, again.json])
  expect(seen).not.toContain(secret)
})

test('keys are kept by name, replaced, and never sent to another address unasked', async () => {
  const document = { id: 'kept', vendor: 'openai', baseUrl: 'http://127.0.0.1:9/v1', key: secret }
  await post('/api/channels', document)
  const two = [{ name: 'key' }, { name: 'other', key: 'sk-other-0123456789-wxyz' }]
  const both = await ask('PATCH', '/api/channels/kept', { keys: two })
  expect(both.json.keys).toMatchObject([
    { name: 'key', hint: 'abcd' },
    { name: 'other', hint: 'wxyz' },
  ])
  const elsewhere = { baseUrl: 'http://127.0.0.1:10/v1' }
  const refused = await ask('PATCH', '/api/channels/kept', elsewhere)
  expect(refused).toMatchObject({ status: 400, json: { field: 'keys' } })
  const tried = { channel: { id: 'kept', ...elsewhere }, model: 'gpt-4o-mini' }
  expect((await post('/api/channels/test', tried)).json).toMatchObject({ field: 'keys' })
  const anew = { ...elsewhere, key: 'sk-anew-0123456789-anew' }
  expect((await ask('PATCH', '/api/channels/kept', anew)).json.keys).toMatchObject([
    { name: 'key', hint: 'anew' },
  ])
})

test.each([
  [{ vendor: 'opnai' }, 'vendor'],
  [{ vendor: 'openai', groups: ['nobody'] }, 'groups[0]'],
  [{ vendor: 'openai-compatible' }, 'baseUrl'],
  [{ vendor: 'openai', baseUrl: 'ftp://x' }, 'baseUrl'],
  [{ vendor: 'openai', weight: -1 }, 'weight'],
  [{ vendor: 'openai', wieght: 1 }, 'wieght'],
  [{ vendor: 'openai', state: 'off' }, 'state'],
  [{ vendor: 'openai', key: 'a', keys: [{ name: 'b', key: 'c' }] }, 'keys'],
  [{ vendor: 'openai', keys: [{ name: 'b' }] }, 'keys[0].key'],
  [{ vendor: 'openai', key: 'two\nlines' }, 'key'],
  [{ vendor: 'openai', models: {} }, 'models'],
])('what is wrong with a channel is named: %j', async (document, field) => {
  const refused = await post('/api/channels', { id: 'wrong', ...document })
  expect([refused.status, refused.json.field]).toEqual([400, field])
})

test('only admins change, auditors read, users see nothing of it', async () => {
  expect((await post('/api/channels', { id: 'x', vendor: 'sandbox' }, eye)).status).toBe(403)
  expect((await post('/api/groups', { id: 'x' }, ann)).status).toBe(403)
  for (const path of ['/api/channels/export', '/api/configuration/groups']) {
    expect((await stage.send(eye, 'GET', path)).status).toBe(200)
    expect((await stage.send(ann, 'GET', path)).status).toBe(403)
  }
})

test('groups and models are made, changed and removed where nothing uses them', async () => {
  const group = { id: 'paid', multiplier: '1.5', limits: { requestsPerMinute: 10 } }
  expect(await post('/api/groups', group)).toMatchObject({
    status: 201,
    json: { id: 'paid', origin: 'stored', document: { multiplier: '1.5', models: ['*'] } },
  })
  await post('/api/channels', { id: 'user', vendor: 'sandbox', groups: ['paid'] })
  const used = await ask('DELETE', '/api/groups/paid')
  expect(used).toMatchObject({ status: 409 })
  expect(used.json.detail).toContain('channel user')
  await ask('PATCH', '/api/channels/user', { groups: null })
  await stage.store.accounts.ensure('ann', 1)
  await stage.store.keys.insert(keyRow({ id: 'key_paid', account: 'ann', group: 'paid' }))
  await ask('PATCH', '/api/people/ann', { groups: ['paid'] })
  const named = await ask('DELETE', '/api/groups/paid')
  expect([named.status, named.json.detail]).toEqual([409, 'id: is used by 1 key, 1 account'])
  const uses = await stage.send(eye, 'GET', '/api/groups/uses')
  expect(uses.json.items).toMatchObject([
    {
      id: 'default',
      keys: 0,
      isDefault: true,
      channels: ['sandbox'],
      requests: 0,
      chargeNano: '0',
    },
    {
      id: 'paid',
      people: 1,
      keys: 1,
      isDefault: false,
      channels: ['sandbox'],
    },
  ])
  expect((await stage.send(ann, 'GET', '/api/groups/uses')).status).toBe(403)
  await ask('PATCH', '/api/people/ann', { groups: null })
  await stage.store.keys.remove('key_paid')
  expect((await ask('DELETE', '/api/groups/paid')).status).toBe(204)
  const usual = await ask('PATCH', '/api/groups/default', { multiplier: '2' })
  expect(usual.json).toMatchObject({ origin: 'stored', document: { multiplier: '2' } })
  const [event] = (await stage.send(eye, 'GET', '/api/events?action=updateGroup')).json.items
  expect(event.changes).toEqual({ multiplier: { before: null, after: '2' } })
  expect((await ask('DELETE', '/api/groups/default')).status).toBe(204)
  expect((await stage.send(eye, 'GET', '/api/configuration/groups')).json.items).toMatchObject([
    { id: 'default', origin: 'built-in', document: { multiplier: '1' } },
  ])
  expect((await ask('DELETE', '/api/groups/default')).status).toBe(409)
  const model = { id: 'acme/own', kind: 'chat', context: 1_000 }
  expect((await post('/api/models', { ...model, prices: { input: '1' } })).json.field).toBe(
    'prices',
  )
  expect((await post('/api/models', model)).status).toBe(201)
  await ask('PATCH', '/api/channels/user', { models: ['acme/own'] })
  expect((await ask('DELETE', '/api/models/acme%2Fown')).json.detail).toContain('channel user')
  const wider = await ask('PATCH', '/api/models/acme%2Fown', { context: 2_000, vision: true })
  expect(wider.json).toMatchObject({ document: { context: 2_000, vision: true, kind: 'chat' } })
  const ofModel = (await stage.send(eye, 'GET', '/api/events?action=updateModel')).json.items[0]
  expect(ofModel.changes).toEqual({
    context: { before: 1_000, after: 2_000 },
    vision: { before: null, after: true },
  })
})

test('many are changed at once by tag, all or none', async () => {
  for (const id of ['b1', 'b2']) {
    await post('/api/channels', { id, vendor: 'sandbox', tags: ['batch'] })
  }
  const changes = { state: 'disabled', priority: 3 }
  const done = await post('/api/channels/bulk', { tag: 'batch', changes })
  expect(done.json.items).toMatchObject([
    { id: 'b1', state: 'disabled', priority: 3 },
    { id: 'b2', state: 'disabled', priority: 3 },
  ])
  await ask('PATCH', '/api/channels/b2', { state: null, disabled: true })
  expect((await ask('GET', '/api/channels/b2')).json.state).toBe('disabled')
  const enabled = await post('/api/channels/b2/state', { state: 'enabled' })
  expect(enabled.json).toMatchObject({ state: 'ok', document: { state: 'enabled' } })
  const missing = { ids: ['b1', 'nobody'], changes: { priority: 4 } }
  expect(await post('/api/channels/bulk', missing)).toMatchObject({
    status: 404,
    json: { field: 'ids[1]' },
  })
  expect((await ask('GET', '/api/channels/b1')).json.priority).toBe(3)
  expect((await post('/api/channels/bulk', { changes })).json.field).toBe('ids')
})

test('what is exported can be imported, secrets kept; a dry run changes nothing', async () => {
  await post('/api/channels', { id: 'port', vendor: 'sandbox', key: secret, note: 'before' })
  const exported = (await stage.send(eye, 'GET', '/api/channels/export')).json
  expect(JSON.stringify(exported)).not.toContain(secret)
  const channels = exported.channels.map((each: { id: string }) =>
    each.id === 'port' ? { ...each, note: 'after' } : each,
  )
  const dry = await post('/api/channels/import', { channels })
  expect(dry.json.applied).toBe(false)
  const before = { vendor: 'sandbox', key: '***', note: 'before' }
  const foreseen = { before, after: { ...before, note: 'after' } }
  expect(dry.json.channels).toContainEqual({
    id: 'port',
    action: 'update',
    problem: null,
    ...foreseen,
  })
  const wrong = [...channels, { id: 'bad', vendor: 'opnai' }]
  const refused = await post('/api/channels/import', { channels: wrong, apply: true })
  expect(refused.json.applied).toBe(false)
  expect(refused.json.channels.at(-1)).toMatchObject({ id: 'bad', action: 'refuse' })
  expect((await ask('GET', '/api/channels/port')).json.document.note).toBe('before')
  const applied = await post('/api/channels/import', { channels, apply: true })
  expect(applied.json.applied).toBe(true)
  expect((await ask('GET', '/api/channels/port')).json).toMatchObject({
    document: { note: 'after' },
    keys: [{ hint: 'abcd' }],
  })
})

test('a channel that is not stored is tried, and the exchange is shown without its secrets', async () => {
  const upstream: Upstream = await startUpstream()
  try {
    upstream.on('*', [json(401, { error: { message: `no such key: ${secret}` } })])
    const draft = { id: 'draft', vendor: 'openai', baseUrl: upstream.url, key: secret }
    const tried = await post('/api/channels/test', { channel: draft, model: 'gpt-4o-mini' })
    expect(tried.json).toMatchObject({
      ok: false,
      model: 'gpt-4o-mini',
      exchange: {
        request: { method: 'POST', headers: { authorization: '***' } },
        reply: { status: 401 },
      },
    })
    expect(tried.json.exchange.request.address).toBe(`${upstream.url}/chat/completions`)
    expect(tried.json.exchange.request.body).toContain('gpt-4o-mini')
    expect(JSON.stringify(tried.json)).not.toContain(secret)
    expect((await ask('GET', '/api/channels/draft')).status).toBe(404)
    const list = await post('/api/channels/vendor-models', { channel: draft })
    expect(list.status).toBe(409)
  } finally {
    await upstream.close()
  }
})

test('headers of a channel are sent in place of the usual ones, and secret ones never shown', async () => {
  const upstream: Upstream = await startUpstream()
  try {
    upstream.on('*', [json(200, chatReply('ok'))])
    const hidden = 'Basic hidden-0123456789-wxyz'
    const headers = { authorization: hidden, 'x-team': 'ops' }
    const draft = { id: 'headed', vendor: 'openai', baseUrl: upstream.url, key: secret, headers }
    const model = 'gpt-4o-mini'
    const tried = await post('/api/channels/test', { channel: draft, model })
    expect(tried.json).toMatchObject({
      ok: true,
      exchange: { request: { headers: { authorization: '***', 'x-team': 'ops' } } },
    })
    const made = await post('/api/channels', draft)
    expect(made.json.document.headers).toEqual({ authorization: '***', 'x-team': 'ops' })
    const changes = { headers: { authorization: '***', 'x-team': 'dev' } }
    const changed = await ask('PATCH', '/api/channels/headed', changes)
    expect(changed.json.document.headers).toEqual(changes.headers)
    await post('/api/channels/test', { channel: { id: 'headed', vendor: 'openai' }, model })
    const sent = upstream.requests.map((each) =>
      ['authorization', 'x-team'].map((name) => each.headers.get(name)),
    )
    expect(sent).toEqual([
      [hidden, 'ops'],
      [hidden, 'dev'],
    ])
    for (const wrong of [{ host: 'x' }, { 'X-Team': 'x' }, { 'x-team': 'two\nlines' }]) {
      const refused = await ask('PATCH', '/api/channels/headed', { headers: wrong })
      expect([refused.status, refused.json.field]).toEqual([400, expect.stringMatching(/^headers/)])
    }
    const shown = [tried, made, changed, await ask('GET', '/api/channels/headed/versions')]
    expect(JSON.stringify(shown.map((each) => each.json))).not.toContain('hidden-0123456789')
  } finally {
    await upstream.close()
  }
})

test('the balance of a vendor is asked once a minute at most, shown with its time, and refused in its words', async () => {
  const upstream: Upstream = await startUpstream()
  try {
    const infos = [{ currency: 'CNY', total_balance: '110.00' }]
    upstream.on(
      '*',
      [json(401, { error: { message: `no such key ${secret}` } })],
      [json(200, { is_available: true, balance_infos: infos })],
    )
    const draft = { id: 'funded', vendor: 'deepseek', baseUrl: upstream.url, key: secret }
    const made = await post('/api/channels', draft)
    expect(made.json).toMatchObject({ offersBalance: true, balance: null })
    const refused = await post('/api/channels/funded/balance', undefined)
    expect([refused.status, refused.json.detail]).toEqual([
      409,
      expect.stringContaining('401 no such key'),
    ])
    expect(JSON.stringify(refused.json)).not.toContain(secret)
    const balance = { at: expect.any(String), amounts: [{ amount: '110.00', currency: 'CNY' }] }
    for (const _ of [1, 2]) {
      const asked = await post('/api/channels/funded/balance', undefined)
      expect([asked.status, asked.json]).toEqual([200, balance])
    }
    expect(upstream.requests.map(({ method, target }) => `${method} ${target}`)).toEqual([
      'GET /user/balance',
      'GET /user/balance',
    ])
    const shown = await stage.send(eye, 'GET', '/api/channels/funded')
    expect(shown.json).toMatchObject({
      balance,
      quarters: Array(4).fill({ requests: 0, successPercent: null }),
    })
    expect((await stage.send(eye, 'POST', '/api/channels/funded/balance')).status).toBe(403)
    await post('/api/channels', { id: 'silent', vendor: 'openai', key: secret })
    const silent = await post('/api/channels/silent/balance', undefined)
    expect([silent.status, silent.json.detail]).toEqual([
      409,
      expect.stringContaining('reports no balance'),
    ])
  } finally {
    await upstream.close()
  }
})

test('the password of a proxy is never shown, stays where it is not changed, and goes to no other proxy', async () => {
  const hidden = 'pass-0123456789-wxyz'
  const proxy = `http://ops:${hidden}@10.0.0.1:3128`
  const shown = 'http://ops:***@10.0.0.1:3128'
  const draft = { id: 'proxied', vendor: 'openai', key: secret, proxy }
  const made = await post('/api/channels', draft)
  expect(made.json.document.proxy).toBe(shown)
  const kept = await ask('PATCH', '/api/channels/proxied', { proxy: shown, weight: 2 })
  expect([kept.status, kept.json.document.proxy]).toEqual([200, shown])
  const elsewhere = await ask('PATCH', '/api/channels/proxied', {
    proxy: shown.replace('10.0.0.1', '10.0.0.2'),
  })
  expect([elsewhere.status, elsewhere.json.field]).toEqual([400, 'proxy'])
  const exported = await stage.send(eye, 'GET', '/api/channels/export')
  const imported = await post('/api/channels/import', { ...exported.json, apply: true })
  expect(imported.json.channels.map(({ problem }: { problem: unknown }) => problem)).not.toContain(
    expect.any(String),
  )
  const versions = await ask('GET', '/api/channels/proxied/versions')
  // Without TLS it would read the vendor's key.
  const plain = { id: 'plain', vendor: 'openai', key: secret, baseUrl: 'http://10.0.0.9/v1' }
  expect((await post('/api/channels', plain)).status).toBe(201)
  const read = await ask('PATCH', '/api/channels/plain', { proxy: 'http://10.0.0.1:3128' })
  expect([read.status, read.json.field]).toEqual([400, 'proxy'])
  const entered = { proxy: 'http://10.0.0.1:3128', key: 'sk-vendor-another-key-0001' }
  expect((await ask('PATCH', '/api/channels/plain', entered)).status).toBe(200)
  const stored = await stage.store.configuration.all()
  const events = await stage.send(eye, 'GET', '/api/events')
  const seen = [made, kept, elsewhere, exported, imported, versions, events].map(({ json }) => json)
  for (const text of [JSON.stringify(seen), JSON.stringify(stored)])
    expect(text).not.toContain(hidden)
})

test('an auditor sees vendors and where requests would go, and changes no channel', async () => {
  const vendors = await stage.send(eye, 'GET', '/api/vendors')
  expect(vendors.json.items).toContainEqual({
    id: 'deepseek',
    baseUrl: 'https://api.deepseek.com',
    needsKey: true,
    dialects: expect.arrayContaining(['openai-chat']),
  })
  const asked = { model: 'sandbox/chat', group: 'default' }
  const preview = await post('/api/routing/preview', asked, eye)
  expect([preview.status, preview.json.model]).toEqual([200, 'sandbox/chat'])
  expect((await post('/api/routing/preview', asked, ann)).status).toBe(403)
  expect((await post('/api/channels', { id: 'other', vendor: 'sandbox' }, eye)).status).toBe(403)
})
