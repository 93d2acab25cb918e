// What arrives from the caller's clients while the page is open: those of the last minutes, then each as it comes.

import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { read, type Shape } from '../../api/client.ts'
import { useAccount } from '../../app/account-scope.tsx'

export type Arrival = Shape<'Arrival'>

const mostKept = 50

/** Newest first. `isOpen`: the stream is; where it breaks the browser opens it again, and what came meanwhile is asked for. */
export function useArrivals() {
  const account = useAccount()
  const [live, setLive] = useState<readonly Arrival[]>([])
  const [isOpen, setOpen] = useState(false)
  const query = useQuery({
    ...read('/api/doctor', {
      params: { query: { limit: 20, ...(account !== undefined && { account }) } },
    }),
    staleTime: 0,
  })
  const { refetch } = query
  useEffect(() => {
    const scope = account === undefined ? '' : `?account=${encodeURIComponent(account)}`
    const source = new EventSource(`/api/doctor/live${scope}`)
    source.onopen = () => {
      setOpen(true)
      void refetch()
    }
    source.onerror = () => setOpen(false)
    source.addEventListener('arrival', ({ data }) => {
      const arrival = JSON.parse(data) as Arrival
      setLive((before) => [arrival, ...before].slice(0, mostKept))
    })
    return () => source.close()
  }, [account, refetch])
  return { arrivals: merged(live, query.data?.items ?? []), isOpen, query }
}

function merged(live: readonly Arrival[], listed: readonly Arrival[]): readonly Arrival[] {
  const byId = new Map([...listed, ...live].map((arrival) => [arrival.requestId, arrival]))
  return [...byId.values()].sort((one, other) => (one.at < other.at ? 1 : -1)).slice(0, mostKept)
}
