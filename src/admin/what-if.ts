// Computes what past requests would cost now: at today's prices, with another model or in another group.

import { tokenPrices } from '../config/prices.ts'
import type { Rate } from '../meter/meter.ts'
import { multiplierOf } from '../meter/multipliers.ts'
import { multiplierPpm } from '../meter/rate.ts'
import { anyoneOf } from '../operations/model-access.ts'
import type { Store, UsagePage } from '../store/store.ts'
import type { UsagePlace, UsagePredicate } from '../store/usage-filter.ts'
import type { UsageRow } from '../store/usage-row.ts'
import { groupFor, type Offer, type Viewer } from './offer.ts'
import { askedBy } from './price-card.ts'
import type { Input } from './schema.ts'
import { timeText } from './time.ts'
import { type AdminContext, AdminError } from './use-case.ts'

/** Amounts in nano-units. */
interface Sum {
  readonly requests: number
  /** The actual amount: charges and write-offs. */
  readonly thenNano: string
  readonly nowNano: string
  /** Positive: dearer now. */
  readonly differenceNano: string
}

/**
 * Why a request could not be priced. `model`: its group does not have the model. `group`: its group no longer exists.
 * `kind`: the model does not serve such requests. `units`: it has no price for something that was counted.
 */
type Reason = 'model' | 'group' | 'kind' | 'units'

interface WhatIf {
  readonly currency: string
  readonly since: string
  readonly until: string
  /** Requests before this moment were not priced, since there are too many; null: all were. */
  readonly coveredSince: string | null
  /** Whether each amount is what would have been charged; false where another model would have counted differently. */
  readonly exact: boolean
  readonly total: Sum
  /** Dearest first; further keys are in the total only. */
  readonly keys: readonly (Sum & { readonly key: string; readonly keyName: string })[]
  /** Requests that are in no sum. */
  readonly unpriced: readonly {
    readonly reason: Reason
    readonly requests: number
    readonly thenNano: string
  }[]
}

/** Most requests priced, the newest first, so that one call does not occupy the server. */
const mostRows = 50_000
const rowsAtOnce = 500
const mostPages = 1_000
const mostKeys = 100
const mostDays = 90
const dayMs = 86_400_000

/** Prices row by row, rounded as charges are. Throws AdminError `not_found` for an unknown model or group. */
export async function whatIf(
  { store, nowMs }: Pick<AdminContext, 'store' | 'nowMs'>,
  offer: Offer,
  viewer: Viewer,
  input: Input<'whatIf'>,
  most = mostRows,
): Promise<WhatIf> {
  checkTarget(offer, viewer, input)
  const { account, key } = input
  const { since, until } = spanOf(input, nowMs)
  const add = adder({ price: pricer(offer, input, nowMs), model: input.model })
  const filter = defined({ account, key, since, until })
  const coveredSince = await forUsage(store, { filter, most, each: add.row })
  return {
    currency: offer.config.currency,
    since: timeText(since),
    until: timeText(until),
    coveredSince: timeText(coveredSince),
    ...add.sums(),
  }
}

interface UsageReading {
  readonly filter: UsagePredicate
  readonly each: (row: UsageRow) => void
  /** Most rows, the newest first; most pages, and most rows of each. */
  readonly most?: number
  readonly pages?: number
  readonly atOnce?: number
}

/** Returns the moment before which rows were not read, in Unix milliseconds; null: all were. */
export async function forUsage(
  { usage }: Pick<Store, 'usage'>,
  { filter, each, most = mostRows, pages = mostPages, atOnce = rowsAtOnce }: UsageReading,
): Promise<number | null> {
  let before: UsagePlace | null = null
  let rows = 0
  for (let read = 0; read === 0 || (before !== null && rows < most && read < pages); read++) {
    const page: UsagePage = await usage.page({
      ...filter,
      limit: Math.min(atOnce, most),
      ...(before !== null && { before }),
    })
    for (const row of page.rows) each(row)
    rows += page.rows.length
    before = page.next
  }
  return before?.at ?? null
}

/** A half-open span. Throws AdminError `invalid` where it ends before it begins or is too long. */
function spanOf({ days, since, until }: Input<'whatIf'>, nowMs: number) {
  const end = until ?? nowMs
  const begin = since ?? end - days * dayMs
  if (begin >= end) throw new AdminError('invalid', 'until', 'must be after since')
  if (end - begin > mostDays * dayMs) {
    const message = `must be at most ${mostDays} days before until`
    throw new AdminError('invalid', 'since', message, 'range_too_long')
  }
  return { since: begin, until: end }
}

function defined<Filter extends object>(filter: Filter) {
  const entries = Object.entries(filter).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [Name in keyof Filter]: NonNullable<Filter[Name]> }
}

function checkTarget({ modelAccess }: Offer, viewer: Viewer, { model, group }: Input<'whatIf'>) {
  const groups = group === undefined ? viewer.groups : [groupFor(viewer, group)]
  if (model === undefined || groups.some((id) => modelAccess.model(anyoneOf(id), model) !== null))
    return
  throw new AdminError('not_found', 'model', `there is no model ${JSON.stringify(model)}`)
}

type Pricer = (row: UsageRow) => bigint | Reason

/** A model in a group at present prices. */
interface PricedTarget {
  readonly rate: Rate
  readonly asked: (name: string) => bigint | null
}

interface Target extends PricedTarget {
  readonly kinds: readonly string[]
}

function pricer(offer: Offer, input: Input<'whatIf'>, nowMs: number): Pricer {
  const targets = new Map<string, Target | Reason>()
  return (row) => {
    const model = input.model ?? row.modelAsked
    const group = input.group ?? row.group
    // A policy or the group's multiplier made it free: it stays free, except in another group.
    if (countsNothing(row) || (row.multiplierPpm === 0 && group === row.group)) return 0n
    const name = JSON.stringify([model, group])
    const target = targets.get(name) ?? targetOf(offer, model, group, nowMs)
    targets.set(name, target)
    if (typeof target === 'string') return target
    if (model !== row.modelAsked && !target.kinds.includes(row.operation)) return 'kind'
    if (model !== row.modelAsked && !pricesAll(target, row)) return 'units'
    return target.rate.charge(row, row.units)
  }
}

export function countsNothing(row: UsageRow): boolean {
  return row.units === null && tokenPrices.every((kind) => row[kind] === 0)
}

function targetOf(offer: Offer, name: string, group: string, nowMs: number): Target | Reason {
  const { config, modelAccess, book, rows } = offer
  const settings = config.groups[group]
  if (settings === undefined) return 'group'
  const model = modelAccess.model(anyoneOf(group), name)
  const priced = modelAccess.pricedAs(anyoneOf(group), name)
  const multiplier = multiplierOf(settings, model?.id ?? name)
  const rate = book.find(priced, nowMs, multiplierPpm(multiplier))
  const row = rows.find(({ version }) => version === rate?.version)
  if (model === null || rate === null || row === undefined) return 'model'
  return { rate, kinds: [model.kind, ...model.also], asked: askedBy(row.prices) }
}

/** Whether all that was counted has a price: without one it would look free. */
export function pricesAll({ rate, asked }: PricedTarget, row: UsageRow): boolean {
  const units = Object.entries(row.units ?? {}).filter(([, count]) => count > 0)
  return (
    tokenPrices.every((kind) => row[kind] === 0 || asked(kind) !== null) &&
    units.every(([name]) => rate.prices(name))
  )
}

interface Adding {
  requests: number
  thenNano: bigint
  nowNano: bigint
}

function adder({ price, model }: { price: Pricer; model: string | undefined }) {
  const total = nothing()
  const keys = new Map<string, Adding & { readonly keyName: string }>()
  const unpriced = new Map<Reason, Adding>()
  let exact = true
  return {
    row(row: UsageRow): void {
      const now = price(row)
      if (typeof now === 'string') {
        addTo(entryOf(unpriced, now, nothing()), row, 0n)
        return
      }
      if (model !== undefined && model !== row.modelAsked && !countsNothing(row)) exact = false
      addTo(total, row, now)
      addTo(entryOf(keys, row.key, { ...nothing(), keyName: row.keyName }), row, now)
    },
    sums: () => ({
      exact,
      total: sumView(total),
      keys: [...keys]
        .sort(([, one], [, other]) => (one.thenNano > other.thenNano ? -1 : 1))
        .slice(0, mostKeys)
        .map(([key, sum]) => ({ key, keyName: sum.keyName, ...sumView(sum) })),
      unpriced: [...unpriced].map(([reason, { requests, thenNano }]) => ({
        reason,
        requests,
        thenNano: String(thenNano),
      })),
    }),
  }
}

function nothing(): Adding {
  return { requests: 0, thenNano: 0n, nowNano: 0n }
}

function entryOf<Name, Entry>(entries: Map<Name, Entry>, name: Name, first: Entry): Entry {
  const known = entries.get(name)
  if (known !== undefined) return known
  entries.set(name, first)
  return first
}

function addTo(sum: Adding, { chargeNano, writeoffNano }: UsageRow, nowNano: bigint): void {
  sum.requests++
  sum.thenNano += chargeNano + writeoffNano
  sum.nowNano += nowNano
}

function sumView({ requests, thenNano, nowNano }: Adding): Sum {
  return {
    requests,
    thenNano: String(thenNano),
    nowNano: String(nowNano),
    differenceNano: String(nowNano - thenNano),
  }
}
