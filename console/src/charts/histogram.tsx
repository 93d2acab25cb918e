// How many requests went well and failed over a span, above a list of them: small bars, drag to choose a span.

import { useLingui } from '@lingui/react/macro'
import { useMemo } from 'react'
import { shortCount } from '../format.ts'
import type { Series, TimeChartProps } from './series.ts'
import { TimeChart } from './time-chart.tsx'

interface HistogramProps
  extends Pick<
    TimeChartProps,
    'label' | 'buckets' | 'onZoom' | 'onZoomOut' | 'onPick' | 'isLastPartial' | 'height'
  > {
  /** By bucket. */
  readonly ok: readonly (number | null)[]
  readonly failed: readonly (number | null)[]
}

/** The ids of its series are `ok` and `failed`. */
export function Histogram({ ok, failed, height = 120, ...rest }: HistogramProps) {
  const { t, i18n } = useLingui()
  const series = useMemo<readonly Series[]>(
    () => [
      { id: 'ok', name: t`Ok`, colour: 1, values: ok },
      { id: 'failed', name: t`Failed`, colour: 'danger', values: failed },
    ],
    [ok, failed, t],
  )
  const format = (value: number) => shortCount(value, i18n.locale)
  return <TimeChart kind="bars" series={series} format={format} height={height} {...rest} />
}
