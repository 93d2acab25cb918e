// Billing: the balance of an account, the part that running requests hold, and every movement of its wallet.

import { Trans } from '@lingui/react/macro'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { roleOf, useAnswered, useMe } from '../../api/queries.ts'
import { viewedAccount } from '../../api/viewing.ts'
import { useAccount } from '../../app/account-scope.tsx'
import { rangeOf } from '../../app/range.ts'
import type { Catalog } from '../../i18n.ts'
import { useTimeZone } from '../../state/preferences.ts'
import { OpenOrders, openOrdersQuery } from '../../ui/open-orders.tsx'
import { Page } from '../../ui/page.tsx'
import { RangePicker } from '../../ui/range-picker.tsx'
import { Below } from '../../ui/state.tsx'
import { useNow } from '../../ui/values.tsx'
import { Adjust } from './adjust.tsx'
import { AutoTopUpCard, autoTopUpQuery } from './auto-top-up.tsx'
import { BalanceCard } from './balance-card.tsx'
import { BuyerCard } from './buyer.tsx'
import { Ledger } from './ledger.tsx'
import type { BillingSearch } from './search.ts'
import { Statements } from './statements.tsx'

export const catalog: Catalog = (language) => import(`./locales/${language}.po`)

const route = getRouteApi('/shell/billing')

export default function BillingPage() {
  const search = route.useSearch()
  const navigate = useNavigate()
  const zone = useTimeZone()
  const nowMs = useNow(60_000)
  const me = useMe()
  const chosen = useAccount()
  const account = chosen ?? me?.id
  const { admin } = roleOf(me)
  const range = rangeOf(search, nowMs, zone, '30d')
  return (
    <Page
      title={<Trans>Billing</Trans>}
      purpose={
        account === undefined ? undefined : (
          <Trans>What the account {account} has, and every movement of its money.</Trans>
        )
      }
      actions={admin && account !== undefined && <Adjust account={account} />}
      filters={
        <RangePicker
          range={range}
          onChange={(next) =>
            void navigate({ to: '.', search: (before) => ({ ...before, ...next }) })
          }
        />
      }
    >
      {account !== undefined && <Parts account={account} search={search} />}
    </Page>
  )
}

interface PartsProps {
  readonly account: string
  readonly search: BillingSearch
}

function Parts({ account, search }: PartsProps) {
  const isReady = useAnswered(openOrdersQuery(account), autoTopUpQuery(account))
  const isOwn = useMe()?.id === account && viewedAccount() === null
  return (
    <>
      <BalanceCard account={account} />
      <OpenOrders account={account} />
      <AutoTopUpCard account={account} />
      <Below isReady={isReady}>
        <Ledger account={account} search={search} entry={search.entry}>
          <Statements account={account} />
          {isOwn && <BuyerCard />}
        </Ledger>
      </Below>
    </>
  )
}
