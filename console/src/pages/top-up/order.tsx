// One order: how to pay it while it can be paid, and its result.

import { Trans } from '@lingui/react/macro'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { change, read } from '../../api/client.ts'
import { Button, Buttons, buttonClass } from '../../ui/button.tsx'
import { later } from '../../ui/later.tsx'
import { Card } from '../../ui/page.tsx'
import { useProviderName } from '../../ui/provider-name.tsx'
import { ReceiptLink } from '../../ui/receipt-link.tsx'
import { ProblemLine, Skeleton, Widget } from '../../ui/state.tsx'
import { Id, Money, ProviderMoney } from '../../ui/values.tsx'
import { Countdown } from './countdown.tsx'
import { type Order, useOrder } from './follow-order.ts'
import { PayInWeChat } from './pay-in-wechat.tsx'
import { PlayMoney } from './play-money.tsx'

const QrCode = later(() => import('./qr.tsx'), <div className="skeleton size-full" />)

interface OrderPanelProps {
  readonly id: string
  readonly account: string
}

export function OrderPanel({ id, account }: OrderPanelProps) {
  const { order, check } = useOrder(id)
  return (
    <Widget query={order} skeleton={<Skeleton rows={3} height={64} />}>
      {(data) => (
        <div className="mx-auto flex w-full max-w-[560px] flex-col gap-4">
          {data.mode === 'play' && <PlayMoney />}
          <Card>
            <div className="flex flex-col gap-4">
              <Head order={data} />
              {data.pay !== null && <ToPay order={data} pay={data.pay} check={check} />}
              <div aria-live="polite">
                <Outcome order={data} account={account} check={check} />
              </div>
            </div>
          </Card>
        </div>
      )}
    </Widget>
  )
}

function Head({ order }: { readonly order: Order }) {
  const nameOf = useProviderName()
  return (
    <div className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1">
      <h2 className="text-title">
        <ProviderMoney amount={order.amount} currency={order.currency} />
      </h2>
      <span className="text-text-2">{nameOf(order.provider)}</span>
      <span className="basis-full text-label font-normal text-text-3">
        <Trans>
          Order <Id value={order.id} />
        </Trans>
      </span>
    </div>
  )
}

interface ToPayProps {
  readonly order: Order
  readonly pay: NonNullable<Order['pay']>
  readonly check: () => Promise<void>
}

function ToPay({ order, pay, check }: ToPayProps) {
  const client = useQueryClient()
  const nameOf = useProviderName()
  const cancelled = useMutation({
    mutationFn: () =>
      change('post', '/api/orders/{id}/cancel', { params: { path: { id: order.id } } }),
    onSettled: () => client.invalidateQueries({ queryKey: ['/api/orders/{id}'] }),
  })
  return (
    <>
      <Countdown from={order.createdAt} until={order.expiresAt} />
      {pay.kind === 'qr' ? (
        <Scan url={pay.url} name={nameOf(order.provider)} isPlay={order.mode === 'play'} />
      ) : pay.kind === 'bridge' ? (
        <PayInWeChat bridge={pay.bridge ?? {}} check={check} />
      ) : (
        <a href={pay.url} className={buttonClass('primary')}>
          <Trans>Go to {nameOf(order.provider)} and pay</Trans>
        </a>
      )}
      <p className="text-label font-normal text-text-2">
        <Trans>
          This page changes by itself when the payment arrives. You may close it and come back: what
          you paid is credited all the same.
        </Trans>
      </p>
      <HavePaid order={order} check={check}>
        <Button variant="quiet" busy={cancelled.isPending} onClick={() => cancelled.mutate()}>
          <Trans>Cancel the order</Trans>
        </Button>
      </HavePaid>
      {cancelled.error !== null && <ProblemLine error={cancelled.error} />}
    </>
  )
}

interface HavePaidProps {
  readonly order: Order
  readonly check: () => Promise<void>
  /** Other buttons beside it. */
  readonly children: ReactNode
}

/** Has the provider queried, and says so if it knows of no payment. */
function HavePaid({ order, check, children }: HavePaidProps) {
  const nameOf = useProviderName()
  const asked = useMutation({ mutationFn: check })
  return (
    <>
      <Buttons>
        <Button icon="refresh" busy={asked.isPending} onClick={() => asked.mutate()}>
          <Trans>I have paid</Trans>
        </Button>
        {children}
      </Buttons>
      {asked.isSuccess && !asked.isPending && (
        <p role="status" className="text-text-2">
          <Trans>{nameOf(order.provider)} has no payment of this order so far.</Trans>
        </p>
      )}
      {asked.error !== null && <ProblemLine error={asked.error} />}
    </>
  )
}

interface ScanProps {
  readonly url: string
  readonly name: string
  readonly isPlay: boolean
}

function Scan({ url, name, isPlay }: ScanProps) {
  return (
    <div className="flex flex-col items-center gap-3">
      <div className="size-56 max-w-full rounded-card border border-border bg-paper">
        <QrCode text={url} />
      </div>
      <p className="text-text-2">
        <Trans>Scan it with {name} on your phone.</Trans>
      </p>
      {isPlay && (
        <a href={url} target="_blank" rel="noreferrer" className={buttonClass('secondary')}>
          <Trans>Open the simulated page</Trans>
        </a>
      )}
    </div>
  )
}

interface CreditedProps {
  readonly order: Order
  readonly account: string
}

interface OutcomeProps extends CreditedProps {
  readonly check: () => Promise<void>
}

function Outcome({ order, account, check }: OutcomeProps) {
  switch (order.state) {
    case 'credited':
      return <Credited order={order} account={account} />
    case 'closed':
      return (
        <Unpaid order={order} check={check}>
          <Trans>
            This order was cancelled. If you have paid it all the same, it will be credited.
          </Trans>
        </Unpaid>
      )
    case 'expired':
      return (
        <Unpaid order={order} check={check}>
          <Trans>
            The time to pay is over. If you have paid, it will be credited as soon as the provider
            reports it.
          </Trans>
        </Unpaid>
      )
    case 'refunded':
      return (
        <Ended>
          <Trans>This payment was paid back.</Trans>
        </Ended>
      )
    case 'part_refunded':
      return (
        <Ended>
          <Trans>A part of this payment was paid back.</Trans>
        </Ended>
      )
    case 'disputed':
      return (
        <Ended>
          <Trans>This payment is disputed at its provider.</Trans>
        </Ended>
      )
    default:
      return null
  }
}

function Ended({ children }: { readonly children: ReactNode }) {
  return (
    <div className="flex flex-col gap-3">
      <p>{children}</p>
      <Buttons>
        <Another />
      </Buttons>
    </div>
  )
}

/** It may have been paid at the last moment, or later. */
function Unpaid({ order, check, children }: HavePaidProps) {
  return (
    <div className="flex flex-col gap-3">
      <p>{children}</p>
      <HavePaid order={order} check={check}>
        <Another />
      </HavePaid>
    </div>
  )
}

function Another() {
  return (
    <Link to="/billing/top-up" search={{}} className={buttonClass('primary')}>
      <Trans>Make another order</Trans>
    </Link>
  )
}

function Credited({ order, account }: CreditedProps) {
  const balance = useQuery(read('/api/balance', { params: { query: { account } } }))
  return (
    <div className="flex flex-col gap-3">
      <p className="text-section text-success">
        <Trans>Paid and credited.</Trans>
      </p>
      <Flag order={order} />
      {balance.data !== undefined && (
        <p>
          <Trans>
            Available now:{' '}
            <strong>
              <Money down nano={balance.data.availableNano} currency={balance.data.currency} />
            </strong>
          </Trans>
        </p>
      )}
      <Buttons>
        <Link to="/billing" className={buttonClass('primary')}>
          <Trans>See it in billing</Trans>
        </Link>
        <ReceiptLink order={order.id} className={buttonClass()} />
        <Link to="/billing/top-up" search={{}} className={buttonClass()}>
          <Trans>Make another order</Trans>
        </Link>
      </Buttons>
    </div>
  )
}

/** What was unusual about the payment. */
function Flag({ order }: { readonly order: Order }) {
  switch (order.flag) {
    case 'late':
      return (
        <p>
          <Trans>It came after the order had ended, and was credited all the same.</Trans>
        </p>
      )
    case 'second':
      return (
        <p>
          <Trans>
            This order was paid twice, and both payments were credited. Ask the operator if you want
            one of them back.
          </Trans>
        </p>
      )
    case 'partial':
      return (
        <p>
          <Trans>Less was paid than ordered. What was paid was credited.</Trans>
        </p>
      )
    case 'over':
      return (
        <p>
          <Trans>More was paid than ordered. All of it was credited.</Trans>
        </p>
      )
    default:
      return null
  }
}
