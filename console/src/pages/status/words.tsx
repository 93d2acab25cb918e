// Names of models' states, and how a success rate is written.

import { useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import type { Shape } from '../../api/client.ts'
import { percent } from '../../format.ts'
import { Status } from '../../ui/values.tsx'

type State = Shape<'ModelStatus'>['state']

const tones = { operational: 'ok', degraded: 'warning', down: 'failed', unknown: 'off' } as const

export function StateWord({ state, text }: { readonly state: State; readonly text?: ReactNode }) {
  const { t } = useLingui()
  const words: Readonly<Record<State, string>> = {
    operational: t`Operational`,
    degraded: t`Degraded`,
    down: t`Down`,
    unknown: t`Too little traffic`,
  }
  return <Status tone={tones[state]}>{text ?? words[state]}</Status>
}

/** With fewer requests than this, a rate means little. */
export const leastSample = 30

interface SuccessProps {
  readonly requests: number
  readonly successRate: number | null
}

/** A rate with the number of requests; too few for one are described in words. */
export function useSuccessText(): (of: SuccessProps) => string {
  const { t, i18n } = useLingui()
  return ({ requests, successRate }) => {
    const n = requests.toLocaleString(i18n.locale)
    if (successRate === null) return t`no requests`
    if (requests < leastSample) return t`not enough traffic, n = ${n}`
    const share = percent(shownShare(successRate), i18n.locale)
    return t`${share} answered, n = ${n}`
  }
}

/** Rounding never shows 100 % for less. */
function shownShare(rate: number): number {
  return rate === 1 ? 1 : Math.min(Math.floor(rate * 1_000) / 1_000, 0.999)
}
