// Exports all data of one account for its owner: a ZIP of NDJSON files, written as it is read.

import { Buffer } from 'node:buffer'
import { createPriceBook } from '../meter/price-book.ts'
import { readHistory } from './history.ts'
import { listKeys } from './keys.ts'
import type { Input } from './schema.ts'
import { callerView } from './usage-view.ts'
import type { AdminContext } from './use-case.ts'
import { type ZipFile, zipped } from './zip.ts'

const pageRows = 500

/**
 * `usage.ndjson` (as the account sees it), `keys.ndjson` (without secrets), `history.ndjson` (with bodies; sealed ones
 * stay sealed), and `blobs/ID` for each `blob:ID` in them.
 */
export function exportData(admin: AdminContext, { account }: Input<'account'>) {
  return zipped(filesOf(admin, account))
}

async function* filesOf(admin: AdminContext, account: string): AsyncGenerator<ZipFile> {
  yield { name: 'usage.ndjson', chunks: lines(usageOf(admin, account)) }
  yield { name: 'keys.ndjson', chunks: lines(keysOf(admin, account)) }
  const blobs = new Set<string>()
  yield { name: 'history.ndjson', chunks: lines(historyOf(admin, account, blobs)) }
  for (const id of blobs) {
    const blob = await admin.store.history.blob(account, id)
    // null where its message was deleted meanwhile.
    if (blob !== null) yield { name: `blobs/${id}`, chunks: [blob.content] }
  }
}

async function* lines(values: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  for await (const value of values) yield Buffer.from(`${JSON.stringify(value)}\n`, 'utf8')
}

async function* usageOf({ store }: AdminContext, account: string) {
  const book = createPriceBook(await store.prices.all())
  let before: { readonly at: number; readonly requestId: string } | undefined
  for (;;) {
    const filter = { account, limit: pageRows, ...(before !== undefined && { before }) }
    const rows = await store.usage.list(filter)
    for (const row of rows) yield callerView(row, book)
    before = rows.at(-1)
    if (rows.length < pageRows) return
  }
}

async function* keysOf(admin: AdminContext, account: string) {
  let cursor: string | undefined
  do {
    const { items, next } = await listKeys(admin, { account, cursor, playground: 'with' })
    yield* items
    cursor = next ?? undefined
  } while (cursor !== undefined)
}

async function* historyOf(admin: AdminContext, account: string, blobs: Set<string>) {
  const reader = { owner: account, self: account, readsAll: false }
  let before: { readonly at: number; readonly requestId: string } | null | undefined
  while (before !== null) {
    const page = await admin.store.history.list({ account, limit: pageRows, before })
    for (const { requestId } of page.items) {
      const found = await readHistory(admin, { id: requestId }, reader).catch(gone)
      if (found === null) continue
      for (const { id } of found.blobs) blobs.add(id)
      yield found
    }
    before = page.next
  }
}

/** null where the message was deleted meanwhile; any other error is thrown again. */
function gone(error: unknown): null {
  if (error instanceof Error && 'refusal' in error && error.refusal === 'not_found') return null
  throw error
}
