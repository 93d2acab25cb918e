// Rate cards: list, set, schedule, withdraw, roll back. Each change appends a version of a model's card.

import { createCatalog } from '../catalog/catalog.ts'
import { readCard } from '../meter/card.ts'
import { samePrices } from '../meter/file-prices.ts'
import { missingPrice } from '../meter/required.ts'
import type { PriceRow } from '../store/ledger.ts'
import { type Page, pageOf } from './page.ts'
import { appendTo, cancelledSource, isOverwritten, setBefore } from './price-append.ts'
import {
  cardsInForce,
  cardView,
  compareCards,
  type Difference,
  type NewCard,
  newRow,
  type PriceCard,
  plainPrices,
  withoutFile,
} from './price-card.ts'
import type { Input } from './schema.ts'
import { type AdminContext, AdminError } from './use-case.ts'

/** `in force` now, `scheduled` for later, or `replaced`: by a later card, or by one that takes precedence. */
export interface ListedCard extends PriceCard {
  readonly state: 'in force' | 'scheduled' | 'replaced'
}

/**
 * Sorted by model and version: cards in force, `all`, or `scheduled` ones. For a model without a card, the pattern's
 * card that prices it.
 */
export async function listPrices(
  { store, nowMs }: AdminContext,
  { model, search, all, scheduled, ...page }: Input<'listPrices'>,
): Promise<Page<ListedCard>> {
  const rows = await store.prices.all()
  const inForce = cardsInForce(rows, nowMs)
  const stateOf = (row: PriceRow): ListedCard['state'] => {
    if (row.effectiveFrom > nowMs) return isIdle(rows, row) ? 'replaced' : 'scheduled'
    return inForce(row.model)?.version === row.version ? 'in force' : 'replaced'
  }
  const cards = rows
    .filter((row) => model === undefined || row.model === model)
    .filter((row) => search === undefined || row.model.toLowerCase().includes(search.toLowerCase()))
    .map((row) => ({ ...cardView(row), state: stateOf(row) }))
    .filter(({ state }) => (scheduled ? state === 'scheduled' : all || state === 'in force'))
  if (scheduled) return pageOf(cards, placeOf, page)
  if (model === undefined || cards.length > 0) return pageOf(cards, placeOf, page)
  const pattern = inForce(model)
  if (pattern !== null)
    return { items: [{ ...cardView(pattern), state: 'in force' as const }], next: null }
  throw new AdminError('not_found', 'model', `there is no price for ${JSON.stringify(model)}`)
}

/** Whether a scheduled card will change nothing, since another replaces it or it repeats what was set before. */
function isIdle(rows: readonly PriceRow[], row: PriceRow): boolean {
  return isOverwritten(rows, row) || samePrices(row.prices, setBefore(rows, row))
}

function placeOf({ model, version }: PriceCard): string {
  return `${model}\0${String(version).padStart(15, '0')}`
}

interface PriceChange {
  /** null: not applied, because a difference is large and `allowLarge` was not given. */
  readonly card: PriceCard | null
  readonly differences: readonly Difference[]
  /** Whether no model of this name is known so far. */
  readonly isUnknown: boolean
  /** The missing price for which requests to the model are refused; null: none is missing. */
  readonly missing: string | null
  /** Whether the configuration file prices the model: the card takes effect once the file no longer does. */
  readonly isInFile: boolean
}

/** In force from now on, or from `from`. */
export async function setPrices(
  context: AdminContext,
  input: Input<'setPrices'>,
): Promise<PriceChange> {
  const { model, allowLarge, source, from = context.nowMs } = input
  const prices = plainPrices(input.prices)
  const rows = await context.store.prices.all()
  const before = cardsInForce(withoutFile(rows), from)(model)
  const shipped = createCatalog({}).find(model)
  const differences = compareCards(before?.prices ?? null, prices)
  const refused = !allowLarge && differences.some(({ large }) => large)
  return {
    card: refused
      ? null
      : (await append(context, rows, { model, prices, source, effectiveFrom: from })).card,
    differences,
    isUnknown: shipped === null && before === null,
    missing: shipped && missingPrice(readCard(prices), shipped.kind, null),
    isInFile: isInFile(rows, model, from),
  }
}

/** A new card, and what it changes from the moment it begins. */
interface Appended {
  readonly card: PriceCard
  readonly differences: readonly Difference[]
}

/** Withdraws what was set or imported: the shipped prices are in force again. */
export async function withdrawPrices(
  context: AdminContext,
  { model }: Input<'withdrawPrices'>,
): Promise<AppendedBeside> {
  const rows = await context.store.prices.all()
  const inForce = cardsInForce(withoutFile(rows), context.nowMs)(model)
  if (inForce === null || inForce.origin === 'shipped') {
    throw new AdminError(
      'conflict',
      'model',
      `${JSON.stringify(model)} has no set or imported prices to withdraw`,
    )
  }
  const appended = await append(context, rows, { model, prices: {}, source: 'withdrawn' })
  return { ...appended, isInFile: isInFile(rows, model, context.nowMs) }
}

/**
 * Cancels a scheduled card: a later version begins at the same moment, with the prices set before. Throws AdminError:
 * `not_found`, and `conflict` where the card is in force or of the configuration file.
 */
export async function cancelPrices(
  context: AdminContext,
  { model, version }: Input<'cancelPrices'>,
): Promise<Appended> {
  const rows = await context.store.prices.all()
  const card = rows.find((row) => row.model === model && row.version === version)
  if (card === undefined)
    throw new AdminError('not_found', 'version', `${model} has no card of version ${version}`)
  if (card.origin === 'file' || card.origin === 'shipped')
    throw new AdminError(
      'conflict',
      'version',
      'cannot be cancelled: it is from the configuration file or the shipped catalogue',
    )
  if (card.effectiveFrom <= context.nowMs || isIdle(rows, card))
    throw new AdminError(
      'conflict',
      'version',
      'is not scheduled: it is in force, or changes nothing',
    )
  const { effectiveFrom } = card
  const prices = setBefore(rows, card)
  return append(context, rows, {
    ...{ model, prices, effectiveFrom, source: cancelledSource(version) },
  })
}

interface AppendedBeside extends Appended {
  /** As in `PriceChange`. */
  readonly isInFile: boolean
}

/** Brings an earlier card back as a new version: the one before the newest unless `version` names it. */
export async function rollbackPrices(
  context: AdminContext,
  { model, version }: Input<'rollbackPrices'>,
): Promise<AppendedBeside> {
  const rows = await context.store.prices.all()
  const earlier = earlierCard(rows, model, version, context.nowMs)
  const { prices, sourceDate } = earlier
  const source = `version ${earlier.version}: ${earlier.source}`
  const appended = await append(context, rows, { model, prices, source, sourceDate })
  return { ...appended, isInFile: isInFile(rows, model, context.nowMs) }
}

/** Without a version: the card before the one in force; where the prices were withdrawn, the last card before that. */
function earlierCard(
  rows: readonly PriceRow[],
  model: string,
  version: number | undefined,
  nowMs: number,
): PriceRow {
  const own = rows.filter((row) => row.model === model)
  const begun = withoutFile(own).filter((row) => row.effectiveFrom <= nowMs)
  const latest = latestOf(begun.filter(({ origin }) => origin !== 'shipped')) ?? latestOf(begun)
  const cards = version === undefined ? begun : own
  const found = cards.findLast(
    (row) =>
      Object.keys(row.prices).length > 0 &&
      (version === undefined ? row.version < (latest?.version ?? 0) : row.version === version),
  )
  if (found !== undefined) return found
  const which = version === undefined ? 'earlier card' : `card of version ${version}`
  throw new AdminError('not_found', 'model', `${model} has no ${which}`)
}

function latestOf(rows: readonly PriceRow[]): PriceRow | undefined {
  return rows.toSorted((a, b) => a.effectiveFrom - b.effectiveFrom || a.version - b.version).at(-1)
}

function isInFile(rows: readonly PriceRow[], model: string, atMs: number): boolean {
  return cardsInForce(rows, atMs)(model)?.origin === 'file'
}

async function append(
  context: AdminContext,
  known: readonly PriceRow[],
  card: NewCard,
): Promise<Appended> {
  const made = newRow(context, 'set', card)
  const [version = 0] = await appendTo(context, known, [made], 'model')
  const row = { ...made, version }
  const pricesIn = (rows: readonly PriceRow[]) =>
    cardsInForce(withoutFile(rows), row.effectiveFrom)(row.model)?.prices ?? null
  return {
    card: cardView(row),
    differences: compareCards(pricesIn(known), pricesIn([...known, row]) ?? {}),
  }
}
