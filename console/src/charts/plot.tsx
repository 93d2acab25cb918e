// The drawn parts of a chart: grid and axes, stacked bars, lines, marks, and the highlight under the pointer.

import { useId } from 'react'
import { barsPath, dotPath, type Frame, linePath, stack, xOf, yOf } from './geometry.ts'
import { colourOf, type Series } from './series.ts'
import type { AxisLabel } from './times.ts'

const label = { fontSize: 12, fill: 'var(--text-3)' } as const

interface GridProps {
  readonly frame: Frame
  readonly format: (value: number) => string
  readonly labels: readonly AxisLabel[]
}

export function Grid({ frame, format, labels }: GridProps) {
  const { width, height, scale, count } = frame
  const middle = width / Math.max(1, count) / 2
  return (
    <g className="tabular">
      {[0, ...scale.ticks].map((tick) => {
        const y = Math.round(yOf(frame, tick)) + 0.5
        return (
          <g key={tick}>
            <line x1={0} x2={width} y1={y} y2={y} stroke="var(--border)" />
            <text x={-8} y={y} dy="0.32em" textAnchor="end" style={label}>
              {format(tick)}
            </text>
          </g>
        )
      })}
      {labels.map(({ bucket, text }) => {
        const x = xOf(frame, bucket) + middle
        // A label that would be cut off at an end is left out.
        const isInside = x > text.length * 3 && x < width - text.length * 3
        return (
          isInside && (
            <text key={bucket} x={x} y={height + 17} textAnchor="middle" style={label}>
              {text}
            </text>
          )
        )
      })}
    </g>
  )
}

interface DrawingProps {
  readonly frame: Frame
  readonly series: readonly Series[]
  readonly isLastPartial: boolean
  readonly highlighted: string | undefined
}

function paler(highlighted: string | undefined, id: string): number {
  return highlighted === undefined || highlighted === id ? 1 : 0.25
}

export function Bars({ frame, series, isLastPartial, highlighted }: DrawingProps) {
  const hatch = useId()
  const layers = stack(series)
  return (
    <g>
      {isLastPartial && (
        <pattern
          id={hatch}
          width={5}
          height={5}
          patternUnits="userSpaceOnUse"
          patternTransform="rotate(45)"
        >
          <rect width={2} height={5} fill="var(--surface)" fillOpacity={0.7} />
        </pattern>
      )}
      {series.map(({ id, colour }, index) => (
        <path
          key={id}
          data-series={id}
          d={barsPath(frame, layers[index] ?? [])}
          fill={colourOf(colour)}
          opacity={paler(highlighted, id)}
        />
      ))}
      {isLastPartial &&
        series.map(({ id }, index) => (
          <path
            key={id}
            d={barsPath(frame, layers[index] ?? [], frame.count - 1)}
            fill={`url(#${hatch})`}
          />
        ))}
    </g>
  )
}

export function Lines({ frame, series, isLastPartial, highlighted }: DrawingProps) {
  const last = frame.count - 1
  return (
    <g fill="none" strokeWidth={2} strokeLinejoin="round" strokeLinecap="round">
      {series.map(({ id, colour, values }) => {
        const sure = isLastPartial ? values.slice(0, last) : values
        const ending = values.map((value, bucket) => (bucket >= last - 1 ? value : null))
        return (
          <g key={id} data-series={id} stroke={colourOf(colour)} opacity={paler(highlighted, id)}>
            <path d={linePath(frame, sure)} />
            <path d={dotPath(frame, values)} strokeWidth={6} />
            {isLastPartial && <path d={linePath(frame, ending)} strokeDasharray="2 4" />}
          </g>
        )
      })}
    </g>
  )
}

/** The total of the period before. */
export function Previous({
  frame,
  values,
}: {
  readonly frame: Frame
  readonly values: readonly (number | null)[]
}) {
  return (
    <g fill="none" stroke="var(--text-3)">
      <path d={linePath(frame, values)} strokeWidth={1.5} strokeDasharray="4 4" />
      <path d={dotPath(frame, values)} strokeWidth={5} strokeLinecap="round" />
    </g>
  )
}

interface PointedProps {
  readonly frame: Frame
  readonly bucket: number
  /** The end of a selection that begins at `bucket`; both inclusive. */
  readonly end: number | null
}

export function Pointed({ frame, bucket, end }: PointedProps) {
  const from = Math.min(bucket, end ?? bucket)
  const to = Math.max(bucket, end ?? bucket) + 1
  const x = xOf(frame, from)
  const width = xOf(frame, to) - x
  if (end !== null)
    return <rect x={x} width={width} height={frame.height} fill="var(--accent)" opacity={0.14} />
  const middle = Math.round(x + width / 2) + 0.5
  return (
    <g>
      <rect x={x} width={width} height={frame.height} fill="var(--text-3)" opacity={0.08} />
      <line x1={middle} x2={middle} y1={0} y2={frame.height} stroke="var(--border-strong)" />
    </g>
  )
}

interface MarksProps {
  readonly frame: Frame
  readonly marks: readonly { readonly at: string; readonly label: string }[]
  readonly since: number
  readonly until: number
}

export function Marks({ frame, marks, since, until }: MarksProps) {
  return marks
    .map(({ at, label }) => ({ label, share: (Date.parse(at) - since) / (until - since) }))
    .filter(({ share }) => share >= 0 && share < 1)
    .map(({ label, share }, index) => (
      <g key={index} transform={`translate(${Math.round(share * frame.width) + 0.5} 0)`}>
        <title>{label}</title>
        <line y1={0} y2={frame.height} stroke="var(--text-2)" strokeDasharray="1 3" />
        <path d="M-4 -6h8l-4 6z" fill="var(--text-2)" />
      </g>
    ))
}
