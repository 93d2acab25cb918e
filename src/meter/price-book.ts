// Prices by model and moment: which of a model's cards is in force, and the rate it makes with a multiplier.

import { Beginnings, isPattern } from '../config/beginnings.ts'
import type { PriceRow } from '../store/ledger.ts'
import { checkCard } from './card.ts'
import type { PriceBook, Rate } from './meter.ts'
import { compileRate } from './rate.ts'

/** Who wins where several origins have a card: what the operator declared, what a command set, what is shipped. */
const ranks: readonly (readonly PriceRow['origin'][])[] = [['file'], ['set', 'import'], ['shipped']]

/** A card with the rates made from it so far, by multiplier: a deployment has few. */
interface Entry {
  readonly row: PriceRow
  readonly rates: Map<number, Rate>
}

/** From this moment on the entry is in force; null: no card is. */
interface Change {
  readonly from: number
  readonly entry: Entry | null
}

/**
 * Of a model's cards the one in force at a moment has begun by then, and has the first rank that has one. Within a
 * rank the card that began last counts, of two that began at once the later version; an empty one there says that
 * the rank has none. Models without a card take the longest pattern (`gpt-*`) of the file that fits, else the longest
 * that is shipped.
 * Throws where a card holds what is no price.
 */
export function createPriceBook(rows: readonly PriceRow[]): PriceBook {
  const entries = new Map<number, Entry>()
  const byModel = new Map<string, Entry[]>()
  for (const row of rows) {
    // Made into a rate when it is first asked for: hundreds are shipped, and few are ever used.
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

/** Of each the changes, latest first. */
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

/** What is in force from each moment at which a card begins, latest first. */
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
