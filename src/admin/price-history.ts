// The history and the scheduled changes of a model's prices, as charged to a group.

import { fits } from '../config/beginnings.ts'
import { multiplierOf } from '../meter/multipliers.ts'
import { createPriceBook } from '../meter/price-book.ts'
import { multiplierPpm } from '../meter/rate.ts'
import { ceilDiv, parseUnits } from '../money.ts'
import { anyoneOf } from '../operations/model-access.ts'
import type { PriceRow } from '../store/ledger.ts'
import { type PriceLine, priceLines } from './model-price.ts'
import { showModel } from './models.ts'
import { groupFor, type Offer, type Viewer } from './offer.ts'
import { type Page, pageOf } from './page.ts'
import { compareCards, type Prices } from './price-card.ts'
import type { Input } from './schema.ts'
import { timeText } from './time.ts'

/** Amounts in nano-units for a million of the unit, with the group's multiplier; null: there was no such price. */
interface PriceStep {
  readonly name: string
  readonly beforeNano: string | null
  readonly afterNano: string | null
  /** `+33.3`; null where there was no price, or it was 0. */
  readonly percent: string | null
}

export interface PriceChange {
  readonly model: string
  readonly version: number
  /** When the change takes or took effect. */
  readonly from: string
  /** When the change was stored: earlier than `from` where it was scheduled. */
  readonly announcedAt: string
  readonly state: 'scheduled' | 'in force' | 'past'
  /** Empty: the model has no price from then on. */
  readonly lines: readonly PriceLine[]
  readonly steps: readonly PriceStep[]
}

/** A moment at which another card came into force. */
export interface CardChange {
  readonly atMs: number
  /** null: no card. */
  readonly before: PriceRow | null
  readonly row: PriceRow | null
  readonly announcedMs: number
}

/** Newest first, scheduled changes included. Throws AdminError `not_found` as `showModel` does. */
export function priceHistory(
  offer: Offer,
  viewer: Viewer,
  { limit, cursor, ...input }: Input<'priceHistory'>,
): Page<PriceChange> {
  const { id } = showModel(offer, viewer, input)
  const group = groupFor(viewer, input.group)
  const priced = offer.modelAccess.pricedAs(anyoneOf(group), id)
  const changes = cardChanges(offer.rows, priced)
  const views = changes.map((change) => changeView(change, { id, group, changes, offer }))
  const placeOf = ({ from, version }: PriceChange) =>
    `${sooner(Date.parse(from))} ${sooner(version)}`
  return pageOf(views, placeOf, { limit, cursor })
}

/**
 * Oldest first, scheduled changes included. The card in force at a moment depends on the rows stored by then: on the
 * model's own cards and the patterns that match it.
 */
export function cardChanges(rows: readonly PriceRow[], model: string): readonly CardChange[] {
  const own = rows.filter((row) => fits(row.model, model))
  const moments = new Set(own.map((row) => Math.max(row.effectiveFrom, row.createdAt)))
  const changes: CardChange[] = []
  let before: PriceRow | null = null
  for (const atMs of [...moments].sort((one, other) => one - other)) {
    const known = own.filter(({ createdAt }) => createdAt <= atMs)
    const version = createPriceBook(known).find(model, atMs, 1_000_000)?.version
    const row = known.find((each) => each.version === version) ?? null
    if (isSame(before, row)) continue
    const announcedMs = Math.min(atMs, row?.createdAt ?? atMs)
    changes.push({ atMs, before, row, announcedMs })
    before = row
  }
  return changes
}

function isSame(before: PriceRow | null, row: PriceRow | null): boolean {
  if (before === null || row === null) return before === row
  return compareCards(before.prices, row.prices).length === 0
}

interface Around {
  readonly id: string
  readonly group: string
  readonly changes: readonly CardChange[]
  readonly offer: Pick<Offer, 'config'>
}

export function changeView(change: CardChange, { id, group, changes, offer }: Around): PriceChange {
  const { atMs, before, row, announcedMs } = change
  const settings = offer.config.groups[group]
  const multiplier = settings === undefined ? '1' : multiplierOf(settings, id)
  const nowMs = Date.now()
  const current = changes.findLast((each) => each.atMs <= nowMs)
  return {
    model: id,
    version: row?.version ?? before?.version ?? 0,
    from: timeText(atMs),
    announcedAt: timeText(announcedMs),
    state: atMs > nowMs ? 'scheduled' : change === current ? 'in force' : 'past',
    lines: row === null ? [] : priceLines(row.prices, multiplier, null),
    steps: stepsOf(before?.prices ?? null, row?.prices ?? {}, multiplier),
  }
}

function stepsOf(before: Prices | null, after: Prices, multiplier: string): PriceStep[] {
  const ppm = BigInt(multiplierPpm(multiplier))
  const amount = (units: string | null) =>
    units === null ? null : String(ceilDiv((parseUnits(units) ?? 0n) * ppm, 1_000_000n))
  return compareCards(before, after).map((each) => ({
    name: each.name,
    beforeNano: amount(each.before),
    afterNano: amount(each.after),
    percent: each.percent,
  }))
}

/** A text that sorts larger numbers before smaller ones. */
function sooner(number: number): string {
  return String(Number.MAX_SAFE_INTEGER - number).padStart(16, '0')
}
