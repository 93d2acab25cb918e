// Top up: choose an amount and a way to pay, pay, and see it credited.

import { Trans } from '@lingui/react/macro'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { read } from '../../api/client.ts'
import { roleOf, useAnswered, useMe } from '../../api/queries.ts'
import { useAccount } from '../../app/account-scope.tsx'
import { isAmount } from '../../format.ts'
import type { Catalog } from '../../i18n.ts'
import { paymentBounds } from '../../ui/bounds.ts'
import { OpenOrders, openOrdersQuery } from '../../ui/open-orders.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Below, Empty, Skeleton, Widget } from '../../ui/state.tsx'
import { Choose } from './choose.tsx'
import { OrderPanel } from './order.tsx'
import { PlayMoney } from './play-money.tsx'
import { Redeem } from './redeem.tsx'

export const catalog: Catalog = (language) => import(`./locales/${language}.po`)

const route = getRouteApi('/shell/billing/top-up')

export default function TopUpPage() {
  const { order } = route.useSearch()
  const me = useMe()
  const chosen = useAccount()
  const account = chosen ?? me?.id
  return (
    <Page
      title={<Trans>Top up</Trans>}
      purpose={
        account === undefined ? undefined : <Trans>Buy credit for the account {account}.</Trans>
      }
      actions={
        <Link to="/billing">
          <Trans>Back to billing</Trans>
        </Link>
      }
    >
      {!roleOf(me).mayChange ? (
        <Card>
          <Empty title={<Trans>An auditor cannot buy credit.</Trans>}>
            <Trans>Credit belongs to an account, and auditors change nothing.</Trans>
          </Empty>
        </Card>
      ) : (
        account !== undefined && <TopUp account={account} order={order} />
      )}
    </Page>
  )
}

interface TopUpProps {
  readonly account: string
  readonly order: string | undefined
}

function TopUp({ account, order }: TopUpProps) {
  if (order !== undefined) return <OrderPanel key={order} id={order} account={account} />
  return <Offer account={account} />
}

function Offer({ account }: { readonly account: string }) {
  const { amount } = route.useSearch()
  const isReadable = amount !== undefined && isAmount(amount, paymentBounds)
  const query = { account, ...(isReadable && { amount }) }
  const offer = useQuery({
    ...read('/api/payments/offer', { params: { query } }),
    placeholderData: keepPreviousData,
  })
  const hasOrders = useAnswered(openOrdersQuery(account))
  return (
    <>
      <Widget
        query={{ ...offer, isPlaceholderData: false }}
        skeleton={<Skeleton rows={4} height={64} />}
      >
        {(data) =>
          data.providers.length === 0 ? (
            <Card>
              <Empty title={<Trans>Credit cannot be bought here.</Trans>}>
                <Trans>
                  No payment service is set up in this deployment. Ask its operator to add credit to
                  your account.
                </Trans>
              </Empty>
            </Card>
          ) : (
            <div className="flex flex-col gap-6">
              {data.mode === 'play' && <PlayMoney />}
              <OpenOrders account={account} />
              <Below isReady={hasOrders}>
                <Choose offer={data} />
              </Below>
            </div>
          )
        }
      </Widget>
      <Below isReady={hasOrders && !offer.isPending}>
        <Redeem account={account} />
      </Below>
    </>
  )
}
