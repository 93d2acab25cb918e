// How many requests succeeded and how many failed, over the range; dragging zooms in.

import { Trans, useLingui } from '@lingui/react/macro'
import type { Shape } from '../../api/client.ts'
import type { Series } from '../../charts/series.ts'
import { TimeChart } from '../../charts/time-chart.tsx'
import { Card } from '../../ui/page.tsx'
import { Skeleton, Widget } from '../../ui/state.tsx'
import { type Asked, histogramHeight, useHistogram } from './queries.ts'
import type { RequestsSearch } from './search.ts'

interface HistogramProps {
  readonly asked: Asked
  readonly onChange: (next: Partial<RequestsSearch>) => void
}

export default function Histogram({ asked, onChange }: HistogramProps) {
  const { t, i18n } = useLingui()
  const query = useHistogram(asked)
  const { errorCode, stream, client, id, vendorRequestId, minCost, minLatencyMs } = asked.search
  const finer = [errorCode, stream, client, id, vendorRequestId, minCost, minLatencyMs]
  return (
    <Card>
      <Widget query={query} skeleton={<Skeleton rows={1} height={histogramHeight} />}>
        {(data) => {
          const { ok, failed, buckets } = fold(data, asked.search.outcome)
          const all = sum(ok) + sum(failed)
          const series: readonly Series[] = [
            { id: 'ok', name: t`Ok`, colour: 1, values: ok },
            { id: 'error', name: t`Errors`, colour: 'danger', values: failed },
          ]
          return (
            <TimeChart
              kind="bars"
              height={histogramHeight}
              label={t`Requests over time: ${all} in all, ${sum(failed)} of them errors`}
              buckets={buckets}
              series={series}
              format={(value) => value.toLocaleString(i18n.locale)}
              isLastPartial={asked.range.preset !== null && asked.range.preset !== 'last-month'}
              onZoom={(since, until) => onChange({ range: undefined, since, until })}
              onZoomOut={() => onChange({ range: undefined, since: undefined, until: undefined })}
            />
          )
        }}
      </Widget>
      {finer.some((value) => value !== undefined) && (
        <p className="mt-1 text-label font-normal text-text-3">
          <Trans>
            The bars count by model, key, group, endpoint, channel and status; the other filters
            apply to the list only.
          </Trans>
        </p>
      )}
    </Card>
  )
}

function fold(
  { requests, errors }: Record<'requests' | 'errors', Shape<'Statistics'>>,
  outcome: RequestsSearch['outcome'],
) {
  const { intervals, until } = requests
  const errorsIn = (index: number) => errors.total.values?.[index] ?? 0
  const all = intervals.map((_, index) => requests.total.values?.[index] ?? 0)
  const failed = intervals.map((_, index) => (outcome === 'ok' ? 0 : errorsIn(index)))
  // The two are read one after the other.
  const ok = all.map((count, index) =>
    outcome === undefined || outcome === 'ok' ? Math.max(0, count - errorsIn(index)) : 0,
  )
  const buckets = intervals.map((start, index) => ({ start, end: intervals[index + 1] ?? until }))
  return { ok, failed, buckets }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
