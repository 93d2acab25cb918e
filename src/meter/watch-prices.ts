// Watches the store for new prices: a card set by another process takes effect here within a second.

import type { PriceRow, PriceTable } from '../store/ledger.ts'
import { type RevisionWatch, watchRevision } from '../store/revision.ts'

interface PriceWatchOptions {
  /** Called with all versions whenever there is a new one. If it throws, it is called again at the next poll. */
  readonly onChange: (rows: readonly PriceRow[]) => void
  /** Called once per outage, at its first failed poll; prices stay as they were. */
  readonly onError: (error: unknown) => void
  /** 500 by default; shorter in tests. */
  readonly pollMs?: number
  /** See `RevisionWatchOptions`. */
  readonly busy?: () => boolean
}

/** `known`: the rows from which the present prices were made. */
export function watchPrices(
  table: PriceTable,
  known: readonly PriceRow[],
  { onChange, onError, pollMs, busy }: PriceWatchOptions,
): RevisionWatch {
  const watch = watchRevision({
    known: newestOf(known),
    read: () => table.newest(),
    async reload() {
      const rows = await table.all()
      if (!watch.closed) onChange(rows)
      return newestOf(rows)
    },
    onError,
    ...(pollMs !== undefined && { pollMs }),
    ...(busy !== undefined && { busy }),
  })
  return watch
}

function newestOf(rows: readonly PriceRow[]): number {
  return rows.reduce((highest, { version }) => Math.max(highest, version), 0)
}
