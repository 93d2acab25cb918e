// The operators' overview page: the deployment's present state, its earnings, and alerts.

import type { ChannelConfig } from '../config/types.ts'
import { quarterMs } from '../store/rollup-table.ts'
import type { ChannelReading, OverheadPhase, ProcessReading } from '../store/running.ts'
import { overheadBounds } from '../telemetry/metrics.ts'
import type { Offer } from './offer.ts'
import { type Alert, alertsOf } from './operation-alerts.ts'
import { readWindows, type Window, windowsOf } from './overview.ts'
import { missingPrices } from './price-missing.ts'
import type { Input } from './schema.ts'
import type { Sums } from './statistics-metrics.ts'
import { timeText } from './time.ts'
import type { AdminContext } from './use-case.ts'
import { dayMs, hourMs, startOfDay, zoneIn } from './zone.ts'

const minuteMs = 60_000
const minutesShown = 60
const mostSetAside = 1_000
/** How many days a differing bill raises an alert, unless a new comparison finds no difference. */
const billDays = 7
const names = ['requests', 'errors', 'chargeNano', 'writeoffNano', 'vendorCostNano'] as const

const stateNames = ['ok', 'degraded', 'open', 'disabled'] as const

/**
 * `own`: the reading of the answering process. Others report only if they answered requests in the last seconds and
 * somebody looked before: the first look shows the answering process alone.
 */
export async function readOperations(
  context: AdminContext,
  offer: Offer,
  own: ProcessReading,
  { timeZone }: Input<'readOperations'>,
) {
  const { store, nowMs, currency } = context
  const isWatched = await store.running.watch(null)
  const thisMinute = Math.floor(nowMs / minuteMs)
  const until = Math.ceil(nowMs / quarterMs) * quarterMs
  const zone = zoneIn(timeZone, until - 70 * dayMs, until)
  const [today, week, month] = [1, 7, 30].map((days) => windowsOf(zone, until, days)[0])
  const hour = { since: until - hourMs - quarterMs, until }
  const windows = [today, week, month, hour].filter((each) => each !== undefined)
  const [now, recent, sumOf, credited] = await Promise.all([
    readNow(context, offer, own),
    store.usage.recent((thisMinute - minutesShown) * minuteMs),
    readWindows(context, { windows, names }),
    store.journal.credited(startOfDay(zone, nowMs)),
  ])
  const { readings, channels, settlement } = now
  return {
    at: timeText(nowMs),
    timeZone,
    currency: await currency(),
    processes: {
      known: readings.length,
      complete: isWatched,
      startedAt: timeText(Math.min(...readings.map(({ startedAt }) => startedAt))),
    },
    requests: {
      ...requestsOf(recent.minutes, thisMinute, readings),
      lastHour: rateOf(hour, sumOf(hour)),
    },
    overhead: {
      auth: overheadOf('auth', readings),
      route: overheadOf('route', readings),
      settle: overheadOf('settle', readings),
    },
    settlement,
    errors: {
      since: timeText(recent.errorsSince),
      items: recent.errors.map(({ lastAt, ...error }) => ({ ...error, lastAt: timeText(lastAt) })),
    },
    channels,
    money: {
      today: moneyOf(today, sumOf),
      days7: moneyOf(week, sumOf),
      days30: moneyOf(month, sumOf),
      creditedTodayNano: String(credited),
    },
    alerts: alertsOf(now) satisfies readonly Alert[],
  }
}

/** The alerts that are raised now. */
export async function readOperatorAlerts(
  ...asked: Parameters<typeof readNow>
): Promise<readonly Alert[]> {
  return alertsOf(await readNow(...asked))
}

/** The latest readings of all processes, and the store's data that alerts are derived from. */
async function readNow(
  { store, nowMs }: Pick<AdminContext, 'store' | 'nowMs'>,
  offer: Offer,
  own: ProcessReading,
) {
  const [reports, setAsides, missing, failing, bills] = await Promise.all([
    store.running.reports(),
    store.settlements.setAsides(mostSetAside),
    missingPrices(store.usage, offer, nowMs - hourMs),
    store.failingWork.all(),
    store.bills.differing(nowMs - billDays * dayMs),
  ])
  const readings = [own, ...reports.readings.filter(({ process }) => process !== own.process)]
  const channels = channelStrip(offer, readings)
  const settlement = settlementOf(readings, setAsides.length)
  return { readings, channels, settlement, missing, failing, bills }
}

function requestsOf(
  counted: readonly { readonly minute: number; readonly requests: number }[],
  thisMinute: number,
  readings: readonly ProcessReading[],
) {
  const byMinute = new Map(counted.map(({ minute, requests }) => [minute, requests]))
  const minutes = Array.from({ length: minutesShown }, (_, place) => {
    const minute = thisMinute - minutesShown + place
    return { at: timeText(minute * minuteMs), requests: byMinute.get(minute) ?? 0 }
  })
  return {
    running: readings.reduce((sum, { running }) => sum + running, 0),
    perSecond: Math.round(((minutes.at(-1)?.requests ?? 0) / 60) * 100) / 100,
    minutes,
  }
}

function rateOf({ since, until }: Window, sums: Sums) {
  const requests = Number(sums.get('requests'))
  const failed = Number(sums.get('errors'))
  return {
    since: timeText(since),
    until: timeText(until),
    requests,
    failed,
    successRate: requests === 0 ? null : (requests - failed) / requests,
  }
}

/** Sums of all processes, each since its start. */
function overheadOf(phase: OverheadPhase, readings: readonly ProcessReading[]) {
  const counts = [...overheadBounds, Infinity].map((_, place) =>
    readings.reduce((sum, { overhead }) => sum + (overhead[phase][place] ?? 0), 0),
  )
  return {
    requests: counts.reduce((sum, each) => sum + each, 0),
    p50Ms: percentileMs(counts, 0.5),
    p95Ms: percentileMs(counts, 0.95),
    p99Ms: percentileMs(counts, 0.99),
  }
}

/**
 * Interpolated within the histogram bucket; in the last, which is open, its lower bound. null: nothing was measured.
 */
function percentileMs(counts: readonly number[], share: number): number | null {
  const all = counts.reduce((sum, each) => sum + each, 0)
  if (all === 0) return null
  let rank = share * all
  for (const [place, count] of counts.entries()) {
    if (count === 0 || rank > count) {
      rank -= count
      continue
    }
    const low = overheadBounds[place - 1] ?? 0
    const high = overheadBounds[place] ?? low
    return rounded((low + (high - low) * (rank / count)) * 1_000)
  }
  return rounded((overheadBounds.at(-1) ?? 0) * 1_000)
}

function rounded(ms: number): number {
  return Math.round(ms * 1_000) / 1_000
}

/** Each channel as seen by the process that has most trouble with it. */
function channelStrip({ config }: Offer, readings: readonly ProcessReading[]) {
  return config.channels.map(({ id, vendor, disabled, state }) => {
    const seen = readings.flatMap(({ channels }) => channels.filter((each) => each.id === id))
    const worst = seen.reduce<ChannelReading | null>(
      (most, each) => (most === null || each.state > most.state ? each : most),
      null,
    )
    const trouble = worst?.trouble ?? null
    return {
      id,
      vendor,
      state: disabled ? stopped(state) : stateNames[worst?.state ?? 0],
      reason: disabled ? 'configuration' : (trouble?.reason ?? null),
      fault: disabled ? null : (trouble?.fault ?? null),
      since: disabled ? null : timeText(trouble?.sinceAt ?? null),
    }
  })
}

function stopped(state: ChannelConfig['state']) {
  return state === 'draining' ? state : 'disabled'
}

function settlementOf(readings: readonly ProcessReading[], setAside: number) {
  return {
    unsettled: readings.reduce((sum, { unsettled }) => sum + unsettled, 0),
    oldestUnsettledMs: Math.max(...readings.map(({ oldestUnsettledMs }) => oldestUnsettledMs)),
    setAside,
    closed: readings.flatMap(({ closed }) => closed ?? []),
  }
}

function moneyOf(window: Window | undefined, sumOf: (window: Window) => Sums) {
  const { since, until } = window ?? { since: 0, until: 0 }
  const sums = sumOf({ since, until })
  const revenueNano = sums.get('chargeNano')
  const vendorCostNano = sums.get('vendorCostNano')
  return {
    since: timeText(since),
    until: timeText(until),
    revenueNano: String(revenueNano),
    writeoffNano: String(sums.get('writeoffNano')),
    vendorCostNano: String(vendorCostNano),
    marginNano: String(revenueNano - vendorCostNano),
  }
}
