// The data of a chart: values by bucket of time, in series with colours of the theme.

/** `other`: all that are not shown separately; `danger`: errors, never one series among others. */
export type SeriesColour = 1 | 2 | 3 | 4 | 5 | 6 | 'other' | 'danger'

export interface Series {
  readonly id: string
  readonly name: string
  readonly colour: SeriesColour
  /** One for each bucket; null: no figure, and a gap in the chart. */
  readonly values: readonly (number | null)[]
}

/** Half open; RFC 3339. */
export interface Bucket {
  readonly start: string
  readonly end: string
}

export interface TimeChartProps {
  /** Bars are stacked, so their values must add up; lines are independent. */
  readonly kind: 'bars' | 'lines'
  /** A sentence that sums it up for screen readers: "Spend, last 7 days: ¥41.20, up 12 %". */
  readonly label: string
  readonly buckets: readonly Bucket[]
  /** The largest first. */
  readonly series: readonly Series[]
  readonly format: (value: number) => string
  /** A span was chosen by dragging, or by Shift with the arrow keys and Enter. */
  readonly onZoom?: (since: string, until: string) => void
  /** A double click beside the bars, or Escape. */
  readonly onZoomOut?: () => void
  /** A bar or a point was clicked, or chosen by the arrow keys and Enter. */
  readonly onPick?: (bucket: number, seriesId: string) => void
  /** In pixels, with the axis of time. */
  readonly height?: number
  /** The last bucket is not over yet, and hatched. */
  readonly isLastPartial?: boolean
  /** Moments marked by a thin line: a price change, an incident. */
  readonly marks?: readonly { readonly at: string; readonly label: string }[]
  /** The total of the period before, by bucket: a dashed line, and the change in the tooltip. */
  readonly previous?: readonly (number | null)[]
  /** The series the pointer is on elsewhere: the others become paler. */
  readonly highlighted?: string | undefined
  readonly onHighlight?: (seriesId: string | undefined) => void
}

export function colourOf(colour: SeriesColour): string {
  if (colour === 'other') return 'color-mix(in srgb, var(--text-3) 50%, transparent)'
  return colour === 'danger' ? 'var(--danger)' : `var(--series-${colour})`
}
