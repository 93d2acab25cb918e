// Reconcile: a period added up in three ways, from the ledger, the requests and the totals; differences are named.

import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useMutation } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { change, type Shape } from '../../api/client.ts'
import { useAccount } from '../../app/account-scope.tsx'
import { type Range, rangeOf } from '../../app/range.ts'
import type { Catalog } from '../../i18n.ts'
import { useTimeZone } from '../../state/preferences.ts'
import { Button } from '../../ui/button.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { RangePicker } from '../../ui/range-picker.tsx'
import { Empty, Failure } from '../../ui/state.tsx'
import { type Column, DataTable } from '../../ui/table.tsx'
import { Count, Money, None, Status, useNow } from '../../ui/values.tsx'

export const catalog: Catalog = (language) => import(`./locales/${language}.po`)

type Reconciled = Shape<'Reconciled'>
type Day = Reconciled['items'][number] & { readonly currency: string }
const route = getRouteApi('/shell/admin/reconcile')

const columns: readonly Column<Day>[] = [
  { id: 'state', header: <Trans>Result</Trans>, cell: ({ state }) => <DayState state={state} /> },
  { id: 'day', header: <Trans>Day (UTC)</Trans>, cell: ({ day }) => day },
  { id: 'account', isLong: true, header: <Trans>Account</Trans>, cell: ({ account }) => account },
  {
    id: 'requests',
    header: <Trans>Requests</Trans>,
    align: 'right',
    cell: ({ rows }) => (rows === null ? <None /> : <Count value={rows.requests} />),
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

/** Calculates a period; a long one comes in parts, each shown as it arrives. */
function useReconcile({ since, until }: Range, account: string | undefined) {
  const [parts, setParts] = useState<readonly Reconciled[]>([])
  const run = useMutation({
    mutationFn: async () => {
      setParts([])
      let cursor: string | null = null
      do {
        const body: { since: string; until: string; account?: string; cursor?: string } = {
          since,
          until,
          ...(account !== undefined && { account }),
          ...(cursor !== null && { cursor }),
        }
        const part: Reconciled = await change('post', '/api/reconcile', { body })
        setParts((before) => [...before, part])
        cursor = part.next
      } while (cursor !== null)
    },
  })
  return { parts, run }
}

export default function ReconcilePage() {
  const search = route.useSearch()
  const navigate = useNavigate()
  const zone = useTimeZone()
  const nowMs = useNow(60_000)
  const account = useAccount()
  const range = useMemo(() => rangeOf(search, nowMs, zone, '7d'), [search, nowMs, zone])
  const { parts, run } = useReconcile(range, account)
  const days = parts.flatMap(({ items, currency }) => items.map((item) => ({ ...item, currency })))
  const differences = parts.flatMap((part) => part.differences)
  const isDone = parts.length > 0 && !run.isPending && run.error === null
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
      {isDone && <Verdict differences={differences} />}
      {differences.length > 0 && (
        <Card title={<Trans>What differs</Trans>}>
          <ul className="divide-y divide-border">
            {differences.map((difference, index) => (
              <li key={index} className="py-2 font-mono text-code break-words">
                {JSON.stringify(difference)}
              </li>
            ))}
          </ul>
        </Card>
      )}
      <Card flush title={<Trans>Days</Trans>}>
        <Days days={days} />
      </Card>
    </Page>
  )
}

function Verdict({ differences }: { readonly differences: readonly unknown[] }) {
  return (
    <p role="status" className="text-section">
      {differences.length === 0 ? (
        <span className="text-success">
          <Status tone="ok">
            <Trans>All three agree, to the last digit.</Trans>
          </Status>
        </span>
      ) : (
        <span className="text-danger">
          <Status tone="failed">
            <Plural
              value={differences.length}
              one="They differ: # finding below."
              other="They differ: # findings below."
            />
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
  readonly sum: { readonly chargeNano: string } | null
  readonly currency: string
}

function Sum({ sum, currency }: SumProps) {
  return sum === null ? <None /> : <Money exact nano={sum.chargeNano} currency={currency} />
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
