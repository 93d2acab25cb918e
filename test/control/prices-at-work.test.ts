// Tests prices at work over the control API: what a card would have earned, what is missing, what differs, what is
// scheduled.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { withChannels } from '../../src/admin/channels.ts'
import { loadConfiguration } from '../../src/admin/configuration.ts'
import { type Offer, offerOf } from '../../src/admin/offer.ts'
import { shippedPrices } from '../../src/catalog/shipped-prices.ts'
import { ensurePrices } from '../../src/meter/ensure-prices.ts'
import { settlement, usageRow } from '../contract/store.ts'
import { type ControlStage, controlStage, manager, origin, person } from '../support/control.ts'
import { fund } from '../support/ledger-scene.ts'

const root = person('root', 'admin')
const eye = person('eye', 'auditor')
const model = 'sandbox/chat'

let stage: ControlStage
let offer: Offer
beforeAll(async () => {
  stage = await controlStage({ running: { offer: async () => offer } })
  const { store } = stage
  await ensurePrices(store.prices, {}, shippedPrices('USD'), 1)
  const config = withChannels(await loadConfiguration({ flags: {}, env: {} }), {})
  offer = offerOf(config, await store.prices.all())
  await fund(store, 'ann', 1_000_000n)
  const at = Date.now() - 60_000
  const counted = { input: 10, output: 20, cachedInput: 0, reasoning: 0 }
  const priced = { at, modelAsked: model, priceVersion: 1, multiplierPpm: 1_000_000, ...counted }
  const rows = [
    usageRow({ ...priced, requestId: 'req_1', chargeNano: 100n }),
    usageRow({ ...priced, requestId: 'req_2', chargeNano: 50n, multiplierPpm: 500_000 }),
    usageRow({ ...priced, requestId: 'req_3', chargeNano: 7n, units: { search: 1 } }),
    // Refused, for another model, and too old.
    usageRow({ ...priced, requestId: 'req_4', priceVersion: null, output: 0, input: 0 }),
    usageRow({ ...priced, requestId: 'req_5', modelAsked: 'other', chargeNano: 9n }),
    usageRow({ ...priced, requestId: 'req_6', at: at - 8 * 86_400_000, chargeNano: 9n }),
  ]
  await store.settlements.settle(rows.map((row) => settlement({ row })))
})
afterAll(() => stage.close())

const post = (path: string, body: object, who = root) =>
  stage.send(who, 'POST', path, { body, headers: { origin } })
const items = async (path: string) => (await stage.send(eye, 'GET', path)).json.items

test('a proposed card says what it would have brought, to the nano', async () => {
  const prices = { input: '0.002', output: '0.003' }
  const { status, json } = await post('/api/prices/effect', { model, prices }, eye)
  expect(status).toBe(200)
  // Two nano-units a token in, three a token out: 80, and half of it.
  expect(json).toMatchObject({
    ...{ currency: 'USD', coveredSince: null, requests: 2, thenNano: '150', proposedNano: '120' },
    ...{ differenceNano: '-30', unpriced: { requests: 1, thenNano: '7' } },
  })
  const key = { headers: { authorization: 'Bearer sk-tgm-test' }, body: { model, prices } }
  const asKey = await stage.send(manager(null, ['read']), 'POST', '/api/prices/effect', key)
  expect(asKey.status).toBe(200)
  for (const [body, field] of [
    [{ model: 'gpt-*', prices }, 'model'],
    [{ model, prices: {} }, 'prices'],
    [{ model, prices: { inputs: '1' } }, 'prices'],
  ] as const)
    expect((await post('/api/prices/effect', body)).json.field).toBe(field)
  expect((await post('/api/prices/effect', { model, prices }, person('ann'))).status).toBe(403)
  expect((await items('/api/events')).length).toBe(0)
})

test('prices that are not the shipped ones are listed until they are taken back', async () => {
  expect(await items('/api/prices/diff')).toEqual([])
  const prices = { input: '1', output: '2' }
  await post('/api/prices', { model, prices, source: 'mine', allowLarge: true })
  expect(await items('/api/prices/diff')).toMatchObject([
    { model, origin: 'set', prices, differences: [{ name: 'input', before: '1' }, {}, {}] },
  ])
  await post('/api/prices/withdraw', { model })
  expect(await items('/api/prices/diff')).toEqual([])
})

test('the log of operators says which model got which prices, and keeps no document', async () => {
  const model = 'sandbox/logged'
  const newest = async (action: string) => {
    const [event] = await items(`/api/events?action=${action}&limit=1`)
    return { target: event.target, changes: event.changes }
  }
  const set = (input: string, more = {}) =>
    post('/api/prices', { model, prices: { input, output: '2' }, source: 'mine', ...more })
  await set('1', { allowLarge: true })
  await set('1.5')
  const changes = { input: { before: '1', after: '1.5' } }
  expect(await newest('setPrices')).toMatchObject({ target: { model }, changes })
  // Refused as too large a change.
  expect((await set('900')).json.card).toBeNull()
  expect(await newest('setPrices')).toEqual({ target: { model }, changes: null })
  expect((await post('/api/prices/rollback', { model })).status).toBe(200)
  const back = { input: { before: '1.5', after: '1' } }
  expect(await newest('rollbackPrices')).toEqual({ target: { model }, changes: back })
  expect((await post('/api/prices/withdraw', { model })).status).toBe(200)
  const none = { input: { before: '1', after: null }, output: { before: '2', after: null } }
  expect(await newest('withdrawPrices')).toEqual({ target: { model }, changes: none })
  const document = JSON.stringify({ [model]: { prices: { input: '3', output: '4' } } })
  for (const apply of [false, true]) {
    const { status, json } = await post('/api/prices/import', { document, model, apply })
    expect(status, JSON.stringify(json)).toBe(200)
    const [event] = await items('/api/events?action=importPrices&limit=1')
    expect(event).toMatchObject({
      target: { model },
      detail: { apply, applied: apply, changed: [model], versions: json.versions },
    })
    expect(JSON.stringify(event)).not.toContain(document.slice(1, -1))
  }
})

test('a model that is served or asked for without a price is named', async () => {
  expect(await items('/api/prices/missing')).toEqual([])
  const at = Date.now() - 60_000
  const refused = { status: 503, channel: null, at, modelAsked: 'sandbox/new' }
  const rows = ['a', 'b'].map((end) => usageRow({ ...refused, requestId: `req_new_${end}` }))
  const other = usageRow({ ...refused, requestId: 'req_none', modelAsked: 'not-served' })
  await stage.store.settlements.settle([...rows, other].map((row) => settlement({ row })))
  const config = withChannels(await loadConfiguration({ flags: {}, env: {} }), {})
  const models = { 'sandbox/new': 'sandbox/chat', 'sandbox/old': 'sandbox/chat' }
  const channels = config.channels.map((channel) => ({ ...channel, models }))
  offer = offerOf({ ...config, channels }, await stage.store.prices.all())
  expect(await items('/api/prices/missing')).toEqual([
    {
      ...{ model: 'sandbox/new', reason: 'has no price', groups: ['default'] },
      ...{ channels: ['sandbox'], refused: 2 },
    },
    {
      ...{ model: 'sandbox/old', reason: 'has no price', groups: ['default'] },
      ...{ channels: ['sandbox'], refused: 0 },
    },
  ])
  const { alerts } = (await stage.send(eye, 'GET', '/api/operations')).json
  expect(alerts).toMatchObject([
    { code: 'price_missing', severity: 'critical', subject: 'sandbox/new' },
    { code: 'price_missing', severity: 'warning', subject: 'sandbox/old' },
  ])
})

test('what is scheduled is listed, and taken back before it begins', async () => {
  const from = new Date(Date.now() + 86_400_000).toISOString()
  const prices = { input: '3', output: '4' }
  const made = await post('/api/prices', { model, prices, source: 'x', from, allowLarge: true })
  const { version } = made.json.card
  const scheduled = () => items('/api/prices?scheduled=true')
  expect(await scheduled()).toMatchObject([{ model, version, from, state: 'scheduled', prices }])
  expect((await post('/api/prices/cancel', { model, version: 999 })).status).toBe(404)
  expect((await post('/api/prices/cancel', { model, version: 1 })).status).toBe(409)
  const cancelled = await post('/api/prices/cancel', { model, version })
  expect(cancelled).toMatchObject({ status: 200, json: { from, prices: {} } })
  const [event] = await items('/api/events?action=cancelPrices&limit=1')
  expect(event.changes).toMatchObject({ input: { before: '3', after: '0.5' } })
  expect((await post('/api/prices/cancel', { model, version })).json).toMatchObject({
    code: 'conflict',
    field: 'version',
  })
  expect(await scheduled()).toEqual([])
  const states = (await items(`/api/prices?all=true&model=${encodeURIComponent(model)}`)).map(
    ({ version, state }: { version: number; state: string }) => [version, state],
  )
  expect(states).toContainEqual([version, 'replaced'])
})
