// Compares statistics with their rows: for any zone, interval and grouping, the parts add up to the whole.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { readBreakdown } from '../../src/admin/breakdown.ts'
import { readOverview } from '../../src/admin/overview.ts'
import type { Input } from '../../src/admin/schema.ts'
import { checkInput } from '../../src/admin/schema.ts'
import { type Points, readStatistics } from '../../src/admin/statistics.ts'
import { type AdminContext, AdminError } from '../../src/admin/use-case.ts'
import type { Store } from '../../src/store/store.ts'
import type { UsageRow } from '../../src/store/usage-row.ts'
import { fund } from '../support/ledger-scene.ts'
import { foldAll } from '../support/rollups.ts'
import { onEachEngine } from './engines.ts'
import { settlement, usageRow } from './store.ts'

const zones = [
  'UTC',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'America/St_Johns',
  'Pacific/Chatham',
  'Europe/Berlin',
  'Europe/London',
  'Europe/Lisbon',
  'America/New_York',
  'America/Los_Angeles',
  'America/Havana',
  'America/Santiago',
  'America/Sao_Paulo',
  'America/Caracas',
  'Africa/Cairo',
  'Africa/Casablanca',
  'Asia/Tehran',
  'Asia/Yangon',
  'Asia/Shanghai',
  'Australia/Eucla',
  'Australia/Adelaide',
  'Pacific/Kiritimati',
  'Pacific/Pago_Pago',
] as const

/** In these weeks of 2026 the clocks of most of the zones change. */
const seasons = ['2026-03-05', '2026-03-26', '2026-04-02', '2026-04-22', '2026-09-24', '2026-10-22']
const quarterMs = 900_000
const dayMs = 86_400_000
const nowMs = Date.parse('2026-11-20T10:07:00Z')

function contextOf(store: Store): AdminContext {
  return { store, actor: 'test', nowMs, currency: async () => 'USD' }
}

/** Deterministic, and spread over the seasons. */
function makeRows(count: number): UsageRow[] {
  return Array.from({ length: count }, (_, index) => {
    const season = Date.parse(seasons[index % seasons.length] ?? '')
    return usageRow({
      requestId: `req_${index}`,
      at: season + ((index * 7_919_333) % (7 * dayMs)),
      account: `account-${index % 3}`,
      key: `key_${index % 5}`,
      modelAsked: `model-${index % 4}`,
      channel: index % 9 === 0 ? null : `channel-${index % 2}`,
      // A failed request without a price and a channel counts under no model.
      priceVersion: 1,
      status: index % 11 === 0 ? 500 : 200,
      output: index % 400,
      cachedInput: index % 3,
      chargeNano: BigInt(index % 1_000),
      ttftMs: index % 11 === 0 ? null : (index * 37) % 3_000,
      durationMs: ((index * 37) % 3_000) + (index % 900),
      tag: ['checkout', 'search'][index % 7] ?? null,
    })
  })
}

async function settle(store: Store, rows: readonly UsageRow[]): Promise<void> {
  for (const account of new Set(rows.map((row) => row.account))) {
    await fund(store, account, 10n ** 12n)
  }
  for (let from = 0; from < rows.length; from += 500) {
    await store.settlements.settle(rows.slice(from, from + 500).map((row) => settlement({ row })))
  }
}

/** One part is in totals by hours and days, with its last third settled late; the other part is not. */
async function settleAndFold(store: Store, rows: readonly UsageRow[]): Promise<void> {
  const late = Math.floor((rows.length * 2) / 3)
  await settle(store, rows.slice(0, late))
  await foldAll(store, Date.parse('2026-09-27T03:10:00Z'))
  await settle(store, rows.slice(late))
}

const asked = (given: Record<string, unknown>): Input<'readStatistics'> =>
  checkInput('readStatistics', given)

const fields = { year: 'numeric', month: '2-digit', day: '2-digit' } as const
const clocks = new Map<string, Intl.DateTimeFormat>()

/** The local time of a moment in the zone, calculated only with `Intl`. */
function dayIn(zone: string, interval: string, ms: number): string {
  const clock = clocks.get(zone) ?? new Intl.DateTimeFormat('sv-SE', { timeZone: zone, ...fields })
  clocks.set(zone, clock)
  const [year, month, day] = clock.format(ms).split('-')
  if (interval === 'month') return `${year}-${month}`
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`)
  const back = interval === 'week' ? (date.getUTCDay() + 6) % 7 : 0
  return new Date(date.getTime() - back * dayMs).toISOString().slice(0, 10)
}

function spent(rows: readonly UsageRow[]): bigint {
  return rows.reduce((sum, { chargeNano }) => sum + chargeNano, 0n)
}

const addUp = (points: readonly Points[]): bigint[] =>
  (points[0]?.valuesNano ?? []).map((_, place) =>
    points.reduce((sum, { valuesNano }) => sum + BigInt(valuesNano?.[place] ?? 0), 0n),
  )

type Start = () => Promise<{ readonly store: Store }>

onEachEngine('statistics', (start) => {
  zoneTests(start)
  rangeTests(start)
  partsTests(start)
  tagTests(start)
  limitTests(start)
  figureTests(start)
  ownerTests(start)
  overviewTests(start)
})

function zoneTests(start: Start): void {
  test('the sum of parts is the whole is the rows, in 24 zones, across changes of their clocks', async () => {
    const { store } = await start()
    const rows = makeRows(1_500)
    await settleAndFold(store, rows)
    const context = contextOf(store)
    for (const timeZone of zones) {
      for (const interval of ['day', 'week', 'month'] as const) {
        const input = asked({
          since: '2026-03-01',
          until: '2026-11-01',
          timeZone,
          interval,
          // By two dimensions it is read only from quarters.
          by: interval === 'week' ? 'model,key' : 'model',
          limit: 3,
        })
        const found = await readStatistics(context, input)
        const [since, until] = [Date.parse(found.since), Date.parse(found.until)]
        const within = rows.filter(({ at }) => at >= since && at < until)
        expect(BigInt(found.total.totalNano ?? -1)).toBe(spent(within))
        expect(addUp(found.series)).toEqual((found.total.valuesNano ?? []).map(BigInt))
        const byDay = new Map<string, bigint>()
        for (const row of within) {
          // A quarter of an hour belongs to the day in which it begins.
          const day = dayIn(timeZone, interval, Math.floor(row.at / quarterMs) * quarterMs)
          byDay.set(day, (byDay.get(day) ?? 0n) + row.chargeNano)
        }
        const shown = found.intervals.map(
          (at, place) =>
            [
              dayIn(timeZone, interval, Date.parse(at)),
              BigInt(found.total.valuesNano?.[place] ?? 0),
            ] as const,
        )
        expect(new Map(shown.filter(([, nano]) => nano > 0n))).toEqual(
          new Map([...byDay].filter(([, nano]) => nano > 0n)),
        )
        expect(new Set(shown.map(([day]) => day)).size).toBe(shown.length)
      }
    }
  }, 60_000)
}

function rangeTests(start: Start): void {
  test('any range, zone, interval, metric and filter: parts make the whole', async () => {
    const { store } = await start()
    const rows = makeRows(1_000)
    await settleAndFold(store, rows)
    const context = contextOf(store)
    const from = Date.parse('2026-03-01')
    const made = fc.record({
      timeZone: fc.constantFrom(...zones),
      interval: fc.constantFrom('quarter', 'hour', 'day'),
      since: fc.integer({ min: 0, max: 240 * 96 }).map((quarters) => from + quarters * quarterMs),
      quarters: fc.integer({ min: 1, max: 900 }),
      by: fc.constantFrom(
        ...['', 'account', 'key', 'model', 'statusClass,model', 'channel,operation'],
        ...['tag', 'tag,model', 'account,tag'],
      ),
      tag: fc.option(fc.constantFrom('search', 'checkout,search', ',search', 'nothing'), {
        nil: undefined,
      }),
      model: fc.option(fc.constantFrom('model-1', 'model-1,model-2', 'nothing'), {
        nil: undefined,
      }),
      limit: fc.integer({ min: 1, max: 5 }),
    })
    await fc.assert(
      fc.asyncProperty(made, async ({ since, quarters, by, model, tag, ...rest }) => {
        const until = since + quarters * quarterMs
        const found = await readStatistics(
          context,
          asked({
            ...rest,
            ...(by !== '' && { by }),
            ...(model !== undefined && { model }),
            ...(tag !== undefined && { tag }),
            metric: 'requests',
            since: new Date(since).toISOString(),
            until: new Date(until).toISOString(),
          }),
        )
        const within = rows.filter(
          (row) =>
            row.at >= since &&
            row.at < until &&
            (model === undefined || model.split(',').includes(row.modelAsked)) &&
            (tag === undefined || tag.split(',').includes(row.tag ?? '')),
        )
        expect(found.total.total).toBe(within.length)
        const parts = by === '' ? [found.total] : found.series
        expect(parts.reduce((sum, { total }) => sum + (total ?? 0), 0)).toBe(within.length)
        found.intervals.forEach((at, place) => {
          const next = Date.parse(found.intervals[place + 1] ?? found.until)
          const here = within.filter((row) => row.at >= Date.parse(at) && row.at < next)
          expect(found.total.values?.[place]).toBe(here.length)
          expect(parts.reduce((sum, { values }) => sum + (values?.[place] ?? 0), 0)).toBe(
            here.length,
          )
        })
      }),
      { numRuns: 60 },
    )
  }, 60_000)
}

function partsTests(start: Start): void {
  test('the totals row is what rows add up to, and what the series shows', async () => {
    const { store } = await start()
    const rows = makeRows(600)
    await settle(store, rows)
    const range = { since: '2026-03-01', until: '2026-11-01', timeZone: 'Asia/Kathmandu' }
    const table = await readBreakdown(
      contextOf(store),
      checkInput('readBreakdown', { ...range, by: 'model', limit: 2, sort: 'output' }),
    )
    const series = await readStatistics(contextOf(store), asked(range))
    expect(table.rows.map(({ group, otherGroups }) => [group.model, otherGroups])).toEqual([
      ['model-3', undefined],
      ['model-2', undefined],
      [undefined, 2],
    ])
    expect(table.totals.spendNano).toBe(String(series.total.totalNano))
    expect(table.totals).toMatchObject({
      requests: 600,
      failed: rows.filter(({ status }) => status === 500).length,
      success: rows.filter(({ status }) => status === 200).length,
      cacheRate: 400 / 600,
    })
    for (const field of ['requests', 'success', 'failed'] as const) {
      expect(table.rows.reduce((sum, row) => sum + row[field], 0)).toBe(table.totals[field])
    }
    expect(table.rows.reduce((sum, { tokens }) => sum + tokens.output, 0)).toBe(
      rows.reduce((sum, { output }) => sum + output, 0),
    )
    expect(table.rows.reduce((sum, { share }) => sum + (share ?? 0), 0)).toBeCloseTo(1, 10)
  })
}

function tagTests(start: Start): void {
  const range = { since: '2026-03-01', until: '2026-11-01' }
  /** Requests and spending by tag, of these rows. */
  const byTag = (rows: readonly UsageRow[]) => {
    const found = new Map<string, [number, string]>()
    for (const tag of new Set(rows.map((row) => row.tag ?? ''))) {
      const own = rows.filter((row) => (row.tag ?? '') === tag)
      found.set(tag, [own.length, String(spent(own))])
    }
    return found
  }
  const read = async (store: Store, given: Record<string, unknown>, owner?: string) => {
    const input = checkInput('readBreakdown', { ...range, by: 'tag', ...given })
    const { rows } = await readBreakdown(contextOf(store), { ...input, ...(owner && { owner }) })
    return new Map(
      rows.map(({ group, requests, spendNano }) => [group.tag ?? '?', [requests, spendNano]]),
    )
  }

  test('by tag, requests without one have a row of their own, of all and of an account', async () => {
    const { store } = await start()
    const rows = makeRows(700)
    await settleAndFold(store, rows)
    expect(await read(store, {})).toEqual(byTag(rows))
    const own = rows.filter(({ account }) => account === 'account-1')
    expect(await read(store, {}, 'account-1')).toEqual(byTag(own))
    const failed = own.filter(({ status }) => status === 500)
    expect(await read(store, { statusClass: '5xx' }, 'account-1')).toEqual(byTag(failed))
    expect(await read(store, { tag: 'search' })).toEqual(
      byTag(rows.filter(({ tag }) => tag === 'search')),
    )
    expect(await store.rollups.values('tag', null, 10)).toEqual(['checkout', 'search'])
    expect(await store.rollups.values('tag', 'account-1', 1)).toEqual(['checkout'])
    expect(await store.rollups.values('tag', 'nobody', 10)).toEqual([])
  })

  test('where every request has a tag, none is shown without; refused requests count under none', async () => {
    const { store } = await start()
    const rows = makeRows(70).filter(({ tag }) => tag !== null)
    await settle(store, rows)
    expect(await read(store, {})).toEqual(byTag(rows))
    const refused = { requestId: 'refused', status: 404, channel: null, priceVersion: null }
    const at = Date.parse('2026-10-30')
    await settle(store, [usageRow({ ...refused, account: 'account-1', at, tag: 'endless' })])
    expect(await read(store, {})).toEqual(byTag(rows).set('', [1, '0']))
  })
}

function limitTests(start: Start): void {
  test('a limit counts groups, not the totals that they are added up from', async () => {
    const { store } = await start()
    await settle(store, makeRows(600))
    const since = Date.parse('2026-03-01')
    const whole = { cuts: [since], until: nowMs, filter: {}, sums: ['requests'] } as const
    const [one, ...others] = await store.rollups.read({ ...whole, by: [], limit: 1 })
    expect([one?.sums, others]).toEqual([[600n], []])
    const accounts = await store.rollups.read({ ...whole, by: ['account'], limit: 3 })
    expect(accounts.map(({ sums }) => sums)).toEqual([[200n], [200n], [200n]])
  })
}

function figureTests(start: Start): void {
  test('percentiles are near those of the rows, and speed is that of streams', async () => {
    const { store } = await start()
    const rows = makeRows(2_000)
    await settle(store, rows)
    const range = { since: '2026-03-01', until: '2026-11-01' }
    const durations = rows.map(({ durationMs }) => durationMs).sort((one, other) => one - other)
    for (const [metric, share] of [
      ['latencyP50', 0.5],
      ['latencyP95', 0.95],
    ] as const) {
      const found = await readStatistics(contextOf(store), asked({ ...range, metric }))
      const real = durations[Math.floor(share * durations.length)] ?? 0
      expect(Math.abs(Number(found.total.total) - real) / real).toBeLessThan(0.25)
    }
    const found = await readStatistics(contextOf(store), asked({ ...range, metric: 'throughput' }))
    const streams = rows.filter(({ ttftMs, durationMs }) => ttftMs !== null && durationMs > ttftMs)
    const ms = streams.reduce((sum, { ttftMs, durationMs }) => sum + durationMs - (ttftMs ?? 0), 0)
    const tokens = streams.reduce((sum, { output, reasoning }) => sum + output + reasoning, 0)
    expect(Number(found.total.total)).toBeCloseTo((tokens / ms) * 1_000, 6)
    expect(found.total.values).toContain(null)
  })

  test('the period before is as long by the clock, and ends where this one begins', async () => {
    const { store } = await start()
    await settle(store, makeRows(600))
    // A week in which Berlin's clocks go back, and the week before.
    const range = { since: '2026-10-24', until: '2026-10-31', timeZone: 'Europe/Berlin' }
    const found = await readStatistics(
      contextOf(store),
      asked({ ...range, compare: true, metric: 'requests' }),
    )
    expect([found.previous?.since, found.previous?.until]).toEqual([
      '2026-10-16T22:00:00.000Z',
      '2026-10-23T22:00:00.000Z',
    ])
    const before = await readStatistics(
      contextOf(store),
      asked({ ...range, since: '2026-10-17', until: '2026-10-24', metric: 'requests' }),
    )
    expect(found.previous?.total).toEqual(before.total)
    expect(found.previous?.total.total).toBeGreaterThan(0)
  })
}

function ownerTests(start: Start): void {
  test('an owner finds their own usage, and no channel', async () => {
    const { store } = await start()
    const rows = makeRows(300)
    await settle(store, rows)
    const range = { since: '2026-03-01', until: '2026-11-01' }
    const read = (given: Record<string, string>) =>
      readStatistics(contextOf(store), {
        ...asked({ ...range, metric: 'requests', ...given }),
        owner: 'account-1',
      })
    expect((await read({ by: 'key' })).total.total).toBe(100)
    expect((await read({ account: 'account-1' })).total.total).toBe(100)
    const refused = async (given: Record<string, string>) => {
      const error = await read(given).catch((thrown: unknown) => thrown)
      return error instanceof AdminError ? `${error.refusal} ${error.field}` : error
    }
    expect(await refused({ account: 'account-2' })).toBe('not_found account')
    expect(await refused({ account: 'account-1,account-2' })).toBe('not_found account')
    expect(await refused({ by: 'channel' })).toBe('invalid by')
    expect(await refused({ channel: 'channel-1' })).toBe('invalid channel')
    const { totals } = await readBreakdown(contextOf(store), {
      ...checkInput('readBreakdown', range),
      owner: 'account-1',
    })
    expect(totals).not.toHaveProperty('vendorCostNano')
  })
}

function overviewTests(start: Start): void {
  test('the first page: periods by the clock, those before them, and the runway', async () => {
    const { store } = await start()
    // 15:37 in Kathmandu; its day began at 18:15 UTC.
    const at = (text: string) => Date.parse(text)
    const row = (requestId: string, time: string, change: Partial<UsageRow> = {}) =>
      usageRow({ requestId, at: at(time), chargeNano: 7n * 10n ** 9n, ...change })
    await settle(store, [
      row('a', '2026-11-20T09:00:00Z'),
      row('b', '2026-11-19T18:20:00Z', { cachedInput: 0, status: 500 }),
      row('c', '2026-11-19T18:10:00Z'),
      row('d', '2026-11-19T12:00:00Z'),
      row('e', '2026-11-12T12:00:00Z'),
      row('f', '2026-10-22T12:00:00Z'),
      row('g', '2026-10-20T12:00:00Z'),
    ])
    const input = { account: 'ann', timeZone: 'Asia/Kathmandu' }
    const page = await readOverview(contextOf(store), input)
    expect(page.today).toMatchObject({
      since: '2026-11-19T18:15:00.000Z',
      until: '2026-11-20T10:15:00.000Z',
      requests: 2,
      spendNano: '14000000000',
      errorRate: 0.5,
      cacheHits: 1,
      previous: {
        since: '2026-11-18T18:15:00.000Z',
        until: '2026-11-19T10:15:00.000Z',
        requests: 0,
      },
    })
    expect([page.days7.requests, page.days7.previous.requests]).toEqual([4, 1])
    expect([page.days30.requests, page.days30.previous.requests]).toEqual([6, 1])
    expect(page.today.ttftP50Ms).toBeGreaterThan(100)
    // 1,000 less 49 are left; 28 a week are spent.
    expect(page.balance?.availableNano).toBe(String(951n * 10n ** 9n))
    expect(page.runwayDays).toBe(237.8)
    expect((await readOverview(contextOf(store), { timeZone: 'UTC' })).balance).toBeNull()
    const nobody = readOverview(contextOf(store), { ...input, account: 'nobody' })
    await expect(nobody).rejects.toMatchObject({ refusal: 'not_found', field: 'account' })
  })
}
