// Finished requests: lists, one with its receipt, and the stream of those that end now. An owner sees one account,
// without channels and vendor costs; operators see all.

import type { PriceBook } from '../meter/meter.ts'
import type { SettledPlace, UsagePlace, UsagePredicate } from '../store/usage-filter.ts'
import type { UsageRow } from '../store/usage-row.ts'
import { attemptsOf, ownAttemptsOf } from './attempts.ts'
import { blameOf } from './blame.ts'
import { cursorAfter, type Page, placeIn } from './page.ts'
import { priceBookOf } from './price-books.ts'
import { type Receipt, receiptOf } from './receipt.ts'
import type { Input } from './schema.ts'
import { ownerView, usageView } from './usage-view.ts'
import { type AdminContext, AdminError } from './use-case.ts'

export type Usage = ReturnType<typeof usageView>
export type OwnUsage = ReturnType<typeof ownerView>

/** `owner`: the caller's account, the only one it sees; left out for operators. */
export interface Owned {
  readonly owner?: string | undefined
}

type Search = Omit<Input<'followRequests'>, 'most'>

/** Newest first. Where few requests match, a page may hold fewer than asked for, even none, and still have a `next`. */
export async function listUsage(
  context: AdminContext,
  input: Input<'listUsage'>,
): Promise<Page<Usage>> {
  return listed(context, input, usageView)
}

export async function listOwnUsage(
  context: AdminContext,
  input: Input<'listUsage'> & { readonly owner: string },
): Promise<Page<OwnUsage>> {
  return listed(context, input, ownerView)
}

async function listed<View>(
  { store }: AdminContext,
  input: Input<'listUsage'> & Owned,
  view: (row: UsageRow, book: PriceBook) => View,
): Promise<Page<View>> {
  const { limit, cursor } = input
  const before = cursor === undefined ? {} : { before: placeOf(cursor) }
  const page = await store.usage.page({ ...predicateOf(input), ...before, limit })
  const book = await priceBookOf(store)
  const { next } = page
  return {
    items: page.rows.map((row) => view(row, book)),
    next: next === null ? null : cursorAfter(`${next.at} ${next.requestId}`),
  }
}

const dayMs = 86_400_000

/** Adds the default range: the last day, or no bound for a single request. */
export function withUsualRange<Given extends Search>(asked: Given, nowMs: number): Given {
  if (asked.since !== undefined || asked.id !== undefined) return asked
  return { ...asked, since: (asked.until ?? nowMs) - dayMs }
}

/** Throws AdminError `invalid` where an owner filters by what only operators see. */
function predicateOf(input: Search & Owned): UsagePredicate {
  const { id, minCost, minLatencyMs, owner, account, channel } = input
  if (owner !== undefined && channel !== undefined) {
    throw new AdminError('invalid', 'channel', 'only operators may filter by channel')
  }
  if (owner !== undefined && account !== undefined && account !== owner) {
    throw new AdminError('not_found', 'account', `there is no account ${JSON.stringify(account)}`)
  }
  const asked = {
    account: owner ?? account,
    requestId: id,
    leastChargeNano: minCost,
    leastDurationMs: minLatencyMs,
    channel,
    ...pick(input),
  }
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined))
}

/** The fields whose names are the same in the predicate. */
function pick(input: Search) {
  const { key, model, modelServed, group, operation, client, vendorRequestId, errorCode, tag } =
    input
  const { stream, status, statusClass, outcome, since, until } = input
  const names = { key, model, modelServed, group, operation, client, vendorRequestId, errorCode }
  return { ...names, tag, stream, status, statusClass, outcome, since, until }
}

function placeOf(cursor: string): UsagePlace {
  const [, at, requestId] = /^(\d{1,15}) (.+)$/s.exec(placeIn(cursor)) ?? []
  if (at !== undefined && requestId !== undefined) return { at: Number(at), requestId }
  throw new AdminError('invalid', 'cursor', 'is not the `next` of a page of this list')
}

interface Details {
  readonly currency: string
  /** null where the request was never priced. */
  readonly receipt: Receipt | null
  /** null where the request succeeded. */
  readonly blame: ReturnType<typeof blameOf>
}

/** The request with receipt, attempts and the party at fault. Throws AdminError `not_found`. */
export async function showRequest(
  context: AdminContext,
  { id }: Input<'showRequest'>,
): Promise<Usage & Details & { readonly attemptList: ReturnType<typeof attemptsOf> }> {
  const { row, book, details } = await found(context, id)
  const blame = blameOf(row, true)
  return { ...usageView(row, book), ...details, blame, attemptList: attemptsOf(row) }
}

export async function showOwnRequest(
  context: AdminContext,
  { id, owner }: Input<'showRequest'> & { readonly owner: string },
): Promise<OwnUsage & Details & { readonly attemptList: ReturnType<typeof ownAttemptsOf> }> {
  const { row, book, details } = await found(context, id, owner)
  const blame = blameOf(row, false)
  return { ...ownerView(row, book), ...details, blame, attemptList: ownAttemptsOf(row) }
}

async function found({ store, currency }: AdminContext, id: string, owner?: string) {
  const row = await store.usage.find(owner ?? null, id)
  if (row === null) {
    throw new AdminError('not_found', 'id', `there is no request ${JSON.stringify(id)}`)
  }
  const book = await priceBookOf(store)
  return { row, book, details: { currency: await currency(), receipt: receiptOf(row, book) } }
}

/** Some of the requests that ended after a place, each once, in the order of settlement. */
export interface Followed {
  readonly requests: readonly { readonly place: SettledPlace; readonly request: OwnUsage }[]
  /** The place to continue from. */
  readonly place: SettledPlace
  /** True where the place is too old, so that some requests after it are left out. */
  readonly missed: boolean
}

/** `place` null: gives no requests, only the place from which to follow those that end from now on. */
export async function followRequests(
  { store }: AdminContext,
  input: Input<'followRequests'> & Owned,
  place: SettledPlace | null,
): Promise<Followed> {
  const predicate = predicateOf(input)
  const newest = place === null ? await store.usage.newest() : place
  if (place === null) return { requests: [], place: newest, missed: false }
  const { rows, place: next, missed } = await store.usage.settledAfter(place, predicate, input.most)
  const view = input.owner === undefined ? usageView : ownerView
  const book = rows.length === 0 ? null : await priceBookOf(store)
  const requests = rows.flatMap((each) =>
    book === null ? [] : [{ place: each.place, request: view(each.row, book) }],
  )
  return { requests, place: next, missed }
}
