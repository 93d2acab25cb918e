// The journal entries of a wallet for its owner, each with the balance after it.

import type { EntryPlace } from '../store/ledger.ts'
import { findWallet } from './accounts.ts'
import { cursorAfter, type Page, placeIn } from './page.ts'
import type { Input } from './schema.ts'
import { timeText } from './time.ts'
import { type AdminContext, AdminError } from './use-case.ts'

interface Entry {
  readonly id: string
  /** `topup`, `bonus`, `adjust`, `usage`, ... */
  readonly code: string
  readonly at: string
  readonly currency: string
  /** Negative where the entry took money. */
  readonly effectNano: string
  readonly balanceNano: string
  /** Who caused the entry; for operators only. */
  readonly actor: string | null
  readonly reason: string | null
  /** The request, where the entry is about one. */
  readonly requestId: string | null
}

/** Newest first. Throws AdminError. */
export async function listEntries(
  { store, currency }: AdminContext,
  input: Input<'listEntries'> & { readonly account: string; readonly owner?: string | undefined },
): Promise<Page<Entry>> {
  const { account, owner, since, until, limit, cursor } = input
  await findWallet(store, account)
  const from = cursor === undefined ? untilPlace(until) : placeOf(cursor)
  // The extra row tells whether more follow.
  const entries = await store.journal.entries({
    account,
    limit: limit + 1,
    ...(since !== undefined && { since }),
    ...(from !== null && { before: from }),
  })
  const shown = entries.slice(0, limit)
  const last = shown.at(-1)
  const code = await currency()
  const items = shown.map((entry) => ({
    id: entry.id,
    code: entry.code,
    at: timeText(entry.at),
    currency: code,
    effectNano: String(entry.effectNano),
    balanceNano: String(entry.balanceNano),
    actor: owner === undefined ? entry.actor : null,
    reason: entry.reason,
    requestId: entry.code === 'usage' ? entry.id.slice('usage:'.length) : null,
  }))
  const isEnd = last === undefined || entries.length === shown.length
  return { items, next: isEnd ? null : cursorAfter(`${last.at} ${last.id}`) }
}

function untilPlace(until: number | undefined): EntryPlace | null {
  return until === undefined ? null : { at: until, id: '' }
}

function placeOf(cursor: string): EntryPlace {
  const [, at, id] = /^(\d{1,15}) (.+)$/s.exec(placeIn(cursor)) ?? []
  if (at !== undefined && id !== undefined) return { at: Number(at), id }
  throw new AdminError('invalid', 'cursor', 'is not the `next` of a page of this list')
}
