// Tests a group's models as a permitted reader sees them: prices, abilities, filters, order and pages.

import { expect, jest, test } from 'bun:test'
import { onEachEngine } from '../../test/contract/engines.ts'
import { keyRow } from '../../test/contract/store.ts'
import { allPages } from '../../test/support/admin.ts'
import { shippedPrices } from '../catalog/shipped-prices.ts'
import { firstPrices } from '../meter/ensure-prices.ts'
import type { PriceRow } from '../store/ledger.ts'
import { channelConfigs } from '../vendors/channel-configs.ts'
import { vendors } from '../vendors/registry.ts'
import { loadConfiguration } from './configuration.ts'
import { readInput } from './input.ts'
import { listModels, modelChoices, showModel } from './models.ts'
import { accountViewer, adminViewer, offerOf, publicViewer } from './offer.ts'

const silent = await loadConfiguration({ flags: {}, env: {} })
const group = { models: ['*'], limits: {} }
const env = { OPENAI_API_KEY: 'sk-openai', ANTHROPIC_API_KEY: 'sk-anthropic' }
const config = {
  ...silent,
  groups: {
    default: { ...group, id: 'default', multiplier: '1' },
    cheap: { ...group, id: 'cheap', multiplier: '0.333333', models: ['gpt-*', 'dall-e-3'] },
    inner: { ...group, id: 'inner', multiplier: '2' },
  },
  channels: channelConfigs(silent, env, vendors),
}
const shipped = firstPrices({}, shippedPrices('USD'))
const set: PriceRow = {
  model: 'gpt-4o-mini',
  version: shipped.length + 1,
  effectiveFrom: 1_763_000_000_000,
  createdAt: 1_763_000_000_001,
  prices: { output: '0.5', 'input>200000': '0.3', input: '0.1' },
  origin: 'set',
  source: 'a contract',
  sourceDate: null,
  actor: 'op',
}
const live = (ms: number, tokensPerSecond: number) => ({
  ...{ begun: 30, tried: 30 },
  ttft: { p50Ms: ms, p95Ms: ms, sample: 30 },
  speed: { tokensPerSecond, sample: 30 },
  success: null,
})
const rows = [...shipped, set].map((row) => (row.model === 'o3' ? { ...row, createdAt: 5 } : row))
const offer = offerOf(
  config,
  rows,
  new Map([
    ['gpt-4o', live(400, 80)],
    ['o3', live(90, 20.5)],
  ]),
)
const everyone = adminViewer(config, 'default')

async function list(given: Readonly<Record<string, unknown>> = {}, viewer = everyone) {
  return listModels(offer, viewer, await readInput('listModels', given))
}

async function names(given: Readonly<Record<string, unknown>>): Promise<readonly string[]> {
  return (await list(given)).items.map(({ id }) => id)
}

test("each price stands with the group's multiplier, without it, and as the vendor has it", () => {
  const view = showModel(offer, everyone, { model: 'gpt-4o-mini', group: 'cheap' })
  expect(view).toMatchObject({
    kind: 'chat',
    vendor: 'openai',
    context: 128_000,
    maxOutput: 16_384,
    inputs: ['text', 'image'],
    outputs: ['text'],
    tools: true,
    group: 'cheap',
    currency: 'USD',
    groups: ['default', 'cheap', 'inner'],
  })
  expect(view.endpoints).toContain('/v1/messages')
  expect(view.price).toEqual({
    version: set.version,
    from: new Date(set.effectiveFrom).toISOString(),
    updatedAt: new Date(set.createdAt).toISOString(),
    origin: 'set',
    multiplier: '0.333333',
    lines: [
      // 0.1 * 0.333333 is 0.0333333: whole nano-units.
      {
        name: 'input',
        unit: 'token',
        above: 0,
        priceNano: '33333300',
        baseNano: '100000000',
        officialNano: '150000000',
      },
      {
        name: 'input>200000',
        unit: 'token',
        above: 200_000,
        priceNano: '99999900',
        baseNano: '300000000',
        officialNano: '150000000',
      },
      {
        name: 'output',
        unit: 'token',
        above: 0,
        priceNano: '166666500',
        baseNano: '500000000',
        officialNano: '600000000',
      },
    ],
  })
  const image = showModel(offer, everyone, { model: 'dall-e-3' })
  expect(image.outputs).toEqual(['image'])
  expect(image.price.lines.find(({ name }) => name === 'image/1024x1024/hd')).toMatchObject({
    unit: 'image',
    priceNano: '80000000000000',
  })
  // A snapshot without a rate card has the price of its model.
  expect(showModel(offer, everyone, { model: 'gpt-4o-mini-2024-07-18' }).price.version).toBe(
    set.version,
  )
})

test('lists are searched, filtered and sorted on the server, and paged without a gap', async () => {
  const all = (await list()).items
  expect(all.length).toBeGreaterThan(60)
  for (const [given, holds] of [
    [{ search: 'CLAUDE' }, ({ id }) => id.includes('claude')],
    [{ kind: 'image' }, ({ kind }) => kind === 'image'],
    [{ vendor: 'Anthropic' }, ({ vendor }) => vendor === 'anthropic'],
    [{ modality: 'audio' }, ({ inputs }) => inputs.includes('audio')],
    [{ context: 1_000_000 }, ({ context }) => (context ?? 0) >= 1_000_000],
    [{ tools: true }, ({ tools }) => tools === true],
    [{ vision: true }, ({ vision }) => vision],
    [{ reasoning: true }, ({ reasoning }) => reasoning === true],
    [{ reasoning: false }, ({ reasoning }) => reasoning === null],
    [{ jsonSchema: true }, ({ jsonSchema }) => jsonSchema === true],
    [{ endpoint: '/v1/embeddings' }, ({ kind }) => kind === 'embedding'],
    [{ group: 'cheap' }, ({ groups }) => groups.includes('cheap')],
  ] as readonly [Record<string, unknown>, (view: (typeof all)[number]) => boolean][]) {
    const expected = all.filter(holds).map(({ id }) => id)
    expect(expected.length).toBeGreaterThan(0)
    expect(expected.length).toBeLessThan(all.length)
    expect(await names(given)).toEqual(expected)
  }
  const choices = modelChoices(offer, everyone, {})
  expect(choices.vendors).toEqual([...new Set(all.map(({ vendor }) => vendor))].sort())
  for (const kind of choices.kinds) expect((await names({ kind })).length).toBeGreaterThan(0)
  expect(choices.endpoints).toContain('/v1/messages')
  expect(modelChoices(offer, everyone, { group: 'cheap' }).vendors).toEqual(['openai'])
  expect(await names({ search: 'no such model' })).toEqual([])
  expect((await names({ sort: 'newest' }))[0]).toBe('o3')
  expect((await names({ sort: 'latency' })).slice(0, 2)).toEqual(['o3', 'gpt-4o'])
  expect((await names({ sort: 'throughput' })).slice(0, 2)).toEqual(['gpt-4o', 'o3'])
  for (const [sort, token] of [
    ['price', 'input'],
    ['outputPrice', 'output'],
  ] as const) {
    const { items } = await list({ sort })
    const lines = items.flatMap(({ price }) => price.lines.find(({ name }) => name === token) ?? [])
    const amounts = lines.map(({ priceNano }) => BigInt(priceNano))
    expect(amounts.length).toBeGreaterThan(60)
    expect(amounts).toEqual(amounts.toSorted((one, other) => (one < other ? -1 : 1)))
  }
  for (const sort of ['name', 'price', 'outputPrice', 'newest', 'latency', 'throughput'] as const) {
    const pages = await allPages((page) => list({ ...page, sort }), 7)
    expect(pages.flat().map(({ id }) => id)).toEqual([...(await names({ sort }))])
  }
})

test('a group that somebody may not see is no group for them', async () => {
  const anyone = publicViewer({ ...config, publicGroups: ['cheap'] })
  expect((await list({}, anyone)).items[0]).toMatchObject({ group: 'cheap', groups: ['cheap'] })
  for (const given of ['default', 'nope'])
    await expect(list({ group: given }, anyone)).rejects.toMatchObject({
      refusal: 'not_found',
      field: 'group',
    })
  await expect(list({}, publicViewer({ ...config, publicGroups: [] }))).rejects.toMatchObject({
    message: 'no group is shown to you',
  })
  const hidden = { model: 'claude-haiku-4-5', group: 'cheap' }
  expect(() => showModel(offer, anyone, hidden)).toThrow(
    'there is no model "claude-haiku-4-5" in cheap',
  )
})

test('what is asked for wrongly is named', async () => {
  for (const [given, field] of [
    [{ sort: 'fast' }, 'sort'],
    [{ kind: 'chats' }, 'kind'],
    [{ context: 0 }, 'context'],
    [{ modality: 'smell' }, 'modality'],
    [{ colour: 'red' }, 'colour'],
  ] as const)
    await expect(list(given)).rejects.toMatchObject({ refusal: 'invalid', field })
})

onEachEngine('who sees which prices', (start) => {
  test('an account sees the groups it may make keys for, and those it has keys of', async () => {
    const { store } = await start()
    await store.accounts.ensure('ann', 1)
    await store.keys.insert(keyRow({ account: 'ann', group: 'inner' }))
    const ann = await accountViewer({ store }, config, 'ann', 'cheap')
    expect(ann).toEqual({ groups: ['cheap', 'default', 'inner'], keyGroups: ['inner'] })
    expect(showModel(offer, ann, { model: 'gpt-4o-mini' })).toMatchObject({
      group: 'cheap',
      keyGroups: ['inner'],
    })
    await store.people.change('ann', { groups: ['default'] })
    expect(await accountViewer({ store }, config, 'ann', 'cheap')).toEqual({
      groups: ['default', 'inner'],
      keyGroups: ['inner'],
    })
  })
})

test('a list is the same until a price begins or ends', async () => {
  const begins = Date.now() + 60_000
  const rest = rows.filter(({ model }) => model !== 'o3')
  const later = rows
    .filter(({ model }) => model === 'o3')
    .map((row) => ({ ...row, effectiveFrom: begins }))
  const changing = offerOf(config, [...rest, ...later])
  const input = await readInput('listModels', {})
  const has = () => listModels(changing, everyone, input).items.some(({ id }) => id === 'o3')
  jest.useFakeTimers({ now: begins - 1 })
  try {
    expect(has()).toBe(false)
    jest.setSystemTime(begins)
    expect(has()).toBe(true)
  } finally {
    jest.useRealTimers()
  }
})
