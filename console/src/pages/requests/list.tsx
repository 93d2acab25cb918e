// The list: one row per request, newest first, as far back as the person scrolls.

import { Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { roleOf, useMe } from '../../api/queries.ts'
import { useAccount } from '../../app/account-scope.tsx'
import { Button, buttonClass } from '../../ui/button.tsx'
import { ColumnChooser } from '../../ui/columns.tsx'
import { FirstCall } from '../../ui/first-call.tsx'
import { Card } from '../../ui/page.tsx'
import { Empty, Skeleton, Widget } from '../../ui/state.tsx'
import { DataTable, moreOf } from '../../ui/table.tsx'
import { Count, Duration, Money, None, Time } from '../../ui/values.tsx'
import { RequestStatus, requestColumns } from './columns.tsx'
import { totalTokens } from './counts.ts'
import { useCurrency } from './currency.ts'
import type { RequestRow, Tail, useRequests } from './queries.ts'
import { filtersOf, type RequestsSearch, withoutFilters } from './search.ts'

interface ListProps {
  readonly list: ReturnType<typeof useRequests>
  /** The rows of the list, preceded by those that arrived meanwhile. */
  readonly rows: readonly RequestRow[]
  readonly search: RequestsSearch
  /** What arrives meanwhile; null: the list is not followed. */
  readonly tail: Pick<Tail, 'isConnected' | 'hasGaps'> | null
  readonly onChange: (next: Partial<RequestsSearch>) => void
}

export function RequestList({ list, rows, search, tail, onChange }: ListProps) {
  const { t } = useLingui()
  const { operator } = roleOf(useMe())
  const account = useAccount()
  const currency = useCurrency()
  const ofOperator = account === undefined ? requestColumns.operator : requestColumns.operatorOfOne
  const columns = operator ? ofOperator : requestColumns.user
  const more = moreOf(list)
  const estimate = list.data?.pages[0]?.estimate ?? null
  return (
    <Card
      flush
      title={
        <>
          <Trans>Requests</Trans>
          {estimate !== null && estimate.requests > 0 && (
            <span className="ml-2 text-label font-normal text-text-2">
              {estimate.bound === 'about' ? '≈ ' : '≤ '}
              <Count value={estimate.requests} />
            </span>
          )}
          {tail !== null && <Following {...tail} />}
        </>
      }
      actions={<ColumnChooser id="requests" columns={columns} />}
    >
      <Widget query={list} skeleton={<Skeleton rows={12} />}>
        {() => (
          <DataTable
            id="requests"
            label={t`Requests`}
            columns={columns}
            rows={rows}
            rowId={({ requestId }) => requestId}
            onOpen={({ requestId }) => onChange({ open: requestId })}
            openId={search.open}
            more={more}
            height="75vh"
            empty={<Nothing search={search} onChange={onChange} />}
            card={(row) => ({
              title: (
                <>
                  <span className="truncate font-medium">{row.model || <None />}</span>
                  <RequestStatus row={row} />
                </>
              ),
              facts: [
                operator && account === undefined ? row.account : null,
                <Time key="at" relative at={row.at} />,
                <span key="tokens">
                  <Trans>
                    <Count value={totalTokens(row)} /> tokens
                  </Trans>
                </span>,
                <Duration key="ms" ms={row.durationMs} />,
                <Money key="cost" nano={row.chargeNano} currency={currency} />,
              ],
            })}
          />
        )}
      </Widget>
    </Card>
  )
}

function Following({ isConnected, hasGaps }: Pick<Tail, 'isConnected' | 'hasGaps'>) {
  return (
    <span
      className={`ml-2 text-label ${isConnected ? 'text-success' : 'text-text-2'}`}
      role="status"
    >
      {isConnected && hasGaps && <Trans>● following; of many at once the newest</Trans>}
      {isConnected && !hasGaps && <Trans>● following</Trans>}
      {!isConnected && <Trans>○ connecting</Trans>}
    </span>
  )
}

/** No row matches the filters, or there is none yet: the first offers to clear the filters, the second to begin. */
function Nothing({ search, onChange }: Pick<ListProps, 'search' | 'onChange'>) {
  const isFiltered = Object.keys(filtersOf(search)).length > 0
  if (isFiltered)
    return (
      <Empty
        title={<Trans>No request in this time fits the filters.</Trans>}
        action={
          <Button onClick={() => onChange(withoutFilters)}>
            <Trans>Clear filters</Trans>
          </Button>
        }
      />
    )
  return (
    <Empty
      title={<Trans>No request in this time.</Trans>}
      action={
        <Link to="/get-started" className={buttonClass('primary')}>
          <Trans>Set up a client</Trans>
        </Link>
      }
    >
      <p>
        <Trans>The next one appears here when it ends. Make one:</Trans>
      </p>
      <FirstCall />
    </Empty>
  )
}
