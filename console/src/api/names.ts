// Names of keys, since statistics only contain their ids, and keys by their name.

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useDeferredValue, useMemo, useRef, useState } from 'react'
import { useAccount } from '../app/account-scope.tsx'
import { shortId } from '../format.ts'
import { get, read } from './client.ts'

/** As many ids as the API takes at once. */
const mostAtOnce = 200

/** The name of a key; its id if the key is gone, `…` until that is known. */
export function useKeyName(): (id: string) => string {
  const [ids, setIds] = useState<readonly string[]>([])
  const asked = useRef(new Set<string>())
  const { data, isError, isPlaceholderData } = useQuery({
    queryKey: ['/api/keys', 'names', ids],
    queryFn: ({ signal }) => namesOf(ids, signal),
    enabled: ids.length > 0,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  })
  const isKnown = isError || (data !== undefined && !isPlaceholderData)
  return useMemo(
    () => (id: string) => {
      if (!asked.current.has(id)) {
        asked.current.add(id)
        // Names are needed while something is drawn; they are asked for together after that.
        queueMicrotask(() => setIds([...asked.current]))
      }
      return data?.get(id) ?? (isKnown ? shortId(id) : '…')
    },
    [data, isKnown],
  )
}

async function namesOf(ids: readonly string[], signal: AbortSignal) {
  const names = new Map<string, string>()
  for (let first = 0; first < ids.length; first += mostAtOnce) {
    const some = ids.slice(first, first + mostAtOnce).join()
    const query = { ids: some, playground: 'with', limit: mostAtOnce } as const
    const { items } = await get('/api/keys', { params: { query } }, signal)
    for (const { id, name } of items) names.set(id, name)
  }
  return names
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
