// The setup doctor: requests with mistakes and requests that reached a vendor, for the person who sets up a client.

import type { Arrival } from '../store/arrivals.ts'
import type { SettledPlace } from '../store/usage-filter.ts'
import type { UsageRow } from '../store/usage-row.ts'
import type { Page } from './page.ts'
import type { Input } from './schema.ts'
import { timeText } from './time.ts'
import type { AdminContext } from './use-case.ts'

interface ArrivalView {
  readonly requestId: string
  readonly at: string
  /** `ok`: the request reached a vendor or was answered, whatever the result. */
  readonly outcome: 'ok' | 'mistake'
  readonly code: string
  readonly status: number
  readonly method: string | null
  readonly path: string | null
  readonly model: string | null
  readonly userAgent: string | null
  readonly keyId: string | null
  readonly address: string | null
  /** How the request is known to be the caller's; null where an operator views all. */
  readonly by: 'key' | 'address' | null
  readonly suggestion: string | null
  readonly detail: string
}

/** The viewer. */
interface Looking {
  /** The account whose arrivals are shown; undefined: all. */
  readonly account: string | undefined
  /**
   * The viewer's address: requests from there without a known key may be theirs. null: only requests by key are shown.
   */
  readonly address: string | null
}

type Arrivals = () => Promise<readonly Arrival[]>

const usualMs = 900_000
/** After this, somebody else may use the address. */
const byAddressMs = 900_000

/** Newest first; the last quarter of an hour unless `since` is given. */
export async function listArrivals(
  { store, nowMs }: AdminContext,
  { since = nowMs - usualMs, limit, account, address }: Input<'listArrivals'> & Looking,
  arrivals: Arrivals,
): Promise<Page<ArrivalView>> {
  const mistakes = mistakesFor(await arrivals(), { account, address }, since, nowMs)
  const { rows } = await store.usage.page({
    ...(account !== undefined && { account }),
    since,
    limit,
  })
  const known = new Set(mistakes.map(({ requestId }) => requestId))
  const items = [...mistakes, ...rows.filter(cameThrough).map((row) => viewOfRow(row, account))]
    .filter((each) => each.outcome === 'mistake' || !known.has(each.requestId))
    .sort((one, other) => (one.at < other.at ? 1 : -1))
  return { items: items.slice(0, limit), next: null }
}

/** Returns a function whose every call gives the arrivals since the call before, oldest first. */
export async function followArrivals(
  { store }: AdminContext,
  looking: Looking,
  arrivals: Arrivals,
): Promise<() => Promise<readonly ArrivalView[]>> {
  let place: SettledPlace = await store.usage.newest()
  const since = Date.now()
  let seen: ReadonlySet<string> = new Set()
  const { account } = looking
  return async () => {
    const mistakes = mistakesFor(await arrivals(), looking, since, Date.now())
    const settled = await store.usage.settledAfter(place, account === undefined ? {} : { account })
    place = settled.place
    const through = settled.rows.map(({ row }) => row).filter(cameThrough)
    const fresh = mistakes.filter(({ requestId }) => !seen.has(requestId))
    seen = new Set(mistakes.map(({ requestId }) => requestId))
    return [...fresh.reverse(), ...through.map((row) => viewOfRow(row, account))]
  }
}

function mistakesFor(
  arrivals: readonly Arrival[],
  { account, address }: Looking,
  since: number,
  nowMs: number,
): ArrivalView[] {
  const byOf = (arrival: Arrival): ArrivalView['by'] | undefined => {
    if (account === undefined) return null
    if (arrival.account === account) return 'key'
    const isHere = arrival.account === null && address !== null && arrival.address === address
    return isHere && arrival.at >= nowMs - byAddressMs ? 'address' : undefined
  }
  return arrivals
    .filter(({ at }) => at >= since)
    .sort((one, other) => other.at - one.at)
    .flatMap((arrival) => {
      const by = byOf(arrival)
      if (by === undefined) return []
      const { account: _, at, ...shown } = arrival
      return [{ ...shown, at: timeText(at), outcome: 'mistake' as const, by }]
    })
}

/** A request that was refused before any vendor was asked is listed among the mistakes, if at all. */
function cameThrough({ status, attempts }: UsageRow): boolean {
  return status < 400 || attempts > 0
}

function viewOfRow(row: UsageRow, account: string | undefined): ArrivalView {
  const { requestId, status, client, clientVersion } = row
  const isFine = status < 400
  return {
    requestId,
    at: timeText(row.at),
    outcome: 'ok',
    code: isFine ? 'ok' : 'failed_later',
    status,
    method: null,
    path: null,
    model: row.modelAsked,
    userAgent: clientVersion === null ? client : `${client}/${clientVersion}`,
    keyId: row.key,
    address: row.clientAddress,
    by: account === undefined ? null : 'key',
    suggestion: null,
    detail: isFine
      ? 'The request succeeded.'
      : `The request reached a vendor and ended with status ${status}: see its record.`,
  }
}
