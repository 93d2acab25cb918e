// What needs an operator: alerts with their subject, time and message, and degraded channels.

import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Shape } from '../../api/client.ts'
import { reasonText } from '../../ui/channel-reason.ts'
import { Status, Time } from '../../ui/values.tsx'

type Alert = Shape<'Operations'>['alerts'][number]
type Channel = Shape<'Operations'>['channels'][number]

const names: Readonly<Record<Alert['code'], MessageDescriptor>> = {
  ledger_closed: msg`No requests are admitted`,
  channel_disabled: msg`A channel is disabled`,
  channel_open: msg`A channel is left out`,
  settlement_late: msg`Settlement is late`,
  set_aside: msg`Settlements were set aside`,
  records_missing: msg`Answered requests are missing in the ledger`,
  reconcile_difference: msg`A bill differs from what was booked`,
  price_missing: msg`A model has no price`,
  archive_failing: msg`Old requests cannot be archived`,
  export_failing: msg`Requests are not exported to a warehouse`,
  warning: msg`Warning`,
}

/** Translations of the gateway's own messages without variable parts. */
const known: Readonly<Record<string, MessageDescriptor>> = {
  'the gateway is shutting down': msg`the gateway is shutting down`,
  'the node is being opened again in the ledger': msg`the node is being opened again in the ledger`,
  'records left in the outbox by the last run are being settled': msg`records left in the outbox by the last run are being settled`,
  'processes of different versions serve': msg`processes of different versions serve`,
  'processes have different encryption keys (ENCRYPTION_KEY)': msg`processes have different encryption keys (ENCRYPTION_KEY)`,
  'processes have different configurations': msg`processes have different configurations`,
}

interface AlertsProps {
  readonly alerts: readonly Alert[]
  readonly channels: readonly Channel[]
}

export function Alerts({ alerts, channels }: AlertsProps) {
  const { t } = useLingui()
  // The API raises no alert for them: one failed attempt degrades a channel, which is too little to wake somebody.
  const degraded = channels.filter(({ state }) => state === 'degraded')
  const codes = [...new Set(alerts.map(({ code }) => code))]
  if (alerts.length === 0 && degraded.length === 0)
    return (
      <p className="text-success">
        <Status tone="ok">
          <Trans>The gateway knows of no problem.</Trans>
        </Status>
      </p>
    )
  return (
    <ul className="flex flex-col gap-2">
      {codes.map((code) => {
        const alike = alerts.filter((alert) => alert.code === code)
        return (
          <Alike
            key={code}
            title={t(names[code])}
            isCritical={alike.some(({ severity }) => severity === 'critical')}
            rows={alike.map((alert, index) => <AlertRow key={index} alert={alert} />)}
          />
        )
      })}
      <Alike
        title={t`A channel is degraded`}
        isCritical={false}
        rows={degraded.map((channel) => <DegradedRow key={channel.id} channel={channel} />)}
      />
    </ul>
  )
}

const mostUnfolded = 3

interface AlikeProps {
  readonly title: string
  readonly isCritical: boolean
  readonly rows: readonly ReactNode[]
}

/** Rows of one kind: where there are many, they would hide everything below, and are folded. */
function Alike({ title, isCritical, rows }: AlikeProps) {
  if (rows.length <= mostUnfolded) return rows
  return (
    <li className={boxLook(isCritical)}>
      <details>
        <summary className="cursor-pointer">
          <Status tone={isCritical ? 'failed' : 'warning'}>
            <span className="font-medium whitespace-normal">{title}</span>
            <span className="tabular ml-2 text-text-2">× {rows.length}</span>
          </Status>
        </summary>
        <ul className="mt-3 flex max-h-80 flex-col gap-2 overflow-y-auto">{rows}</ul>
      </details>
    </li>
  )
}

function AlertRow({ alert }: { readonly alert: Alert }) {
  const { t } = useLingui()
  const { code, severity, subject, since } = alert
  return (
    <Row isCritical={severity === 'critical'} since={since}>
      <span className="font-medium">{t(names[code])}</span>{' '}
      {subject !== null && <Subject code={code} subject={subject} />}{' '}
      <span className="text-text-2">
        <Details alert={alert} />
      </span>
    </Row>
  )
}

function DegradedRow({ channel: { id, reason, since } }: { readonly channel: Channel }) {
  const { t } = useLingui()
  return (
    <Row isCritical={false} since={since}>
      <span className="font-medium">
        <Trans>A channel is degraded</Trans>
      </span>{' '}
      <ChannelLink id={id} />{' '}
      <span className="text-text-2">{reasonText(reason ?? 'failing', t)}</span>
    </Row>
  )
}

function boxLook(isCritical: boolean): string {
  const colours = isCritical
    ? 'border-danger/40 bg-danger-tint'
    : 'border-warning/40 bg-warning-tint'
  return `rounded-card border p-3 ${colours}`
}

interface RowProps {
  readonly isCritical: boolean
  readonly since: string | null
  readonly children: ReactNode
}

function Row({ isCritical, since, children }: RowProps) {
  return (
    <li className={boxLook(isCritical)}>
      <Status tone={isCritical ? 'failed' : 'warning'}>
        <span className="whitespace-normal">{children}</span>
      </Status>
      {since !== null && (
        <span className="ml-2 text-text-2">
          <Time relative at={since} />
        </span>
      )}
    </li>
  )
}

/** Details beyond the code: the amount and the reason. */
function Details({ alert: { code, message, count, cause } }: { readonly alert: Alert }) {
  const { t } = useLingui()
  const number = count ?? 0
  switch (code) {
    case 'settlement_late':
      return <Trans>A request that ended {number} s ago is not settled yet.</Trans>
    case 'set_aside':
      return (
        <Plural
          value={number}
          one="One settlement that the ledger refused."
          other="# settlements that the ledger refused."
        />
      )
    case 'records_missing':
      return (
        <Plural
          value={number}
          one="One request; tollgate audit names it."
          other="# requests; tollgate audit names them."
        />
      )
    case 'reconcile_difference':
      return <Plural value={number} one="In one place." other="In # places." />
    case 'channel_disabled':
      return reasonText('credentials', t)
    case 'channel_open':
      return reasonText(cause ?? 'failing', t)
    case 'price_missing':
      return <MissingPrice cause={cause ?? ''} refused={number} />
    default: {
      const said = cause ?? message
      const word = known[said]
      return word === undefined ? said : t(word)
    }
  }
}

function MissingPrice({ cause, refused }: { readonly cause: string; readonly refused: number }) {
  return (
    <>
      {cause !== 'has no price' && <span className="mr-1">{cause}</span>}
      {refused > 0 && (
        <Plural
          value={refused}
          one="One request was refused in the last hour."
          other="# requests were refused in the last hour."
        />
      )}
    </>
  )
}

const look = 'font-mono text-code underline'

function Subject({ code, subject }: Pick<Alert, 'code'> & { readonly subject: string }) {
  if (code === 'export_failing' || code === 'reconcile_difference')
    return <span className="font-mono text-code">{subject}</span>
  if (code === 'price_missing')
    return (
      <Link to="/admin/prices" search={{ open: subject }} className={look}>
        {subject}
      </Link>
    )
  return <ChannelLink id={subject} />
}

function ChannelLink({ id }: { readonly id: string }) {
  return (
    <Link to="/admin/channels" search={{ open: id }} className={look}>
      {id}
    </Link>
  )
}
