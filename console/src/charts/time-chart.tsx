// Figures over time as stacked bars or lines: crosshair with a tooltip, drag to zoom, arrow keys, and the same as a table.

import { Trans, useLingui } from '@lingui/react/macro'
import { useMemo, useState } from 'react'
import { useTimeZone } from '../state/preferences.ts'
import { later } from '../ui/later.tsx'
import { Boundary } from '../ui/state.tsx'
import { ChartTable } from './chart-table.tsx'
import { type Frame, largestOf, scaleOf, sortedAt, xOf } from './geometry.ts'
import { Bars, Grid, Lines, Marks, Pointed, Previous } from './plot.tsx'
import type { TimeChartProps } from './series.ts'
import { axisLabels, spanText } from './times.ts'
import { Tooltip } from './tooltip.tsx'
import { type Pointing, usePointing } from './use-pointing.ts'
import { useWidth } from './use-width.ts'

const DenseMarks = later(() => import('./dense.tsx'), null)

/** With more buckets than this, drawing single shapes becomes slow. */
const mostDrawn = 500
const above = 10
const below = 24
/** The label of a time on the axis, with the space to the next. */
const labelWidth = 72

export function TimeChart(props: TimeChartProps) {
  const [isTable, setTable] = useState(false)
  const { height = 220 } = props
  return (
    <Boundary>
      <div className="min-w-0">
        {isTable ? <ChartTable {...props} height={height} /> : <Chart {...props} height={height} />}
        <div className="flex justify-end">
          <button
            type="button"
            aria-pressed={isTable}
            className="min-h-6 rounded-control px-1 text-label text-text-3 hover:text-text max-md:min-h-11"
            onClick={() => setTable(!isTable)}
          >
            {isTable ? <Trans>View as chart</Trans> : <Trans>View as table</Trans>}
          </button>
        </div>
      </div>
    </Boundary>
  )
}

function useFrame(props: TimeChartProps, box: number) {
  const { kind, series, previous, format, buckets, height = 220 } = props
  const scale = useMemo(() => {
    const isWhole = series.every(({ values }) => values.every((v) => Number.isInteger(v ?? 0)))
    return scaleOf(largestOf(kind, series, previous), isWhole)
  }, [kind, series, previous])
  const longest = Math.max(...[0, ...scale.ticks].map((tick) => format(tick).length))
  const left = longest * 7 + 12
  const width = Math.max(0, box - left - 4)
  const frame: Frame = { width, height: height - above - below, scale, count: buckets.length }
  return { frame, left }
}

function Chart(props: TimeChartProps) {
  const { label, buckets, format, height = 220, marks, previous } = props
  const { t, i18n } = useLingui()
  const zone = useTimeZone()
  const [element, box] = useWidth<HTMLDivElement>()
  const { frame, left } = useFrame(props, box)
  const { pointing, handlers } = usePointing(props, frame, left, above)
  const fitting = Math.max(1, Math.floor(frame.width / labelWidth))
  const labels = useMemo(
    () => axisLabels(buckets, fitting, i18n.locale, zone),
    [buckets, fitting, i18n.locale, zone],
  )
  const highlighted = props.highlighted ?? pointing?.seriesId
  const first = buckets[0]
  const last = buckets.at(-1)
  return (
    <div
      ref={element}
      role="group"
      tabIndex={0}
      aria-label={t`Chart: the arrow keys move from bar to bar, Enter opens`}
      className={`relative touch-pan-y select-none ${props.onPick !== undefined && pointing?.seriesId !== undefined ? 'cursor-pointer' : ''}`}
      style={{ height }}
      {...handlers}
    >
      {frame.width > 0 && first !== undefined && last !== undefined && (
        <svg
          role="img"
          aria-label={label}
          width={box}
          height={height}
          className="block overflow-visible"
        >
          <g transform={`translate(${left} ${above})`}>
            <Grid frame={frame} format={format} labels={labels} />
            {pointing !== null && <Pointed frame={frame} {...pointing} />}
            {buckets.length <= mostDrawn && (
              <Drawing {...props} frame={frame} highlighted={highlighted} />
            )}
            {previous !== undefined && <Previous frame={frame} values={previous} />}
            {marks !== undefined && (
              <Marks
                frame={frame}
                marks={marks}
                since={Date.parse(first.start)}
                until={Date.parse(last.end)}
              />
            )}
          </g>
        </svg>
      )}
      {frame.width > 0 && buckets.length > mostDrawn && (
        <DenseMarks {...props} frame={frame} left={left} top={above} />
      )}
      {pointing !== null && (
        <Read
          {...props}
          pointing={pointing}
          highlighted={highlighted}
          at={left + xOf(frame, pointing.bucket + 0.5)}
          width={box}
        />
      )}
    </div>
  )
}

interface ReadProps extends TimeChartProps {
  readonly pointing: Pointing
  /** Of the bucket's middle, in pixels, as the width is. */
  readonly at: number
  readonly width: number
}

/** The figures of the highlighted bucket, shown, and with the keyboard also read aloud. */
function Read({ pointing, at, width, ...props }: ReadProps) {
  const { buckets, previous, highlighted, isLastPartial = false } = props
  const bucket = buckets[pointing.bucket]
  if (bucket === undefined) return null
  return (
    <>
      {pointing.end === null && (
        <Tooltip
          {...props}
          bucket={bucket}
          index={pointing.bucket}
          previous={previous}
          highlighted={highlighted}
          isPartial={isLastPartial && pointing.bucket === buckets.length - 1}
          left={at}
          width={width}
        />
      )}
      {pointing.isByKeyboard && <Spoken {...props} pointing={pointing} />}
    </>
  )
}

function Drawing({
  kind,
  frame,
  series,
  isLastPartial = false,
  highlighted,
}: TimeChartProps & { readonly frame: Frame }) {
  const given = { frame, series, isLastPartial, highlighted }
  return kind === 'bars' ? <Bars {...given} /> : <Lines {...given} />
}

interface SpokenProps extends TimeChartProps {
  readonly pointing: Pointing
}

/** The result of the arrow keys, read aloud. */
function Spoken({ buckets, series, format, pointing }: SpokenProps) {
  const { i18n } = useLingui()
  const zone = useTimeZone()
  const from = buckets[Math.min(pointing.bucket, pointing.end ?? pointing.bucket)]
  const to = buckets[Math.max(pointing.bucket, pointing.end ?? pointing.bucket)]
  if (from === undefined || to === undefined) return null
  const values = sortedAt(series, pointing.bucket)
    .filter(({ series: { id } }) => pointing.seriesId === undefined || id === pointing.seriesId)
    .map(({ series: { name }, value }) => `${name} ${format(value)}`)
  return (
    <span className="sr-only" aria-live="polite">
      {spanText({ start: from.start, end: to.end }, i18n.locale, zone)}
      {pointing.end === null && `: ${values.join(', ')}`}
    </span>
  )
}
