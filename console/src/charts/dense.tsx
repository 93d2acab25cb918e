// The marks of a chart with many buckets, drawn by uPlot on a canvas below the same axes, crosshair and tooltip.

import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import { usePreferences } from '../state/preferences.ts'
import { type Frame, stack } from './geometry.ts'
import { colourOf, type TimeChartProps } from './series.ts'

interface DenseProps extends Pick<TimeChartProps, 'kind' | 'series' | 'highlighted'> {
  readonly frame: Frame
  readonly left: number
  readonly top: number
}

export default function DenseMarks({ kind, series, highlighted, frame, left, top }: DenseProps) {
  const element = useRef<HTMLDivElement>(null)
  const { theme } = usePreferences()
  const { width, height, count, scale } = frame
  const most = scale.top
  useEffect(() => {
    const box = element.current
    if (box === null) return
    // A canvas does not support CSS variables: the theme's colours are read when it is drawn.
    const resolve = (colour: string) => {
      box.style.color = colour
      return getComputedStyle(box).color
    }
    const tops = stack(series).map((layer) => layer.map((part) => part?.[1] ?? null))
    // Upper bars of a stack are drawn first, and the lower ones over them.
    const drawn = series.map((one, index) => ({
      ...one,
      points: kind === 'bars' ? (tops[index] ?? []) : [...one.values],
    }))
    if (kind === 'bars') drawn.reverse()
    const bars = uPlot.paths.bars?.({ size: [0.9, 48] })
    const plot = new uPlot(
      {
        width,
        height,
        padding: [0, 0, 0, 0],
        cursor: { show: false },
        legend: { show: false },
        axes: [{ show: false }, { show: false }],
        scales: {
          x: { time: false, range: [-0.5, count - 0.5] },
          y: { range: [0, most] },
        },
        series: [
          {},
          ...drawn.map(({ id, colour }) => ({
            stroke: resolve(colourOf(colour)),
            ...(kind === 'bars' && {
              fill: resolve(colourOf(colour)),
              ...(bars && { paths: bars }),
            }),
            width: kind === 'bars' ? 0 : 1.5,
            alpha: highlighted === undefined || highlighted === id ? 1 : 0.25,
            points: { show: false },
          })),
        ],
      },
      [Array.from({ length: count }, (_, index) => index), ...drawn.map(({ points }) => points)],
      box,
    )
    return () => plot.destroy()
  }, [kind, series, highlighted, width, height, count, most, theme])
  return (
    <div
      ref={element}
      aria-hidden="true"
      className="pointer-events-none absolute [&_.u-over]:hidden [&_.u-under]:hidden [&_canvas]:size-full"
      style={{ left, top, width, height }}
    />
  )
}
