// One sentence on a failure: whose fault it was, whether it was charged, and what to do next.

import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { Badge } from '../../ui/values.tsx'
import { blameWords } from './blame-words.ts'
import type { RequestDetail } from './drawer.tsx'

const parties = {
  request: msg`Your request`,
  account: msg`Your balance or limits`,
  client: msg`Your client`,
  gateway: msg`The gateway`,
  vendor: msg`The vendor`,
} as const

interface BlameProps {
  readonly request: Pick<
    RequestDetail,
    'blame' | 'errorCode' | 'errorCause' | 'status' | 'attemptList'
  >
}

export function Blame({ request }: BlameProps) {
  const { t } = useLingui()
  const { blame, errorCause } = request
  if (blame === null) return null
  const words = blameWords(request, blame.party)
  const isOwnStop = request.errorCode === 'request_stopped' && blame.party === 'account'
  const isOurs = blame.party === 'gateway' || blame.party === 'vendor'
  return (
    <section
      aria-label={t`Whose fault it was`}
      className={`rounded-card border p-3 ${isOurs ? 'border-danger/40 bg-danger-tint' : 'border-warning/40 bg-warning-tint'}`}
    >
      <p className="flex flex-wrap items-center gap-2 font-medium">
        {t(isOwnStop ? msg`Your account` : parties[blame.party])}
        <Badge tone={blame.charged ? 'warning' : 'neutral'}>
          {blame.charged ? <Trans>charged</Trans> : <Trans>not charged</Trans>}
        </Badge>
      </p>
      <p className="mt-1">{words === undefined ? blame.message : t(words.what)}</p>
      <p className="mt-1 text-text-2">{words === undefined ? blame.next : t(words.next)}</p>
      {errorCause != null && (
        <p className="mt-2 font-mono text-code break-words text-text-2">{errorCause}</p>
      )}
    </section>
  )
}
