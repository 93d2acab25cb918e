// The columns of the list of requests.

import { Trans, useLingui } from '@lingui/react/macro'
import { rateText } from '../../format.ts'
import { OperationName } from '../../ui/model-kind.tsx'
import type { Column } from '../../ui/table.tsx'
import { Badge, Count, Duration, Id, Money, None, Status, Time } from '../../ui/values.tsx'
import { endOf, tokensPerSecond } from './counts.ts'
import { useCurrency } from './currency.ts'
import type { RequestRow } from './queries.ts'

const accountColumn: Column<RequestRow> = {
  id: 'account',
  isLong: true,
  header: <Trans>Account</Trans>,
  cell: ({ account }) => account,
}

const channelColumn: Column<RequestRow> = {
  id: 'channel',
  from: 1280,
  isLong: true,
  header: <Trans>Channel</Trans>,
  cell: ({ channel }) => channel ?? <None />,
}

const tokens = (kind: string) => (row: RequestRow) => <Count value={row.tokens[kind] ?? 0} />

const first: readonly Column<RequestRow>[] = [
  { id: 'at', header: <Trans>Time</Trans>, cell: ({ at }) => <Time at={at} brief /> },
  {
    id: 'status',
    isName: true,
    isLong: true,
    header: <Trans>Status</Trans>,
    cell: (row) => <RequestStatus row={row} />,
  },
  {
    id: 'model',
    isName: true,
    isLong: true,
    header: <Trans>Model</Trans>,
    cell: (row) => <ModelName row={row} />,
  },
  {
    id: 'key',
    isLong: true,
    header: <Trans>Key</Trans>,
    cell: ({ keyName, key }) => <span title={key}>{keyName}</span>,
  },
]

const rest: readonly Column<RequestRow>[] = [
  {
    id: 'group',
    isLong: true,
    header: <Trans>Group</Trans>,
    optional: true,
    cell: ({ group }) => group,
  },
  {
    id: 'operation',
    header: <Trans>Endpoint</Trans>,
    optional: true,
    cell: ({ operation }) => <OperationName operation={operation} />,
  },
  { id: 'input', from: 1024, header: <Trans>Input</Trans>, align: 'right', cell: tokens('input') },
  {
    id: 'cached',
    header: <Trans>Cached</Trans>,
    align: 'right',
    optional: true,
    cell: tokens('cachedInput'),
  },
  {
    id: 'output',
    from: 1024,
    header: <Trans>Output</Trans>,
    align: 'right',
    cell: tokens('output'),
  },
  {
    id: 'reasoning',
    header: <Trans>Reasoning</Trans>,
    align: 'right',
    optional: true,
    cell: tokens('reasoning'),
  },
  {
    id: 'ttft',
    from: 1280,
    header: <Trans>First token</Trans>,
    align: 'right',
    cell: ({ ttftMs }) => <Duration ms={ttftMs} />,
  },
  {
    id: 'duration',
    from: 1024,
    header: <Trans>Took</Trans>,
    align: 'right',
    cell: ({ durationMs }) => <Duration ms={durationMs} />,
  },
  {
    id: 'rate',
    header: <Trans>Tokens/s</Trans>,
    align: 'right',
    optional: true,
    cell: (row) => <Rate row={row} />,
  },
  {
    id: 'cost',
    header: <Trans>Cost</Trans>,
    align: 'right',
    cell: ({ chargeNano }) => <Cost nano={chargeNano} />,
  },
  {
    id: 'client',
    isLong: true,
    header: <Trans>Client</Trans>,
    optional: true,
    cell: ({ client, clientVersion }) =>
      client === null ? <None /> : `${client} ${clientVersion ?? ''}`,
  },
  {
    id: 'tag',
    isLong: true,
    header: <Trans>Tag</Trans>,
    optional: true,
    cell: ({ tag }) => tag ?? <None />,
  },
  {
    id: 'id',
    header: <Trans>Request id</Trans>,
    optional: true,
    cell: ({ requestId }) => <Id value={requestId} />,
  },
]

/**
 * The columns of the list by role: operators also see the channel that answered and, unless they view one account, the
 * account.
 */
export const requestColumns = {
  user: [...first, ...rest],
  operator: [...first, accountColumn, channelColumn, ...rest],
  operatorOfOne: [...first, channelColumn, ...rest],
} as const

function Cost({ nano }: { readonly nano: string }) {
  return <Money nano={nano} currency={useCurrency()} />
}

/** How it ended: the status, and the reason if it failed. */
export function RequestStatus({ row }: { readonly row: Pick<RequestRow, 'status' | 'errorCode'> }) {
  const { status, errorCode } = row
  return (
    <Status tone={endOf(row)}>
      {status}
      {errorCode !== null && (
        <span className="max-w-40 min-w-0 truncate text-text-2" title={errorCode}>
          {errorCode}
        </span>
      )}
    </Status>
  )
}

function ModelName({ row: { model, modelServed, stream } }: { readonly row: RequestRow }) {
  return (
    // What has no room beside the names is in a second line, which is not shown.
    <span
      className="flex h-[1lh] flex-wrap items-center gap-x-1.5 overflow-hidden"
      title={modelServed ?? model}
    >
      <span className="flex max-w-full min-w-0 gap-1.5">
        {model === '' ? <None /> : <span className="min-w-0 truncate">{model}</span>}
        {modelServed !== null && modelServed !== model && (
          // If there is room for only one name, the requested one is shown.
          <span className="min-w-0 shrink-[9999] truncate text-text-3">→ {modelServed}</span>
        )}
      </span>
      {stream && (
        <Badge>
          <Trans>stream</Trans>
        </Badge>
      )}
    </span>
  )
}

function Rate({ row }: { readonly row: RequestRow }) {
  const { i18n } = useLingui()
  const rate = tokensPerSecond(row)
  return rate === null ? <None /> : rateText(rate, i18n.locale)
}
