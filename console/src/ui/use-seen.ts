// Which rows of a long table are drawn: those that are seen, and some around them.

import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef } from 'react'
import { useRowFocus } from './use-row-focus.ts'

/** A longer table is drawn in part. */
const tall = 60

interface Next {
  readonly isLoading: boolean
  /** The last attempt was refused: another is made only when somebody asks for it. */
  readonly hasFailed: boolean
  readonly load: () => void
}

export type More = Next | undefined

interface SeenProps<Row> {
  readonly rows: readonly Row[]
  /** The height the rows scroll in. */
  readonly height?: string
  readonly more?: More
  readonly openId?: string | undefined
}

/** The rows that are drawn, from the `first` on, and the height of those before and after; asks for more near the end. */
export function useSeen<Row>({ rows, height, more, openId }: SeenProps<Row>) {
  const scroller = useRef<HTMLDivElement>(null)
  useRowFocus(scroller, openId)
  const isVirtual = height !== undefined && rows.length > tall
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 36,
    overscan: 12,
    enabled: isVirtual,
  })
  const items = virtualizer.getVirtualItems()
  const isNearEnd = !isVirtual || (items.at(-1)?.index ?? 0) > rows.length - 30
  useEffect(() => {
    if (isVirtual && isNearEnd && more?.isLoading === false && !more.hasFailed) more.load()
  }, [isVirtual, isNearEnd, more])
  if (!isVirtual) return { scroller, seen: rows, first: 0, before: 0, after: 0 }
  return {
    scroller,
    seen: items.flatMap(({ index }) => rows[index] ?? []),
    first: items[0]?.index ?? 0,
    before: items[0]?.start ?? 0,
    after: virtualizer.getTotalSize() - (items.at(-1)?.end ?? 0),
  }
}
