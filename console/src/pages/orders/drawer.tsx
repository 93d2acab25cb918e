// One order beside the list: its facts, its events, and the possible actions.

import { Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { change, read, type Shape } from '../../api/client.ts'
import { refreshMoney, roleOf, useBalance, useMe } from '../../api/queries.ts'
import { Button, Buttons, buttonClass } from '../../ui/button.tsx'
import { Drawer } from '../../ui/dialog.tsx'
import { useMethodName } from '../../ui/method-name.ts'
import { ProviderName } from '../../ui/provider-name.tsx'
import { ReceiptLink } from '../../ui/receipt-link.tsx'
import { ProblemLine, Skeleton, Widget } from '../../ui/state.tsx'
import { Id, Money, ProviderMoney, Time } from '../../ui/values.tsx'
import { RefundDialog } from './refund.tsx'
import { OrderFlag, OrderState, useEventName } from './words.tsx'

type Order = Shape<'OrderDetails'>

interface OrderDrawerProps {
  readonly id: string
  readonly onClose: () => void
  readonly onPrevious?: (() => void) | undefined
  readonly onNext?: (() => void) | undefined
}

export function OrderDrawer({ id, ...rest }: OrderDrawerProps) {
  const { t } = useLingui()
  const order = useQuery(read('/api/orders/{id}', { params: { path: { id } } }))
  return (
    <Drawer
      {...rest}
      label={t`Order ${id}`}
      header={
        <span className="flex items-center gap-2">
          <span className="text-section">
            <Trans>Order</Trans>
          </span>
          <Id value={id} />
        </span>
      }
    >
      <Widget query={order} skeleton={<Skeleton rows={8} />}>
        {(data) => (
          <div className="flex flex-col gap-5">
            <Facts order={data} />
            <Actions order={data} />
            <Payments order={data} />
            <Timeline order={data} />
          </div>
        )}
      </Widget>
    </Drawer>
  )
}

function Facts({ order }: { readonly order: Order }) {
  const { data } = useBalance()
  const methodName = useMethodName()
  const currency = data?.currency ?? ''
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-2">
      <Fact name={<Trans>State</Trans>}>
        <OrderState order={order} />
      </Fact>
      {order.flag !== null && (
        <Fact name={<Trans>Unusual</Trans>}>
          <OrderFlag order={order} />
        </Fact>
      )}
      <Fact name={<Trans>Account</Trans>}>{order.account}</Fact>
      <Fact name={<Trans>Amount</Trans>}>
        <ProviderMoney amount={order.amount} currency={order.currency} />
      </Fact>
      <Fact name={<Trans>Credit ordered</Trans>}>
        <Money exact nano={order.creditNano} currency={currency} />
      </Fact>
      {BigInt(order.bonusNano) > 0n && (
        <Fact name={<Trans>Bonus ordered with it</Trans>}>
          <Money exact nano={order.bonusNano} currency={currency} />
        </Fact>
      )}
      <Fact name={<Trans>Provider</Trans>}>
        <ProviderName provider={order.provider} /> · {methodName(order.method)}
      </Fact>
      <Fact name={<Trans>Ordered</Trans>}>
        <Time at={order.createdAt} />
      </Fact>
      <Fact name={<Trans>To be paid until</Trans>}>
        <Time at={order.expiresAt} />
      </Fact>
      {order.creditedAt !== null && (
        <Fact name={<Trans>Credited</Trans>}>
          <Time at={order.creditedAt} />
        </Fact>
      )}
    </dl>
  )
}

function Fact({ name, children }: { readonly name: ReactNode; readonly children: ReactNode }) {
  return (
    <>
      <dt className="text-text-2">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  )
}

/** Querying the provider and cancelling; both show their result. */
function useOrderChanges(id: string) {
  const client = useQueryClient()
  const params = { path: { id } }
  const refresh = async () => {
    await client.invalidateQueries({ queryKey: ['/api/orders/{id}'] })
    await refreshMoney()
  }
  const asked = useMutation({
    mutationFn: () => change('post', '/api/orders/{id}/check', { params }),
    onSettled: refresh,
  })
  const cancelled = useMutation({
    mutationFn: () => change('post', '/api/orders/{id}/cancel', { params }),
    onSettled: refresh,
  })
  return { asked, cancelled, refresh }
}

function Actions({ order }: { readonly order: Order }) {
  const { admin, mayChange } = roleOf(useMe())
  const [isRefunding, setRefunding] = useState(false)
  const { asked, cancelled, refresh } = useOrderChanges(order.id)
  const isOpen = order.state === 'created' || order.state === 'shown'
  const problem = asked.error ?? cancelled.error
  return (
    <div className="flex flex-col gap-2">
      <Buttons>
        {order.pay !== null && (
          <Link
            to="/billing/top-up"
            search={{ order: order.id }}
            className={buttonClass('primary')}
          >
            <Trans>Pay it</Trans>
          </Link>
        )}
        {mayChange && (
          <Button icon="refresh" busy={asked.isPending} onClick={() => asked.mutate()}>
            <Trans>Ask the provider</Trans>
          </Button>
        )}
        {mayChange && isOpen && (
          <Button busy={cancelled.isPending} onClick={() => cancelled.mutate()}>
            <Trans>Cancel the order</Trans>
          </Button>
        )}
        {admin && Number(order.refundable) > 0 && (
          <Button variant="danger" onClick={() => setRefunding(true)}>
            <Trans>Refund</Trans>
          </Button>
        )}
        {order.creditedAt !== null && (
          <Link to="/billing" search={{ account: order.account }} className={buttonClass()}>
            <Trans>Ledger and balance</Trans>
          </Link>
        )}
        {order.payments.length > 0 && <ReceiptLink order={order.id} className={buttonClass()} />}
      </Buttons>
      {asked.isSuccess && !asked.isPending && asked.data.creditedAt === null && (
        <p role="status" className="text-text-2">
          <Trans>
            <ProviderName provider={order.provider} /> has no payment of this order so far.
          </Trans>
        </p>
      )}
      {problem !== null && <ProblemLine error={problem} />}
      {isRefunding && (
        <RefundDialog
          order={order}
          onClose={() => {
            setRefunding(false)
            void refresh()
          }}
        />
      )}
    </div>
  )
}

/** What was paid, by the provider's own numbers. */
function Payments({ order }: { readonly order: Order }) {
  if (order.payments.length === 0) return null
  return (
    <section>
      <h3 className="text-section">
        <Trans>Payments</Trans>
      </h3>
      <ul className="mt-2 flex flex-col gap-2">
        {order.payments.map(({ id, amount, at }) => (
          <li key={id} className="flex flex-wrap items-baseline justify-between gap-x-4">
            <span>
              <Trans>
                Trade number <Id value={id} whole />
              </Trans>
            </span>
            <ProviderMoney amount={amount} currency={order.currency} />
            <span className="basis-full text-label font-normal text-text-3">
              <Time at={at} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Timeline({ order }: { readonly order: Order }) {
  const nameOf = useEventName()
  return (
    <section>
      <h3 className="text-section">
        <Trans>What happened</Trans>
      </h3>
      <ol className="mt-2 flex flex-col gap-2 border-l border-border pl-4">
        {order.timeline.map(({ at, what, detail }, index) => (
          <li key={index}>
            <div className="flex flex-wrap items-baseline justify-between gap-x-4">
              <span>{nameOf(what)}</span>
              <span className="text-label font-normal text-text-3">
                <Time at={at} />
              </span>
            </div>
            {detail !== null && (
              <p className="text-label font-normal break-words text-text-2">{detail}</p>
            )}
          </li>
        ))}
      </ol>
    </section>
  )
}
