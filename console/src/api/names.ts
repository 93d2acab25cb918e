// Names of keys, since statistics only contain their ids, and keys by their name.

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useDeferredValue, useMemo, useState } from 'react'
import { useAccount } from '../app/account-scope.tsx'
import { shortId } from '../format.ts'
import { read, readAll } from './client.ts'

/** Most pages of keys, those used last first. */
const mostPages = 10

/** The name of a key; its id if the key is gone or there are too many. */
export function useKeyName(): (id: string) => string {
  const account = useAccount()
  const { data } = useQuery({
    ...readAll(
      '/api/keys',
      { sort: 'lastUsed', playground: 'with', ...(account !== undefined && { account }) },
      mostPages,
    ),
    staleTime: 60_000,
  })
  return useMemo(() => {
    const names = new Map(data?.items.map(({ id, name }) => [id, name]))
    return (id: string) => names.get(id) ?? shortId(id)
  }, [data])
}

/** Keys by a part of their name or their last characters, for a filter that cannot list all. */
export function useKeyFinder() {
  const account = useAccount()
  const [text, setText] = useState('')
  const search = useDeferredValue(text.trim().slice(0, 128))
  const { data } = useQuery({
    ...read('/api/keys', {
      params: {
        query: {
          search,
          sort: 'lastUsed',
          playground: 'with',
          limit: 50,
          ...(account !== undefined && { account }),
        },
      },
    }),
    enabled: search !== '',
    placeholderData: keepPreviousData,
  })
  const keys = search === '' ? [] : (data?.items ?? [])
  return { find: setText, found: keys.map(({ id, name }) => ({ value: id, label: name })) }
}
