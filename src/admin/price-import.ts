// Imports prices from a document: shows what it would change, and applies it on request.

import { fits } from '../config/beginnings.ts'
import type { PriceRow } from '../store/ledger.ts'
import { appendTo } from './price-append.ts'
import {
  cardsInForce,
  compareCards,
  type Difference,
  newRow,
  type Prices,
  withoutFile,
} from './price-card.ts'
import { type ImportedCard, readPriceDocument } from './price-document.ts'
import type { Input } from './schema.ts'
import { type AdminContext, AdminError } from './use-case.ts'

/** A model whose card the document would change. */
export interface ImportChange extends ImportedCard {
  readonly before: { readonly version: number; readonly prices: Prices } | null
  readonly differences: readonly Difference[]
}

interface PriceImport {
  readonly applied: boolean
  /** The number of models that the document prices. */
  readonly models: number
  readonly changes: readonly ImportChange[]
  /** Versions of the new cards, in the order of `changes`; empty where nothing was applied. */
  readonly versions: readonly number[]
  /** Models whose change is too large to apply without `allowLarge`. */
  readonly refused: readonly string[]
  /** Changed models that the configuration file prices: the import takes effect once the file no longer does. */
  readonly inFile: readonly string[]
}

/** Applies the import only with `apply`, and then all of it or nothing. */
export async function importPrices(
  context: AdminContext,
  input: Input<'importPrices'>,
): Promise<PriceImport> {
  const { store, nowMs } = context
  const { document, vendor, model, apply, allowLarge } = input
  const read = readPriceDocument(document, vendor, nowMs)
  const cards = read.cards.filter((card) => model === undefined || fits(model, card.model))
  if (cards.length === 0) {
    throw new AdminError('not_found', 'document', 'has no prices for the requested model')
  }
  const ours = await context.currency()
  if (read.currency !== null && read.currency !== ours) {
    throw new AdminError(
      'conflict',
      'document',
      `its prices are in ${read.currency}, but the currency of the deployment is ${ours}`,
    )
  }
  const rows = await store.prices.all()
  const changes = changesOf(rows, cards, nowMs)
  const large = changes.filter(({ differences }) => differences.some((each) => each.large))
  const refused = allowLarge ? [] : large.map((change) => change.model)
  const applied = apply && refused.length === 0 && changes.length > 0
  const added = changes.map((change) => newRow(context, 'import', change))
  const inForce = cardsInForce(rows, nowMs)
  return {
    applied,
    models: cards.length,
    changes,
    versions: applied ? await appendTo(context, rows, added, 'document') : [],
    refused,
    inFile: changes.flatMap((change) =>
      inForce(change.model)?.origin === 'file' ? [change.model] : [],
    ),
  }
}

function changesOf(
  rows: readonly PriceRow[],
  cards: readonly ImportedCard[],
  nowMs: number,
): ImportChange[] {
  const inForce = cardsInForce(withoutFile(rows), nowMs)
  return cards.flatMap((card) => {
    const before = inForce(card.model)
    const differences = compareCards(before?.prices ?? null, card.prices)
    if (differences.length === 0) return []
    const known = before && { version: before.version, prices: before.prices }
    return [{ ...card, before: known, differences }]
  })
}
