// Appends versions of rate cards, and keeps what was cancelled cancelled when prices before it change.

import type { PriceRow } from '../store/ledger.ts'
import { cardsInForce, type Prices } from './price-card.ts'
import { type AdminContext, AdminError } from './use-case.ts'

type NewRow = Omit<PriceRow, 'version'>

/** Appends rows that were decided from the `known` cards; appends none where another card was added meanwhile. */
export async function appendTo(
  { store }: Pick<AdminContext, 'store'>,
  known: readonly PriceRow[],
  rows: readonly NewRow[],
  field: string,
): Promise<readonly number[]> {
  const newest = known.at(-1)?.version ?? 0
  const all = [...rows, ...cancelledAgain(known, rows)]
  const versions = await store.prices.appendAfter(newest, all)
  if (versions !== null) return versions.slice(0, rows.length)
  throw new AdminError(
    'conflict',
    field,
    'prices were changed meanwhile: read them again, then repeat the change',
    'changed_meanwhile',
  )
}

/** The prices set or imported that are in force until a scheduled card begins; {} where there are none. */
export function setBefore(
  rows: readonly PriceRow[],
  { model, effectiveFrom }: Pick<PriceRow, 'model' | 'effectiveFrom'>,
): Prices {
  const set = rows.filter(({ origin }) => origin === 'set' || origin === 'import')
  return cardsInForce(set, effectiveFrom - 1)(model)?.prices ?? {}
}

/** Whether a later version of an origin with the same rank begins at the same moment. */
export function isOverwritten(rows: readonly PriceRow[], row: PriceRow): boolean {
  return rows.some(
    (other) =>
      other.model === row.model &&
      other.version > row.version &&
      other.effectiveFrom === row.effectiveFrom &&
      (other.origin === 'file') === (row.origin === 'file'),
  )
}

/** What is cancelled is overwritten by a card with the prices before it, which has this source. */
export function cancelledSource(version: number): string {
  return `version ${version} was cancelled`
}

/**
 * Cancellations that begin after one of the new rows, anew: with the prices of their own time they would take the new
 * prices back.
 */
function cancelledAgain(known: readonly PriceRow[], rows: readonly NewRow[]): readonly NewRow[] {
  const all = [...known]
  const add = (row: NewRow) => all.push({ ...row, version: (all.at(-1)?.version ?? 0) + 1 })
  for (const row of rows) add(row)
  const later = known
    .filter((card) => isCancellation(known, card) && !isOverwritten(all, card))
    .filter((card) =>
      rows.some(
        ({ model, effectiveFrom }) => model === card.model && effectiveFrom < card.effectiveFrom,
      ),
    )
    .toSorted((one, other) => one.effectiveFrom - other.effectiveFrom)
  return later.map(({ version: _, ...card }) => {
    const { actor = card.actor, createdAt = card.createdAt } = rows[0] ?? {}
    const again = { ...card, prices: setBefore(all, card), actor, createdAt }
    add(again)
    return again
  })
}

function isCancellation(rows: readonly PriceRow[], card: PriceRow): boolean {
  return rows.some(
    ({ model, effectiveFrom, version }) =>
      model === card.model &&
      effectiveFrom === card.effectiveFrom &&
      card.source === cancelledSource(version),
  )
}
