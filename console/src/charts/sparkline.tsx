// A line of figures in the size of a word, without axes, beside the figure that it explains.

import { dotPath, type Frame, largestOf, linePath } from './geometry.ts'
import { colourOf, type SeriesColour } from './series.ts'

interface SparklineProps {
  /** A sentence for screen readers. */
  readonly label: string
  /** null: a gap. */
  readonly values: readonly (number | null)[]
  readonly colour?: SeriesColour
  readonly width?: number
  readonly height?: number
}

export function Sparkline({ label, values, colour = 1, width = 80, height = 20 }: SparklineProps) {
  const largest = largestOf('lines', [{ id: '', name: '', colour, values }])
  const scale = { top: largest > 0 ? largest : 1, ticks: [] }
  const count = Math.max(1, values.length)
  // Half a bucket more at both ends, so that the line begins and ends at the edges of its box.
  const whole = count === 1 ? width : ((width - 3) * count) / (count - 1)
  const frame: Frame = { width: whole, height: height - 3, scale, count }
  const left = count === 1 ? 0 : 1.5 - whole / count / 2
  return (
    <svg role="img" aria-label={label} width={width} height={height} className="block shrink-0">
      <g
        transform={`translate(${left} 1.5)`}
        fill="none"
        stroke={colourOf(colour)}
        strokeLinejoin="round"
        strokeLinecap="round"
      >
        <path d={linePath(frame, values)} strokeWidth={1.5} />
        <path d={dotPath(frame, values)} strokeWidth={4} />
      </g>
    </svg>
  )
}
