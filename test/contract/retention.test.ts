// Tests removing old usage rows: what stays, what the audit then reports, and that nobody pays twice.

import { expect, test } from 'bun:test'
import { finished, fund, lessee } from '../support/ledger-scene.ts'
import { keptTotals } from '../support/rollups.ts'
import { type Bench, onEachEngine } from './engines.ts'

const quarterMs = 900_000
const pricing = () => () => 10n

async function fill({ store }: Bench) {
  await fund(store, 'ann', 1_000n)
  const ref = await lessee(store, 'n1', 'ann', 500n)
  const rows = Array.from({ length: 12 }, (_, index) =>
    finished(
      ref,
      {
        requestId: `req_${index}`,
        at: index * quarterMs + 5,
        account: index === 3 ? 'nobody' : 'ann',
        chargeNano: 10n,
        priceVersion: 1,
      },
      { fromLeaseNano: 10n },
    ),
  )
  await store.settlements.settle(rows)
  return rows
}

onEachEngine('retention', (start) => {
  test('the oldest rows go a few at a time; totals, journal and the audit stay as they were', async () => {
    const bench = await start()
    const { store } = bench
    await fill(bench)
    const totals = await keptTotals(store)
    const entries = await store.journal.transfers({ account: 'ann', limit: 99 })
    // In the middle of a quarter, so that quarter is kept whole.
    const before = 6 * quarterMs + 300
    expect(await store.retention.prune(before, 4)).toBe(4)
    expect(await store.audit.run(pricing)).toMatchObject({ findings: [], usageRows: 8 })
    expect(await store.retention.prune(before, 4)).toBe(2)
    expect(await store.retention.prune(before, 4)).toBe(0)
    const left = await store.usage.list({ limit: 99 })
    expect(left.map(({ requestId }) => requestId)).toEqual(
      [11, 10, 9, 8, 7, 6].map((at) => `req_${at}`),
    )
    expect(await keptTotals(store)).toEqual(totals)
    expect(await store.journal.transfers({ account: 'ann', limit: 99 })).toEqual(entries)
    expect(await store.audit.run(pricing)).toMatchObject({ findings: [], usageRows: 6 })
    // A shorter retention does not bring them back, and after a longer one it is still known that they are gone.
    expect(await store.retention.prune(quarterMs, 99)).toBe(0)
    expect((await store.audit.run(pricing)).findings).toEqual([])
  })

  test('a row that comes again after it was removed is not paid again', async () => {
    const bench = await start()
    const { store } = bench
    const rows = await fill(bench)
    await store.retention.prune(100 * quarterMs, 99)
    const wallet = await store.journal.wallet('ann')
    expect(await store.settlements.settle(rows)).toMatchObject({ settled: 0, chargedNano: 0n })
    expect(await store.journal.wallet('ann')).toEqual(wallet)
    expect((await store.audit.run(pricing)).findings).toEqual([])
  })

  test('a late row of a time that was pruned is settled, and is no finding', async () => {
    const bench = await start()
    const { store } = bench
    await fill(bench)
    await store.retention.prune(6 * quarterMs, 99)
    const late = { requestId: 'late', at: 2 * quarterMs, chargeNano: 10n, priceVersion: 1 }
    const ref = { node: 'n1', epoch: 1 }
    expect(await store.settlements.settle([finished(ref, late)])).toMatchObject({ settled: 1 })
    expect((await store.audit.run(pricing)).findings).toEqual([])
    expect(await store.retention.prune(6 * quarterMs, 99)).toBe(1)
    expect((await store.audit.run(pricing)).findings).toEqual([])
  })
})

onEachEngine('the ledger of an account', (start) => {
  test('entries keep their balances, whatever the size of the page', async () => {
    const bench = await start()
    const { store } = bench
    await fill(bench)
    const gift = (at: number) => ({
      ...{ id: `adjust:${at}`, code: 'adjust' as const, amountNano: 7n, at },
      ...{ debit: 'adjust:admin', credit: 'wallet:ann', actor: 'boss', reason: 'a gift' },
    })
    // Each behind the requests of its quarter: nothing tells the order within it once rows are gone.
    for (const at of [4 * quarterMs + 9, 8 * quarterMs - 1, 20 * quarterMs])
      expect(await store.journal.post([gift(at)])).toBe('posted')
    const balances = async (limit: number) => {
      const seen = new Map<string, bigint>()
      let before: { at: number; id: string } = { at: Number.MAX_SAFE_INTEGER, id: '' }
      for (;;) {
        const page = await store.journal.entries({ account: 'ann', limit, before })
        for (const { id, balanceNano } of page) seen.set(id, balanceNano)
        const last = page.at(-1)
        if (last === undefined) return seen
        before = last
      }
    }
    const all = await balances(99)
    for (const most of [2, 2, 99]) {
      await store.retention.prune(10 * quarterMs, most)
      for (const limit of [1, 2, 99])
        for (const [id, balanceNano] of await balances(limit))
          expect([id, balanceNano]).toEqual([id, all.get(id) as bigint])
    }
    expect((await balances(99)).size).toBeLessThan(all.size)
  })
})

onEachEngine('what is kept', (start) => {
  test('what is not old enough cannot be removed, by whatever hand', async () => {
    const bench = await start()
    const { store, engine } = bench
    await fill(bench)
    await store.retention.prune(6 * quarterMs, 2)
    const removed = (id: string) => engine.run(`DELETE FROM usage WHERE request_id = '${id}'`, [])
    await expect(removed('req_6')).rejects.toThrow('append-only')
    expect(await removed('req_5')).toBe(1)
    await expect(engine.run('DELETE FROM usage', [])).rejects.toThrow('append-only')
    await expect(engine.run('UPDATE usage SET status = 1', [])).rejects.toThrow('append-only')
    expect((await store.audit.run(pricing)).findings).toEqual([])
  })

  test('the audit still holds totals of removed rows against the journal, and against each other', async () => {
    const bench = await start()
    const { store, engine } = bench
    await fill(bench)
    await store.retention.prune(6 * quarterMs, 99)
    const tamper = (table: string) =>
      engine.run(
        `UPDATE ${table} SET charge_nano = charge_nano + 1 WHERE quarter = ${quarterMs}`,
        [],
      )
    const found = async () =>
      (await store.audit.run(pricing)).findings.map(({ kind, subject }) => `${kind} ${subject}`)
    await tamper('usage_quarter_all')
    expect(await found()).toEqual(['quarter 1970-01-01T00:15:00.000Z'])
    await tamper('usage_quarter')
    expect(await found()).toEqual(['quarter wallet:ann'])
    await engine.run('DELETE FROM usage_quarter WHERE quarter = 0', [])
    expect(await found()).toEqual(['quarter wallet:ann', 'quarter 1970-01-01T00:00:00.000Z'])
  })
})
