// A ring that empties until an order expires, with the time left in it.

import { Trans, useLingui } from '@lingui/react/macro'
import { useNow } from '../../ui/values.tsx'

const radius = 16
const around = 2 * Math.PI * radius

interface CountdownProps {
  readonly from: string
  readonly until: string
}

export function Countdown({ from, until }: CountdownProps) {
  const { t } = useLingui()
  const nowMs = useNow(1_000)
  const [beginMs, endMs] = [Date.parse(from), Date.parse(until)]
  const leftMs = Math.max(0, endMs - nowMs)
  const share = Math.min(1, leftMs / Math.max(1, endMs - beginMs))
  const seconds = Math.ceil(leftMs / 1_000)
  const text = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
  return (
    <div className="flex items-center gap-2" role="timer" aria-label={t`Time left to pay: ${text}`}>
      <svg aria-hidden="true" viewBox="0 0 40 40" className="size-8 -rotate-90" fill="none">
        <circle
          cx="20"
          cy="20"
          r={radius}
          stroke="currentColor"
          strokeOpacity="0.15"
          strokeWidth="4"
        />
        <circle
          cx="20"
          cy="20"
          r={radius}
          className="text-accent"
          stroke="currentColor"
          strokeWidth="4"
          strokeDasharray={`${share * around} ${around}`}
        />
      </svg>
      <span className="tabular text-text-2">
        {leftMs === 0 ? <Trans>Time is up</Trans> : <Trans>{text} left to pay</Trans>}
      </span>
    </div>
  )
}
