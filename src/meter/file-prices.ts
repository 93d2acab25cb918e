// Decides whether a price in a node's configuration file is a new one, or comes from an outdated copy of the file.

import type { ModelConfig } from '../config/types.ts'
import { parseUnits } from '../money.ts'
import type { PriceFileNote, PriceRow } from '../store/ledger.ts'

type Prices = PriceRow['prices']

/** The note of `tollgate price apply`, which belongs to no node. */
export const commandNode = ''

/** A model whose price in the file is not the one in force. */
export interface PriceConflict {
  readonly model: string
  /** Null: the file has none. */
  readonly file: Prices | null
  /** The price in force, and its version. */
  readonly stored: Prices
  readonly version: number
}

/** Declared prices by model, patterns included. */
export function declaredPrices(
  declared: Readonly<Record<string, ModelConfig>>,
): ReadonlyMap<string, Prices> {
  return new Map(
    Object.entries(declared).flatMap(([model, { prices }]) =>
      prices === null ? [] : [[model, prices] as const],
    ),
  )
}

/** The newest card of origin `file` for each model that ever had one; an empty card means it was withdrawn. */
export function newestOfFile(rows: readonly PriceRow[]): ReadonlyMap<string, PriceRow> {
  return new Map(rows.flatMap((row) => (row.origin === 'file' ? [[row.model, row] as const] : [])))
}

export function keyOf({ origin, model }: Pick<PriceRow, 'origin' | 'model'>): string {
  return `${origin} ${model}`
}

/** The newest card of each origin and model, by `keyOf`. */
export function newestCards(rows: readonly PriceRow[]): ReadonlyMap<string, PriceRow> {
  return new Map(rows.map((row) => [keyOf(row), row]))
}

/** A channel's own name for models; its card is empty where they have no single price. */
interface AliasCard {
  readonly model: string
  readonly prices: Prices
  /** The models it stands for that have no card in the catalogue. */
  readonly unpriced?: readonly string[]
}

/** Whether an alias lost its price only because its model left the catalogue: the prices of both stay as stored. */
export function isKept(
  { unpriced = [] }: AliasCard,
  newest: ReadonlyMap<string, PriceRow>,
): boolean {
  const isStored = (model: string) => isPriced(newest.get(keyOf({ origin: 'shipped', model })))
  return unpriced.length > 0 && unpriced.every(isStored)
}

/**
 * The models whose price in this file, or by its channels' aliases, differs from the stored one. Empty: every price of
 * the file is in force.
 */
export function priceConflicts(
  rows: readonly PriceRow[],
  declared: Readonly<Record<string, ModelConfig>>,
  aliases: readonly AliasCard[],
): readonly PriceConflict[] {
  const prices = declaredPrices(declared)
  const newest = newestCards(rows)
  const ofAliases = aliases.flatMap((alias) => {
    const { model } = alias
    const row = newest.get(keyOf({ origin: 'shipped', model }))
    const isOverruled = (['file', 'set', 'import'] as const).some((origin) =>
      isPriced(newest.get(keyOf({ origin, model }))),
    )
    return row === undefined || isOverruled || isKept(alias, newest)
      ? []
      : [{ row, prices: alias.prices }]
  })
  const ofFile = [...newestOfFile(rows).values()].map((row) => ({
    row,
    prices: prices.get(row.model) ?? {},
  }))
  return [...ofFile, ...ofAliases].flatMap(
    ({ row: { model, prices: stored, version }, prices: own }) =>
      samePrices(own, stored)
        ? []
        : [{ model, file: Object.keys(own).length === 0 ? null : own, stored, version }],
  )
}

function isPriced(row: PriceRow | undefined): boolean {
  return row !== undefined && Object.keys(row.prices).length > 0
}

/**
 * Whether a card of this node's file, which differs from the stored one, replaces it. It does if the file's
 * `priceRevision` is higher than all seen before. At an equal revision it must certainly be an edit: this node's file
 * is the only one ever seen, and it had the stored price before. With several nodes, it may be an outdated copy. Cards
 * of aliases are stored by files alone: no command can have replaced them.
 */
export function isNews(
  note: PriceFileNote,
  notes: readonly PriceFileNote[],
  key: string,
  counts: Prices,
): boolean {
  const highest = notes.reduce((most, { revision }) => Math.max(most, revision), 0)
  if (note.revision !== highest) return note.revision > highest
  const before = notes.find(({ node }) => node === note.node)
  // The data is from a version that kept no notes.
  if (before === undefined) return notes.length === 0
  const others = notes.some(({ node }) => node !== note.node && node !== commandNode)
  return !others && (key.startsWith('shipped ') || samePrices(before.cards[key] ?? {}, counts))
}

/** Compares by value: `0.150` equals `0.15`. */
export function samePrices(a: Prices, b: Prices): boolean {
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => {
      const [one, other] = [a[name], b[name]]
      if (one === undefined || other === undefined) return false
      return one === other || parseUnits(one) === parseUnits(other)
    })
  )
}
