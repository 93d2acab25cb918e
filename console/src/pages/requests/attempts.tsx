// The vendors that were called, when and for how long, and why another followed: a bar for each, on one scale.

import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { roleOf, useMe } from '../../api/queries.ts'
import { duration } from '../../format.ts'
import { Money, Status } from '../../ui/values.tsx'
import type { RequestDetail } from './drawer.tsx'
import { Section } from './receipt.tsx'

const reasons: Readonly<Record<string, MessageDescriptor>> = {
  next_channel: msg`then the next channel was asked`,
  no_other_channel: msg`there was no other channel`,
  request_at_fault: msg`the request itself was at fault: no other was asked`,
  status_not_retried: msg`its channel is set not to be followed after this status`,
  outcome_unknown: msg`the vendor may have done the work: no other was asked`,
  retry_budget: msg`too many were failing at that moment: no other was asked`,
  out_of_time: msg`there was no time left for another`,
  already_answering: msg`the answer had begun: no other channel was possible`,
}

/** What was wrong; the status of the vendor's answer stands before it. */
const faults: Readonly<Record<string, MessageDescriptor>> = {
  unreachable: msg`the vendor was not reached`,
  proxy: msg`its proxy let nothing through`,
  timeout: msg`no answer in time`,
  reset: msg`the connection was lost`,
  cut: msg`the reply was cut off`,
  unreadable: msg`the reply was not readable`,
  vendor_error: msg`the vendor failed`,
  overloaded: msg`the vendor is overloaded`,
  transient: msg`not possible at that moment`,
  rate_limited: msg`its vendor limits its rate`,
  quota: msg`its credit at the vendor is used up`,
  credentials: msg`its vendor refuses the key`,
  unknown_model: msg`its vendor does not know the model`,
  rejected: msg`the vendor rejected the request`,
  no_room: msg`the gateway has no room for files`,
  stopped: msg`stopped by its account`,
  stopped_by_operator: msg`stopped by an operator`,
}

interface AttemptsProps {
  readonly request: Pick<RequestDetail, 'attemptList' | 'durationMs' | 'currency'>
}

export function Attempts({ request }: AttemptsProps) {
  const { t, i18n } = useLingui()
  const { attemptList, durationMs, currency } = request
  const ms = (value: number) => duration(value, i18n.locale)
  return (
    <Section title={<Trans>Attempts</Trans>}>
      {attemptList.length === 0 && (
        <p className="text-text-2">
          <Trans>No vendor was asked.</Trans>
        </p>
      )}
      <ol className="flex flex-col gap-3">
        {attemptList.map((attempt, index) => {
          const { outcome, startMs, firstByteMs, durationMs: tookMs, then } = attempt
          const reason = then === undefined ? undefined : reasons[then]
          const fault = attempt.kind === undefined ? undefined : faults[attempt.kind]
          const total = Math.max(1, durationMs)
          const hasTimes = startMs !== undefined && tookMs !== undefined
          return (
            <li key={index} className="text-cell">
              <div className="flex flex-wrap items-center justify-between gap-x-3">
                <Status tone={outcome === 'answered' ? 'ok' : 'failed'}>
                  {attempt.channel == null ? (
                    t`Attempt ${index + 1}`
                  ) : (
                    <ChannelName id={attempt.channel} />
                  )}
                  {attempt.status !== undefined && ` · ${attempt.status}`}
                  {attempt.kind !== undefined && ` · ${fault ? t(fault) : attempt.kind}`}
                </Status>
                <span className="text-text-2">
                  {hasTimes && ms(tookMs)}
                  {firstByteMs !== undefined && ` · ${t`first byte after ${ms(firstByteMs)}`}`}
                </span>
              </div>
              {hasTimes && (
                <svg
                  aria-hidden="true"
                  className="mt-1 h-2 w-full"
                  preserveAspectRatio="none"
                  viewBox="0 0 100 2"
                >
                  <rect width="100" height="2" rx="1" fill="var(--sunken)" />
                  <rect
                    x={(startMs / total) * 100}
                    width={Math.max(0.5, (tookMs / total) * 100)}
                    height="2"
                    rx="1"
                    fill={outcome === 'answered' ? 'var(--series-1)' : 'var(--danger)'}
                  />
                </svg>
              )}
              <p className="mt-0.5 flex flex-wrap gap-x-3 text-text-2">
                {reason !== undefined && <span>{t(reason)}</span>}
                {attempt.costNano !== undefined && attempt.costNano !== '0' && (
                  <Money exact nano={attempt.costNano} currency={currency} />
                )}
              </p>
            </li>
          )
        })}
      </ol>
    </Section>
  )
}

/** Operators may see the present state of the channel. */
function ChannelName({ id }: { readonly id: string }) {
  const { operator } = roleOf(useMe())
  if (!operator) return id
  return (
    <Link to="/admin/channels" search={{ open: id }}>
      {id}
    </Link>
  )
}
