// Orders for credit: an account's own below Billing, everybody's for operators below Payments.

import { Trans, useLingui } from '@lingui/react/macro'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useLocation, useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { get, type Shape } from '../../api/client.ts'
import { useAccount } from '../../app/account-scope.tsx'
import type { Catalog } from '../../i18n.ts'
import { buttonClass } from '../../ui/button.tsx'
import { ColumnChooser } from '../../ui/columns.tsx'
import { Checkbox, Field, Select } from '../../ui/field.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Empty, Skeleton, Widget } from '../../ui/state.tsx'
import { type Column, DataTable, moreOf } from '../../ui/table.tsx'
import { Id, Time } from '../../ui/values.tsx'
import { BillCard } from './bill.tsx'
import { CodesCard } from './codes.tsx'
import { OrderDrawer } from './drawer.tsx'
import { type OrdersSearch, validateOrdersSearch } from './search.ts'
import { OrderFlag, OrderState, useStateNames } from './words.tsx'

export const catalog: Catalog = (language) => import(`./locales/${language}.po`)

type Order = Shape<'Order'>

export default function OrdersPage() {
  const isOperator = useLocation({ select: ({ pathname }) => pathname.includes('/admin/') })
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
        !isOperator && (
          <Link to="/billing/top-up" className={buttonClass('primary')}>
            <Trans>Buy credit</Trans>
          </Link>
        )
      }
      filters={<Filters search={search} onChange={change} />}
    >
      <Orders search={search} onChange={change} isOperator={isOperator} />
      {isOperator && <BillCard />}
      {isOperator && <CodesCard />}
    </Page>
  )
}

interface PartProps {
  readonly search: OrdersSearch
  readonly onChange: (next: Partial<OrdersSearch>) => void
}

function Filters({ search, onChange }: PartProps) {
  const { t } = useLingui()
  const names = useStateNames()
  return (
    <div data-filter className="flex flex-wrap items-center gap-4">
      <Field hideLabel label={t`State`}>
        <Select
          value={search.state ?? ''}
          onChange={({ target: { value } }) =>
            onChange({ state: (value || undefined) as OrdersSearch['state'] })
          }
        >
          <option value="">{t`Any state`}</option>
          {Object.entries(names).map(([state, name]) => (
            <option key={state} value={state}>
              {name}
            </option>
          ))}
        </Select>
      </Field>
      <Checkbox
        label={t`Unusual payments only`}
        checked={search.flagged === true}
        onChange={({ target: { checked } }) => onChange({ flagged: checked || undefined })}
      />
    </div>
  )
}

interface OrdersProps extends PartProps {
  readonly isOperator: boolean
}

function Orders({ search, onChange, isOperator }: OrdersProps) {
  const { t } = useLingui()
  const account = useAccount()
  const { open, state, flagged } = search
  const filters = {
    ...(account !== undefined && { account }),
    ...(state !== undefined && { state }),
    ...(flagged === true && { flagged }),
  }
  const orders = useInfiniteQuery({
    queryKey: ['/api/orders', filters],
    queryFn: ({ pageParam, signal }) => {
      const query = { ...filters, limit: 100, ...(pageParam && { cursor: pageParam }) }
      return get('/api/orders', { params: { query } }, signal)
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    placeholderData: (before) => before,
    refetchInterval: 30_000,
  })
  const rows = useMemo(() => orders.data?.pages.flatMap(({ items }) => items) ?? [], [orders.data])
  const columns = isOperator
    ? [...ownColumns.slice(0, 2), accountColumn, ...ownColumns.slice(2)]
    : ownColumns
  const place = rows.findIndex(({ id }) => id === open)
  const [before, after] = [rows[place - 1]?.id, place < 0 ? undefined : rows[place + 1]?.id]
  const more = moreOf(orders)
  return (
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
            more={more}
            empty={<Empty title={<Trans>No orders are found so.</Trans>} />}
            card={cardOf}
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
  )
}

const ownColumns: readonly Column<Order>[] = [
  {
    id: 'at',
    header: <Trans>Ordered</Trans>,
    cell: ({ createdAt }) => <Time at={createdAt} />,
    width: 180,
  },
  { id: 'state', header: <Trans>State</Trans>, cell: (order) => <OrderState order={order} /> },
  { id: 'provider', header: <Trans>Provider</Trans>, cell: ({ provider }) => provider },
  {
    id: 'amount',
    header: <Trans>Amount</Trans>,
    align: 'right',
    cell: ({ amount, currency }) => (
      <span className="tabular whitespace-nowrap">
        {amount} {currency}
      </span>
    ),
  },
  { id: 'flag', header: <Trans>Unusual</Trans>, cell: (order) => <OrderFlag order={order} /> },
  { id: 'id', header: <Trans>Order number</Trans>, cell: ({ id }) => <Id value={id} /> },
  {
    id: 'credited',
    header: <Trans>Credited</Trans>,
    optional: true,
    cell: ({ creditedAt }) => <Time at={creditedAt} />,
  },
]

const accountColumn: Column<Order> = {
  id: 'account',
  header: <Trans>Account</Trans>,
  cell: ({ account }) => account,
}

function cardOf(order: Order) {
  return {
    title: (
      <>
        <OrderState order={order} />
        <span className="tabular">
          {order.amount} {order.currency}
        </span>
      </>
    ),
    facts: [
      order.provider,
      <Time key="at" at={order.createdAt} />,
      <OrderFlag key="flag" order={order} />,
    ],
  }
}
