// The columns of the list of keys.

import { Trans } from '@lingui/react/macro'
import type { Shape } from '../../api/client.ts'
import type { Column } from '../../ui/table.tsx'
import { Badge, Count, Money, None, Status, Time } from '../../ui/values.tsx'

export type Key = Shape<'Key'>

export function KeyStatus({ status }: { readonly status: Key['status'] }) {
  if (status === 'active')
    return (
      <Status tone="ok">
        <Trans>Active</Trans>
      </Status>
    )
  if (status === 'disabled')
    return (
      <Status tone="off">
        <Trans>Disabled</Trans>
      </Status>
    )
  return (
    <Status tone="failed">
      <Trans>Expired</Trans>
    </Status>
  )
}

/** The used part of the limit, as a bar and in words. */
export function LimitBar({
  limit,
  currency,
}: {
  readonly limit: Key['spendLimit']
  readonly currency: string
}) {
  if (limit === null) return <None />
  const spent = BigInt(limit.spentNano)
  const most = BigInt(limit.amountNano)
  const share = most === 0n ? 100 : Math.min(100, Number((spent * 1_000n) / most) / 10)
  const colour = share >= 100 ? 'fill-danger' : share >= 80 ? 'fill-warning' : 'fill-accent'
  return (
    <span className="inline-flex flex-col items-end gap-0.5">
      <span>
        <Money nano={limit.spentNano} currency={currency} /> /{' '}
        <Money nano={limit.amountNano} currency={currency} />
      </span>
      <svg
        aria-hidden="true"
        viewBox="0 0 100 3"
        preserveAspectRatio="none"
        className="h-[3px] w-full min-w-24 rounded bg-border"
      >
        <rect width={share} height="3" className={colour} />
      </svg>
    </span>
  )
}

export function Models({ models, deniedModels }: Pick<Key, 'models' | 'deniedModels'>) {
  const more = (list: readonly string[]) => (list.length > 1 ? ` +${list.length - 1}` : '')
  if (models !== null)
    return (
      <span title={models.join(', ')}>
        {models[0]}
        {more(models)}
      </span>
    )
  if (deniedModels !== null)
    return (
      <span title={deniedModels.join(', ')}>
        <Trans>
          all but {deniedModels[0]}
          {more(deniedModels)}
        </Trans>
      </span>
    )
  return (
    <span className="text-text-2">
      <Trans>all</Trans>
    </span>
  )
}

function Rates({ limits }: Pick<Key, 'limits'>) {
  const { requestsPerMinute, tokensPerMinute } = limits
  if (requestsPerMinute === null && tokensPerMinute === null) return <None />
  const text = (value: number | null) => (value === null ? '–' : <Count value={value} />)
  return (
    <>
      {text(requestsPerMinute)} / {text(tokensPerMinute)}
    </>
  )
}

export function keyColumns(isOperator: boolean): readonly Column<Key>[] {
  const account: Column<Key> = {
    id: 'account',
    isLong: true,
    header: <Trans>Account</Trans>,
    cell: ({ account }) => account,
  }
  return [
    {
      id: 'status',
      header: <Trans>Status</Trans>,
      cell: (key) => <KeyStatus status={key.status} />,
    },
    {
      id: 'name',
      isName: true,
      isLong: true,
      header: <Trans>Name</Trans>,
      sortable: true,
      cell: (key) => (
        <span className="flex items-center gap-2">
          <span className="min-w-0 truncate font-medium" title={key.name}>
            {key.name}
          </span>
          {key.declared && (
            <Badge>
              <Trans>from the file</Trans>
            </Badge>
          )}
        </span>
      ),
    },
    {
      id: 'hint',
      from: 1024,
      header: <Trans>Key</Trans>,
      cell: ({ hint }) => <code className="font-mono text-code text-text-2">{hint}</code>,
    },
    ...(isOperator ? [account] : []),
    {
      id: 'group',
      from: 1024,
      isLong: true,
      header: <Trans>Group</Trans>,
      cell: ({ group }) => group,
    },
    {
      id: 'models',
      isLong: true,
      // Operators also see the accounts, which leaves too little for the names.
      ...(isOperator && { from: 1800 }),
      header: <Trans>Models</Trans>,
      cell: (key) => <Models {...key} />,
    },
    ...spendColumns.map((each) =>
      isOperator && each.id === 'today' ? { ...each, from: 1440 as const } : each,
    ),
    {
      id: 'rates',
      header: <Trans>RPM / TPM</Trans>,
      align: 'right',
      optional: true,
      cell: (key) => <Rates limits={key.limits} />,
    },
    ...timeColumns,
  ]
}

const spendColumns: readonly Column<Key>[] = [
  {
    id: 'today',
    from: 1280,
    header: <Trans>Today (UTC)</Trans>,
    align: 'right',
    cell: ({ today, currency }) => <Money nano={today.chargeNano} currency={currency} />,
  },
  {
    id: 'spend',
    header: <Trans>This month (UTC)</Trans>,
    align: 'right',
    sortable: true,
    cell: ({ month, currency }) => <Money nano={month.chargeNano} currency={currency} />,
  },
  {
    id: 'limit',
    header: <Trans>Spend limit</Trans>,
    align: 'right',
    cell: ({ spendLimit, currency }) => <LimitBar limit={spendLimit} currency={currency} />,
  },
]

const timeColumns: readonly Column<Key>[] = [
  {
    id: 'lastUsed',
    from: 1024,
    isLong: true,
    header: <Trans>Last used</Trans>,
    sortable: true,
    cell: ({ lastUsed }) => <LastUsed lastUsed={lastUsed} />,
  },
  {
    id: 'expiry',
    header: <Trans>Expires</Trans>,
    sortable: true,
    cell: ({ expiresAt }) =>
      expiresAt === null ? (
        <span className="text-text-2">
          <Trans>never</Trans>
        </span>
      ) : (
        <Time at={expiresAt} relative />
      ),
  },
  {
    id: 'created',
    header: <Trans>Created</Trans>,
    sortable: true,
    optional: true,
    cell: ({ createdAt }) => <Time at={createdAt} relative />,
  },
]

/** When, from which address and by which client: shortened in a table unless requested in full. */
export function LastUsed({
  lastUsed,
  whole = false,
}: Pick<Key, 'lastUsed'> & { readonly whole?: boolean }) {
  if (lastUsed === null)
    return (
      <span className="text-text-2">
        <Trans>never</Trans>
      </span>
    )
  const from = [lastUsed.client, lastUsed.address].filter((part) => part !== null).join(' · ')
  return (
    <span
      title={from}
      className={whole ? 'inline-flex flex-wrap gap-x-1.5 align-bottom' : 'block max-w-64 truncate'}
    >
      <Time at={lastUsed.at} relative />{' '}
      {from !== '' && <span className="min-w-0 truncate text-text-2">{from}</span>}
    </span>
  )
}
