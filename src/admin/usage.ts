// Finished requests, newest first.

import { createPriceBook } from '../meter/price-book.ts'
import type { UsageFilter } from '../store/usage-filter.ts'
import { cursorAfter, type Page, placeIn } from './page.ts'
import type { Input } from './schema.ts'
import { usageView } from './usage-view.ts'
import { type AdminContext, AdminError } from './use-case.ts'

export type Usage = ReturnType<typeof usageView>

export async function listUsage(
  { store }: AdminContext,
  input: Input<'listUsage'>,
): Promise<Page<Usage>> {
  const { limit } = input
  const book = createPriceBook(await store.prices.all())
  // One more than asked for says whether there are more.
  const rows = await store.usage.list({ ...filterOf(input), limit: limit + 1 })
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    items: shown.map((row) => usageView(row, book)),
    next:
      last === undefined || rows.length === shown.length
        ? null
        : cursorAfter(`${last.at} ${last.requestId}`),
  }
}

function filterOf(input: Input<'listUsage'>): Omit<UsageFilter, 'limit'> {
  const { account, key, model, status, since, until, cursor } = input
  return {
    ...(account !== undefined && { account }),
    ...(key !== undefined && { key }),
    ...(model !== undefined && { model }),
    ...(status !== undefined && { status }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
    ...(cursor !== undefined && { before: rowAt(cursor) }),
  }
}

function rowAt(cursor: string) {
  const [, at, requestId] = /^(\d{1,15}) (.+)$/s.exec(placeIn(cursor)) ?? []
  if (at !== undefined && requestId !== undefined) return { at: Number(at), requestId }
  throw new AdminError('invalid', 'cursor', 'is not one that this list gave')
}
