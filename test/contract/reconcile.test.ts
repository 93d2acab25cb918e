// Tests periods calculated in three ways on both engines: correct data has no difference, and each kind of damage is
// named.

import { beforeAll, expect, test } from 'bun:test'
import { reconcile } from '../../src/admin/reconcile.ts'
import type { Engine } from '../../src/store/engine.ts'
import { createStore } from '../../src/store/tables.ts'
import type { UsageRow } from '../../src/store/usage-row.ts'
import { fund } from '../support/ledger-scene.ts'
import { unlock, withDamage } from './damage.ts'
import { type Bench, onEachEngine } from './engines.ts'
import { settlement, usageRow } from './store.ts'

const noon = Date.UTC(2027, 0, 31, 12)
const dayMs = 86_400_000
const idAt = (at: number, end = '') => `req_${at.toString(16).padStart(12, '0')}${end}`

/** Two nano-units a token in, three a token out. */
const prices = { input: '0.002', output: '0.003' }

async function fill({ store }: Bench): Promise<void> {
  await store.prices.append([
    {
      ...{ model: '*', effectiveFrom: 0, prices, origin: 'file', source: 'test' },
      ...{ sourceDate: null, actor: null, createdAt: 1 },
    },
  ])
  await fund(store, 'ann', 10_000n)
  const priced = (change: Partial<UsageRow> & { readonly at: number }) => {
    const row = usageRow({
      ...{ requestId: idAt(change.at), priceVersion: 1, multiplierPpm: 1_000_000 },
      ...{ input: 10, output: 20, cachedInput: 0, reasoning: 0, chargeNano: 80n },
      ...change,
    })
    return settlement({ row })
  }
  await store.settlements.settle([
    priced({ at: noon - dayMs }),
    priced({ at: noon }),
    priced({ at: noon + 1, requestId: idAt(noon + 1), input: 100, chargeNano: 260n }),
    // Nobody pays it.
    priced({ at: noon, requestId: idAt(noon, 'b'), account: 'bob' }),
    priced({ at: noon, requestId: idAt(noon, 'c'), priceVersion: null, chargeNano: 0n, input: 0 }),
  ])
}

type Asked = Parameters<typeof reconcile>[1]

function reconciled(engine: Engine, asked: Partial<Asked> = {}) {
  const context = {
    store: createStore(engine),
    actor: 'root',
    nowMs: noon + dayMs,
    currency: async () => 'USD',
  }
  return reconcile(context, { since: noon - 2 * dayMs, ...asked })
}

/** The damage to the database, and the kinds of differences that it causes. */
const damages: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'an entry of another amount',
    `UPDATE transfer SET amount_nano = amount_nano + 1 WHERE id = 'usage:${idAt(noon)}'`,
    ['entry'],
  ],
  ['an entry that is gone', `DELETE FROM transfer WHERE id = 'usage:${idAt(noon)}'`, ['entry']],
  [
    'an entry without a request',
    `INSERT INTO transfer (id, code, debit, credit, amount_nano, actor, reason, at)
        VALUES ('usage:${idAt(noon, 'z')}', 'usage', 'wallet:ann', 'revenue:usage', 5, 'x', 'x', ${noon})`,
    ['row'],
  ],
  [
    'tokens that do not make the charge',
    `UPDATE usage SET input_tokens = 11 WHERE request_id = '${idAt(noon)}'`,
    ['price'],
  ],
  [
    'a charge of one nano less',
    `UPDATE usage SET charge_nano = 79 WHERE request_id = '${idAt(noon)}'`,
    ['entry', 'price'],
  ],
  [
    'a total of one nano less',
    `UPDATE usage_quarter SET charge_nano = charge_nano - 1 WHERE charge_nano = 340`,
    [],
  ],
]

onEachEngine('reconciling', (_, __, share) => {
  let bench: Bench
  beforeAll(async () => {
    bench = await share()
    await fill(bench)
    await unlock(bench.engine)
  }, 60_000)

  test('what is in order is equal three ways, by day and account', async () => {
    const { ok, items, differences, next, since } = await reconciled(bench.engine)
    expect({ ok, differences, next, since }).toEqual({
      ok: true,
      differences: [],
      next: null,
      since: '2027-01-29T12:00:00.000Z',
    })
    const sums = (requests: number, charge: number, writeoff = 0) => {
      const amounts = { chargeNano: String(charge), writeoffNano: String(writeoff) }
      const sum = { requests, ...amounts }
      return { state: 'equal' as const, rows: sum, entries: amounts, totals: sum }
    }
    expect(items).toEqual([
      { day: '2027-01-30', account: 'ann', ...sums(1, 80) },
      { day: '2027-01-31', account: 'ann', ...sums(3, 340) },
      { day: '2027-01-31', account: 'bob', ...sums(1, 0, 80) },
    ])
    const own = await reconciled(bench.engine, { account: 'bob' })
    expect(own.items.map(({ account }) => account)).toEqual(['bob'])
  })

  test.each(damages)('%s is named', async (_name, sql, kinds) => {
    const said = await withDamage(bench.engine, [sql], (engine) => reconciled(engine))
    expect(said.ok).toBeFalse()
    expect(said.differences.map(({ kind }) => `${kind}`).sort()).toEqual([...kinds])
    expect(said.differences.every(({ requestId }) => requestId.startsWith(idAt(noon)))).toBeTrue()
    const states = said.items.map(({ day, account, state }) => `${day} ${account} ${state}`)
    const own = kinds.length === 1 && kinds[0] === 'price' ? 'equal' : 'different'
    expect(states).toEqual([
      '2027-01-30 ann equal',
      `2027-01-31 ann ${own}`,
      '2027-01-31 bob equal',
    ])
  })

  test('what is pruned is named so, and is no difference', async () => {
    const damage = [`DELETE FROM usage WHERE at < ${noon}`, `UPDATE usage_kept SET since = ${noon}`]
    const [first, second] = await withDamage(bench.engine, damage, async (engine) => {
      const piece = await reconciled(engine)
      return [piece, await reconciled(engine, { cursor: piece.next ?? '' })]
    })
    expect(first).toMatchObject({ ok: true, until: '2027-01-31T12:00:00.000Z' })
    expect(first?.items).toMatchObject([
      { state: 'pruned', rows: null, entries: null, totals: { requests: 1, chargeNano: '80' } },
    ])
    expect(second).toMatchObject({ ok: true, since: '2027-01-31T12:00:00.000Z', next: null })
    expect(second?.items.map(({ state }) => state)).toEqual(['equal', 'equal'])
  })

  test('a period that is too long, none, or a cursor of another list is refused', async () => {
    const field = (asked: Partial<Asked>) =>
      reconciled(bench.engine, asked).then(
        () => null,
        (error: { readonly field: string }) => error.field,
      )
    expect(await field({ until: noon - 3 * dayMs })).toBe('until')
    expect(await field({ since: 0 })).toBe('since')
    expect(await field({ cursor: 'MTIz' })).toBe('cursor')
    expect(await field({ cursor: 'x' })).toBe('cursor')
  })
})
