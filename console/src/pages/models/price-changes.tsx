// Each change of a model's prices, the newest first: when, and from what to what.

import { Trans, useLingui } from '@lingui/react/macro'
import { useLineName, useUnitText } from '../../ui/model-prices.tsx'
import { sizeOf } from '../../ui/price-size.ts'
import { Badge, Count, Money, None, Time } from '../../ui/values.tsx'
import type { PriceChange } from './price-steps.ts'

interface PriceChangesProps {
  readonly currency: string
  readonly changes: readonly PriceChange[]
}

const tones = { scheduled: 'info', 'in force': 'success', past: 'neutral' } as const

export function PriceChanges({ currency, changes }: PriceChangesProps) {
  const { t } = useLingui()
  const states = { scheduled: t`scheduled`, 'in force': t`in force`, past: t`past` }
  return (
    <ol className="flex flex-col gap-3">
      {changes.map(({ version, from, state, steps, lines }) => (
        <li key={`${version} ${from}`} className="text-cell">
          <span className="flex flex-wrap items-center gap-2">
            <Badge tone={tones[state]}>{states[state]}</Badge>
            <Time at={from} />
            {lines.length === 0 && <Trans>no price from then on</Trans>}
          </span>
          <ul className="mt-1 text-text-2">
            {steps.map((step) => (
              <li key={step.name} className="tabular">
                <Step step={step} currency={currency} />
              </li>
            ))}
          </ul>
        </li>
      ))}
    </ol>
  )
}

interface StepProps {
  readonly step: PriceChange['steps'][number]
  readonly currency: string
}

function Step({ step, currency }: StepProps) {
  const nameOf = useLineName()
  const unitText = useUnitText()
  const { name, beforeNano, afterNano, percent } = step
  const [kind = '', above] = name.split(/[>/]/)
  const size = sizeOf(kind, beforeNano, afterNano)
  const amount = (nano: string | null) =>
    nano === null ? (
      <None />
    ) : (
      <Money nano={(BigInt(nano) * BigInt(size)) / 1_000_000n} currency={currency} />
    )
  return (
    <>
      {nameOf(name)}{' '}
      {name.includes('>') && (
        <>
          <Trans>
            of prompts above <Count pad={false} value={Number(above)} />
          </Trans>{' '}
        </>
      )}
      {beforeNano !== null && <>{amount(beforeNano)} → </>}
      {amount(afterNano)}
      {size === 1 && ` ${unitText(kind, size)}`}
      {percent !== null && ` (${percent.replace('-', '−')} %)`}
    </>
  )
}
