// Keeps the prices in step with the store: a card set by another process counts here within a second.

import type { PriceRow, PriceTable } from '../store/ledger.ts'
import { type RevisionWatch, watchRevision } from '../store/revision.ts'

interface PriceWatchOptions {
  /** Given every version, each time there is a new one. Where it throws, it is called again at the next look. */
  readonly onChange: (rows: readonly PriceRow[]) => void
  /** Called once per outage, at its first failed look; prices stay as they were. */
  readonly onError: (error: unknown) => void
  /** 500 unless a test says otherwise. */
  readonly pollMs?: number
  /** As of `RevisionWatchOptions`. */
  readonly busy?: () => boolean
}

/** `known` are the rows the prices were made from. */
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
