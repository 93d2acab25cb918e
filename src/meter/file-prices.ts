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

/** The models whose price in this file differs from the stored one. Empty: every price of the file is in force. */
export function priceConflicts(
  rows: readonly PriceRow[],
  declared: Readonly<Record<string, ModelConfig>>,
): readonly PriceConflict[] {
  const prices = declaredPrices(declared)
  return [...newestOfFile(rows).values()].flatMap(({ model, prices: stored, version }) => {
    const file = prices.get(model) ?? null
    return samePrices(file ?? {}, stored) ? [] : [{ model, file, stored, version }]
  })
}

/**
 * Whether a card of this node's file, which differs from the stored one, replaces it. It does if the file's
 * `priceRevision` is higher than all seen before. At an equal revision it must certainly be an edit: this node's file
 * is the only one ever seen, and it had the stored price before. With several nodes, it may be an outdated copy.
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
  return !others && samePrices(before.cards[key] ?? {}, counts)
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
