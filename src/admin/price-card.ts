// Reads, compares and shows rate cards.

import { priceNamePattern, priceNames, type TokenKind } from '../config/prices.ts'
import { suggestion } from '../config/problems.ts'
import { readCard } from '../meter/card.ts'
import { createPriceBook } from '../meter/price-book.ts'
import { formatUnits, parseUnits } from '../money.ts'
import type { PriceRow } from '../store/ledger.ts'
import { timeText } from './time.ts'
import type { AdminContext } from './use-case.ts'

export type Prices = PriceRow['prices']

/** What is wrong with a price; null: nothing. */
export function priceProblem(name: string, amount: unknown): string | null {
  if (!priceNamePattern.test(name)) {
    const base = name.split(/[>/]/)[0] ?? ''
    const near = suggestion(base, priceNames) || `; expected one of ${priceNames.join(', ')}`
    return priceNames.includes(base)
      ? `${name}: a tier is written input>200000, an image price image/1024x1024/hd`
      : `${name}: unknown price${near}`
  }
  if (typeof amount === 'string' && parseUnits(amount) !== null) return null
  return `${name}: expected a decimal of at least 0 with at most nine places, such as 0.15`
}

/** The same prices in their shortest form: `0.150` becomes `0.15`. */
export function plainPrices(prices: Prices): Prices {
  const entries = Object.entries(prices)
  return Object.fromEntries(
    entries.map(([name, text]) => [name, formatUnits(parseUnits(text) ?? 0n)]),
  )
}

/**
 * A name's price before and after, in units of the currency for a million; null: neither the name nor its parent has
 * one.
 */
export interface Difference {
  readonly name: string
  readonly before: string | null
  readonly after: string | null
  /** Percentage with one decimal: `+33.3`; null where there was no price, or it was 0. */
  readonly percent: string | null
  /** More than tenfold up or down, or to or from 0 where there was a price. */
  readonly large: boolean
}

/**
 * The differences in what users are charged: a name that only one card has is compared with the price the other card
 * charges for it.
 */
export function compareCards(before: Prices | null, after: Prices): Difference[] {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after)])
  const [asked, asks] = [askedBy(before ?? {}), askedBy(after)]
  return [...names].flatMap((name) => {
    const was = asked(name)
    const is = asks(name)
    return was === is ? [] : [differenceOf(name, was, is)]
  })
}

function differenceOf(name: string, was: bigint | null, is: bigint | null): Difference {
  const now = is ?? 0n
  return {
    name,
    before: was === null ? null : formatUnits(was),
    after: is === null ? null : formatUnits(is),
    percent: was === null || was === 0n ? null : percentText(was, now),
    large: was !== null && (now > was * 10n || now * 10n < was),
  }
}

function percentText(was: bigint, now: bigint): string {
  const tenths = ((now - was) * 1_000n) / was
  const size = tenths < 0n ? -tenths : tenths
  return `${now < was ? '-' : '+'}${size / 10n}.${size % 10n}`
}

/** A card's price for a name, by the rules that requests are charged by; null: the card has none. */
export function askedBy(prices: Prices): (name: string) => bigint | null {
  const { bands, units } = readCard(prices)
  return (name) => {
    const [kind = '', above = '0'] = name.split('>')
    const band = bands.findLast((each) => each.above <= Number(above))
    return band?.prices.get(kind as TokenKind) ?? units.get(name) ?? null
  }
}

/** The cards that operators can change: a card of the configuration file takes precedence and is left out. */
export function withoutFile(rows: readonly PriceRow[]): readonly PriceRow[] {
  return rows.filter(({ origin }) => origin !== 'file')
}

/** The cards in force at a moment, by model. */
export function cardsInForce(
  rows: readonly PriceRow[],
  atMs: number,
): (model: string) => PriceRow | null {
  const book = createPriceBook(rows)
  const byVersion = new Map(rows.map((row) => [row.version, row]))
  return (model) => byVersion.get(book.find(model, atMs, 1_000_000)?.version ?? 0) ?? null
}

export type PriceCard = ReturnType<typeof cardView>

export function cardView(row: PriceRow) {
  return {
    model: row.model,
    version: row.version,
    from: timeText(row.effectiveFrom),
    origin: row.origin,
    prices: row.prices,
    source: row.source,
    sourceDate: row.sourceDate,
    actor: row.actor,
    createdAt: timeText(row.createdAt),
  }
}

export interface NewCard {
  readonly model: string
  readonly prices: Prices
  readonly source: string
  readonly sourceDate?: string | null
  readonly effectiveFrom?: number
}

export function newRow(
  { actor, nowMs }: Pick<AdminContext, 'actor' | 'nowMs'>,
  origin: PriceRow['origin'],
  { model, prices, source, sourceDate, effectiveFrom }: NewCard,
): Omit<PriceRow, 'version'> {
  return {
    model,
    prices,
    effectiveFrom: effectiveFrom ?? nowMs,
    origin,
    source,
    sourceDate: sourceDate ?? null,
    actor,
    createdAt: nowMs,
  }
}
