// The context of use cases in tests: an operator called op, on a store.

import type { AdminContext } from '../../src/admin/use-case.ts'
import type { Store } from '../../src/store/store.ts'

/** Later than the times in the contract's rows. */
export const nowMs = 1_800_000_000_000

export function adminOf(store: Store, change: Partial<AdminContext> = {}): AdminContext {
  return { store, actor: 'op', nowMs, currency: async () => 'USD', ...change }
}

/** Reads a list page by page, `limit` at a time. */
export async function allPages<Item>(
  list: (page: { readonly limit: number; readonly cursor?: string }) => Promise<{
    readonly items: readonly Item[]
    readonly next: string | null
  }>,
  limit: number,
): Promise<readonly (readonly Item[])[]> {
  const pages: (readonly Item[])[] = []
  let cursor: string | null | undefined
  while (cursor !== null) {
    const page = await list({ limit, ...(cursor !== undefined && { cursor }) })
    pages.push(page.items)
    cursor = page.next
  }
  return pages
}
