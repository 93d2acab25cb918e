// The balance of the account: available, held by running requests, and in total.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { read, type Shape } from '../../api/client.ts'
import { roleOf, useMe } from '../../api/queries.ts'
import { useScope } from '../../app/account-scope.tsx'
import { Buttons, buttonClass } from '../../ui/button.tsx'
import { Card } from '../../ui/page.tsx'
import { Blank, Blanks, Skeleton, Widget } from '../../ui/state.tsx'
import { Money } from '../../ui/values.tsx'

interface OfAccount {
  readonly account: string
}

export function BalanceCard({ account }: OfAccount) {
  const { mayChange } = roleOf(useMe())
  const balance = useQuery({
    ...read('/api/balance', { params: { query: { account } } }),
    refetchInterval: 10_000,
  })
  return (
    <div className="grid gap-4 lg:grid-cols-[2fr_1fr]">
      <Card>
        <Widget query={balance} skeleton={<PartsBlank account={account} />}>
          {(data) => <Parts account={account} balance={data} />}
        </Widget>
      </Card>
      <Card title={<Trans>Top up</Trans>}>
        {mayChange ? (
          <TopUp account={account} />
        ) : (
          <p className="text-text-2">
            <Trans>An auditor cannot buy credit.</Trans>
          </p>
        )}
      </Card>
    </div>
  )
}

function TopUp({ account }: OfAccount) {
  const offer = useQuery(read('/api/payments/offer', { params: { query: { account } } }))
  return (
    <Widget query={offer} skeleton={<Skeleton rows={1} height={64} />}>
      {({ providers, mode }) =>
        providers.length === 0 ? (
          <div className="flex flex-col items-start gap-3">
            <p className="text-text-2">
              <Trans>
                No payment service is set up in this deployment. Ask its operator to add credit to
                your account.
              </Trans>
            </p>
            <Link to="/billing/top-up" className={buttonClass()}>
              <Trans>Redeem a code</Trans>
            </Link>
          </div>
        ) : (
          <div className="flex flex-col items-start gap-3">
            <p className="text-text-2">
              {mode === 'play' ? (
                <Trans>Play money: no real payment.</Trans>
              ) : (
                <Trans>Credited within seconds of the payment.</Trans>
              )}
            </p>
            <Buttons>
              <Link to="/billing/top-up" className={buttonClass('primary')}>
                <Trans>Buy credit</Trans>
              </Link>
              <Link to="/billing/orders" className={buttonClass()}>
                <Trans>Orders</Trans>
              </Link>
            </Buttons>
          </div>
        )
      }
    </Widget>
  )
}

interface PartsProps extends OfAccount {
  readonly balance: Shape<'Balance'>
}

function Parts({ account, balance }: PartsProps) {
  const { currency, availableNano, heldNano, postedNano, bonusNano } = balance
  const money = (nano: string) => <Money down nano={nano} currency={currency} />
  return (
    <Figures
      account={account}
      available={money(availableNano)}
      held={money(heldNano)}
      posted={money(postedNano)}
      bonus={money(bonusNano)}
      isEmpty={BigInt(availableNano) <= 0n}
      hasBonus={BigInt(bonusNano) > 0n}
    />
  )
}

function PartsBlank({ account }: OfAccount) {
  const blank = <Blank width={120} />
  return (
    <Blanks>
      <Figures
        account={account}
        available={blank}
        held={blank}
        posted={blank}
        bonus={blank}
        isEmpty={false}
        hasBonus={false}
      />
    </Blanks>
  )
}

interface FiguresProps extends OfAccount {
  readonly available: ReactNode
  readonly held: ReactNode
  readonly posted: ReactNode
  readonly bonus: ReactNode
  readonly isEmpty: boolean
  readonly hasBonus: boolean
}

function Figures({ account, available, held, posted, bonus, isEmpty, hasBonus }: FiguresProps) {
  const { t } = useLingui()
  const requests = useScope(account)
  return (
    <dl className="flex flex-wrap gap-x-8 gap-y-4">
      <Part
        name={t`Available`}
        note={
          isEmpty ? (
            <Trans>New requests are refused until there is more.</Trans>
          ) : (
            <Trans>New requests may spend this.</Trans>
          )
        }
      >
        {available}
      </Part>
      <Part
        name={t`Held`}
        note={
          <Link to="/requests" search={requests}>
            <Trans>By requests that are running</Trans>
          </Link>
        }
      >
        {held}
      </Part>
      <Part name={t`In all`} note={<Trans>Available and held together</Trans>}>
        {posted}
      </Part>
      <Part
        name={t`Bonus part`}
        note={hasBonus ? <Trans>Spent like any other credit</Trans> : undefined}
      >
        {bonus}
      </Part>
    </dl>
  )
}

interface PartProps {
  readonly name: string
  readonly note: ReactNode
  readonly children: ReactNode
}

function Part({ name, note, children }: PartProps) {
  return (
    // As wide as its figure, which may be long; the note does not affect the width.
    <div className="flex-1 basis-36">
      <dt className="text-label text-text-2">{name}</dt>
      <dd className="mt-1 text-metric">{children}</dd>
      {note !== undefined && <dd className="mt-1 text-label font-normal text-text-3">{note}</dd>}
    </div>
  )
}
