// Tests what lists, the live tail and the pages of a wallet read of settled requests, on both engines.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Engine } from '../../src/store/engine.ts'
import { house, walletOf } from '../../src/store/ledger.ts'
import type { Store } from '../../src/store/store.ts'
import type { SettledPlace, UsagePredicate } from '../../src/store/usage-filter.ts'
import { type UsageRow, usageColumns } from '../../src/store/usage-row.ts'
import { foldAll } from '../support/rollups.ts'
import { type Bench, onEachEngine } from './engines.ts'
import { append, settlement, usageRow } from './store.ts'

const at = 1_763_700_000_000
const hourMs = 3_600_000

onEachEngine('settled requests', (start, kind) => {
  pageTests(start)
  followTests(start, kind)
})

function pageTests(start: () => Promise<Bench>): void {
  test('every part of the predicate narrows a page as it says', async () => {
    const { store } = await start()
    await append(store, rows)
    for (const { predicate, holds } of predicates) {
      const page = await store.usage.page({ ...predicate, limit: 100 })
      const expected = rows.filter(holds).map(({ requestId }) => requestId)
      expect({ predicate, ids: page.rows.map(({ requestId }) => requestId).sort() }).toEqual({
        predicate,
        ids: expected.sort(),
      })
      expect(page.next).toBeNull()
      expect(expected.length).toBeGreaterThan(0)
    }
  })

  test('pages of any predicate put together are the whole list', async () => {
    const { store } = await start()
    await append(store, rows)
    const any = fc.constantFrom(...predicates, { predicate: {}, holds: () => true })
    await fc.assert(
      fc.asyncProperty(any, fc.integer({ min: 1, max: 5 }), async ({ predicate, holds }, limit) => {
        const read = await allPages(store, predicate, limit)
        expect(read.map(({ requestId }) => requestId)).toEqual(
          rows
            .filter(holds)
            .sort((one, other) => other.at - one.at || (one.requestId < other.requestId ? 1 : -1))
            .map(({ requestId }) => requestId),
        )
      }),
      { numRuns: 60 },
    )
  })

  test('rare requests are found by the hours that have any, before, behind and beside what is folded', async () => {
    const { store } = await start()
    const made = Array.from({ length: 90 }, (_, seed) =>
      usageRow({
        requestId: `req_${(seed * 37) % 90}`,
        at: at + ((seed * 7_919_333) % (60 * hourMs)),
        account: seed % 3 === 0 ? 'bob' : 'ann',
        key: seed % 11 === 0 ? 'rare' : 'usual',
        modelAsked: `m${seed % 4}`,
        status: seed % 7 === 0 ? 429 : 200,
        // Two at the same moment.
        ...(seed > 86 && { at: at + 5, account: 'ann', key: 'rare' }),
      }),
    )
    await append(store, made.slice(0, 70))
    await foldAll(store, at + 40 * hourMs)
    await append(store, made.slice(70))
    const any = fc.record({
      predicate: fc.constantFrom(
        { key: 'rare' },
        { model: 'm1' },
        { statusClass: 4 },
        { model: 'nothing' },
        { key: 'rare', since: at + 9 * hourMs + 7, until: at + 30 * hourMs },
        { model: 'm2', status: 200 },
      ),
      limit: fc.integer({ min: 1, max: 7 }),
    })
    await fc.assert(
      fc.asyncProperty(any, async ({ predicate, limit }) => {
        const whole = await store.usage.list({ account: 'ann', ...predicate, limit: 99 })
        expect(await allPages(store, { account: 'ann', ...predicate }, limit)).toEqual([...whole])
      }),
      { numRuns: 60 },
    )
    expect(await store.usage.list({ account: 'ann', key: 'rare', limit: 99 })).toHaveLength(8)
  })

  test('a page of a rare value looks through a bounded number of rows, and says where to go on', async () => {
    const { store, engine } = await start()
    await append(store, [usageRow({ requestId: 'req_1000000', at, client: 'rare' })])
    await multiply(engine, 50_009)
    const first = await store.usage.page({ client: 'rare', limit: 10 })
    expect(first).toEqual({ rows: [], next: { at: at + 10, requestId: 'req_1000010' } })
    const second = await store.usage.page({
      client: 'rare',
      limit: 10,
      ...(first.next && { before: first.next }),
    })
    expect(second.rows.map(({ requestId }) => requestId)).toEqual(['req_1000000'])
    expect(second.next).toBeNull()
  })
}

function followTests(start: () => Promise<Bench>, kind: Engine['kind']): void {
  test('each row is read once, in the order of settlement, by everybody who follows', async () => {
    const { store, open } = await start()
    const other = await open()
    const from = await store.usage.newest()
    const written = [store, other].map(async (each, writer) => {
      for (let batch = 0; batch < 20; batch += 1) {
        const named = [0, 1].map((index) => `req_${writer}_${batch}_${index}`)
        await each.settlements.settle(
          named.map((requestId) => settlement({ row: usageRow({ requestId, at: at - batch }) })),
        )
      }
    })
    // One reader follows while they are written, the other reads afterwards.
    const [live] = await Promise.all([follow(store, from, 80), ...written])
    const later = await follow(other, from, 80)
    expect(live).toEqual(later)
    expect(new Set(live).size).toBe(80)
    for (const writer of [0, 1]) {
      const own = live.filter((id) => id.startsWith(`req_${writer}`))
      const order = Array.from({ length: 40 }, (_, at) => `req_${writer}_${at >> 1}_${at & 1}`)
      expect(own).toEqual(order)
    }
  })

  test('a follower goes on behind the row it saw last, also within a batch', async () => {
    const { store } = await start()
    await append(
      store,
      [1, 2, 3].map((id) => usageRow({ requestId: `req_${id}` })),
    )
    const all = await store.usage.settledAfter({ number: 0, index: 0 }, {})
    expect(all.rows.map(({ row }) => row.requestId)).toEqual(['req_1', 'req_2', 'req_3'])
    const [first] = all.rows
    if (first === undefined) throw new Error('nothing was read')
    const rest = await store.usage.settledAfter(first.place, {})
    expect(rest.rows.map(({ row }) => row.requestId)).toEqual(['req_2', 'req_3'])
    expect(await store.usage.settledAfter(rest.place, {})).toEqual({
      rows: [],
      place: rest.place,
      missed: false,
    })
    expect(await store.usage.newest()).toEqual(rest.place)
  })

  test('the same predicate goes for followers, and what does not fit is passed', async () => {
    const { store } = await start()
    await append(store, rows)
    for (const { predicate, holds } of predicates) {
      const { rows: read, place } = await store.usage.settledAfter(
        { number: 0, index: 0 },
        predicate,
      )
      expect({ predicate, ids: read.map(({ row }) => row.requestId) }).toEqual({
        predicate,
        ids: rows.filter(holds).map(({ requestId }) => requestId),
      })
      expect(place).toEqual({ number: 1, index: rows.length - 1 })
    }
  })

  test('of more than a follower wants it has the newest, and is told', async () => {
    const { store } = await start()
    await append(store, rows)
    const from = { number: 0, index: 0 }
    const ids = rows.map(({ requestId }) => requestId)
    for (const predicate of [{}, { since: 0 }, { account: rows[0]?.account ?? '' }]) {
      const all = await store.usage.settledAfter(from, predicate)
      const cut = await store.usage.settledAfter(from, predicate, 1)
      expect(cut).toEqual({ rows: all.rows.slice(-1), place: all.place, missed: true })
      expect(await store.usage.settledAfter(from, predicate, ids.length)).toEqual(all)
    }
  })

  test('who was away for longer than batches are kept is told', async () => {
    const { store, engine } = await start()
    await append(store, [usageRow({ requestId: 'req_1' })])
    await append(store, [usageRow({ requestId: 'req_2' })])
    await append(store, [usageRow({ requestId: 'req_3' })])
    const after = (number: number) => store.usage.settledAfter({ number, index: 0 }, {})
    await engine.run('DELETE FROM settlement_log WHERE number < ?', [3])
    expect(await after(1)).toMatchObject({ missed: true, rows: [{ place: { number: 3 } }] })
    expect(await after(2)).toMatchObject({ missed: false, rows: [{ place: { number: 3 } }] })
  })

  test(`the order is of the commits though transactions of ${kind} end in another order`, async () => {
    const { store } = await start()
    const from = await store.usage.newest()
    await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        append(store, [usageRow({ requestId: `req_${index}`, account: `a${index}` })]),
      ),
    )
    const seen = await follow(store, from, 30)
    expect(new Set(seen).size).toBe(30)
  })
}

onEachEngine('entries of a wallet', (start) => {
  test('a late request between two pages changes no balance that is shown', async () => {
    const { store } = await start()
    await store.accounts.ensure('ann', 1)
    const credit = (id: string, amountNano: bigint, when: number) =>
      store.journal.post([
        {
          id: `adjust:${id}`,
          code: 'adjust',
          debit: house.adjust,
          credit: walletOf('ann'),
          amountNano,
          actor: 'op',
          reason: 'test',
          at: when,
        },
      ])
    const charge = (requestId: string, chargeNano: bigint, when: number) =>
      append(store, [usageRow({ requestId, at: when, chargeNano })])
    await credit('one', 1_000n, at)
    await charge('b', 10n, at + 5_000)
    await charge('c', 20n, at + 5_000)
    await credit('two', 500n, at + 5_000)
    await charge('d', 40n, at + 90 * 60_000)
    const shown = (entries: Awaited<ReturnType<Store['journal']['entries']>>) =>
      entries.map(({ id, effectNano, balanceNano }) => [id, effectNano, balanceNano])
    const first = await store.journal.entries({ account: 'ann', limit: 2 })
    expect(shown(first)).toEqual([
      ['usage:d', -40n, 1_430n],
      ['usage:c', -20n, 1_470n],
    ])
    // One older than what was shown, and one newer: both are added between two pages.
    await charge('a', 100n, at + 1)
    await charge('e', 7n, at + 91 * 60_000)
    const last = first.at(-1)
    const second = await store.journal.entries({
      account: 'ann',
      limit: 9,
      ...(last && { before: last }),
    })
    expect(shown(second)).toEqual([
      ['usage:b', -10n, 1_390n],
      ['adjust:two', 500n, 1_400n],
      ['usage:a', -100n, 900n],
      ['adjust:one', 1_000n, 1_000n],
    ])
    const since = await store.journal.entries({ account: 'ann', since: at + 5_000, limit: 9 })
    expect(shown(since).at(-1)).toEqual(['adjust:two', 500n, 1_400n])
    expect(await store.journal.entries({ account: 'bob', limit: 9 })).toEqual([])
  })
})

const rows: readonly UsageRow[] = [
  usageRow({ requestId: 'a', at }),
  usageRow({ requestId: 'b', at, account: 'bob', key: 'k2' }),
  usageRow({ requestId: 'c', at: at + 1, modelAsked: 'o4', modelServed: 'o4-mini' }),
  usageRow({ requestId: 'd', at: at + 2, status: 429, errorCode: 'insufficient_quota' }),
  usageRow({ requestId: 'e', at: at + 2, status: 503, errorCode: 'service_unavailable' }),
  usageRow({ requestId: 'f', at: at + 3, group: 'vip', operation: 'embeddings', stream: false }),
  usageRow({ requestId: 'g', at: at + 3, channel: 'spare', client: 'codex', durationMs: 9_000 }),
  usageRow({ requestId: 'h', at: at + 4, vendorRequestId: 'v-1', chargeNano: 0n }),
  usageRow({ requestId: 'j', at: at + 4, errorCode: 'service_unavailable' }),
  // Its account has no wallet, so all of it is written off.
  usageRow({ requestId: 'i', at: at + 5, chargeNano: 5n, account: 'bob' }),
]

const predicates: readonly {
  readonly predicate: UsagePredicate
  readonly holds: (row: UsageRow) => boolean
}[] = [
  { predicate: { requestId: 'c' }, holds: ({ requestId }) => requestId === 'c' },
  { predicate: { account: 'bob' }, holds: ({ account }) => account === 'bob' },
  { predicate: { key: 'k2' }, holds: ({ key }) => key === 'k2' },
  { predicate: { model: 'o4' }, holds: ({ modelAsked }) => modelAsked === 'o4' },
  { predicate: { modelServed: 'o4-mini' }, holds: ({ modelServed }) => modelServed === 'o4-mini' },
  { predicate: { group: 'vip' }, holds: ({ group }) => group === 'vip' },
  { predicate: { operation: 'embeddings' }, holds: ({ operation }) => operation === 'embeddings' },
  { predicate: { channel: 'spare' }, holds: ({ channel }) => channel === 'spare' },
  { predicate: { client: 'codex' }, holds: ({ client }) => client === 'codex' },
  { predicate: { vendorRequestId: 'v-1' }, holds: ({ vendorRequestId: id }) => id === 'v-1' },
  {
    predicate: { errorCode: 'insufficient_quota' },
    holds: ({ errorCode }) => errorCode === 'insufficient_quota',
  },
  { predicate: { stream: false }, holds: ({ stream }) => !stream },
  { predicate: { status: 429 }, holds: ({ status }) => status === 429 },
  { predicate: { statusClass: 5 }, holds: ({ status }) => status >= 500 },
  { predicate: { outcome: 'ok' }, holds: ({ errorCode }) => errorCode === null },
  { predicate: { outcome: 'failed' }, holds: ({ errorCode }) => errorCode !== null },
  {
    predicate: { outcome: 'interrupted' },
    holds: ({ status, errorCode }) => status === 200 && errorCode !== null,
  },
  { predicate: { leastChargeNano: 0n }, holds: () => true },
  { predicate: { leastDurationMs: 9_000 }, holds: ({ durationMs }) => durationMs >= 9_000 },
  {
    predicate: { since: at + 2, until: at + 4 },
    holds: ({ at: when }) => when - at >= 2 && when - at < 4,
  },
  {
    predicate: { account: 'ann', statusClass: 2, stream: true },
    holds: ({ account, status, stream }) => account === 'ann' && status === 200 && stream,
  },
]

async function allPages(store: Store, predicate: UsagePredicate, limit: number) {
  const read: UsageRow[] = []
  let next: { at: number; requestId: string } | null | undefined
  while (next !== null) {
    const page = await store.usage.page({ ...predicate, limit, ...(next && { before: next }) })
    expect(page.rows.length).toBeLessThanOrEqual(limit)
    read.push(...page.rows)
    next = page.next
  }
  return read
}

/** The ids of this many rows after a position. */
async function follow(store: Store, from: SettledPlace, count: number): Promise<string[]> {
  const ids: string[] = []
  let place = from
  while (ids.length < count) {
    const read = await store.usage.settledAfter(place, {})
    expect(read.missed).toBeFalse()
    ids.push(...read.rows.map(({ row }) => row.requestId))
    place = read.place
    // The writer may be waiting for a timer.
    await new Promise((resolve) => setImmediate(resolve))
  }
  return ids
}

/** This many more rows like the existing one, each a moment later than the one before, without its client. */
async function multiply(engine: Engine, count: number): Promise<void> {
  const names = usageColumns.map(({ name }) => name)
  const values: Record<string, string> = {
    request_id: `'req_' || (1000000 + step)`,
    at: 'at + step',
    client: 'NULL',
  }
  await engine.run(
    `WITH RECURSIVE steps (step) AS (SELECT 1 UNION ALL SELECT step + 1 FROM steps WHERE step < ${count})
      INSERT INTO usage (${names.join(', ')})
      SELECT ${names.map((name) => values[name] ?? name).join(', ')} FROM usage, steps`,
    [],
  )
}
