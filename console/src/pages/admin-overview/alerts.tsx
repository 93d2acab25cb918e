// What needs an operator: what is wrong, with what, and since when.

import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import type { Shape } from '../../api/client.ts'
import { Status, Time } from '../../ui/values.tsx'

type Alert = Shape<'Operations'>['alerts'][number]

/** What the gateway says of it in English stands behind. */
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
  export_failing: msg`Requests do not leave to a warehouse`,
  warning: msg`Warning`,
}

export function Alerts({ alerts }: { readonly alerts: readonly Alert[] }) {
  const { t } = useLingui()
  if (alerts.length === 0)
    return (
      <p className="text-success">
        <Status tone="ok">
          <Trans>Nothing is wrong that the gateway knows of.</Trans>
        </Status>
      </p>
    )
  return (
    <ul className="flex flex-col gap-2">
      {alerts.map(({ code, severity, subject, message, since }, index) => (
        <li
          key={index}
          className={`rounded-card border p-3 ${severity === 'critical' ? 'border-danger/40 bg-danger-tint' : 'border-warning/40 bg-warning-tint'}`}
        >
          <Status tone={severity === 'critical' ? 'failed' : 'warning'}>
            <span className="whitespace-normal">
              <span className="font-medium">{t(names[code])}</span>{' '}
              {subject !== null && <Subject code={code} subject={subject} />}{' '}
              <span className="text-text-2">{message}</span>
            </span>
          </Status>
          {since !== null && (
            <span className="ml-2 text-text-2">
              <Time relative at={since} />
            </span>
          )}
        </li>
      ))}
    </ul>
  )
}

function Subject({ code, subject }: Pick<Alert, 'code'> & { readonly subject: string }) {
  const look = 'font-mono text-code underline'
  if (code === 'export_failing' || code === 'reconcile_difference')
    return <span className="font-mono text-code">{subject}</span>
  if (code === 'price_missing')
    return (
      <Link to="/admin/prices" search={{ open: subject }} className={look}>
        {subject}
      </Link>
    )
  return (
    <Link to="/admin/channels" search={{ open: subject }} className={look}>
      {subject}
    </Link>
  )
}
