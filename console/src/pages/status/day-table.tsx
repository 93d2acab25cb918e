// The same days as figures: a row for each model, a column for each day, newest first.

import { Trans, useLingui } from '@lingui/react/macro'
import type { Shape } from '../../api/client.ts'
import { StateWord, useSuccessText } from './words.tsx'

interface DayTableProps {
  readonly days: readonly string[]
  readonly models: readonly Shape<'ModelStatus'>[]
}

export function DayTable({ days, models }: DayTableProps) {
  const { t, i18n } = useLingui()
  const say = useSuccessText()
  const date = new Intl.DateTimeFormat(i18n.locale, {
    month: 'short',
    day: 'numeric',
    timeZone: 'UTC',
  })
  const newestFirst = days.map((_, place) => days.length - 1 - place)
  return (
    // A scrolling element must be reachable by the keyboard.
    <section className="overflow-x-auto" tabIndex={0} aria-label={t`Days as a table`}>
      <table className="w-full text-left text-cell">
        <thead>
          <tr className="border-b border-border text-label text-text-2">
            <th scope="col" className="sticky left-0 bg-surface py-2 pr-4">
              <Trans>Model</Trans>
            </th>
            <th scope="col" className="py-2 pr-4">
              <Trans>Now</Trans>
            </th>
            <th scope="col" className="py-2 pr-4">
              <Trans>90 days</Trans>
            </th>
            {newestFirst.map((place) => (
              <th key={place} scope="col" className="tabular py-2 pr-4 whitespace-nowrap">
                {date.format(new Date(days[place] ?? 0))}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {models.map((each) => (
            <tr key={each.model} className="border-b border-border last:border-0">
              <th scope="row" className="sticky left-0 bg-surface py-2 pr-4 font-medium">
                {each.model}
              </th>
              <td className="py-2 pr-4">
                <StateWord state={each.state} />
              </td>
              <td className="tabular py-2 pr-4 whitespace-nowrap">{say(each)}</td>
              {newestFirst.map((place) => {
                const day = each.daily[place]
                return (
                  <td key={place} className="tabular py-2 pr-4 whitespace-nowrap text-text-2">
                    {day === undefined ? null : say(day)}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
