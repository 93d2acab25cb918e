// The columns of the list of groups.

import { Trans, useLingui } from '@lingui/react/macro'
import type { Column } from '../../ui/table.tsx'
import { Badge, Count, Money, None } from '../../ui/values.tsx'
import type { GroupRow, GroupSettings } from './rows.ts'

export const columns: readonly Column<GroupRow>[] = [
  {
    id: 'name',
    isName: true,
    isLong: true,
    header: <Trans>Group</Trans>,
    cell: ({ item, use }) => (
      // Where there is no room beside the name, the badge is in a second line, which is not shown.
      <span className="flex h-[1lh] flex-wrap items-center gap-x-2 overflow-hidden">
        <span className="max-w-full min-w-0 truncate font-medium" title={item.id}>
          {item.id}
        </span>
        {use?.isDefault && (
          <Badge tone="info">
            <Trans>new accounts</Trans>
          </Badge>
        )}
      </span>
    ),
  },
  {
    id: 'multiplier',
    header: <Trans>Multiplier</Trans>,
    align: 'right',
    cell: ({ settings }) => <Multipliers {...settings} />,
  },
  {
    id: 'models',
    isLong: true,
    header: <Trans>Models</Trans>,
    cell: ({ settings }) => <Models {...settings} />,
  },
  {
    id: 'limits',
    from: 1024,
    header: <Trans>Limits</Trans>,
    cell: ({ settings }) => <Limits {...settings} />,
  },
  {
    id: 'people',
    from: 1440,
    header: <Trans>Named by accounts</Trans>,
    align: 'right',
    cell: ({ use }) => (use === undefined ? <None /> : <Count value={use.people} />),
  },
  {
    id: 'keys',
    header: <Trans>Keys</Trans>,
    align: 'right',
    cell: ({ use }) => (use === undefined ? <None /> : <Count value={use.keys} />),
  },
  {
    id: 'channels',
    from: 1280,
    header: <Trans>Channels</Trans>,
    align: 'right',
    cell: ({ use }) => (use === undefined ? <None /> : <Count value={use.channels.length} />),
  },
  {
    id: 'requests',
    header: <Trans>Requests, 24 h</Trans>,
    align: 'right',
    cell: ({ use }) => (use === undefined ? <None /> : <Count value={use.requests} />),
  },
  {
    id: 'charge',
    header: <Trans>Charged, 24 h</Trans>,
    align: 'right',
    cell: ({ use, currency }) =>
      use === undefined ? <None /> : <Money nano={use.chargeNano} currency={currency} />,
  },
  {
    id: 'origin',
    from: 1024,
    header: <Trans>Where from</Trans>,
    cell: ({ item }) => <Origin {...item} />,
  },
]

export function Origin({ origin, overridden }: Pick<GroupRow['item'], 'origin' | 'overridden'>) {
  if (origin === 'file')
    return (
      <span>
        <Trans>configuration file</Trans>
        {overridden && (
          <>
            {' '}
            <Badge tone="warning">
              <Trans>overrides one made here</Trans>
            </Badge>
          </>
        )}
      </span>
    )
  return origin === 'stored' ? <Trans>made here</Trans> : <Trans>built in</Trans>
}

function Models({ models }: GroupSettings) {
  if (models.length === 1 && models[0] === '*') return <Trans>all</Trans>
  return (
    <span className="block max-w-[32ch] truncate font-mono text-code" title={models.join(', ')}>
      {models.join(', ')}
    </span>
  )
}

export function Limits({ limits }: Pick<GroupSettings, 'limits'>) {
  const { t, i18n } = useLingui()
  const written = (value: number) => value.toLocaleString(i18n.locale)
  const { requestsPerMinute, tokensPerMinute, concurrentRequests } = limits
  const parts = [
    requestsPerMinute === null ? null : t`${written(requestsPerMinute)} requests/min`,
    tokensPerMinute === null ? null : t`${written(tokensPerMinute)} tokens/min`,
    concurrentRequests === null ? null : t`${written(concurrentRequests)} at once`,
  ].filter((part) => part !== null)
  if (parts.length === 0) return <Trans>none</Trans>
  return <span className="tabular">{parts.join(' · ')}</span>
}

/** The group's multiplier, and whether some models have others. */
export function Multipliers({ multiplier, modelMultipliers }: GroupSettings) {
  const others = Object.entries(modelMultipliers)
  return (
    <span
      className="tabular"
      title={others.map(([model, other]) => `${model} × ${other}`).join(', ') || undefined}
    >
      × {multiplier}
      {others.length > 0 && (
        <span className="ml-1 text-text-3">
          <Trans>and others</Trans>
        </span>
      )}
    </span>
  )
}
