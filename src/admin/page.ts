// Lists in pages: each page tells where the next one begins.

import { Buffer } from 'node:buffer'
import { AdminError } from './use-case.ts'

export interface Page<Item> {
  readonly items: readonly Item[]
  /** The `cursor` of the next page; null: this is the last. */
  readonly next: string | null
}

interface PageInput {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

/** Sorts by a unique text, so that items added or removed between two pages shift no others. */
export function pageOf<Item>(
  items: readonly Item[],
  placeOf: (item: Item) => string,
  { limit, cursor }: PageInput,
): Page<Item> {
  const after = cursor === undefined ? null : placeIn(cursor)
  const left = items
    .map((item) => ({ item, place: placeOf(item) }))
    .filter(({ place }) => after === null || place > after)
    .sort((one, other) => (one.place < other.place ? -1 : 1))
  const shown = left.slice(0, limit)
  const last = shown.at(-1)
  return {
    items: shown.map(({ item }) => item),
    next: last === undefined || shown.length === left.length ? null : cursorAfter(last.place),
  }
}

export function cursorAfter(place: string): string {
  return Buffer.from(place).toString('base64url')
}

export function placeIn(cursor: string): string {
  return Buffer.from(cursor, 'base64url').toString()
}

/** A page of rows sorted newest first; the rows include one more than `limit` where more follow. */
export function pageByTime<Row extends { readonly createdAt: number; readonly id: string }, Item>(
  rows: readonly Row[],
  limit: number,
  view: (row: Row) => Item,
): Page<Item> {
  const shown = rows.slice(0, limit)
  const last = rows.length > limit ? shown.at(-1) : undefined
  const next = last === undefined ? null : cursorAfter(`${last.createdAt} ${last.id}`)
  return { items: shown.map(view), next }
}

/** The place where the page with this cursor ended. Throws AdminError. */
export function timePlace(cursor: string | undefined) {
  if (cursor === undefined) return undefined
  const [, at, id] = /^(\d{1,15}) ([^]+)$/.exec(placeIn(cursor)) ?? []
  if (at !== undefined && id !== undefined) return { at: Number(at), id }
  throw new AdminError('invalid', 'cursor', 'is not the `next` of a page of this list')
}
