// Figures of the last 24 hours with the number of requests behind them; none if there were too few.

import { Trans, useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { percent } from '../../format.ts'
import { Duration, None } from '../../ui/values.tsx'
import type { Model } from './queries.ts'

/** With fewer requests than this, a figure is mostly chance. */
const leastSample = 30

interface MeasuredProps {
  /** The number of requests behind it. */
  readonly sample: number
  /** null: it could not be measured. */
  readonly children: ReactNode
}

function Measured({ sample, children }: MeasuredProps) {
  const { t, i18n } = useLingui()
  const n = sample.toLocaleString(i18n.locale)
  if (sample === 0 || (children === null && sample >= leastSample))
    return (
      <span className="text-text-3" title={t`Nothing to measure in the last 24 hours`}>
        –
      </span>
    )
  if (sample < leastSample)
    return (
      <span className="text-text-3">
        <Trans>too little traffic, n = {n}</Trans>
      </span>
    )
  return (
    <span className="tabular whitespace-nowrap" title={t`Of ${n} requests in the last 24 hours`}>
      {children} <span className="text-text-3">n = {n}</span>
    </span>
  )
}

export function FirstToken({ live }: { readonly live: Model['live'] }) {
  const ttft = live?.ttft ?? null
  return (
    <Measured sample={live?.begun ?? 0}>
      {ttft && (
        <>
          <Duration ms={ttft.p50Ms} /> · <Duration ms={ttft.p95Ms} />
        </>
      )}
    </Measured>
  )
}

interface SpeedProps {
  readonly live: Model['live']
  /** Beside the first token, which shows the number of requests for both. */
  readonly brief?: boolean
}

export function Speed({ live, brief = false }: SpeedProps) {
  const { i18n } = useLingui()
  const speed = live?.speed ?? null
  const most = { maximumFractionDigits: 1 }
  if (brief)
    return speed === null ? <None /> : speed.tokensPerSecond.toLocaleString(i18n.locale, most)
  return (
    <Measured sample={live?.begun ?? 0}>
      {speed && speed.tokensPerSecond.toLocaleString(i18n.locale, most)}
    </Measured>
  )
}

export function Success({ live }: { readonly live: Model['live'] }) {
  const { i18n } = useLingui()
  const success = live?.success ?? null
  return (
    <Measured sample={live?.tried ?? 0}>
      {/* Rounding never shows 100 % for less. */}
      {success && percent(Math.floor(success.percent * 10) / 1_000, i18n.locale, true)}
    </Measured>
  )
}
