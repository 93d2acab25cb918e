// Tests accounts, prices, channels, groups and upkeep over the control API: what an operator reads and changes there.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Audit } from '../../src/admin/audit.ts'
import { shippedPrices } from '../../src/catalog/shipped-prices.ts'
import { ensurePrices } from '../../src/meter/ensure-prices.ts'
import { type ControlStage, controlStage, manager, origin, person } from '../support/control.ts'

const root = person('root', 'admin')
const eye = person('eye', 'auditor')
const ann = person('ann')

let stage: ControlStage
let audit: (signal: AbortSignal) => Promise<Audit>

beforeAll(async () => {
  stage = await controlStage({ running: { audit: (signal) => audit(signal) } })
  await ensurePrices(stage.store.prices, {}, shippedPrices('USD'), 1)
  await stage.store.accounts.ensure('ann', 1)
})
afterAll(() => stage.close())

function post(path: string, body: unknown, who = root) {
  return stage.send(who, 'POST', path, { body, headers: { origin } })
}

test('an account is given money with a reason, once, and a debit takes all or nothing', async () => {
  const path = '/api/accounts/ann/adjustments'
  const credit = { amount: '12.5', direction: 'credit', reason: 'a gift', reference: 'g1' }
  expect(await post(path, credit)).toMatchObject({
    status: 200,
    json: { posted: true, availableNano: '12500000000' },
  })
  expect(await post(path, credit)).toMatchObject({ status: 200, json: { posted: false } })
  for (const [body, status, field] of [
    [{ ...credit, amount: '1' }, 409, 'reference'],
    [{ ...credit, amount: '-1' }, 400, 'amount'],
    [{ ...credit, reason: ' ' }, 400, 'reason'],
    [{ amount: '13', direction: 'debit', reason: 'x' }, 409, 'amount'],
    [{ ...credit, note: 1 }, 400, 'note'],
  ] as const) {
    const refused = await post(path, body)
    expect([refused.status, refused.json.field]).toEqual([status, field])
  }
  expect((await post('/api/accounts/nobody/adjustments', credit)).status).toBe(404)
  expect(await stage.send(eye, 'GET', '/api/accounts/ann')).toMatchObject({
    json: { postedNano: '12500000000' },
  })
  const list = await stage.send(eye, 'GET', '/api/accounts?limit=1')
  expect(list.json).toMatchObject({ items: [{ account: 'ann' }] })
})

test('an account that an adjustment is to create is named as others are', async () => {
  const credit = { amount: '1', direction: 'credit', reason: 'x', createAccount: true }
  for (const id of ['ann ', ' ', 'a\u0000b', '\u202enna', 'a'.repeat(129)]) {
    const path = `/api/accounts/${encodeURIComponent(id)}/adjustments`
    const { status, json } = await post(path, credit)
    expect([status, json.field]).toEqual([404, 'id'])
    expect(json.detail).toStartWith('id: expected 1 to 128 characters')
  }
  const accounts = await stage.send(eye, 'GET', '/api/accounts')
  expect(accounts.json.items.map(({ account }: { account: string }) => account)).toEqual(['ann'])
})

test('prices are set, scheduled, rolled back, withdrawn and imported', async () => {
  const card = { model: 'sandbox/chat', prices: { input: '1', output: '2' }, source: 'a contract' }
  const large = await post('/api/prices', { ...card, prices: { input: '900', output: '2' } })
  expect(large).toMatchObject({
    status: 200,
    json: { card: null, differences: [{ name: 'input', large: true }, {}, {}] },
  })
  const set = await post('/api/prices', { ...card, allowLarge: true })
  expect(set).toMatchObject({
    status: 200,
    json: { card: { actor: 'account root', origin: 'set' } },
  })
  const from = new Date(Date.now() + 86_400_000).toISOString()
  expect(
    (await post('/api/prices', { ...card, prices: { input: '2', output: '2' }, from })).json.card
      .from,
  ).toBe(from)
  const all = await stage.send(eye, 'GET', '/api/prices?model=sandbox%2Fchat&all=true')
  expect(all.json.items.map(({ state }: { state: string }) => state)).toEqual([
    'replaced',
    'in force',
    'scheduled',
  ])
  const document = JSON.stringify({ 'sandbox/chat': { prices: { input: '3', output: '2' } } })
  const dry = await post('/api/prices/import', { document })
  expect(dry).toMatchObject({
    status: 200,
    json: { applied: false, changes: [{ model: 'sandbox/chat' }] },
  })
  expect((await post('/api/prices/import', { document, apply: true })).json).toMatchObject({
    applied: true,
  })
  const back = await post('/api/prices/rollback', {
    model: 'sandbox/chat',
    version: set.json.card.version,
  })
  expect(back.json).toMatchObject({ card: { prices: card.prices }, isInFile: false })
  expect(await post('/api/prices/withdraw', { model: 'sandbox/chat' })).toMatchObject({
    json: { prices: {} },
  })
  for (const [path, body, status, field] of [
    ['/api/prices', { ...card, prices: { inputs: '1' } }, 400, 'prices'],
    ['/api/prices', { ...card, from: '2020-01-01' }, 400, 'from'],
    ['/api/prices/withdraw', { model: 'nope' }, 409, 'model'],
    ['/api/prices/rollback', { model: 'nope' }, 404, 'model'],
    ['/api/prices/import', { document: '{' }, 400, 'document'],
  ] as const) {
    const refused = await post(path, body)
    expect([path, refused.status, refused.json.field]).toEqual([path, status, field])
  }
})

test('channels are shown without secrets, and tried', async () => {
  const list = await stage.send(eye, 'GET', '/api/channels')
  expect(list.json.items).toMatchObject([
    { id: 'sandbox', vendor: 'sandbox', origin: 'built-in', state: 'ok' },
  ])
  expect(list.json.items[0]).toMatchObject({ keys: [], document: { key: null, keys: [] } })
  expect((await post('/api/channels/sandbox/test', {})).json).toMatchObject({ ok: true })
  const shown = await stage.send(eye, 'GET', '/api/channels/sandbox')
  expect(shown.json.lastTest).toMatchObject({ ok: true, durationMs: expect.any(Number) })
  expect((await post('/api/channels/nope/test', {})).status).toBe(404)
})

test('a user sees groups and what they multiply prices by', async () => {
  const { json } = await stage.send(ann, 'GET', '/api/groups')
  expect(json.items).toMatchObject([
    { id: 'default', multiplier: '1', public: true, hasKeys: false },
  ])
  expect(json.items[0].models).toContain('sandbox/chat')
})

test('an audit tells that it runs, then what it found; one runs at a time, and it ends with its caller', async () => {
  const found = {
    ok: true,
    transfers: 1,
    usageRows: 0,
    wallets: 1,
    findings: [],
    setAside: 0,
    setAsides: [],
  }
  audit = async () => found
  const { headers, json } = await post('/api/audit', undefined)
  expect(headers.get('content-type')).toBe('application/x-ndjson')
  const lines = json
    .trim()
    .split('\n')
    .map((line: string) => JSON.parse(line))
  expect(lines).toEqual([
    { state: 'running', seconds: 0 },
    { state: 'done', audit: found },
  ])
  audit = () => Promise.reject(new Error('no database'))
  expect((await post('/api/audit', undefined)).json).toContain(
    '{"state":"failed","message":"no database"}',
  )
  const aborted = Promise.withResolvers<void>()
  audit = (signal) =>
    new Promise((_, reject) => {
      signal.onabort = () => {
        aborted.resolve()
        reject(signal.reason)
      }
    })
  const running = await stage.reply(root, '/api/audit', { method: 'POST', headers: { origin } })
  expect((await post('/api/audit', undefined)).status).toBe(409)
  await running.body?.cancel()
  await aborted.promise
  audit = async () => found
  expect((await post('/api/audit', undefined)).status).toBe(200)
})

test('only an admin changes anything here, and a user reads none of it', async () => {
  const readings = [
    '/api/accounts',
    '/api/accounts/ann',
    '/api/prices',
    '/api/channels',
    '/api/backup',
  ]
  for (const path of readings) {
    expect((await stage.send(ann, 'GET', path)).status).toBe(403)
    expect((await stage.send(null, 'GET', path)).status).toBe(401)
    expect((await stage.send(eye, 'GET', path)).status).toBe(200)
  }
  const changes = [
    '/api/accounts/ann/adjustments',
    '/api/prices',
    '/api/prices/withdraw',
    '/api/prices/rollback',
    '/api/prices/import',
    '/api/channels/sandbox/test',
    '/api/audit',
  ]
  for (const path of changes)
    for (const who of [ann, eye, manager('ann', ['read', 'write']), manager(null, ['read'])])
      expect((await post(path, {}, who)).status).toBe(403)
  expect(stage.crashes).toEqual([])
})
