// The overview page: today, 7 and 30 days, each with the period before, and how long the balance lasts.

import { tokenPrices } from '../config/prices.ts'
import { quarterMs, type RollupSum } from '../store/rollup-table.ts'
import { type Balance, readBalance } from './accounts.ts'
import type { Input } from './schema.ts'
import { Added, Fold, readRows } from './statistics-fold.ts'
import { metrics, type Sums } from './statistics-metrics.ts'
import { timeText } from './time.ts'
import type { AdminContext } from './use-case.ts'
import { addDays, dayMs, startOfDay, type Zone, zoneIn } from './zone.ts'

interface Figures {
  readonly spendNano: string
  readonly requests: number
  readonly tokens: number
  readonly errorRate: number | null
  readonly cacheHits: number
  readonly cacheRate: number | null
  readonly ttftP50Ms: number | null
  readonly ttftP95Ms: number | null
}

interface Period extends Figures {
  readonly since: string
  readonly until: string
  /** The period as many days earlier, with the same local times. */
  readonly previous: Figures & { readonly since: string; readonly until: string }
}

interface Overview {
  readonly currency: string
  readonly timeZone: string
  readonly today: Period
  /** Includes today. */
  readonly days7: Period
  readonly days30: Period
  /** The account's balance; null where the figures are of all accounts. */
  readonly balance: Balance | null
  /** Days the available balance lasts at the pace of the last 7 times 24 hours; null where nothing was spent. */
  readonly runwayDays: number | null
}

const shownSums: readonly RollupSum[] = [
  ...new Set([
    'requests' as const,
    ...tokenPrices,
    ...metrics.spend.sums,
    ...metrics.errorRate.sums,
    ...metrics.cacheRate.sums,
    ...metrics.ttftP95.sums,
  ]),
]

export interface Window {
  readonly since: number
  readonly until: number
}

/** Throws AdminError `not_found` for an unknown account. All figures come from one read. */
export async function readOverview(
  context: AdminContext,
  { account, timeZone }: Input<'readOverview'>,
): Promise<Overview> {
  const until = Math.ceil(context.nowMs / quarterMs) * quarterMs
  const zone = zoneIn(timeZone, until - 70 * dayMs, until)
  const windows = [1, 7, 30].map((days) => windowsOf(zone, until, days))
  const week = { since: until - 7 * dayMs, until }
  const asked = [...windows.flat(), week]
  const sumOf = await readWindows(context, { account, windows: asked, names: shownSums })
  const balance = account === undefined ? null : await readBalance(context, { account })
  const periodOf = (place: number): Period => {
    const [now = week, before = week] = windows[place] ?? []
    return { ...viewOf(now, sumOf(now)), previous: viewOf(before, sumOf(before)) }
  }
  return {
    currency: await context.currency(),
    timeZone,
    today: periodOf(0),
    days7: periodOf(1),
    days30: periodOf(2),
    balance,
    runwayDays: balance === null ? null : runwayOf(balance, sumOf(week).get('chargeNano')),
  }
}

/** The window of `days` days that ends now, today included, and the window of as many days before it. */
export function windowsOf(zone: Zone, until: number, days: number): readonly Window[] {
  const whole = (ms: number) => Math.floor(ms / quarterMs) * quarterMs
  const since = whole(addDays(zone, startOfDay(zone, until - 1), 1 - days))
  return [
    { since, until },
    { since: whole(addDays(zone, since, -days)), until: whole(addDays(zone, until, -days)) },
  ]
}

/** Reads once, with cuts where any of the windows begins or ends. */
export async function readWindows(
  context: AdminContext,
  {
    account,
    windows,
    names,
  }: {
    /** undefined: all accounts together. */
    readonly account?: string | undefined
    readonly windows: readonly Window[]
    readonly names: readonly RollupSum[]
  },
): Promise<(window: Window) => Sums> {
  const edges = windows.flatMap(({ since, until }) => [since, until])
  const cuts = [...new Set(edges)].sort((one, other) => one - other)
  const [since = 0, until = 0] = [cuts[0], cuts.at(-1)]
  const rows = await readRows(context, {
    range: { since, until, zone: { name: 'UTC', offsets: [] } },
    filter: account === undefined ? {} : { account: [account] },
    by: [],
    cuts: cuts.slice(0, -1),
    names,
  })
  const { intervals } = new Fold(rows, names).total
  return (window) => {
    const sum = new Added(names)
    for (const [place, each] of intervals) {
      const at = cuts[place] ?? 0
      if (at >= window.since && at < window.until) sum.addAll(each)
    }
    return sum
  }
}

function viewOf({ since, until }: Window, sums: Sums) {
  const figures: Figures = {
    spendNano: String(sums.get('chargeNano')),
    requests: Number(sums.get('requests')),
    tokens: metrics.tokens.of(sums),
    errorRate: metrics.errorRate.of(sums),
    cacheHits: Number(sums.get('cacheHits')),
    cacheRate: metrics.cacheRate.of(sums),
    ttftP50Ms: metrics.ttftP50.of(sums),
    ttftP95Ms: metrics.ttftP95.of(sums),
  }
  return { since: timeText(since), until: timeText(until), ...figures }
}

function runwayOf({ availableNano }: Balance, spentNano: bigint): number | null {
  if (spentNano <= 0n) return null
  return Math.round((Number(availableNano) / (Number(spentNano) / 7)) * 10) / 10
}
