// The queries of this page: the list in pages, its histogram, and the rows that arrive meanwhile.

import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { get, type Shape } from '../../api/client.ts'
import { follow } from '../../api/follow.ts'
import type { ListBounds } from '../../app/list-bounds.ts'
import type { Range } from '../../app/range.ts'
import { useTimeZone } from '../../state/preferences.ts'
import { filtersOf, type RequestsSearch } from './search.ts'

export type RequestRow = Shape<'Request'>

export interface Asked {
  readonly search: RequestsSearch
  readonly range: Range
  /** The range of the rows. */
  readonly bounds: ListBounds
  readonly account: string | undefined
}

function filtersFor({ search, account }: Pick<Asked, 'search' | 'account'>) {
  return { ...filtersOf(search), ...(account !== undefined && { account }) }
}

/** What the list asks for, and the file of its rows. */
export function rowFilters({ bounds, ...asked }: Omit<Asked, 'range'>) {
  // A person who has an id need not know the time.
  return { ...filtersFor(asked), ...(asked.search.id === undefined && bounds) }
}

export function useRequests(asked: Omit<Asked, 'range'>) {
  const filters = rowFilters(asked)
  return useInfiniteQuery({
    queryKey: ['/api/requests', filters],
    queryFn: ({ pageParam, signal }) => {
      const query = { ...filters, limit: 100, ...(pageParam !== '' && { cursor: pageParam }) }
      return get('/api/requests', { params: { query: query as never } }, signal)
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    placeholderData: (before) => before,
  })
}

/** In pixels: room is kept for it until it is loaded. */
export const histogramHeight = 140

/** Requests and failures over time; without the filters that totals do not support. */
export function useHistogram({ search, range, account }: Asked) {
  const timeZone = useTimeZone()
  const { model, key, group, channel, operation, outcome, tag } = search
  // Of requests that failed after a status below 400, the totals have the errors among all with such a status.
  const statusClass = outcome === 'interrupted' ? '2xx' : search.statusClass
  const known = { model, key, group, channel, operation, statusClass, tag, account }
  const given = Object.entries(known).filter(([, value]) => value !== undefined)
  const query = {
    since: range.since,
    until: range.until,
    timeZone,
    ...(Object.fromEntries(given) as Partial<Record<keyof typeof known, string>>),
  }
  return useQuery({
    // Under the path of what it reads, so that it is read again with it.
    queryKey: ['/api/statistics', 'histogram', query],
    async queryFn({ signal }) {
      const of = (metric: 'requests' | 'errors') =>
        get('/api/statistics', { params: { query: { ...query, metric } } }, signal)
      const [requests, errors] = await Promise.all([of('requests'), of('errors')])
      return { requests, errors }
    },
    placeholderData: (before) => before,
  })
}

const mostKept = 500
/** Rows per half second: nobody reads faster. */
const mostAtOnce = '50'

export interface Tail {
  readonly rows: readonly RequestRow[]
  /** More ended at a time than are shown. */
  readonly hasGaps: boolean
  /** The server sends rows from here on. */
  readonly isConnected: boolean
}

const nothing: Tail = { rows: [], hasGaps: false, isConnected: false }

/** Rows as they end, newest first, with the same filters. */
export function useTail(
  { search, account }: Pick<Asked, 'search' | 'account'>,
  isOn: boolean,
): Tail {
  const [tail, setTail] = useState(nothing)
  const query = new URLSearchParams(
    Object.entries(filtersFor({ search, account })).map(([name, value]) => [name, String(value)]),
  )
  query.set('most', mostAtOnce)
  const path = `/api/requests/live?${query}`
  const client = useQueryClient()
  const followed = useRef(path)
  useEffect(() => {
    // What arrived stays when following ends: the list was read before.
    const isSame = followed.current === path
    followed.current = path
    setTail((tail) => (isSame ? { ...tail, isConnected: false } : nothing))
    if (!isOn) return
    const list = { queryKey: ['/api/requests'] }
    return follow(path, {
      on: {
        request(data) {
          const row: RequestRow = JSON.parse(data)
          setTail((tail) => ({ ...tail, rows: [row, ...tail.rows].slice(0, mostKept) }))
        },
        missed: () => setTail((tail) => ({ ...tail, hasGaps: true })),
      },
      onOpen() {
        setTail((tail) => ({ ...tail, isConnected: true }))
        // Requests that ended before are in the list only, also in one whose reading began before.
        void client.cancelQueries(list).then(() => client.invalidateQueries(list))
      },
      onBreak: () => setTail((tail) => ({ ...tail, isConnected: false })),
    })
  }, [path, isOn, client])
  return tail
}
