// The queries of the page: the figure over time, its breakdown, and the groups that determine colours.

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { read, type Shape } from '../../api/client.ts'
import { rangeBefore } from '../../app/range.ts'
import type { SeriesColour } from '../../charts/series.ts'
import { coloursOf, groupId, mostColours } from '../../charts/statistics.ts'
import type { Asked } from './asked.ts'

export const mostRows = 100

/** If only the total is needed, without groups. */
function parametersOf({ metric, filters, search }: Asked) {
  return {
    ...filters,
    metric,
    limit: mostColours,
    ...(search.interval !== undefined && { interval: search.interval }),
  }
}

export function useStatistics(asked: Asked) {
  const { by, span } = asked
  const grouped = by.length > 0 ? { by: by.join(',') } : {}
  return useQuery({
    ...read('/api/statistics', {
      params: { query: { ...span, ...parametersOf(asked), ...grouped } },
    }),
    placeholderData: keepPreviousData,
  })
}

/** The total of the period before; undefined if no comparison was requested. */
export function useBefore(asked: Asked): Shape<'Statistics'> | undefined {
  const { range, span, search } = asked
  const before = rangeBefore(range, span.timeZone)
  const isAsked = search.compare === true
  const { data } = useQuery({
    ...read('/api/statistics', {
      params: { query: { ...span, ...before, ...parametersOf(asked) } },
    }),
    enabled: isAsked,
  })
  return isAsked ? data : undefined
}

export function useBreakdown({ by, span, filters, search }: Asked) {
  return useQuery({
    ...read('/api/statistics/breakdown', {
      params: {
        query: {
          ...span,
          ...filters,
          limit: mostRows,
          ...(by.length > 0 && { by: by.join(',') }),
          ...(search.sort !== undefined && { sort: search.sort }),
          ...(search.order !== undefined && { order: search.order }),
        },
      },
    }),
    placeholderData: keepPreviousData,
  })
}

/**
 * The colour of each series of the chart. Colours follow the rank in the whole range, by spend and without filters, so
 * that a model keeps its colour while filters and metrics change.
 */
export function useColours(asked: Asked): ReadonlyMap<string, SeriesColour> {
  const { by, span } = asked
  const { data: whole } = useQuery({
    ...read('/api/statistics/breakdown', {
      params: { query: { ...span, by: by.join(','), limit: mostColours } },
    }),
    enabled: by.length > 0,
    placeholderData: keepPreviousData,
  })
  const { data: shown } = useStatistics(asked)
  return useMemo(() => {
    const ranked = (whole?.rows ?? []).filter(({ otherGroups }) => otherGroups === undefined)
    return coloursOf(
      ranked.map(({ group }) => groupId(group, whole?.by ?? [])),
      (shown?.series ?? []).map(({ group }) => groupId(group, shown?.by ?? [])),
    )
  }, [whole, shown])
}
