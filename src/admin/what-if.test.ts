// Tests what past requests would cost now: to the nano-unit, row by row, and what is reported for those that cannot be
// priced.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { onEachEngine } from '../../test/contract/engines.ts'
import { usageRow } from '../../test/contract/store.ts'
import { adminOf, nowMs } from '../../test/support/admin.ts'
import { shippedPrices } from '../catalog/shipped-prices.ts'
import { noTokens } from '../config/prices.ts'
import { firstPrices } from '../meter/ensure-prices.ts'
import type { Store } from '../store/store.ts'
import type { UsageRow } from '../store/usage-row.ts'
import { channelConfigs } from '../vendors/channel-configs.ts'
import { vendors } from '../vendors/registry.ts'
import { loadConfiguration } from './configuration.ts'
import { readInput } from './input.ts'
import { adminViewer, offerOf } from './offer.ts'
import { whatIf } from './what-if.ts'

const silent = await loadConfiguration({ flags: {}, env: {} })
const group = { models: ['*'], limits: {} }
const config = {
  ...silent,
  groups: {
    default: { ...group, id: 'default', multiplier: '1' },
    dear: { ...group, id: 'dear', multiplier: '1.333333' },
  },
  channels: channelConfigs(silent, { OPENAI_API_KEY: 'sk' }, vendors),
}
const offer = offerOf(config, firstPrices({}, shippedPrices('USD')))
const viewer = adminViewer(config, 'default')
const ppm: Readonly<Record<string, number>> = { default: 1_000_000, dear: 1_333_333 }

/** A row as it was charged at these prices. */
function row(change: Partial<UsageRow>): UsageRow {
  const made = usageRow({
    ...noTokens,
    account: 'ann',
    at: nowMs - 1_000,
    operation: 'chat',
    modelAsked: 'gpt-4o-mini',
    group: 'default',
    units: null,
    status: 200,
    ...change,
  })
  const multiplierPpm = change.multiplierPpm ?? ppm[made.group] ?? 0
  const rate = offer.book.find(made.modelAsked, nowMs, multiplierPpm)
  return { ...made, multiplierPpm, chargeNano: rate?.charge(made, made.units) ?? 0n }
}

async function settle(store: Store, rows: readonly UsageRow[]): Promise<void> {
  const node = await store.nodes.open('n', 60_000)
  for (const account of new Set(rows.map((each) => each.account)))
    await store.accounts.ensure(account, 1)
  const rest = { fromLeaseNano: 0n, capNano: null, idempotency: null }
  await store.settlements.settle(rows.map((each) => ({ ...node, ...rest, row: each })))
}

const input = (given: Readonly<Record<string, unknown>>) => readInput('whatIf', given)

const count = fc.nat({ max: 300_000 })
const randomRow = fc.record({
  modelAsked: fc.constantFrom('gpt-4o', 'gpt-4o-mini', 'gpt-5.4'),
  group: fc.constantFrom('default', 'dear'),
  key: fc.constantFrom('k1', 'k2', 'k3'),
  input: count,
  cachedInput: count,
  output: count,
  reasoning: count,
})

onEachEngine('what if', (start) => {
  test('at the same prices nothing differs, and otherwise by what each request would be', async () => {
    const { store } = await start()
    const rows = fc
      .sample(randomRow, { numRuns: 200, seed: 12 })
      .map((each, at) => row({ ...each, requestId: `r${at}`, at: nowMs - 1 - at * 1_000 }))
    await settle(store, rows)
    const admin = adminOf(store)
    const same = await whatIf(admin, offer, viewer, await input({ account: 'ann' }))
    const then = rows.reduce((sum, each) => sum + each.chargeNano, 0n)
    expect(same).toMatchObject({
      coveredSince: null,
      exact: true,
      unpriced: [],
      total: { requests: 200, thenNano: String(then), nowNano: String(then), differenceNano: '0' },
    })
    expect(same.keys.map(({ differenceNano }) => differenceNano)).toEqual(['0', '0', '0'])
    const other = await input({ account: 'ann', model: 'gpt-4o', group: 'dear' })
    const changed = await whatIf(admin, offer, viewer, other)
    const rate = offer.book.find('gpt-4o', nowMs, 1_333_333)
    const now = rows.reduce((sum, each) => sum + (rate?.charge(each, null) ?? 0n), 0n)
    expect(changed).toMatchObject({
      exact: false,
      total: { nowNano: String(now), differenceNano: String(now - then) },
    })
    const parts = changed.keys.reduce((sum, each) => sum + BigInt(each.nowNano), 0n)
    expect(parts).toBe(now)
    const one = await whatIf(admin, offer, viewer, await input({ account: 'ann', key: 'k2' }))
    expect(one.keys).toEqual(same.keys.filter(({ key }) => key === 'k2'))
    expect(
      (await whatIf(admin, offer, viewer, await input({ account: 'bob' }))).total.requests,
    ).toBe(0)
  })

  test('too many requests are priced as far as it goes, and it is said how far', async () => {
    const { store } = await start()
    const rows = Array.from({ length: 30 }, (_, at) =>
      row({ requestId: `r${at}`, at: nowMs - 1 - at * 1_000, input: 10 }),
    )
    await settle(store, rows)
    const cut = await whatIf(adminOf(store), offer, viewer, await input({}), 7)
    expect(cut).toMatchObject({
      coveredSince: new Date(rows[6]?.at ?? 0).toISOString(),
      total: { requests: 7 },
    })
    expect(
      (await whatIf(adminOf(store), offer, viewer, await input({}), 30)).coveredSince,
    ).toBeNull()
  })
})

onEachEngine('what if of a span', (start) => {
  test('a span of one’s own is half open, and neither backwards nor too long', async () => {
    const { store } = await start()
    const ages = [1_000, 2_000, 3_000]
    await settle(
      store,
      ages.map((ms) => row({ requestId: `r${ms}`, at: nowMs - ms, input: 10 })),
    )
    const text = (ageMs: number) => new Date(nowMs - ageMs).toISOString()
    const asked = async (given: Readonly<Record<string, unknown>>) =>
      whatIf(adminOf(store), offer, viewer, await input(given))
    const found = await asked({ since: text(3_000), until: text(1_000) })
    expect(found).toMatchObject({
      since: text(3_000),
      until: text(1_000),
      total: { requests: 2 },
    })
    await expect(asked({ since: text(1_000), until: text(1_000) })).rejects.toMatchObject({
      field: 'until',
    })
    await expect(asked({ since: '91d' })).rejects.toMatchObject({ field: 'since' })
  })
})

onEachEngine('what if not all is priced', (start) => {
  test('what cannot be priced is counted apart, with the reason', async () => {
    const { store } = await start()
    const image = { operation: 'image', modelAsked: 'dall-e-3', units: { 'image/1024x1024/hd': 2 } }
    const refused = { input: 0, output: 0, status: 404, usageSource: 'none' as const }
    await settle(store, [
      row({ requestId: 'priced', input: 1_000 }),
      row({ requestId: 'free', input: 1_000, multiplierPpm: 0 }),
      row({ requestId: 'gone-model', modelAsked: 'gpt-2', input: 5 }),
      row({ requestId: 'gone-group', group: 'team', multiplierPpm: 1_000_000, input: 5 }),
      row({ requestId: 'refused', modelAsked: 'nope', ...refused }),
      row({ requestId: 'image', ...image }),
      row({
        requestId: 'embedding',
        operation: 'embedding',
        modelAsked: 'text-embedding-3-small',
        input: 9,
      }),
    ])
    const admin = adminOf(store)
    const same = await whatIf(admin, offer, viewer, await input({}))
    expect(same.total).toMatchObject({ requests: 5, differenceNano: '0' })
    expect(same.unpriced.map(({ reason, requests }) => [reason, requests]).sort()).toEqual([
      ['group', 1],
      ['model', 1],
    ])
    const chat = await whatIf(admin, offer, viewer, await input({ model: 'gpt-4o', group: 'dear' }))
    expect(chat.unpriced).toMatchObject([{ reason: 'kind', requests: 2 }])
    // In another group the request is no longer free.
    const rate = offer.book.find('gpt-4o', nowMs, 1_333_333)
    const each = rate?.charge({ ...noTokens, input: 1_000 }, null) ?? 0n
    const few = rate?.charge({ ...noTokens, input: 5 }, null) ?? 0n
    expect(chat.total).toMatchObject({ requests: 5, nowNano: String(2n * each + 2n * few) })
    const drawn = await whatIf(admin, offer, viewer, await input({ model: 'gpt-image-1' }))
    expect(drawn.unpriced).toContainEqual({ reason: 'units', requests: 1, thenNano: '160000000' })
  })

  test('a model or a group that is not the caller’s is not found', async () => {
    const { store } = await start()
    const seen = { groups: ['default'], keyGroups: [] }
    for (const [given, field] of [
      [{ group: 'dear' }, 'group'],
      [{ model: 'nope' }, 'model'],
      [{ days: 91 }, 'days'],
    ] as const) {
      const asked = async () => whatIf(adminOf(store), offer, seen, await input(given))
      await expect(asked()).rejects.toMatchObject({ field })
    }
  })
})
