// The price book for receipts, per store: read again only when there are newer prices.

import type { PriceBook } from '../meter/meter.ts'
import { createPriceBook } from '../meter/price-book.ts'
import type { Store } from '../store/store.ts'

const books = new WeakMap<Store, { readonly newest: number; readonly book: PriceBook }>()

export async function priceBookOf(store: Store): Promise<PriceBook> {
  const newest = await store.prices.newest()
  const known = books.get(store)
  if (known?.newest === newest) return known.book
  const book = createPriceBook(await store.prices.all())
  books.set(store, { newest, book })
  return book
}
