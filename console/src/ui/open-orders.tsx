// Orders that can still be paid: a tab may have been closed before.

import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { read } from '../api/client.ts'
import { Card } from './page.tsx'
import { useProviderName } from './provider-name.tsx'
import { Failure } from './state.tsx'
import { Time } from './values.tsx'

export function openOrdersQuery(account: string) {
  return read('/api/orders', { params: { query: { account, state: 'shown', limit: 5 } } })
}

export function OpenOrders({ account }: { readonly account: string }) {
  const nameOf = useProviderName()
  const { data, error, refetch } = useQuery({ ...openOrdersQuery(account), staleTime: 0 })
  const orders = data?.items.filter(({ pay }) => pay !== null) ?? []
  if (data === undefined && error !== null)
    return (
      <Card title={<Trans>Waiting to be paid</Trans>}>
        <Failure error={error} retry={() => void refetch()} />
      </Card>
    )
  if (orders.length === 0) return null
  return (
    <Card title={<Trans>Waiting to be paid</Trans>}>
      <ul className="flex flex-col gap-2">
        {orders.map(({ id, amount, currency, provider, expiresAt }) => (
          <li key={id} className="flex flex-wrap items-baseline justify-between gap-x-4">
            <Link to="/billing/top-up" search={{ order: id }}>
              <Trans>
                {amount} {currency} by {nameOf(provider)}
              </Trans>
            </Link>
            <span className="text-label font-normal text-text-3">
              <Trans>
                until <Time at={expiresAt} />
              </Trans>
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}
