// The columns of the list of channels, and the values they share with the drawer.

import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { Sparkline } from '../../charts/sparkline.tsx'
import { useTimeZone } from '../../state/preferences.ts'
import { reasonText } from '../../ui/channel-reason.ts'
import type { Column } from '../../ui/table.tsx'
import { Badge, Count, Duration, Money, None, Percent, Status, Time } from '../../ui/values.tsx'
import { vendorName } from '../../ui/vendor-name.ts'
import { type Channel, isStored } from './channels.ts'
import { originWords, stateWords } from './words.ts'

export const channelColumns: readonly Column<Channel>[] = [
  {
    id: 'state',
    isLong: true,
    header: <Trans>Status</Trans>,
    cell: (channel) => (
      <>
        <ChannelStatus channel={channel} />
        {(channel.problem ?? channel.reason) !== null && (
          <>
            {' · '}
            <Reason channel={channel} />
          </>
        )}
      </>
    ),
  },
  {
    id: 'id',
    isLong: true,
    header: <Trans>Name</Trans>,
    sortable: true,
    cell: (channel) => (
      <span className="flex items-center gap-2">
        <span className="min-w-20 truncate font-medium" title={channel.id}>
          {channel.id}
        </span>
        <OriginBadge channel={channel} />
      </span>
    ),
  },
  {
    id: 'vendor',
    from: 1280,
    isLong: true,
    header: <Trans>Vendor</Trans>,
    cell: ({ vendor }) => vendorName(vendor),
  },
  {
    id: 'tags',
    isLong: true,
    header: <Trans>Tags</Trans>,
    optional: true,
    cell: ({ tags }) => (tags.length === 0 ? <None /> : tags.join(', ')),
  },
  {
    id: 'groups',
    isLong: true,
    from: 1800,
    header: <Trans>Groups</Trans>,
    cell: ({ groups }) => <Groups groups={groups} />,
  },
  {
    id: 'models',
    header: <Trans>Models</Trans>,
    cell: ({ models }) => <Models models={models} />,
  },
  {
    id: 'priority',
    from: 1024,
    header: <Trans>Priority</Trans>,
    align: 'right',
    sortable: true,
    cell: ({ priority }) => priority,
  },
  {
    id: 'weight',
    from: 1800,
    header: <Trans>Weight</Trans>,
    align: 'right',
    cell: ({ weight }) => weight,
  },
  {
    id: 'running',
    from: 1024,
    header: <Trans>Under way</Trans>,
    align: 'right',
    cell: (channel) => <Running channel={channel} />,
  },
  {
    id: 'perMinute',
    from: 1800,
    header: <Trans>A minute</Trans>,
    align: 'right',
    cell: (channel) => <PerMinute channel={channel} />,
  },
  {
    id: 'success',
    header: <Trans>Success, 1 h</Trans>,
    align: 'right',
    sortable: true,
    cell: (channel) => <SuccessOfHour channel={channel} />,
  },
  {
    id: 'p95',
    from: 1280,
    header: <Trans>p95, 1 h</Trans>,
    align: 'right',
    sortable: true,
    cell: ({ hour }) => <Duration ms={hour.p95Ms} />,
  },
  {
    id: 'spend',
    header: <Trans>Cost, 24 h</Trans>,
    align: 'right',
    sortable: true,
    cell: ({ day, currency }) => <Money nano={day.vendorCostNano} currency={currency} />,
  },
  {
    id: 'balance',
    from: 1800,
    header: <Trans>Balance</Trans>,
    align: 'right',
    cell: (channel) => <Balance channel={channel} />,
  },
  {
    id: 'lastTest',
    from: 1800,
    header: <Trans>Last test</Trans>,
    cell: (channel) => <LastTest channel={channel} />,
  },
  {
    id: 'charged',
    header: <Trans>Charged, 24 h</Trans>,
    align: 'right',
    optional: true,
    cell: ({ day, currency }) => <Money nano={day.chargeNano} currency={currency} />,
  },
]

export function ChannelStatus({ channel }: { readonly channel: Pick<Channel, 'state'> }) {
  const { t } = useLingui()
  const { tone, word } = stateWords[channel.state]
  return <Status tone={tone}>{t(word)}</Status>
}

/** Why it is not used, or did not work well, and since when. */
export function Reason({ channel }: { readonly channel: Channel }) {
  const { t } = useLingui()
  const { problem, reason, since } = channel
  if (problem !== null)
    return (
      <span className="text-danger" title={problem}>
        {problem}
      </span>
    )
  if (reason === null) return <None />
  return (
    <span title={reasonText(reason, t)}>
      {reasonText(reason, t)}
      {since !== null && (
        <span className="text-text-2">
          {' · '}
          <Time relative at={since} />
        </span>
      )}
    </span>
  )
}

/** Only if it is not the default: a channel declared elsewhere cannot be changed here. */
export function OriginBadge({ channel }: { readonly channel: Channel }) {
  const { t } = useLingui()
  return isStored(channel) ? null : <Badge tone="info">{t(originWords[channel.origin])}</Badge>
}

export function Groups({ groups }: Pick<Channel, 'groups'>) {
  if (groups === null) return <Trans>all</Trans>
  return <span title={groups.join(', ')}>{groups.join(', ')}</span>
}

export function Models({ models }: Pick<Channel, 'models'>) {
  if (models === null) return <Trans>as shipped</Trans>
  const names = Object.keys(models)
  return (
    <span title={names.join(', ')}>
      <Plural value={names.length} one="# model" other="# models" />
    </span>
  )
}

/** Of the process that answers, compared with its bound: each key has a separate bound. */
export function Running({ channel }: { readonly channel: Channel }) {
  const { t } = useLingui()
  const most = mostRunning(channel)
  return (
    <span className="tabular" title={t`In the serving process that answered this page`}>
      {channel.inFlight}
      {most !== null && <span className="text-text-2"> / {most}</span>}
    </span>
  )
}

/** The use of its limits per minute: requests, and tokens. */
export function PerMinute({ channel }: { readonly channel: Channel }) {
  const { requestsPerMinute, tokensPerMinute } = channel
  if (requestsPerMinute === null && tokensPerMinute === null) return <None />
  return (
    <span className="inline-flex flex-col items-end">
      {requestsPerMinute !== null && (
        <span>
          <InUse of={requestsPerMinute} /> <Trans>requests</Trans>
        </span>
      )}
      {tokensPerMinute !== null && (
        <span>
          <InUse of={tokensPerMinute} /> <Trans>tokens</Trans>
        </span>
      )}
    </span>
  )
}

function InUse({ of }: { readonly of: { readonly used: number; readonly most: number } }) {
  const { t } = useLingui()
  const isFull = of.used >= of.most
  return (
    <span className="tabular" title={t`In use of what it may be asked in a minute`}>
      <span className={isFull ? 'text-warning' : ''}>
        <Count value={of.used} />
      </span>
      <span className="text-text-2">
        {' / '}
        <Count value={of.most} />
      </span>
    </span>
  )
}

function mostRunning({ document, keys }: Channel): number | null {
  const each = document['concurrency']
  if (typeof each !== 'number') return null
  return each * Math.max(1, keys.filter(({ state }) => state !== 'disabled').length)
}

/** With the number of requests behind the share; without requests, no share is shown. */
export function Success({ figures }: { readonly figures: Channel['hour'] }) {
  const { requests, successPercent } = figures
  if (successPercent === null)
    return (
      <span className="text-text-3">
        <Trans>no traffic</Trans>
      </span>
    )
  return (
    <span>
      <Percent ratio={successPercent / 100} />{' '}
      <span className="text-text-2">
        n = <Count value={requests} />
      </span>
    </span>
  )
}

/** By quarters of an hour; a line only if there is more than one to join. */
function SuccessOfHour({ channel }: { readonly channel: Channel }) {
  const { t, i18n } = useLingui()
  const timeZone = useTimeZone()
  const values = channel.quarters.map(({ successPercent }) => successPercent)
  const shown = channel.quarters.map(({ since, requests, successPercent }) => {
    const time = new Date(since).toLocaleTimeString(i18n.locale, { timeStyle: 'short', timeZone })
    return `${time}: ${successPercent === null ? t`no traffic` : `${successPercent} %`} (n = ${requests})`
  })
  return (
    <span className="inline-flex items-center gap-2" title={shown.join('\n')}>
      {values.filter((each) => each !== null).length > 1 && (
        <Sparkline
          label={t`Success by quarter of an hour: ${shown.join(', ')}`}
          values={values}
          width={48}
        />
      )}
      <Success figures={channel.hour} />
    </span>
  )
}

/** The remaining balance that its vendor reports, and the time of the query. */
export function Balance({ channel: { offersBalance, balance } }: { readonly channel: Channel }) {
  if (!offersBalance)
    return (
      <span className="text-text-3">
        <Trans>not offered</Trans>
      </span>
    )
  if (balance === null) return <None />
  return (
    <span className="inline-flex flex-col items-end">
      {balance.amounts.map(({ amount, currency }) => (
        <span key={currency} className="tabular">
          {amount} {currency ?? <Trans>(currency not said)</Trans>}
        </span>
      ))}
      <span className="text-text-2">
        <Time relative at={balance.at} />
      </span>
    </span>
  )
}

export function LastTest({ channel: { lastTest } }: { readonly channel: Channel }) {
  if (lastTest === null) return <None />
  return (
    <Status tone={lastTest.ok ? 'ok' : 'failed'}>
      <Time relative at={lastTest.at} />
    </Status>
  )
}
