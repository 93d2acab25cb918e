// Names of keys, since statistics only contain their ids.

import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useAccount } from '../app/account-scope.tsx'
import { shortId } from '../format.ts'
import { readAll } from './client.ts'

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
