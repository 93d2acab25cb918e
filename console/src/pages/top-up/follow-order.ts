// Follows an order as it changes: reported by the gateway, and queried at its provider while somebody waits for it.

import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef } from 'react'
import { change, read, type Shape } from '../../api/client.ts'
import { follow } from '../../api/follow.ts'
import { refreshMoney } from '../../api/queries.ts'

export type Order = Shape<'OrderDetails'>

const askMs = 10_000
/** The interval between two automatic queries. */
const leastPauseMs = 5_000

const orderQuery = (id: string) => read('/api/orders/{id}', { params: { path: { id } } })

export function useOrder(id: string) {
  const client = useQueryClient()
  const order = useQuery({ ...orderQuery(id), staleTime: 0 })
  const isOpen = order.data !== undefined && order.data.pay !== null
  const askedMs = useRef(0)

  const check = useCallback(async () => {
    askedMs.current = Date.now()
    await change('post', '/api/orders/{id}/check', { params: { path: { id } } })
    await client.invalidateQueries({ queryKey: orderQuery(id).queryKey })
  }, [id, client])

  // A payment may still arrive after the order has ended, and a second one after the first.
  const isThere = order.data !== undefined
  useEffect(() => {
    if (!isThere) return
    const key = orderQuery(id).queryKey
    return follow(`/api/orders/${encodeURIComponent(id)}/events`, {
      on: { order: (data) => client.setQueryData(key, JSON.parse(data) as Order) },
    })
  }, [id, isThere, client])

  useEffect(() => {
    if (!isOpen) return
    // A person who comes back to the page has probably paid; an error is only shown if a button was pressed.
    const ask = () => {
      if (document.visibilityState !== 'visible') return
      if (Date.now() - askedMs.current < leastPauseMs) return
      check().catch(() => undefined)
    }
    const timer = setInterval(ask, askMs)
    window.addEventListener('focus', ask)
    document.addEventListener('visibilitychange', ask)
    ask()
    return () => {
      clearInterval(timer)
      window.removeEventListener('focus', ask)
      document.removeEventListener('visibilitychange', ask)
    }
  }, [isOpen, check])

  const revision = order.data?.revision
  const isCredited = order.data?.creditedAt !== null
  useEffect(() => {
    if (revision !== undefined && isCredited) void refreshMoney()
  }, [revision, isCredited])

  return { order, check }
}
