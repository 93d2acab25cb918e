// Requests of the caller's clients while the page is open: those of the last minutes, then each as it arrives.

import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { read, type Shape } from '../../api/client.ts'
import { follow } from '../../api/follow.ts'
import { useMe } from '../../api/queries.ts'
import { useAccount } from '../../app/account-scope.tsx'

export type Arrival = Shape<'Arrival'>

const mostKept = 50

/**
 * Newest first. `isOpen`: the stream is open; if it breaks it is opened again, and requests from meanwhile are loaded.
 * `isNew`: it arrived since the page was opened. No clock decides that, since the browser's may be wrong.
 */
export function useArrivals() {
  // An operator's own clients are waited for, not everybody's.
  const own = useMe()?.id
  const account = useAccount() ?? own
  const [live, setLive] = useState<readonly Arrival[]>([])
  const [isOpen, setOpen] = useState(false)
  const query = useQuery({
    ...read('/api/doctor', {
      params: { query: { limit: 20, ...(account !== undefined && { account }) } },
    }),
    staleTime: 0,
  })
  const { data, isFetchedAfterMount, refetch } = query
  const known = useKnown(account, isFetchedAfterMount ? data?.items : undefined, live)
  useEffect(() => {
    // Those of another account.
    setLive([])
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
  const isNew = (arrival: Arrival) => known !== null && !known.has(arrival.requestId)
  return { arrivals: merged(live, data?.items ?? []), isNew, isOpen, query }
}

/** Requests in the first answer that the stream did not report; null until then. Another account has others. */
function useKnown(
  account: string | undefined,
  listed: readonly Arrival[] | undefined,
  live: readonly Arrival[],
): ReadonlySet<string> | null {
  const [known, setKnown] = useState<{ account: typeof account; ids: ReadonlySet<string> }>()
  if (known !== undefined && known.account === account) return known.ids
  if (listed === undefined) return null
  const told = new Set(live.map(({ requestId }) => requestId))
  const ids = new Set(listed.map(({ requestId }) => requestId).filter((id) => !told.has(id)))
  setKnown({ account, ids })
  return ids
}

function merged(live: readonly Arrival[], listed: readonly Arrival[]): readonly Arrival[] {
  const byId = new Map([...listed, ...live].map((arrival) => [arrival.requestId, arrival]))
  return [...byId.values()].sort((one, other) => (one.at < other.at ? 1 : -1)).slice(0, mostKept)
}
