// Stores the prices of the configuration and the catalogue as new versions, where they differ from those stored.

import { isDeepStrictEqual } from 'node:util'
import type { ModelConfig } from '../config/types.ts'
import type { PriceFileNote, PriceRow, PriceTable } from '../store/ledger.ts'
import {
  declaredPrices,
  isKept,
  isNews,
  keyOf,
  newestCards,
  newestOfFile,
  samePrices,
} from './file-prices.ts'

/** A card shipped with the catalogue. */
export interface ShippedCard {
  readonly model: string
  readonly prices: Readonly<Record<string, string>>
  readonly source: string
  /** The day on which the prices were read from the source; null: unknown. */
  readonly sourceDate: string | null
  /** The card is for a configured channel's name of a shipped model: it is as reliable as that configuration. */
  readonly alias?: true
  /** The models without a price that an alias stands for; its own card is then empty. */
  readonly unpriced?: readonly string[]
}

/** The configuration file that declares the models. */
interface PriceFile {
  readonly node: string
  readonly revision: number
}

type Wanted = Pick<PriceRow, 'model' | 'prices' | 'origin' | 'source' | 'sourceDate'>
type NewRow = Omit<PriceRow, 'version'>

/**
 * Appends a version for each declared or shipped card that differs from the newest of its origin and model, and an
 * empty one for a declared card that was removed or an alias without one price, as far as `isNews` and `isNewer` allow;
 * returns all versions.
 * `declared`: the models of the configuration, patterns included. A model's first card of an origin is effective from
 * the beginning of time, so that a clock set back leaves no model without a price; a later one from `nowMs`. Of several
 * processes at once, one writes.
 */
export async function ensurePrices(
  table: PriceTable,
  declared: Readonly<Record<string, ModelConfig>>,
  shipped: readonly ShippedCard[],
  nowMs: number,
  file: PriceFile = { node: 'local', revision: 0 },
): Promise<readonly PriceRow[]> {
  const note = noteOf(file, declared, shipped)
  for (;;) {
    const known = await table.all()
    const notes = await table.files()
    const added = missing(known, { note, notes, shipped, nowMs })
    const before = notes.find(({ node }) => node === note.node)
    // A file with an older revision must not lower the highest revision on record.
    const kept = { ...note, revision: Math.max(note.revision, before?.revision ?? 0) }
    if (added.length === 0 && isDeepStrictEqual(before, kept)) return known
    const versions = await table.appendAfter(known.at(-1)?.version ?? 0, added, kept)
    if (versions !== null) return added.length === 0 ? known : table.all()
  }
}

/** The versions that a deployment's first start with this configuration would store. */
export function firstPrices(
  declared: Readonly<Record<string, ModelConfig>>,
  shipped: readonly ShippedCard[],
): readonly PriceRow[] {
  const note = noteOf({ node: '', revision: 0 }, declared, shipped)
  const added = missing([], { note, notes: [], shipped, nowMs: 0 })
  return added.map((row, index) => ({ ...row, version: index + 1 }))
}

function noteOf(
  { node, revision }: PriceFile,
  declared: Readonly<Record<string, ModelConfig>>,
  shipped: readonly ShippedCard[],
): PriceFileNote {
  const cards = [
    ...[...declaredPrices(declared)].map(([model, prices]) => cardOfFile(model, prices)),
    ...shipped.filter(({ alias }) => alias).map(cardOfCatalogue),
  ]
  return {
    node,
    revision,
    cards: Object.fromEntries(cards.map((card) => [keyOf(card), card.prices])),
  }
}

interface Known {
  readonly note: PriceFileNote
  readonly notes: readonly PriceFileNote[]
  readonly shipped: readonly ShippedCard[]
  readonly nowMs: number
}

/** The cards to append to the known ones, in order of their versions. */
function missing(known: readonly PriceRow[], { note, notes, shipped, nowMs }: Known): NewRow[] {
  const newest = newestCards(known)
  const filed = Object.entries(note.cards)
    .filter(([key]) => key.startsWith('file '))
    .map(([key, prices]) => cardOfFile(key.slice('file '.length), prices))
  const gone = [...newestOfFile(known).values()]
    .filter((row) => note.cards[keyOf(row)] === undefined)
    .map(({ model }) => cardOfFile(model, {}))
  const wanted = [
    ...shipped.filter((card) => !isKept(card, newest)).map(cardOfCatalogue),
    ...filed,
    ...gone,
  ]
  return wanted.flatMap((card) => {
    const before = newest.get(keyOf(card))
    if (samePrices(before?.prices ?? {}, card.prices)) return []
    if (before !== undefined) {
      const ofFile = note.cards[keyOf(card)] !== undefined || card.origin === 'file'
      const counts = ofFile
        ? isNews(note, notes, keyOf(card), before.prices)
        : isNewer(card, before, known)
      if (!counts) return []
    }
    const effectiveFrom = before === undefined ? 0 : Math.max(nowMs, before.effectiveFrom)
    return [{ ...card, effectiveFrom, actor: null, createdAt: nowMs }]
  })
}

/** Whether a shipped card is newer than the stored one: a node of an older version must not restore its old prices. */
function isNewer(card: Wanted, before: PriceRow, known: readonly PriceRow[]): boolean {
  const [day, newestDay] = [card.sourceDate ?? '', before.sourceDate ?? '']
  if (day !== newestDay) return day > newestDay
  return !known.some((row) => keyOf(row) === keyOf(card) && samePrices(row.prices, card.prices))
}

function cardOfCatalogue({ model, prices, source, sourceDate }: ShippedCard): Wanted {
  return { model, prices, origin: 'shipped', source, sourceDate }
}

function cardOfFile(model: string, prices: Wanted['prices']): Wanted {
  return { model, prices, origin: 'file', source: 'configuration', sourceDate: null }
}
