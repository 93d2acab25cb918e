// What arrives from the caller's clients while the page is open: those of the last minutes, then each as it comes.

import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { read, type Shape } from '../../api/client.ts'
import { follow } from '../../api/follow.ts'
import { useAccount } from '../../app/account-scope.tsx'

export type Arrival = Shape<'Arrival'>

const mostKept = 50

/** Newest first. `isOpen`: the stream is; where it breaks it is opened again, and what came meanwhile is asked for. */
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
    return follow(`/api/doctor/live${scope}`, {
      on: {
        arrival(data) {
          const arrival: Arrival = JSON.parse(data)
          setLive((before) => [arrival, ...before].slice(0, mostKept))
        },
      },
      onOpen() {
        setOpen(true)
        void refetch()
      },
      onBreak: () => setOpen(false),
    })
  }, [account, refetch])
  return { arrivals: merged(live, query.data?.items ?? []), isOpen, query }
}

function merged(live: readonly Arrival[], listed: readonly Arrival[]): readonly Arrival[] {
  const byId = new Map([...listed, ...live].map((arrival) => [arrival.requestId, arrival]))
  return [...byId.values()].sort((one, other) => (one.at < other.at ? 1 : -1)).slice(0, mostKept)
}
