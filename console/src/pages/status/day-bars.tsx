// A model's days as a strip of bars; the arrow keys and the pointer choose the day that is described below it.

import { Trans, useLingui } from '@lingui/react/macro'
import { type KeyboardEvent, useState } from 'react'
import type { Shape } from '../../api/client.ts'
import { leastSample, useSuccessText } from './words.tsx'

interface DayBarsProps {
  /** Oldest first: `2027-01-31`. */
  readonly days: readonly string[]
  /** It has as many `daily` values. */
  readonly model: Shape<'ModelStatus'>
}

type Day = Shape<'ModelStatus'>['daily'][number]

/** The limits of the states of a model: 99 % and 90 %. */
function colourOf({ requests, successRate }: Day): string {
  if (successRate === null) return 'bg-sunken'
  if (requests < leastSample) return 'bg-text-3/40'
  if (successRate >= 0.99) return 'bg-success'
  return successRate >= 0.9 ? 'bg-warning' : 'bg-danger'
}

/** A worse day is also lower, so that the difference is not only in colour. */
function heightOf({ requests, successRate }: Day): string {
  if (successRate === null) return '25%'
  if (requests < leastSample) return '50%'
  if (successRate >= 0.99) return '100%'
  return successRate >= 0.9 ? '75%' : '40%'
}

export function DayBars({ days, model }: DayBarsProps) {
  const { t, i18n } = useLingui()
  const say = useSuccessText()
  const [chosen, choose] = useState<number | null>(null)
  const name = model.model
  const whole = say(model)
  const count = days.length
  const press = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -count, End: count }[event.key]
    if (step === undefined) return
    event.preventDefault()
    choose((before) => Math.min(count - 1, Math.max(0, (before ?? count) + step)))
  }
  const day = chosen === null ? undefined : model.daily[chosen]
  const date = new Intl.DateTimeFormat(i18n.locale, { dateStyle: 'medium', timeZone: 'UTC' })
  const told =
    day === undefined ? null : `${date.format(new Date(days[chosen ?? 0] ?? 0))}: ${say(day)}`
  return (
    <div>
      <div
        role="slider"
        aria-label={t`${name}, ${count} days: ${whole}`}
        aria-valuemin={1}
        aria-valuemax={count}
        aria-valuenow={(chosen ?? count - 1) + 1}
        aria-valuetext={told ?? whole}
        tabIndex={0}
        onKeyDown={press}
        onPointerLeave={() => choose(null)}
        onBlur={() => choose(null)}
        className="flex h-8 items-end gap-px rounded-sm forced-color-adjust-none md:gap-0.5"
      >
        {model.daily.map((each, place) => (
          <span
            key={days[place]}
            onPointerEnter={() => choose(place)}
            className="flex h-full min-w-0 flex-1 items-end"
          >
            <span
              className={`w-full rounded-[1px] ${colourOf(each)} ${place === chosen ? 'ring-1 ring-text' : ''}`}
              style={{ height: heightOf(each) }}
            />
          </span>
        ))}
      </div>
      <p className="tabular mt-1 flex flex-wrap justify-between gap-x-4 text-label text-text-2">
        <span>{told ?? whole}</span>
        <span className="text-text-3">
          <Trans>{count} days, by UTC</Trans>
        </span>
      </p>
    </div>
  )
}
