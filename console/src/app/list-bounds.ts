// The range of a list that is read page by page.

import { useMemo } from 'react'
import { useTimeZone } from '../state/preferences.ts'
import { useNow } from '../ui/values.tsx'
import { type Preset, type RangeSearch, rangeOf, rowBounds, startOfDay } from './range.ts'

export type ListBounds = ReturnType<typeof rowBounds>

/**
 * A range up to the present has no end, and keeps its start until another range is chosen or another day begins: if it
 * moved with each minute, the list would begin anew and lose the pages that were read.
 */
export function useListBounds({ range, since, until }: RangeSearch, usual: Preset): ListBounds {
  const zone = useTimeZone()
  const day = startOfDay(useNow(60_000), zone)
  return useMemo(
    () =>
      since !== undefined && until === undefined
        ? { since }
        : rowBounds(rangeOf({ range, since, until }, Math.max(day, Date.now()), zone, usual)),
    [range, since, until, zone, usual, day],
  )
}
