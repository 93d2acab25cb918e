// Requests that are still running, with their cost so far, and a button that stops one.

import { Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { change, read, type Shape } from '../../api/client.ts'
import { roleOf, useMe } from '../../api/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Card } from '../../ui/page.tsx'
import { type Column, DataTable } from '../../ui/table.tsx'
import { Count, Duration, Money, None } from '../../ui/values.tsx'
import { useCurrency } from './currency.ts'

type RunningRow = Shape<'RunningRequest'>

/** How often they are queried: while some run they change quickly. */
const everyMs = { some: 1_000, none: 4_000 } as const

export default function Running({ account }: { readonly account: string | undefined }) {
  const { t } = useLingui()
  const currency = useCurrency()
  const { operator, mayChange: mayStop } = roleOf(useMe())
  const [stopping, setStopping] = useState<RunningRow | null>(null)
  const query = account === undefined ? {} : { account }
  const { data } = useQuery({
    ...read('/api/requests/running', { params: { query } }),
    refetchInterval: ({ state }) =>
      (state.data?.items.length ?? 0) > 0 ? everyMs.some : everyMs.none,
  })
  const rows = data?.items ?? []
  useEnded(data?.items)
  const columns = useMemo(
    () => runningColumns(operator, currency, mayStop ? setStopping : null),
    [operator, currency, mayStop],
  )
  // Asked about a request that has ended, the dialog would open again with the next one that runs.
  const isRunning = (row: RunningRow | null): row is RunningRow =>
    row !== null && rows.some(({ requestId }) => requestId === row.requestId)
  if (rows.length === 0) return null
  return (
    <Card flush title={<Trans>Running now: {rows.length}</Trans>}>
      <DataTable
        id="running"
        label={t`Running requests`}
        columns={columns}
        rows={rows}
        rowId={({ requestId }) => requestId}
        empty={null}
        height="30vh"
        card={(row) => ({
          title: (
            <>
              <span className="truncate font-medium">{row.model}</span>
              <Money nano={row.costNano} currency={currency} />
            </>
          ),
          facts: [
            <Duration key="age" ms={row.ageMs} />,
            <Count key="tokens" value={row.outputTokens} />,
            mayStop && <StopButton key="stop" onPress={() => setStopping(row)} />,
          ],
        })}
      />
      {isRunning(stopping) && <StopDialog row={stopping} onClose={() => setStopping(null)} />}
    </Card>
  )
}

/** Within this time an ended request is settled, and in the list. */
const settledMs = 1_000

/** Reads the list and the figures again when requests have ended. */
function useEnded(rows: readonly RunningRow[] | undefined): void {
  const client = useQueryClient()
  const before = useRef<readonly string[]>([])
  useEffect(() => {
    if (rows === undefined) return
    const ids = rows.map(({ requestId }) => requestId)
    const hasEnded = before.current.some((id) => !ids.includes(id))
    before.current = ids
    if (!hasEnded) return
    // Not stopped by the next answer, which comes earlier.
    setTimeout(() => {
      void client.invalidateQueries({ queryKey: ['/api/requests'] })
      void client.invalidateQueries({ queryKey: ['/api/statistics'] })
    }, settledMs)
  }, [rows, client])
}

const first: readonly Column<RunningRow>[] = [
  { id: 'model', isLong: true, header: <Trans>Model</Trans>, cell: ({ model }) => model },
  { id: 'key', isLong: true, header: <Trans>Key</Trans>, cell: ({ keyName }) => keyName },
]

const ofOperators: readonly Column<RunningRow>[] = [
  { id: 'account', isLong: true, header: <Trans>Account</Trans>, cell: ({ account }) => account },
  {
    id: 'channel',
    isLong: true,
    header: <Trans>Channel</Trans>,
    cell: ({ channel }) => channel ?? <None />,
  },
]

const figures: readonly Column<RunningRow>[] = [
  {
    id: 'age',
    header: <Trans>Age</Trans>,
    align: 'right',
    cell: ({ ageMs }) => <Duration ms={ageMs} />,
  },
  {
    id: 'ttft',
    header: <Trans>First token</Trans>,
    align: 'right',
    cell: ({ ttftMs }) => <Duration ms={ttftMs} />,
  },
  {
    id: 'output',
    header: <Trans>Output</Trans>,
    align: 'right',
    cell: ({ outputTokens }) => <Count value={outputTokens} />,
  },
]

function runningColumns(
  operator: boolean,
  currency: string,
  onStop: ((row: RunningRow) => void) | null,
): readonly Column<RunningRow>[] {
  const cost: Column<RunningRow> = {
    id: 'cost',
    header: <Trans>Cost so far</Trans>,
    align: 'right',
    cell: ({ costNano }) => <Money nano={costNano} currency={currency} />,
  }
  const stop: Column<RunningRow> = {
    id: 'stop',
    header: (
      <span className="sr-only">
        <Trans>Stop</Trans>
      </span>
    ),
    align: 'right',
    cell: (row) => <StopButton onPress={() => onStop?.(row)} />,
  }
  const known = [...first, ...(operator ? ofOperators : []), ...figures, cost]
  return onStop === null ? known : [...known, stop]
}

function StopButton({ onPress }: { readonly onPress: () => void }) {
  return (
    <Button variant="quiet" icon="stop" className="!min-h-6 !px-2" onClick={onPress}>
      <Trans>Stop</Trans>
    </Button>
  )
}

function StopDialog({ row, onClose }: { readonly row: RunningRow; readonly onClose: () => void }) {
  const { t } = useLingui()
  const client = useQueryClient()
  const stop = useMutation({
    mutationFn: () =>
      change('post', '/api/requests/{id}/stop', { params: { path: { id: row.requestId } } }),
    onSettled: () => client.invalidateQueries({ queryKey: ['/api/requests/running'] }),
  })
  return (
    <Confirm
      title={<Trans>Stop this request?</Trans>}
      action={t`Stop the request`}
      onConfirm={() => stop.mutateAsync()}
      onClose={onClose}
    >
      <p>
        <Trans>
          The answer of {row.model} breaks off. What was written until then is charged to the
          account.
        </Trans>
      </p>
    </Confirm>
  )
}
