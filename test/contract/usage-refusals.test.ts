// Tests refused requests whose rows are removed earlier than others: totals, audit and reconciliation still agree.

import { expect, test } from 'bun:test'
import { reconcile } from '../../src/admin/reconcile.ts'
import type { Settlement } from '../../src/store/ledger.ts'
import type { Store } from '../../src/store/store.ts'
import type { UsageRow } from '../../src/store/usage-row.ts'
import { finished, fund, lessee } from '../support/ledger-scene.ts'
import { keptTotals } from '../support/rollups.ts'
import { type Bench, onEachEngine } from './engines.ts'

const quarterMs = 900_000
const pricing = () => () => 10n
const unasked = { channel: null, vendor: null, modelServed: null, attempts: 0, input: 0, output: 0 }
const nothing = { ...unasked, cachedInput: 0, reasoning: 0, ttftMs: null, priceVersion: null }

/** In each of six quarters of an hour: one that is paid, one that failed at its vendor, and three that were refused. */
async function fill({ store }: Pick<Bench, 'store'>): Promise<readonly Settlement[]> {
  await fund(store, 'ann', 1_000n)
  const ref = await lessee(store, 'n1', 'ann', 500n)
  const rows = Array.from({ length: 6 }, (_, index): Partial<UsageRow>[] => {
    const at = index * quarterMs + 5
    return [
      { requestId: `paid_${index}`, at, chargeNano: 10n, priceVersion: 1 },
      { requestId: `failed_${index}`, at, status: 503, priceVersion: null, attempts: 2 },
      { ...nothing, requestId: `limited_${index}`, at, status: 429 },
      { ...nothing, requestId: `unknown_${index}`, at, status: 404, modelAsked: `guess ${index}` },
      { ...nothing, requestId: `later_${index}`, at: at + 400_000, status: 401 },
    ]
  })
  const settlements = rows.flat().map((row, index) => {
    const fromLeaseNano = row.chargeNano ?? 0n
    const place = { ...ref, number: index + 1 }
    return finished(ref, row, { fromLeaseNano, place })
  })
  await store.settlements.settle(settlements)
  return settlements
}

async function left(store: Store): Promise<Record<string, number>> {
  const rows = await store.usage.list({ limit: 999 })
  return Object.fromEntries(
    ['paid', 'failed', 'limited', 'unknown', 'later'].map((kind) => [
      kind,
      rows.filter(({ requestId }) => requestId.startsWith(`${kind}_`)).length,
    ]),
  )
}

const findings = async (store: Store) =>
  (await store.audit.run(pricing)).findings.map(({ kind, message }) => `${kind} ${message}`)

onEachEngine('refused requests', (start) => {
  test('go a few at a time, and no others; totals stay, and nothing differs', async () => {
    const { store } = await start()
    await fill({ store })
    const totals = await keptTotals(store)
    const before = 4 * quarterMs + 300
    expect(await store.retention.pruneRefusals(before, 10)).toBe(10)
    expect(await findings(store)).toEqual([])
    expect(await store.retention.pruneRefusals(before, 10)).toBe(2)
    expect(await store.retention.pruneRefusals(before, 10)).toBe(0)
    expect(await left(store)).toEqual({ paid: 6, failed: 6, limited: 2, unknown: 2, later: 2 })
    expect(await keptTotals(store)).toEqual(totals)
    expect(await findings(store)).toEqual([])
    const context = { store, actor: 'root', nowMs: 6 * quarterMs, currency: async () => 'USD' }
    const compared = await reconcile(context, { since: 0 })
    expect(compared.items.map(({ state, rows }) => [state, rows?.requests])).toEqual([
      ['equal', 18],
    ])
    // Then the rest of four quarters is removed by the usual retention.
    expect(await store.retention.prune(before, 99)).toBe(8)
    expect(await findings(store)).toEqual([])
    expect(await keptTotals(store)).toEqual(totals)
  })

  test('one whose record comes again after its row was removed is not counted twice', async () => {
    const { store } = await start()
    const settlements = await fill({ store })
    const totals = await keptTotals(store)
    await store.retention.pruneRefusals(4 * quarterMs, 99)
    expect(await store.settlements.settle(settlements)).toMatchObject({ settled: 0 })
    expect(await keptTotals(store)).toEqual(totals)
    expect(await left(store)).toMatchObject({ limited: 2 })
    expect(await findings(store)).toEqual([])
  })

  test('one that is settled late is counted, and goes with the next', async () => {
    const { store } = await start()
    await fill({ store })
    await store.retention.pruneRefusals(4 * quarterMs, 99)
    const late = { ...nothing, requestId: 'late', at: quarterMs, status: 429 }
    const place = { node: 'n1', epoch: 1, number: 31 }
    const settled = await store.settlements.settle([
      finished({ node: 'n1', epoch: 1 }, late, { place }),
    ])
    expect(settled).toMatchObject({ settled: 1 })
    expect(await findings(store)).toEqual([])
    expect(await store.retention.pruneRefusals(4 * quarterMs, 99)).toBe(1)
    expect(await findings(store)).toEqual([])
  })
})

onEachEngine('what is kept of refused requests', (start) => {
  test('what had a vendor, or cost something, or is not old enough cannot be removed', async () => {
    const { store, engine } = await start()
    await fill({ store })
    const ref = { node: 'n1', epoch: 1 }
    const odd = { ...nothing, requestId: 'charged', at: 7, status: 429, chargeNano: 10n }
    await store.settlements.settle([finished(ref, { ...odd, priceVersion: 1 })])
    await store.retention.pruneRefusals(2 * quarterMs, 2)
    const removed = (id: string) => engine.run(`DELETE FROM usage WHERE request_id = '${id}'`, [])
    for (const id of ['paid_0', 'failed_0', 'charged', 'limited_2']) {
      await expect(removed(id)).rejects.toThrow('append-only')
    }
    expect(await removed('later_1')).toBe(1)
    expect(await store.retention.pruneRefusals(2 * quarterMs, 99)).toBe(3)
    expect(await left(store)).toEqual({ paid: 6, failed: 6, limited: 4, unknown: 4, later: 4 })
    expect(await findings(store)).toEqual([])
  })

  test('a reply that broke off counts as failed; totals of earlier versions need not have it', async () => {
    const { store, engine } = await start()
    await fund(store, 'ann', 1_000n)
    const ref = await lessee(store, 'n1', 'ann', 500n)
    const broken = { requestId: 'broken', at: 5, errorCode: 'service_unavailable' }
    await store.settlements.settle([finished(ref, broken, { place: { ...ref, number: 1 } })])
    expect(await keptTotals(store)).toMatchObject([{ statusClass: '2xx', errors: 1n }])
    const said = async (errors: number) => {
      for (const table of ['usage_quarter', 'usage_quarter_all'])
        await engine.run(`UPDATE ${table} SET errors = ${errors}`, [])
      return findings(store)
    }
    expect(await said(0)).toEqual([])
    expect(await said(2)).toContain('quarter errors 2, rows make 1')
  })

  test('the audit still finds totals that are wrong', async () => {
    const { store, engine } = await start()
    await fill({ store })
    await store.retention.pruneRefusals(4 * quarterMs, 99)
    const quarter = quarterMs
    const tamper = (table: string, change: string, series: string) =>
      engine.run(
        `UPDATE ${table} SET ${change} WHERE quarter = ${quarter}
          AND series IN (SELECT id FROM usage_series WHERE ${series})`,
        [],
      )
    const refusals = `channel = '' AND status_class = '4xx'`
    // The number of removed requests is stored in two places.
    expect(await tamper('usage_quarter', 'requests = requests + 1', refusals)).toBe(1)
    expect(await findings(store)).toEqual([
      'quarter the totals of all accounts are not what those of each add up to',
    ])
    await tamper('usage_quarter', 'requests = requests - 1', refusals)
    expect(await findings(store)).toEqual([])
    await tamper('usage_quarter', 'charge_nano = 5', refusals)
    expect(await findings(store)).toContain('quarter chargeNano 5, rows make 0')
    await tamper('usage_quarter', 'charge_nano = null', refusals)
    await tamper(
      'usage_quarter',
      'requests = requests + 1',
      `channel <> '' AND status_class = '2xx'`,
    )
    expect(await findings(store)).toContain('quarter requests 2, rows make 1')
  })
})
