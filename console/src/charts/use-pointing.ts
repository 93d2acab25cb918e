// What the pointer and the arrow keys do on a chart: point at a bucket, choose a span, pick a series.

import { type KeyboardEvent, type PointerEvent, useState } from 'react'
import { bucketAt, type Frame, seriesAt, sortedAt } from './geometry.ts'
import type { TimeChartProps } from './series.ts'

export interface Pointing {
  readonly bucket: number
  /** The series below the pointer, or chosen by the arrow keys. */
  readonly seriesId: string | undefined
  /** Where a span ends that begins at `bucket`, inclusive; null: none is being chosen. */
  readonly end: number | null
  readonly isByKeyboard: boolean
}

type Given = Pick<
  TimeChartProps,
  'kind' | 'buckets' | 'series' | 'onZoom' | 'onZoomOut' | 'onPick' | 'onHighlight'
>

/** `left` and `top`: of the plot within the element that has the handlers, in pixels. */
export function usePointing(given: Given, frame: Frame, left: number, top: number) {
  const { onZoom, onZoomOut, onPick, onHighlight } = given
  const [pointing, setPointing] = useState<Pointing | null>(null)
  const [pressedAt, setPressedAt] = useState<number | null>(null)

  function point(next: Pointing | null) {
    if (next?.seriesId !== pointing?.seriesId) onHighlight?.(next?.seriesId)
    setPointing(next)
  }

  const under = (event: PointerEvent<HTMLElement>) => below(event, given, frame, left, top)

  function zoom(from: number, to: number) {
    zoomTo(given, from, to)
    point(null)
  }

  function move(event: PointerEvent<HTMLElement>) {
    const { bucket, seriesId } = under(event)
    if (bucket === null) return pressedAt === null ? point(null) : undefined
    if (pressedAt !== null && onZoom !== undefined && bucket !== pressedAt)
      point({ bucket: pressedAt, seriesId: undefined, end: bucket, isByKeyboard: false })
    else point({ bucket, seriesId, end: null, isByKeyboard: false })
  }

  function down(event: PointerEvent<HTMLElement>) {
    if (event.button !== 0) return
    setPressedAt(under(event).bucket)
    event.currentTarget.setPointerCapture(event.pointerId)
  }

  function up(event: PointerEvent<HTMLElement>) {
    const { bucket, seriesId } = under(event)
    setPressedAt(null)
    if (pressedAt === null) return
    if (pointing !== null && pointing.end !== null) return zoom(pressedAt, pointing.end)
    // A finger's first touch shows the figures; there is no hovering before it.
    const isFirstTouch = event.pointerType === 'touch' && pointing?.bucket !== bucket
    if (bucket === pressedAt && seriesId !== undefined && !isFirstTouch) onPick?.(bucket, seriesId)
  }

  return {
    pointing,
    handlers: {
      onPointerMove: move,
      onPointerDown: down,
      onPointerUp: up,
      onPointerCancel: () => setPressedAt(null),
      onPointerLeave: () => {
        if (pressedAt === null && pointing?.isByKeyboard !== true) point(null)
      },
      onDoubleClick: () => {
        if (pointing?.seriesId === undefined) onZoomOut?.()
      },
      onKeyDown: (event: KeyboardEvent<HTMLElement>) => press(event, pointing, given, point),
      onBlur: () => point(null),
    },
  }
}

function press(
  event: KeyboardEvent<HTMLElement>,
  pointing: Pointing | null,
  given: Given,
  point: (next: Pointing | null) => void,
): void {
  if (event.key === 'Enter' && pointing !== null) {
    const { bucket, end, seriesId } = pointing
    if (end !== null) {
      zoomTo(given, bucket, end)
      point(null)
    } else if (seriesId !== undefined) given.onPick?.(bucket, seriesId)
  } else if (event.key === 'Escape' && pointing !== null) point(null)
  else if (event.key === 'Escape' && given.onZoomOut !== undefined) given.onZoomOut()
  else {
    const next = moved(event, pointing, given)
    if (next === null) return
    point(next)
  }
  event.preventDefault()
}

/** From one bucket to another, whichever is the earlier. */
function zoomTo({ buckets, onZoom }: Given, from: number, to: number): void {
  const first = buckets[Math.min(from, to)]
  const last = buckets[Math.max(from, to)]
  if (first !== undefined && last !== undefined) onZoom?.(first.start, last.end)
}

/** What is below the pointer. */
function below(
  event: PointerEvent<HTMLElement>,
  { kind, buckets, series }: Given,
  frame: Frame,
  left: number,
  top: number,
) {
  const box = event.currentTarget.getBoundingClientRect()
  const bucket = bucketAt(event.clientX - box.left - left, frame.width, buckets.length)
  const y = event.clientY - box.top - top
  const value = (1 - y / frame.height) * frame.scale.top
  return { bucket, seriesId: bucket === null ? undefined : seriesAt(kind, series, bucket, value) }
}

/** Where an arrow key leads: left and right to another bucket, up and down to another series, with Shift a span. */
function moved(event: KeyboardEvent, from: Pointing | null, given: Given): Pointing | null {
  const { buckets, series, onZoom } = given
  const last = buckets.length - 1
  const at = from?.end ?? from?.bucket ?? (event.key === 'ArrowRight' ? -1 : last + 1)
  const step = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[event.key]
  if (step !== undefined && last >= 0) {
    const bucket = Math.max(0, Math.min(last, step))
    if (event.shiftKey && onZoom !== undefined && from !== null)
      return { ...from, end: bucket, isByKeyboard: true }
    const there = sortedAt(series, bucket).map(({ series: { id } }) => id)
    const seriesId = there.find((id) => id === from?.seriesId) ?? there[0]
    return { bucket, seriesId, end: null, isByKeyboard: true }
  }
  const turn = { ArrowUp: -1, ArrowDown: 1 }[event.key]
  if (turn === undefined || from === null) return null
  const there = sortedAt(series, from.bucket).map(({ series: { id } }) => id)
  const index = there.findIndex((id) => id === from.seriesId)
  const seriesId = there[Math.max(0, Math.min(there.length - 1, index + turn))]
  return { ...from, seriesId, end: null, isByKeyboard: true }
}
