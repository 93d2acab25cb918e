// Names of keys, since statistics only contain their ids.

import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useAccount } from '../app/account-scope.tsx'
import { shortId } from '../format.ts'
import { read } from './client.ts'

/** The name of a key; its id if the key is gone or there are too many. */
export function useKeyName(): (id: string) => string {
  const account = useAccount()
  const { data } = useQuery({
    ...read('/api/keys', {
      params: {
        query: {
          limit: 200,
          sort: 'lastUsed',
          playground: 'with',
          ...(account !== undefined && { account }),
        },
      },
    }),
    staleTime: 60_000,
  })
  return useMemo(() => {
    const names = new Map(data?.items.map(({ id, name }) => [id, name]))
    return (id: string) => names.get(id) ?? shortId(id)
  }, [data])
}
