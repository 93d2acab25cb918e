// The last ten requests; a row opens its details on the page of requests.

import { Trans, useLingui } from '@lingui/react/macro'
import type { UseQueryResult } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { Reply, Shape } from '../../api/client.ts'
import { Card } from '../../ui/page.tsx'
import { Empty, Skeleton, Widget } from '../../ui/state.tsx'
import { type Column, DataTable } from '../../ui/table.tsx'
import { Count, Duration, Money, None, Status, Time } from '../../ui/values.tsx'
import { endOf, totalTokens } from '../requests/counts.ts'

type Row = Shape<'Request'>

interface RequestsCardProps {
  readonly query: UseQueryResult<Reply<'get', '/api/requests'>>
  readonly currency: string
}

function State({ row }: { readonly row: Row }) {
  const end = endOf(row)
  return (
    <Status tone={end}>
      {end === 'ok' ? (
        <Trans>Ok</Trans>
      ) : (
        <span title={row.errorCode ?? undefined}>{row.status}</span>
      )}
    </Status>
  )
}

function useColumns(currency: string): readonly Column<Row>[] {
  const { t } = useLingui()
  return useMemo<readonly Column<Row>[]>(
    () => [
      { id: 'status', header: t`Status`, cell: (row) => <State row={row} /> },
      { id: 'at', header: t`Time`, cell: ({ at }) => <Time at={at} relative /> },
      {
        id: 'model',
        isLong: true,
        header: t`Model`,
        cell: ({ model }) => (model === '' ? <None /> : <span title={model}>{model}</span>),
      },
      { id: 'key', isLong: true, header: t`Key`, cell: ({ keyName }) => keyName },
      {
        id: 'tokens',
        header: t`Tokens`,
        align: 'right',
        cell: (row) => <Count value={totalTokens(row)} />,
      },
      {
        id: 'ttft',
        from: 1024,
        header: t`First token`,
        align: 'right',
        cell: ({ ttftMs }) => <Duration ms={ttftMs} />,
      },
      {
        id: 'total',
        header: t`Took`,
        align: 'right',
        cell: ({ durationMs }) => <Duration ms={durationMs} />,
      },
      {
        id: 'cost',
        header: t`Cost`,
        align: 'right',
        cell: ({ chargeNano }) => <Money nano={chargeNano} currency={currency} />,
      },
    ],
    [t, currency],
  )
}

export function RequestsCard({ query, currency }: RequestsCardProps) {
  const { t } = useLingui()
  const navigate = useNavigate()
  const columns = useColumns(currency)
  return (
    <Card
      flush
      title={<Trans>Last requests</Trans>}
      actions={
        <Link to="/requests">
          <Trans>All requests</Trans>
        </Link>
      }
    >
      <Widget query={query} skeleton={<Skeleton rows={10} height={24} />}>
        {({ items }) => (
          <DataTable
            id="overview-requests"
            label={t`Last requests`}
            columns={columns}
            rows={items}
            rowId={({ requestId }) => requestId}
            onOpen={({ requestId }) =>
              void navigate({ to: '/requests', search: { open: requestId } })
            }
            empty={<Empty title={<Trans>No request yet.</Trans>} />}
            card={(row) => ({
              title: (
                <>
                  <span className="truncate">{row.model || <None />}</span>
                  <State row={row} />
                </>
              ),
              facts: [
                <Time key="at" at={row.at} relative />,
                <Duration key="total" ms={row.durationMs} />,
                <Money key="cost" nano={row.chargeNano} currency={currency} />,
              ],
            })}
          />
        )}
      </Widget>
    </Card>
  )
}
