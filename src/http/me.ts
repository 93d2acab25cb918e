// Shows a caller its account: the balance, and what each request cost.

import { callerView } from '../admin/usage-view.ts'
import { GatewayError, invalidRequest } from '../errors.ts'
import type { Principal } from '../identity/principal.ts'
import type { PriceBook } from '../meter/meter.ts'
import { formatUnits } from '../money.ts'
import type { Reading, Reply } from '../operations/operation.ts'
import { idIn } from '../operations/path.ts'
import type { Store } from '../store/store.ts'
import type { UsageFilter } from '../store/usage-filter.ts'

export interface MeRooms {
  readonly store: Pick<Store, 'journal' | 'usage'>
  readonly currency: string
  prices(): PriceBook
}

const usualLimit = 50
const mostRows = 1_000

interface WithMe {
  readonly me: MeRooms
}

export async function readBalance({ principal }: Reading, { me }: WithMe): Promise<Reply> {
  return { body: JSON.stringify(await balance(me, principal)) }
}

/** A page of the account's requests. Throws GatewayError naming a parameter. */
export async function readUsage({ principal, url }: Reading, { me }: WithMe): Promise<Reply> {
  return { body: JSON.stringify(await usageList(me, principal, url.searchParams)) }
}

/** Throws GatewayError `not_found`. */
export async function readUsageRow({ principal, url }: Reading, { me }: WithMe): Promise<Reply> {
  const id = idIn(url.pathname, 'usage')
  const row = await me.store.usage.find(principal.account, id)
  if (row === null) throw new GatewayError('not_found', `There is no request '${id}'.`)
  return { body: JSON.stringify(callerView(row, me.prices())) }
}

async function balance({ store, currency }: MeRooms, { account }: Principal) {
  const wallet = await store.journal.wallet(account)
  const postedNano = wallet?.postedNano ?? 0n
  const heldNano = wallet?.heldNano ?? 0n
  const availableNano = postedNano - heldNano
  return {
    object: 'balance',
    account,
    currency,
    available: formatUnits(availableNano),
    held: formatUnits(heldNano),
    posted: formatUnits(postedNano),
    availableNano: String(availableNano),
    heldNano: String(heldNano),
    postedNano: String(postedNano),
  }
}

async function usageList(rooms: MeRooms, principal: Principal, asked: URLSearchParams) {
  const filter = await filterOf(rooms, principal, asked)
  // The extra row tells whether more follow.
  const rows = await rooms.store.usage.list({ ...filter, limit: filter.limit + 1 })
  const shown = rows.slice(0, filter.limit)
  return {
    object: 'list',
    data: shown.map((row) => callerView(row, rooms.prices())),
    has_more: rows.length > shown.length,
    first_id: shown[0]?.requestId ?? null,
    last_id: shown.at(-1)?.requestId ?? null,
  }
}

const known = new Set(['limit', 'after', 'since', 'until', 'model', 'status', 'key'])

async function filterOf(
  { store }: MeRooms,
  principal: Principal,
  asked: URLSearchParams,
): Promise<UsageFilter> {
  for (const name of asked.keys()) {
    if (!known.has(name)) {
      throw invalidRequest(`${name} is not known here; use ${[...known].join(', ')}`, name)
    }
  }
  const model = asked.get('model')
  const key = asked.get('key')
  const status = wholeNumber(asked, 'status', 100, 599)
  const since = instant(asked, 'since')
  const until = instant(asked, 'until')
  const after = asked.get('after')
  const last = after === null ? null : await store.usage.find(principal.account, after)
  if (after !== null && last === null)
    throw invalidRequest('after is not one of your requests', 'after')
  return {
    account: principal.account,
    limit: wholeNumber(asked, 'limit', 1, mostRows) ?? usualLimit,
    ...(model !== null && { model }),
    ...(key !== null && { key: key === 'me' ? ownKey(principal) : key }),
    ...(status !== null && { status }),
    ...(since !== null && { since }),
    ...(until !== null && { until }),
    ...(last !== null && { before: { at: last.at, requestId: last.requestId } }),
  }
}

/** The id of the key that the caller authenticated with. */
function ownKey(principal: Principal): string {
  if (principal.kind === 'key') return principal.keyId
  throw invalidRequest('key: me is for requests by key; name the key', 'key')
}

function wholeNumber(asked: URLSearchParams, name: string, least: number, most: number) {
  const text = asked.get(name)
  if (text === null) return null
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (number >= least && number <= most) return number
  throw invalidRequest(`${name} must be a whole number from ${least} to ${most}`, name)
}

/** A day (midnight UTC), or a time with its UTC offset: without the offset it would depend on the machine's zone. */
const time = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/

function instant(asked: URLSearchParams, name: string): number | null {
  const text = asked.get(name)
  if (text === null) return null
  const ms = time.test(text) ? Date.parse(text) : Number.NaN
  // A day that does not exist, such as 31 February, rolls over into the next month: the comparison finds that.
  const day = text.slice(0, 10)
  if (!Number.isNaN(ms) && new Date(day).toISOString().startsWith(day)) return ms
  throw invalidRequest(`${name} must be a time such as 2027-01-31T08:00:00Z`, name)
}
