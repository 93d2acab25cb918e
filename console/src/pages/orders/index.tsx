// Orders for credit: an account's own under Billing, everybody's under Payments for operators.

import { Trans, useLingui } from '@lingui/react/macro'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useLocation, useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useMemo } from 'react'
import { get, type Shape } from '../../api/client.ts'
import { pagesOf, roleOf, useMe } from '../../api/queries.ts'
import { useAccount } from '../../app/account-scope.tsx'
import type { Catalog } from '../../i18n.ts'
import { buttonClass } from '../../ui/button.tsx'
import { ColumnChooser } from '../../ui/columns.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { ProviderName } from '../../ui/provider-name.tsx'
import { Below, Empty, Skeleton, Widget } from '../../ui/state.tsx'
import { type Column, DataTable, moreOf } from '../../ui/table.tsx'
import { Id, None, ProviderMoney, Time } from '../../ui/values.tsx'
import { BillCard } from './bill.tsx'
import { CallbacksCard } from './callbacks.tsx'
import { CheckNow } from './check-now.tsx'
import { CodesCard } from './codes.tsx'
import { OrderDrawer } from './drawer.tsx'
import { Filters } from './filters.tsx'
import { type OrdersSearch, validateOrdersSearch } from './search.ts'
import { OrderFlag, OrderState } from './words.tsx'

export const catalog: Catalog = (language) => import(`./locales/${language}.po`)

type Order = Shape<'Order'>

export default function OrdersPage() {
  const isOperator = useLocation({ select: ({ pathname }) => pathname.includes('/admin/') })
  const { mayChange } = roleOf(useMe())
  const search = validateOrdersSearch(useSearch({ strict: false, structuralSharing: false }))
  const navigate = useNavigate()
  const change = (next: Partial<OrdersSearch>) =>
    void navigate({ to: '.', search: (before) => ({ ...before, ...next }) })
  return (
    <Page
      title={isOperator ? <Trans>Payments</Trans> : <Trans>Orders</Trans>}
      purpose={
        isOperator ? (
          <Trans>Everybody’s orders for credit, and what became of them at their providers.</Trans>
        ) : (
          <Trans>Credit that was ordered, and what became of it.</Trans>
        )
      }
      actions={
        !isOperator &&
        mayChange && (
          <Link to="/billing/top-up" className={buttonClass('primary')}>
            <Trans>Buy credit</Trans>
          </Link>
        )
      }
      filters={<Filters search={search} onChange={change} />}
    >
      <Orders search={search} onChange={change} isOperator={isOperator}>
        {isOperator && (
          <CallbacksCard>
            <BillCard />
            <CodesCard />
          </CallbacksCard>
        )}
      </Orders>
    </Page>
  )
}

interface PartProps {
  readonly search: OrdersSearch
  readonly onChange: (next: Partial<OrdersSearch>) => void
}

function NoOrders({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) return <Empty title={<Trans>No orders match these filters.</Trans>} />
  return (
    <Empty title={<Trans>No credit was ordered yet.</Trans>}>
      <Trans>Each order appears here, with what became of it.</Trans>
    </Empty>
  )
}

/** By the names and values of the API's filters. */
function chosenOf({ state, flagged, provider, stuck, number }: OrdersSearch) {
  return {
    ...(state !== undefined && { state }),
    ...(flagged === true && { flagged }),
    ...(provider !== undefined && { provider }),
    ...(stuck === true && { stuck }),
    ...(number !== undefined && { number }),
  }
}

type Filters = ReturnType<typeof chosenOf> & { readonly account?: string }

function useOrders(filters: Filters) {
  return useInfiniteQuery({
    queryKey: ['/api/orders', filters],
    queryFn: ({ pageParam, signal }) => {
      const query = { ...filters, limit: 100, ...(pageParam && { cursor: pageParam }) }
      return get('/api/orders', { params: { query } }, signal)
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    placeholderData: (before) => before,
    // All loaded pages would be requested again.
    refetchInterval: ({ state }) => (pagesOf(state.data) < 2 ? 30_000 : false),
  })
}

interface OrdersProps extends PartProps {
  readonly isOperator: boolean
  /** What stands below the list. */
  readonly children: ReactNode
}

function Orders({ search, onChange, isOperator, children }: OrdersProps) {
  const { t } = useLingui()
  const me = useMe()
  const chosenAccount = useAccount()
  // An operator's own orders, where they are not everybody's.
  const account = isOperator ? chosenAccount : (chosenAccount ?? me?.id)
  const { admin } = roleOf(me)
  const { open, stuck } = search
  const chosen = chosenOf(search)
  const orders = useOrders({ ...(account !== undefined && { account }), ...chosen })
  const rows = useMemo(() => orders.data?.pages.flatMap(({ items }) => items) ?? [], [orders.data])
  const columns = [
    ...ownColumns.slice(0, 2),
    ...(isOperator ? [accountColumn] : []),
    ...ownColumns.slice(2),
    ...(isOperator && admin && stuck === true ? [checkColumn] : []),
  ]
  const place = rows.findIndex(({ id }) => id === open)
  const [before, after] = [rows[place - 1]?.id, place < 0 ? undefined : rows[place + 1]?.id]
  const more = moreOf(orders)
  return (
    <>
      <Card
        flush
        title={<Trans>Orders</Trans>}
        actions={<ColumnChooser id="orders" columns={columns} />}
      >
        <Widget query={orders} skeleton={<Skeleton rows={8} />}>
          {() => (
            <DataTable
              id="orders"
              label={t`Orders`}
              columns={columns}
              rows={rows}
              rowId={({ id }) => id}
              onOpen={({ id }) => onChange({ open: id })}
              openId={open}
              height="75vh"
              firstCards={10}
              more={more}
              empty={<NoOrders isFiltered={Object.keys(chosen).length > 0} />}
              card={(row) => cardOf(row, isOperator)}
            />
          )}
        </Widget>
        {open !== undefined && (
          <OrderDrawer
            key={open}
            id={open}
            onClose={() => onChange({ open: undefined })}
            onPrevious={before === undefined ? undefined : () => onChange({ open: before })}
            onNext={after === undefined ? undefined : () => onChange({ open: after })}
          />
        )}
      </Card>
      <Below isReady={!orders.isPending}>{children}</Below>
    </>
  )
}

const ownColumns: readonly Column<Order>[] = [
  {
    id: 'at',
    header: <Trans>Ordered</Trans>,
    cell: ({ createdAt }) => <Time at={createdAt} brief />,
    width: 144,
  },
  {
    id: 'state',
    isName: true,
    isLong: true,
    header: <Trans>State</Trans>,
    cell: (order) => <OrderState order={order} />,
  },
  {
    id: 'provider',
    isLong: true,
    from: 1024,
    header: <Trans>Provider</Trans>,
    cell: ({ provider }) => <ProviderName provider={provider} />,
  },
  {
    id: 'amount',
    header: <Trans>Amount</Trans>,
    align: 'right',
    cell: ({ amount, currency }) => <ProviderMoney amount={amount} currency={currency} />,
  },
  {
    id: 'flag',
    isLong: true,
    header: <Trans>Unusual</Trans>,
    cell: (order) => <OrderFlag order={order} />,
  },
  {
    id: 'id',
    from: 1024,
    header: <Trans>Order number</Trans>,
    cell: ({ id }) => <Id value={id} />,
  },
  {
    id: 'trade',
    from: 1280,
    header: <Trans>Trade number</Trans>,
    cell: ({ tradeNumber }) => (tradeNumber === null ? <None /> : <Id value={tradeNumber} />),
  },
  {
    id: 'credited',
    header: <Trans>Credited</Trans>,
    optional: true,
    cell: ({ creditedAt }) => <Time at={creditedAt} />,
  },
]

const checkColumn: Column<Order> = {
  id: 'check',
  header: <Trans>Provider’s word</Trans>,
  cell: (order) => <CheckNow order={order} />,
}

const accountColumn: Column<Order> = {
  id: 'account',
  isLong: true,
  header: <Trans>Account</Trans>,
  cell: ({ account }) => account,
}

function cardOf(order: Order, isOperator: boolean) {
  return {
    title: (
      <>
        <OrderState order={order} />
        <ProviderMoney amount={order.amount} currency={order.currency} />
      </>
    ),
    facts: [
      isOperator ? order.account : null,
      <ProviderName key="provider" provider={order.provider} />,
      <Time key="at" at={order.createdAt} />,
      <OrderFlag key="flag" order={order} />,
    ],
  }
}
