// Tests a group with other multipliers for some models: what lists, feeds and what-if show.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withChannels } from '../../src/admin/channels.ts'
import { loadConfiguration } from '../../src/admin/configuration.ts'
import { type Offer, offerOf } from '../../src/admin/offer.ts'
import { setPrices } from '../../src/admin/prices.ts'
import { shippedPrices } from '../../src/catalog/shipped-prices.ts'
import { ensurePrices } from '../../src/meter/ensure-prices.ts'
import { append, usageRow } from '../contract/store.ts'
import { adminOf } from '../support/admin.ts'
import { type ControlStage, controlStage, person } from '../support/control.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-multipliers-'))
const dayMs = 86_400_000
let stage: ControlStage
let offer: Offer

beforeAll(async () => {
  stage = await controlStage({
    running: { offer: async () => offer },
    services: { config: () => offer.config },
  })
  const { store } = stage
  await ensurePrices(store.prices, {}, shippedPrices('USD'), Date.now() - 2 * dayMs)
  await setPrices(adminOf(store, { nowMs: Date.now() - dayMs }), {
    ...{ model: 'sandbox/chat', prices: { input: '2', output: '4' }, source: 'test' },
    allowLarge: true,
  })
  const file = join(folder, 'tollgate.json')
  const partner = { multiplier: '0.9', modelMultipliers: { 'sandbox/*': '0.5', 'gpt-*': '3' } }
  writeFileSync(file, JSON.stringify({ groups: { partner }, publicGroups: ['default', 'partner'] }))
  const config = withChannels(await loadConfiguration({ flags: { config: file }, env: {} }), {})
  offer = offerOf(config, await store.prices.all())
})
afterAll(async () => {
  await stage.close()
  rmSync(folder, { recursive: true })
})

const get = async (path: string) => (await stage.send(null, 'GET', path)).json

test('lists, the history and the feed of prices have the multiplier of the model', async () => {
  const model = await get('/api/models/sandbox%2Fchat?group=partner')
  expect(model.price).toMatchObject({
    multiplier: '0.5',
    lines: [
      { name: 'input', priceNano: '1000000000', baseNano: '2000000000' },
      { name: 'output', priceNano: '2000000000' },
    ],
  })
  const plain = await get('/api/models/sandbox%2Fchat?group=default')
  expect(plain.price).toMatchObject({ multiplier: '1', lines: [{ priceNano: '2000000000' }, {}] })
  const history = await get('/api/models/sandbox%2Fchat/prices?group=partner')
  expect(history.items[0].lines[0]).toMatchObject({ name: 'input', priceNano: '1000000000' })
  const groups = await stage.send(person('root', 'admin'), 'GET', '/api/groups')
  expect(groups.json.items).toMatchObject([
    { id: 'default', modelMultipliers: {} },
    { id: 'partner', modelMultipliers: { 'sandbox/*': '0.5', 'gpt-*': '3' } },
  ])
})

test('what requests would have cost in the group goes by it', async () => {
  const counted = { input: 1_000_000, output: 0, cachedInput: 0, reasoning: 0 }
  const row = { account: 'ann', modelAsked: 'sandbox/chat', at: Date.now(), ...counted }
  await append(stage.store, [usageRow({ ...row, requestId: 'req_1', chargeNano: 2_000_000_000n })])
  const asked = await stage.send(person('ann'), 'GET', '/api/what-if?days=1&group=partner')
  expect(asked.json.total).toMatchObject({ requests: 1, nowNano: '1000000000' })
})
