// Reconcile: a period added up in three ways, from the ledger, the requests and the totals; differences are named.

import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useAccount } from '../../app/account-scope.tsx'
import { rangeOf } from '../../app/range.ts'
import type { Catalog } from '../../i18n.ts'
import { useTimeZone } from '../../state/preferences.ts'
import { Button } from '../../ui/button.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { RangePicker } from '../../ui/range-picker.tsx'
import { Empty, Failure } from '../../ui/state.tsx'
import { type Column, DataTable } from '../../ui/table.tsx'
import { Count, Money, None, Status, useNow } from '../../ui/values.tsx'
import { Findings } from './findings.tsx'
import { type Day, type Outcome, useReconcile } from './use-reconcile.ts'

export const catalog: Catalog = (language) => import(`./locales/${language}.po`)

const route = getRouteApi('/shell/admin/reconcile')

const columns: readonly Column<Day>[] = [
  { id: 'state', header: <Trans>Result</Trans>, cell: ({ state }) => <DayState state={state} /> },
  { id: 'day', header: <Trans>Day (UTC)</Trans>, cell: ({ day }) => day },
  { id: 'account', isLong: true, header: <Trans>Account</Trans>, cell: ({ account }) => account },
  {
    id: 'requests',
    header: <Trans>Requests</Trans>,
    align: 'right',
    cell: (day) => <Requests day={day} />,
  },
  {
    id: 'rows',
    header: <Trans>By requests</Trans>,
    align: 'right',
    cell: ({ rows, currency }) => <Sum sum={rows} currency={currency} />,
  },
  {
    id: 'entries',
    header: <Trans>By the ledger</Trans>,
    align: 'right',
    cell: ({ entries, currency }) => <Sum sum={entries} currency={currency} />,
  },
  {
    id: 'totals',
    header: <Trans>By the totals</Trans>,
    align: 'right',
    cell: ({ totals, currency }) => <Sum sum={totals} currency={currency} />,
  },
]

export default function ReconcilePage() {
  const search = route.useSearch()
  const account = useAccount()
  // What was found is of its period and its account alone.
  const asked = JSON.stringify([search.range, search.since, search.until, account])
  return <Reconciling key={asked} account={account} />
}

function Reconciling({ account }: { readonly account: string | undefined }) {
  const search = route.useSearch()
  const navigate = useNavigate()
  const zone = useTimeZone()
  const nowMs = useNow(60_000)
  const range = useMemo(() => rangeOf(search, nowMs, zone, '7d'), [search, nowMs, zone])
  const { since, until } = range
  const { outcome, run } = useReconcile({ since, until, ...(account !== undefined && { account }) })
  const { isEqual, days, findings, unlisted } = outcome
  return (
    <Page
      title={<Trans>Reconcile</Trans>}
      purpose={
        <Trans>
          A period added up three ways: what requests say, what the ledger moved, what statistics
          show.
        </Trans>
      }
      actions={
        <Button
          variant="primary"
          icon="reconcile"
          busy={run.isPending}
          onClick={() => run.mutate()}
        >
          <Trans>Reconcile this period</Trans>
        </Button>
      }
      filters={
        <RangePicker
          range={range}
          onChange={(next) =>
            void navigate({ to: '.', search: (before) => ({ ...before, ...next }) })
          }
        />
      }
    >
      {run.error !== null && <Failure error={run.error} retry={() => run.mutate()} />}
      {isEqual !== null && <Verdict {...outcome} />}
      {findings.length > 0 && <Findings findings={findings} unlisted={unlisted} />}
      <Card flush title={<Trans>Days</Trans>}>
        <Days days={days} />
      </Card>
    </Page>
  )
}

function Verdict({ isEqual, findings, unlisted }: Outcome) {
  const count = findings.length + unlisted
  return (
    <p role="status" className="text-section">
      {isEqual === true ? (
        <span className="text-success">
          <Status tone="ok">
            <Trans>All three agree, to the last digit.</Trans>
          </Status>
        </span>
      ) : (
        <span className="text-danger">
          <Status tone="failed">
            {count === 0 ? (
              <Trans>They differ: see the days below. Each request agrees with its entry.</Trans>
            ) : (
              <Plural
                value={count}
                one="They differ: # finding below."
                other="They differ: # findings below."
              />
            )}
          </Status>
        </span>
      )}
    </p>
  )
}

function Days({ days }: { readonly days: readonly Day[] }) {
  const { t } = useLingui()
  return (
    <DataTable
      id="reconcile"
      label={t`Days`}
      columns={columns}
      rows={days}
      rowId={({ day, account }) => `${day} ${account}`}
      height="70vh"
      empty={
        <Empty title={<Trans>Nothing was added up yet.</Trans>}>
          <Trans>Choose a period and reconcile it: nothing is changed by it.</Trans>
        </Empty>
      }
      card={(day) => ({
        title: (
          <>
            <span className="font-medium">
              {day.day} {day.account}
            </span>
            <DayState state={day.state} />
          </>
        ),
        facts: [<Sum key="rows" sum={day.rows} currency={day.currency} />],
      })}
    />
  )
}

interface SumProps {
  readonly sum: { readonly chargeNano: string; readonly writeoffNano: string } | null
  readonly currency: string
}

/** What was charged, and what was written off if anything was. */
function Sum({ sum, currency }: SumProps) {
  if (sum === null) return <None />
  const charged = <Money exact nano={sum.chargeNano} currency={currency} />
  if (sum.writeoffNano === '0') return charged
  const writtenOff = <Money exact nano={sum.writeoffNano} currency={currency} />
  return (
    <Trans>
      {charged}, written off {writtenOff}
    </Trans>
  )
}

/** Of the requests; also of the totals where those count others. */
function Requests({ day: { rows, totals } }: { readonly day: Day }) {
  if (rows === null) return <None />
  const recorded = <Count value={rows.requests} />
  if (totals === null || rows.requests === totals.requests) return recorded
  const counted = <Count value={totals.requests} />
  return (
    <Trans>
      {recorded}, in the totals {counted}
    </Trans>
  )
}

function DayState({ state }: { readonly state: Day['state'] }) {
  if (state === 'equal')
    return (
      <Status tone="ok">
        <Trans>Equal</Trans>
      </Status>
    )
  if (state === 'pruned')
    return (
      <Status tone="off">
        <Trans>Totals alone are kept</Trans>
      </Status>
    )
  return (
    <Status tone="failed">
      <Trans>Different</Trans>
    </Status>
  )
}
