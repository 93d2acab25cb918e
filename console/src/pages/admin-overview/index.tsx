// Operations: the present state of the deployment, its problems, and its earnings.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { read, type Shape } from '../../api/client.ts'
import { TimeChart } from '../../charts/time-chart.tsx'
import { rateText, shortDuration } from '../../format.ts'
import type { Catalog } from '../../i18n.ts'
import { useTimeZone } from '../../state/preferences.ts'
import { reasonText } from '../../ui/channel-reason.ts'
import { Segments } from '../../ui/field.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Empty, Skeleton, Widget } from '../../ui/state.tsx'
import { Count, Duration, Money, None, Percent, Status, Time } from '../../ui/values.tsx'
import { vendorName } from '../../ui/vendor-name.ts'
import { Alerts } from './alerts.tsx'

export const catalog: Catalog = (language) => import(`./locales/${language}.po`)

type Operations = Shape<'Operations'>
const route = getRouteApi('/shell/admin')
const refreshMs = 5_000

export default function OperationsPage() {
  const timeZone = useTimeZone()
  const query = useQuery({
    ...read('/api/operations', { params: { query: { timeZone } } }),
    refetchInterval: refreshMs,
  })
  return (
    <Page
      title={<Trans>Operations</Trans>}
      purpose={<Trans>How the deployment performs at this moment, for all accounts.</Trans>}
    >
      <Widget query={query} skeleton={<Skeleton rows={6} height={64} />}>
        {(data) => (
          <div className="flex flex-col gap-6">
            <Alerts alerts={data.alerts} channels={data.channels} />
            <Figures data={data} />
            <Rate data={data} />
            <div className="grid gap-6 lg:grid-cols-2">
              <Channels channels={data.channels} />
              <Errors data={data} />
              <Earnings data={data} />
              <Overhead overhead={data.overhead} />
            </div>
          </div>
        )}
      </Widget>
    </Page>
  )
}

function Figures({ data }: { readonly data: Operations }) {
  const { i18n } = useLingui()
  const { requests, settlement, processes } = data
  return (
    <Card>
      <dl className="grid grid-cols-2 gap-x-6 gap-y-4 md:grid-cols-3 xl:grid-cols-6">
        <Figure name={<Trans>Requests per second</Trans>}>
          {rateText(requests.perSecond, i18n.locale)}
        </Figure>
        <Figure name={<Trans>Running</Trans>}>
          <Count value={requests.running} />
        </Figure>
        <Figure
          name={<Trans>Success, last hour</Trans>}
          note={
            <Trans>
              n = <Count value={requests.lastHour.requests} />
            </Trans>
          }
        >
          <Percent ratio={requests.lastHour.successRate} />
        </Figure>
        <Figure
          name={<Trans>Not settled yet</Trans>}
          note={<Duration ms={settlement.oldestUnsettledMs} />}
        >
          <Count value={settlement.unsettled} />
        </Figure>
        <Figure name={<Trans>Set aside</Trans>}>
          <Count value={settlement.setAside} />
        </Figure>
        <Figure
          name={<Trans>Processes</Trans>}
          note={
            <Trans>
              since <Time relative at={processes.startedAt} />
            </Trans>
          }
        >
          <Count value={processes.known} />
        </Figure>
      </dl>
    </Card>
  )
}

interface FigureProps {
  readonly name: ReactNode
  readonly note?: ReactNode
  readonly children: ReactNode
}

function Figure({ name, note, children }: FigureProps) {
  return (
    <div className="min-w-0">
      <dt className="text-label text-text-2">{name}</dt>
      <dd className="mt-1 text-metric">{children}</dd>
      {note !== undefined && <dd className="text-label font-normal text-text-3">{note}</dd>}
    </div>
  )
}

const minuteMs = 60_000

function Rate({ data }: { readonly data: Operations }) {
  const { t, i18n } = useLingui()
  const { minutes } = data.requests
  const total = minutes.reduce((sum, { requests }) => sum + requests, 0)
  return (
    <Card title={<Trans>Requests by minute, last hour</Trans>}>
      <TimeChart
        kind="bars"
        height={160}
        label={t`Requests by minute in the last hour: ${total} in all`}
        buckets={minutes.map(({ at }) => ({
          start: at,
          end: new Date(Date.parse(at) + minuteMs).toISOString(),
        }))}
        series={[
          {
            id: 'requests',
            name: t`Requests`,
            colour: 1,
            values: minutes.map(({ requests }) => requests),
          },
        ]}
        format={(value) => value.toLocaleString(i18n.locale)}
      />
    </Card>
  )
}

const tones = {
  ok: 'ok',
  degraded: 'warning',
  open: 'failed',
  draining: 'pending',
  disabled: 'off',
} as const

/** More channels than this do not fit the card's height, and scroll. */
const mostUnscrolled = 8

function Channels({ channels }: { readonly channels: Operations['channels'] }) {
  const { t } = useLingui()
  const words = {
    ok: t`Healthy`,
    degraded: t`Degraded`,
    open: t`Not asked at the moment`,
    draining: t`Draining`,
    disabled: t`Disabled`,
  }
  // What may need somebody comes first: there may be hundreds.
  const isWell = ({ state }: (typeof channels)[number]) => Number(state === 'ok')
  const sorted = channels.toSorted((one, other) => isWell(one) - isWell(other))
  return (
    <Card title={<Trans>Channels</Trans>}>
      {/* A scrolling region must be reachable by the keyboard. */}
      <ul
        tabIndex={sorted.length > mostUnscrolled ? 0 : undefined}
        aria-label={t`Channels`}
        className="max-h-96 divide-y divide-border overflow-y-auto"
      >
        {sorted.map((channel) => (
          <li key={channel.id} className="flex flex-wrap items-center justify-between gap-x-4 py-2">
            <span className="min-w-0 wrap-anywhere">
              <Link to="/admin/channels" search={{ open: channel.id }} className="font-medium">
                {channel.id}
              </Link>{' '}
              <span className="text-text-2">{vendorName(channel.vendor)}</span>
            </span>
            <span className="text-cell">
              <Status tone={tones[channel.state]}>{words[channel.state]}</Status>
              {channel.reason !== null && channel.reason !== 'configuration' && (
                <span className="ml-2 text-text-2">{reasonText(channel.reason, t)}</span>
              )}
              {channel.since !== null && (
                <span className="ml-2 text-text-2">
                  <Time relative at={channel.since} />
                </span>
              )}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}

function Errors({ data }: { readonly data: Operations }) {
  return (
    <Card title={<Trans>Errors of the last hour</Trans>}>
      {data.errors.items.length === 0 ? (
        <Empty title={<Trans>No request failed.</Trans>} />
      ) : (
        <ul className="divide-y divide-border">
          {data.errors.items.map(({ code, requests, lastAt, requestId }) => (
            <li key={code} className="flex flex-wrap items-center justify-between gap-x-4 py-2">
              <Link to="/requests" search={{ errorCode: code }} className="font-mono text-code">
                {code}
              </Link>
              <span className="text-cell text-text-2">
                <Count value={requests} /> · <Time relative at={lastAt} /> ·{' '}
                <Link to="/requests" search={{ open: requestId }} className="underline">
                  <Trans>an example</Trans>
                </Link>
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

function Earnings({ data }: { readonly data: Operations }) {
  const { t } = useLingui()
  const { period = 'today' } = route.useSearch()
  const navigate = useNavigate()
  const { currency, money } = data
  const shown = money[period]
  return (
    <Card
      title={<Trans>Money</Trans>}
      actions={
        <Segments
          label={t`Period`}
          value={period}
          onChange={(next) =>
            void navigate({ to: '.', search: (before) => ({ ...before, period: next }) })
          }
          options={[
            { value: 'today', label: t`Today` },
            { value: 'days7', label: t`7 days` },
            { value: 'days30', label: t`30 days` },
          ]}
        />
      }
    >
      <dl className="grid grid-cols-[1fr_auto] gap-x-6 gap-y-2">
        <dt className="text-text-2">
          <Trans>Charged</Trans>
        </dt>
        <dd className="text-right">
          <Money exact nano={shown.revenueNano} currency={currency} />
        </dd>
        <dt className="text-text-2">
          <Trans>The vendors’ cost, at the models’ own prices</Trans>
        </dt>
        <dd className="text-right">
          <Money exact nano={shown.vendorCostNano} currency={currency} />
        </dd>
        <dt className="font-medium">
          <Trans>Margin</Trans>
        </dt>
        <dd className="text-right font-medium">
          <Money exact nano={shown.marginNano} currency={currency} />
        </dd>
        <dt className="text-text-2">
          <Trans>Written off</Trans>
        </dt>
        <dd className="text-right">
          <Money exact nano={shown.writeoffNano} currency={currency} />
        </dd>
        <dt className="text-text-2">
          <Trans>Credited today</Trans>
        </dt>
        <dd className="text-right">
          <Money exact nano={money.creditedTodayNano} currency={currency} />
        </dd>
      </dl>
    </Card>
  )
}

function Overhead({ overhead }: { readonly overhead: Operations['overhead'] }) {
  const { t, i18n } = useLingui()
  const phases = [
    { id: 'auth', name: <Trans>Key and limits</Trans>, ...overhead.auth },
    { id: 'route', name: <Trans>Choosing a channel</Trans>, ...overhead.route },
    { id: 'settle', name: <Trans>Recording the charge</Trans>, ...overhead.settle },
  ]
  return (
    <Card title={<Trans>Time that the gateway adds</Trans>}>
      <table aria-label={t`Time that the gateway adds`} className="w-full text-cell">
        <thead>
          <tr className="border-b border-border text-label text-text-2">
            <th scope="col" className="py-1 text-left">
              <Trans>Phase</Trans>
            </th>
            <th scope="col" className="text-right">
              p50
            </th>
            <th scope="col" className="text-right">
              p95
            </th>
            <th scope="col" className="text-right">
              p99
            </th>
            <th scope="col" className="pl-4 text-right">
              n
            </th>
          </tr>
        </thead>
        <tbody>
          {phases.map(({ id, name, p50Ms, p95Ms, p99Ms, requests }) => (
            <tr key={id} className="border-b border-border last:border-b-0">
              <td className="py-1.5">{name}</td>
              {[p50Ms, p95Ms, p99Ms].map((ms, index) => (
                <td key={index} className="text-right">
                  {ms === null ? <None /> : shortDuration(ms, i18n.locale)}
                </td>
              ))}
              <td className="pl-4 text-right">
                <Count value={requests} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  )
}
