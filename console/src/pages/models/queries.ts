// The API queries of this page.

import { useInfiniteQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { get, type Shape } from '../../api/client.ts'
import { filtersOf, type ModelsSearch } from './search.ts'

export type Model = Shape<'Model'>

/** The models that match the address, as far as they were loaded. */
export function useModels(search: ModelsSearch) {
  const { sort } = search
  const given = { ...filtersOf(search), ...(sort !== undefined && { sort }) }
  const query = useInfiniteQuery({
    queryKey: ['/api/models', given],
    queryFn: ({ pageParam, signal }) => {
      const query = { ...given, limit: 200, ...(pageParam && { cursor: pageParam }) }
      return get('/api/models', { params: { query } }, signal)
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    placeholderData: (before) => before,
  })
  const rows = useMemo(() => query.data?.pages.flatMap(({ items }) => items) ?? [], [query.data])
  return { query, rows }
}
