// Prices by model and moment: finds the card in force and the rate it makes with a multiplier.

import { Beginnings, isPattern } from '../config/beginnings.ts'
import type { PriceRow } from '../store/ledger.ts'
import { checkCard } from './card.ts'
import type { PriceBook, Rate } from './meter.ts'
import { compileRate } from './rate.ts'

/** Precedence of origins: what the operator declared, what a command set or imported, what is shipped. */
const ranks: readonly (readonly PriceRow['origin'][])[] = [['file'], ['set', 'import'], ['shipped']]

/** A card with the rates compiled from it so far, by multiplier, of which a deployment has few. */
interface Entry {
  readonly row: PriceRow
  readonly rates: Map<number, Rate>
}

/** The entry in force from this moment on; null: no card is. */
interface Change {
  readonly from: number
  readonly entry: Entry | null
}

/**
 * The card in force at a moment is one that has begun by then, from the first rank that has any. Within a rank the card
 * that began last wins, of two that began together the later version; an empty card there means that the rank has none.
 * A model without a card takes the longest matching pattern (`gpt-*`) of the file, else the longest that is shipped.
 * Throws where a card holds an invalid price.
 */
export function createPriceBook(rows: readonly PriceRow[]): PriceBook {
  const entries = new Map<number, Entry>()
  const byModel = new Map<string, Entry[]>()
  for (const row of rows) {
    // Compiled into a rate only when first asked for: hundreds of cards are shipped, and few are used.
    checkCard(row.prices)
    const entry = { row, rates: new Map<number, Rate>() }
    entries.set(row.version, entry)
    const others = byModel.get(row.model)
    if (others === undefined) byModel.set(row.model, [entry])
    else others.push(entry)
  }
  const models = new Map<string, readonly Change[]>()
  for (const [model, own] of byModel) models.set(model, changesOf(own))
  const patterns = [patternsOf(byModel, 'file'), patternsOf(byModel, 'shipped')]
  const moments = [...new Set(rows.map(({ effectiveFrom }) => effectiveFrom))]

  const isGiven = ({ row }: Entry) => row.origin !== 'shipped'
  return {
    given: [...byModel].flatMap(([model, own]) =>
      !isPattern(model) && own.some(isGiven) ? [model] : [],
    ),
    find(model, atMs, multiplierPpm) {
      const entry = inForce(models.get(model), atMs) ?? fitting(patterns, model, atMs)
      return entry === null ? null : rateOf(entry, multiplierPpm)
    },
    begun: (atMs) => moments.filter((from) => from <= atMs).length,
    version(version, multiplierPpm) {
      const entry = entries.get(version)
      return entry === undefined ? null : rateOf(entry, multiplierPpm)
    },
  }
}

/** The changes of each pattern, latest first. */
type Patterns = Beginnings<readonly Change[]>

function patternsOf(
  byModel: ReadonlyMap<string, readonly Entry[]>,
  origin: PriceRow['origin'],
): Patterns {
  const patterns = [...byModel].filter(([model]) => isPattern(model))
  return new Beginnings(
    patterns.map(([model, own]) => {
      const changes = changesOf(own.filter(({ row }) => row.origin === origin))
      return [model.slice(0, -1), changes] as const
    }),
  )
}

function rateOf({ row, rates }: Entry, multiplierPpm: number): Rate {
  let rate = rates.get(multiplierPpm)
  if (rate === undefined) {
    rate = compileRate(row, multiplierPpm)
    rates.set(multiplierPpm, rate)
  }
  return rate
}

function inForce(changes: readonly Change[] | undefined, atMs: number): Entry | null {
  if (changes === undefined) return null
  for (const { from, entry } of changes) if (from <= atMs) return entry
  return null
}

function fitting(patterns: readonly Patterns[], model: string, atMs: number): Entry | null {
  for (const beginnings of patterns) {
    for (const { value } of beginnings.all(model)) {
      const entry = inForce(value, atMs)
      if (entry !== null) return entry
    }
  }
  return null
}

/** The entry in force from each moment at which a card begins, latest first. */
function changesOf(entries: readonly Entry[]): Change[] {
  const moments = new Set(entries.map(({ row }) => row.effectiveFrom))
  return [...moments]
    .sort((a, b) => b - a)
    .map((from) => ({
      from,
      entry: winner(entries.filter((one) => one.row.effectiveFrom <= from)),
    }))
}

function winner(begun: readonly Entry[]): Entry | null {
  for (const origins of ranks) {
    const latest = begun
      .filter(({ row }) => origins.includes(row.origin))
      .reduce<Entry | null>((best, one) => (best === null || isLater(one, best) ? one : best), null)
    if (latest !== null && Object.keys(latest.row.prices).length > 0) return latest
  }
  return null
}

function isLater({ row: a }: Entry, { row: b }: Entry): boolean {
  if (a.effectiveFrom !== b.effectiveFrom) return a.effectiveFrom > b.effectiveFrom
  return a.version > b.version
}
