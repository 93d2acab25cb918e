// What a chart says of one bucket: its span, its series by size, all together, and the change against the period before.

import { Trans, useLingui } from '@lingui/react/macro'
import { useTimeZone } from '../state/preferences.ts'
import { Delta } from '../ui/values.tsx'
import { sortedAt, sumAt } from './geometry.ts'
import { type Bucket, colourOf, type Series, type SeriesColour } from './series.ts'
import { spanText } from './times.ts'

/** The colour of a series beside its name. */
export function Swatch({ colour }: { readonly colour: SeriesColour }) {
  return (
    <span
      aria-hidden="true"
      className="inline-block size-2.5 shrink-0 rounded-[2px] forced-color-adjust-none"
      style={{ backgroundColor: colourOf(colour) }}
    />
  )
}

/** In pixels, as its class says. */
const leastWidth = 176

interface TooltipProps {
  readonly kind: 'bars' | 'lines'
  readonly bucket: Bucket
  readonly index: number
  readonly series: readonly Series[]
  readonly format: (value: number) => string
  readonly previous: readonly (number | null)[] | undefined
  readonly highlighted: string | undefined
  readonly isPartial: boolean
  /** Of the chart's box. */
  readonly left: number
  readonly width: number
}

export function Tooltip(props: TooltipProps) {
  const { kind, bucket, index, series, format, previous, highlighted, isPartial, left, width } =
    props
  const { i18n } = useLingui()
  const zone = useTimeZone()
  const rows = sortedAt(series, index).filter(({ value }) => kind === 'lines' || value !== 0)
  const total = kind === 'bars' && series.length > 1 ? sumAt(series, index) : null
  const now = total ?? rows[0]?.value
  const isRight = left > width / 2
  const room = (isRight ? left : width - left) - 12
  // On a phone there may be room on neither side: then it stands at the far end of the chart.
  const place =
    room < leastWidth
      ? { [isRight ? 'left' : 'right']: 0 }
      : {
          [isRight ? 'right' : 'left']: (isRight ? width - left : left) + 12,
          maxWidth: Math.min(288, room),
        }
  return (
    <div
      aria-hidden="true"
      className="pointer-events-none absolute top-0 z-10 w-max max-w-72 min-w-44 rounded-card border border-border bg-surface px-3 py-2 text-label font-normal shadow-overlay"
      style={place}
    >
      <p className="text-text-2">{spanText(bucket, i18n.locale, zone)}</p>
      <p className="text-text-3">
        {zone}
        {isPartial && (
          <>
            {' · '}
            <Trans>not over yet</Trans>
          </>
        )}
      </p>
      <ul className="mt-1.5 flex flex-col gap-1">
        {rows.map(({ series: { id, name, colour }, value }) => (
          <li
            key={id}
            className={`flex items-center gap-2 ${id === highlighted ? 'font-medium' : ''}`}
          >
            <Swatch colour={colour} />
            <span className="min-w-0 flex-1 truncate">{name}</span>
            <span className="tabular whitespace-nowrap">{format(value)}</span>
          </li>
        ))}
        {rows.length === 0 && (
          <li className="text-text-3">
            <Trans>Nothing here</Trans>
          </li>
        )}
      </ul>
      {total !== null && rows.length > 0 && (
        <p className="mt-1.5 flex justify-between gap-4 border-t border-border pt-1.5 font-medium">
          <Trans>Total</Trans>
          <span className="tabular">{format(total)}</span>
        </p>
      )}
      {previous !== undefined && now !== undefined && (
        <p className="mt-1 flex justify-between gap-4 text-text-2">
          <Trans>Against the period before</Trans>
          <Delta now={now} before={previous[index] ?? null} />
        </p>
      )}
    </div>
  )
}
