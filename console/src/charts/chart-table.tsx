// A chart as a table: the same figures, for screen readers and for copying.

import { Trans, useLingui } from '@lingui/react/macro'
import { useTimeZone } from '../state/preferences.ts'
import { sumAt } from './geometry.ts'
import type { TimeChartProps } from './series.ts'
import { spanText } from './times.ts'

export function ChartTable(props: TimeChartProps) {
  const { kind, label, buckets, series, format, height, previous } = props
  const { i18n } = useLingui()
  const zone = useTimeZone()
  const hasTotal = kind === 'bars' && series.length > 1
  const text = (value: number | null | undefined) =>
    value === null || value === undefined ? '–' : format(value)
  const head = 'h-8 border-b border-border px-3 text-label whitespace-nowrap text-text-2'
  return (
    // A scrolling region must be reachable by the keyboard.
    <div
      role="region"
      aria-label={label}
      tabIndex={0}
      className="overflow-auto"
      style={{ maxHeight: height }}
    >
      <table aria-label={label} className="w-full text-cell">
        <thead className="sticky top-0 bg-surface">
          <tr>
            <th scope="col" className={`${head} text-left`}>
              <Trans>Time ({zone})</Trans>
            </th>
            {series.map(({ id, name }) => (
              <th key={id} scope="col" className={`${head} text-right`}>
                {name}
              </th>
            ))}
            {hasTotal && (
              <th scope="col" className={`${head} text-right`}>
                <Trans>Total</Trans>
              </th>
            )}
            {previous !== undefined && (
              <th scope="col" className={`${head} text-right`}>
                <Trans>Period before</Trans>
              </th>
            )}
          </tr>
        </thead>
        <tbody className="tabular">
          {buckets.map((bucket, index) => (
            <tr key={bucket.start} className="border-b border-border last:border-b-0">
              <th scope="row" className="h-7 px-3 text-left font-normal whitespace-nowrap">
                {spanText(bucket, i18n.locale, zone)}
              </th>
              {series.map(({ id, values }) => (
                <td key={id} className="px-3 text-right whitespace-nowrap">
                  {text(values[index])}
                </td>
              ))}
              {hasTotal && (
                <td className="px-3 text-right font-medium whitespace-nowrap">
                  {text(sumAt(series, index))}
                </td>
              )}
              {previous !== undefined && (
                <td className="px-3 text-right whitespace-nowrap text-text-2">
                  {text(previous[index])}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
