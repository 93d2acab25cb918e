// Tests totals by hours and by days: folding changes nothing that is read, whatever is settled meanwhile and
// afterwards, and the audit names what is wrong with them.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { sums } from '../../src/store/rollup-columns.ts'
import type { RollupDimension, RollupRow } from '../../src/store/rollup-table.ts'
import type { Store } from '../../src/store/store.ts'
import { finished, fund } from '../support/ledger-scene.ts'
import { foldAll } from '../support/rollups.ts'
import { type Bench, onEachEngine } from './engines.ts'

const quarterMs = 900_000
const hourMs = 4 * quarterMs
const dayMs = 24 * hourMs
const ref = { node: 'n1', epoch: 1 }
const pricing = () => () => 10n

const finishedAt = (requestId: string, at: number, seed = 0) =>
  finished(ref, {
    requestId,
    at,
    account: seed % 3 === 0 ? 'ann' : 'bob',
    key: `key-${seed % 4}`,
    modelAsked: `model-${seed % 5}`,
    channel: seed % 7 === 0 ? null : `channel-${seed % 2}`,
    status: seed % 4 === 0 ? 429 : 200,
    output: seed,
    durationMs: (seed * 977) % 300_000,
    ttftMs: seed % 6 === 0 ? null : (seed * 31) % 9_000,
    chargeNano: 10n,
    priceVersion: 1,
  })

async function funded({ store }: Bench): Promise<Store> {
  await fund(store, 'ann', 1_000_000n)
  await fund(store, 'bob', 500n)
  return store
}

const names = sums.map(({ field }) => field)

/** Every sum of every group of a range, by the dimension and one more, which only quarters keep separate. */
async function fromQuarters(
  store: Store,
  dimension: RollupDimension | null,
  times: { readonly cuts: readonly number[]; readonly until: number },
): Promise<ReadonlyMap<string, readonly bigint[]>> {
  const by = [...(dimension === null ? [] : [dimension]), 'channel', 'group'] as const
  const rows = await store.rollups.read({ ...times, filter: {}, by, sums: names, limit: 9_999 })
  const parts = dimension === null ? 0 : 1
  return addedBy(rows.map((row) => ({ ...row, by: row.by.slice(0, parts) })))
}

function addedBy(rows: readonly RollupRow[]): ReadonlyMap<string, readonly bigint[]> {
  const made = new Map<string, readonly bigint[]>()
  for (const { span, by, sums: more } of rows) {
    const name = [span, ...by].join(' ')
    const found = made.get(name)
    made.set(name, found?.map((sum, place) => sum + (more[place] ?? 0n)) ?? more)
  }
  return made
}

type Start = () => Promise<Bench>

const sorted = (rows: readonly RollupRow[]) =>
  [...rows].sort((one, other) => (one.by.join() < other.by.join() ? -1 : 1))

onEachEngine('folding', (start) => {
  readingTests(start)
  stepTests(start)
  partTests(start)
  raceTests(start)
  auditTests(start)
})

function readingTests(start: Start): void {
  test('what is read is what quarters make, before, between and after, for every dimension', async () => {
    const store = await funded(await start())
    const dimensions = [null, 'account', 'key', 'model', 'statusClass', 'operation'] as const
    const check = async () => {
      const made = fc.record({
        dimension: fc.constantFrom(...dimensions),
        edges: fc.uniqueArray(fc.integer({ min: 0, max: 5 * 96 }), { minLength: 2, maxLength: 6 }),
      })
      await fc.assert(
        fc.asyncProperty(made, async ({ dimension, edges }) => {
          const cuts = edges.sort((one, other) => one - other).map((edge) => edge * quarterMs)
          const times = { cuts: cuts.slice(0, -1), until: cuts.at(-1) ?? 0 }
          const by = dimension === null ? [] : [dimension]
          const asked = { ...times, filter: {}, by, sums: names, limit: 9_999 }
          const found = addedBy(await store.rollups.read(asked))
          expect(found).toEqual(await fromQuarters(store, dimension, times))
          const one = { cuts: times.cuts.slice(0, 1), until: times.until }
          const whole = { ...asked, ...one, by: [], limit: 1 }
          expect(addedBy(await store.rollups.read(whole))).toEqual(
            await fromQuarters(store, null, one),
          )
        }),
        { numRuns: 15 },
      )
    }
    const rows = Array.from({ length: 200 }, (_, seed) =>
      finishedAt(`req_${seed}`, (seed * 7_919_333) % (5 * dayMs), seed),
    )
    await store.settlements.settle(rows.slice(0, 120))
    await check()
    await foldAll(store, 2 * dayMs + 5 * quarterMs)
    await check()
    // Into quarters that are folded, and into quarters that are not.
    await store.settlements.settle(rows.slice(120))
    await check()
    expect((await store.audit.run(pricing)).findings).toEqual([])
    await foldAll(store, 6 * dayMs)
    await check()
    expect((await store.audit.run(pricing)).findings).toEqual([])
  }, 60_000)
}

function stepTests(start: Start): void {
  test('models that nobody has make one total, however many are asked for; the rows keep their names', async () => {
    const store = await funded(await start())
    const refused = (seed: number, change = {}) =>
      finished(ref, {
        requestId: `req_${seed}`,
        at: seed * 1_000,
        account: 'ann',
        modelAsked: `made-up-${seed}`,
        channel: null,
        priceVersion: null,
        status: 404,
        chargeNano: 0n,
        vendorCostNano: 0n,
        ...change,
      })
    await store.settlements.settle([
      ...Array.from({ length: 50 }, (_, seed) => refused(seed)),
      // Known and priced: nothing of it is left out.
      refused(50, { modelAsked: 'model-1', priceVersion: 1, status: 503 }),
    ])
    const read = () =>
      store.rollups.read({
        cuts: [0],
        until: dayMs,
        filter: {},
        by: ['model'],
        sums: ['requests'],
        limit: 99,
      })
    const expected = [
      { span: 0, by: [''], sums: [50n] },
      { span: 0, by: ['model-1'], sums: [1n] },
    ]
    expect(sorted(await read())).toEqual(expected)
    expect(await store.rollups.values('model', 'ann', 99)).toEqual(['', 'model-1'])
    await foldAll(store, dayMs)
    expect(sorted(await read())).toEqual(expected)
    const asked = { account: 'ann', model: 'made-up-7', limit: 9 }
    const { rows } = await store.usage.page(asked)
    expect(rows.map(({ requestId }) => requestId)).toEqual(['req_7'])
    expect((await store.audit.run(() => () => 0n)).findings).toEqual([])
  })

  test('only quarters that are over are folded, one at a time, so that settling waits for no more', async () => {
    const bench = await start()
    const store = await funded(bench)
    const folded = () => bench.engine.query('SELECT until FROM usage_folded', [])
    expect(await store.rollups.fold(dayMs)).toBe(false)
    await store.settlements.settle([
      finishedAt('a', hourMs + 5),
      finishedAt('b', 2 * hourMs - quarterMs - 5),
      finishedAt('d', 2 * hourMs - 5),
      finishedAt('c', 2 * hourMs + 5),
    ])
    expect(await store.rollups.fold(hourMs + quarterMs - 1)).toBe(false)
    expect(await store.rollups.fold(hourMs + quarterMs + 7)).toBe(true)
    expect(await folded()).toEqual([{ until: hourMs + quarterMs }])
    const untils = [2 * hourMs - quarterMs, 2 * hourMs, 2 * hourMs + quarterMs]
    for (const until of untils) {
      expect(await store.rollups.fold(dayMs)).toBe(true)
      expect(await folded()).toEqual([{ until }])
      expect((await store.audit.run(pricing)).findings).toEqual([])
    }
    expect(await store.rollups.fold(dayMs)).toBe(false)
    const hours = await bench.engine.query(
      `SELECT hour, requests FROM usage_hour JOIN usage_facet ON id = facet
        WHERE dimension = '' AND account = '' ORDER BY hour`,
      [],
    )
    expect(hours).toEqual([
      { hour: hourMs, requests: 3 },
      { hour: 2 * hourMs, requests: 1 },
    ])
  })
}

function partTests(start: Start): void {
  test('what a clock that is ahead has dated in the future is not folded before its time', async () => {
    const bench = await start()
    const store = await funded(bench)
    await store.settlements.settle([
      finishedAt('a', hourMs),
      finishedAt('b', Date.now() + 2 * dayMs),
    ])
    await foldAll(store, Date.now() + 3 * dayMs)
    const state = await bench.engine.query('SELECT until FROM usage_folded', [])
    expect(state).toEqual([{ until: hourMs + quarterMs }])
    expect((await store.audit.run(pricing)).findings).toEqual([])
  })

  test('a quarter of many series is folded in parts; what is settled meanwhile counts once', async () => {
    const bench = await start()
    const store = await funded(bench)
    const row = (requestId: string, series: number, at = hourMs) =>
      finished(ref, { requestId, at, account: 'ann', key: `key-${series}`, chargeNano: 0n })
    const free = () => () => 0n
    const series = 1_100
    await store.settlements.settle(
      Array.from({ length: series }, (_, each) => row(`first_${each}`, each)),
    )
    const read = async () => {
      const asked = { filter: {}, sums: ['requests'], limit: 9_999 } as const
      const [all] = await store.rollups.read({ ...asked, cuts: [0], until: dayMs, by: [] })
      const keys = await store.rollups.read({ ...asked, cuts: [0], until: dayMs, by: ['key'] })
      return [all?.sums[0], keys.length, keys.reduce((sum, each) => sum + (each.sums[0] ?? 0n), 0n)]
    }
    let requests = BigInt(series)
    let steps = 0
    while (await store.rollups.fold(dayMs)) {
      steps += 1
      // Of series that are folded, of some that are not, of a new one, and of a quarter before.
      await store.settlements.settle([
        row(`low_${steps}`, 0),
        row(`high_${steps}`, series - 1),
        row(`new_${steps}`, series + steps),
        row(`before_${steps}`, steps, hourMs - 5),
      ])
      requests += 4n
      expect(await read()).toEqual([requests, series + steps, requests])
      expect((await store.audit.run(free)).findings).toEqual([])
    }
    expect(steps).toBeGreaterThan(2)
    const state = await bench.engine.query('SELECT until, series FROM usage_folded', [])
    expect(state).toEqual([{ until: hourMs + quarterMs, series: 0 }])
  }, 60_000)
}

function raceTests(start: Start): void {
  test('processes that fold while others settle lose nothing and count nothing twice', async () => {
    const bench = await start()
    const store = await funded(bench)
    const others = await Promise.all([bench.open(), bench.open(), bench.open()])
    const ofMany = (requestId: string, series: number) =>
      finished(ref, { requestId, at: hourMs, account: 'bob', key: `many-${series}` })
    // So many series that this quarter is folded in parts.
    await store.settlements.settle(
      Array.from({ length: 1_100 }, (_, each) => ofMany(`many_${each}`, each)),
    )
    const rows = Array.from({ length: 240 }, (_, seed) =>
      seed % 2 === 0
        ? finishedAt(`req_${seed}`, (seed * 7_919_333) % dayMs, seed)
        : ofMany(`req_${seed}`, (seed * 31) % 1_300),
    )
    let settling = true
    const settle = async (from: number, by: Store) => {
      for (let at = from; at < rows.length; at += 20) {
        await by.settlements.settle(rows.slice(at, at + 10))
      }
    }
    const folding = others.slice(1).map(async (by) => {
      while (settling) await by.rollups.fold(dayMs)
    })
    await Promise.all([settle(0, store), settle(10, others[0] ?? store)])
    settling = false
    await Promise.all(folding)
    await foldAll(store, dayMs)
    const [all] = await store.rollups.read({
      cuts: [0],
      until: dayMs,
      filter: {},
      by: [],
      sums: ['requests'],
      limit: 1,
    })
    expect(all?.sums).toEqual([1_340n])
    const { findings } = await store.audit.run(pricing)
    expect(findings).toEqual([])
  }, 60_000)
}

function auditTests(start: Start): void {
  test('the audit names totals by hours and days that are not what quarters make', async () => {
    const bench = await start()
    const store = await funded(bench)
    const { engine } = bench
    await store.settlements.settle([finishedAt('a', hourMs), finishedAt('b', dayMs)])
    await foldAll(store, 2 * dayMs)
    const found = async () =>
      (await store.audit.run(pricing)).findings.map(
        ({ kind, subject, message }) => `${kind} ${subject}: ${message}`,
      )
    expect(await found()).toEqual([])
    const facet = `facet = (SELECT id FROM usage_facet WHERE dimension = 'key' AND account = 'ann')`
    await engine.run(`UPDATE usage_day SET output_tokens = 7 WHERE day = 0 AND ${facet}`, [])
    await engine.run(`DELETE FROM usage_hour WHERE hour = ${dayMs} AND ${facet}`, [])
    await engine.run(
      `INSERT INTO usage_hour (facet, hour, requests) SELECT id, ${3 * dayMs}, 1 FROM usage_facet
        WHERE dimension = '' AND account = ''`,
      [],
    )
    expect(await found()).toEqual([
      'day 1970-01-01T00:00:00.000Z ["key","ann","key-0"]: output 7, quarters make 0',
      'hour 1970-01-02T00:00:00.000Z ["key","ann","key-0"]: quarters make 1 requests, and it has no total',
      'hour 1970-01-04T00:00:00.000Z ["","",""]: requests 1, quarters make 0',
    ])
  })
}
