// Decides whether what a node's configuration file says of a price is news, or a file that others have moved on from.

import type { ModelConfig } from '../config/types.ts'
import { parseUnits } from '../money.ts'
import type { PriceFileNote, PriceRow } from '../store/ledger.ts'

type Prices = PriceRow['prices']

/** The note of `tollgate price apply`, which is no node's. */
export const commandNode = ''

/** A model whose price in the file is not the one that counts. */
export interface PriceConflict {
  readonly model: string
  /** null: the file has none. */
  readonly file: Prices | null
  /** What counts instead, and its version. */
  readonly stored: Prices
  readonly version: number
}

/** By model, patterns included. */
export function declaredPrices(
  declared: Readonly<Record<string, ModelConfig>>,
): ReadonlyMap<string, Prices> {
  return new Map(
    Object.entries(declared).flatMap(([model, { prices }]) =>
      prices === null ? [] : [[model, prices] as const],
    ),
  )
}

/** The newest card of the origin `file` of each model that ever had one; an empty one was withdrawn. */
export function newestOfFile(rows: readonly PriceRow[]): ReadonlyMap<string, PriceRow> {
  return new Map(rows.flatMap((row) => (row.origin === 'file' ? [[row.model, row] as const] : [])))
}

/** Where this file and what was written down of files say different things. Empty: all that it says counts. */
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
 * Whether a card of this node's file, which differs from what counts, is to count from now on. It is where the file's
 * `priceRevision` is above every one that was seen. Else it must be an edit without a doubt: this node's is the only
 * file that was ever seen, and said before what counts now. A file of several nodes may be one that was left behind.
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
  // Data of a version that kept no notes.
  if (before === undefined) return notes.length === 0
  const others = notes.some(({ node }) => node !== note.node && node !== commandNode)
  return !others && samePrices(before.cards[key] ?? {}, counts)
}

/** By what they come to: `0.150` is `0.15`. */
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
