// The strip above the list: the number of keys in each state, and their total spend.

import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { read } from '../../api/client.ts'
import { useAccount } from '../../app/account-scope.tsx'
import { Blank, Blanks, Widget } from '../../ui/state.tsx'
import { Count, Money } from '../../ui/values.tsx'

export function Summary() {
  const account = useAccount()
  const query = useQuery(
    read('/api/keys/summary', { params: { query: account === undefined ? {} : { account } } }),
  )
  return (
    <Widget query={query} skeleton={<SummaryBlank />}>
      {({ active, disabled, expired, currency, today, month }) => (
        <Figures
          values={[
            <Count key="active" value={active} />,
            <Count key="disabled" value={disabled} />,
            <Count key="expired" value={expired} />,
            <Money key="today" nano={today.chargeNano} currency={currency} />,
            <Money key="month" nano={month.chargeNano} currency={currency} />,
          ]}
        />
      )}
    </Widget>
  )
}

function SummaryBlank() {
  return (
    <Blanks>
      <Figures values={Array.from({ length: 5 }, (_, index) => <Blank key={index} width={64} />)} />
    </Blanks>
  )
}

function Figures({
  values: [active, disabled, expired, today, month],
}: {
  readonly values: readonly ReactNode[]
}) {
  return (
    <div>
      <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-card border border-border bg-border md:grid-cols-[1fr_1fr_1fr_auto_auto]">
        <Figure label={<Trans>Active</Trans>} value={active} />
        <Figure label={<Trans>Disabled</Trans>} value={disabled} />
        <Figure label={<Trans>Expired</Trans>} value={expired} />
        <Figure label={<Trans>Spend today (UTC)</Trans>} value={today} />
        <Figure label={<Trans>Spend this month (UTC)</Trans>} value={month} />
      </dl>
      <p className="mt-1.5 text-label font-normal text-text-3">
        <Trans>
          Deleted keys and the playground’s are not counted here. The spend of all is on the page{' '}
          <Link to="/usage" className="underline">
            Usage
          </Link>
          .
        </Trans>
      </p>
    </div>
  )
}

function Figure({ label, value }: { readonly label: ReactNode; readonly value: ReactNode }) {
  return (
    <div className="bg-surface px-4 py-2.5 max-md:last:col-span-2">
      <dt className="text-label text-text-2">{label}</dt>
      <dd className="text-section">{value}</dd>
    </div>
  )
}
