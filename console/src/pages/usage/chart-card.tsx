// The figure over time: its sum for the range, compared with the period before on request, and the chart by group.

import { Trans, useLingui } from '@lingui/react/macro'
import { useMemo } from 'react'
import type { Shape } from '../../api/client.ts'
import { presetNames } from '../../app/range-names.ts'
import { bucketsOf, groupId, otherId, pointsOf, seriesOf } from '../../charts/statistics.ts'
import { TimeChart } from '../../charts/time-chart.tsx'
import { exactMoney } from '../../format.ts'
import { useIsPhone } from '../../ui/media.ts'
import { Card } from '../../ui/page.tsx'
import { Empty, Skeleton, Widget } from '../../ui/state.tsx'
import { Delta, None, useNow } from '../../ui/values.tsx'
import { type Asked, useChange } from './asked.ts'
import { useBefore, useColours, useStatistics } from './data.ts'
import { GroupSwitch, MetricSwitch } from './filters.tsx'
import { useOpenRequests } from './open-requests.ts'
import { isSum, metricWords, useValueName, useWrite } from './words.ts'

interface ChartCardProps {
  readonly asked: Asked
  readonly highlighted: string | undefined
  readonly onHighlight: (id: string | undefined) => void
}

type Statistics = Shape<'Statistics'>

/** Its total, as a number for the change compared with the period before. */
function totalOf({ total, totalNano }: Statistics['total']): number | null {
  return totalNano === undefined ? (total ?? null) : Number(totalNano)
}

export function ChartCard({ asked, highlighted, onHighlight }: ChartCardProps) {
  const query = useStatistics(asked)
  return (
    <Card>
      <div className="flex flex-wrap items-center justify-between gap-3">
        <MetricSwitch />
        <GroupSwitch />
      </div>
      <div className="mt-3">
        <Widget query={query} skeleton={<Skeleton rows={1} height={340} />}>
          {(statistics) => (
            <Figures
              asked={asked}
              statistics={statistics}
              highlighted={highlighted}
              onHighlight={onHighlight}
            />
          )}
        </Widget>
      </div>
    </Card>
  )
}

interface HeadlineProps {
  readonly statistics: Statistics
  readonly before: Statistics | undefined
}

function Headline({ statistics, before }: HeadlineProps) {
  const { i18n } = useLingui()
  const { unit, currency, total } = statistics
  const write = useWrite(unit, currency)
  const now = totalOf(total)
  const exact =
    total.totalNano === undefined
      ? now?.toLocaleString(i18n.locale)
      : exactMoney(total.totalNano, currency, i18n.locale)
  return (
    <p className="flex flex-wrap items-baseline gap-x-3">
      <span className="tabular text-metric" title={exact}>
        {now === null ? <None /> : write(now)}
      </span>
      {before !== undefined && now !== null && (
        <span className="text-label text-text-2">
          <Delta now={now} before={totalOf(before.total)} />{' '}
          <Trans>against the period before</Trans>
        </span>
      )}
    </p>
  )
}

interface FiguresProps extends ChartCardProps {
  readonly statistics: Statistics
}

function Figures({ asked, statistics, highlighted, onHighlight }: FiguresProps) {
  const { t } = useLingui()
  const isPhone = useIsPhone()
  const change = useChange()
  const openRequests = useOpenRequests(asked)
  const valueName = useValueName()
  const colours = useColours(asked)
  const { by, unit, currency, metric, total, until } = statistics
  const before = useBefore(asked)
  const write = useWrite(unit, currency)
  const isNow = Date.parse(until) > useNow(60_000)
  const buckets = useMemo(() => bucketsOf(statistics), [statistics])
  const series = seriesOf({
    statistics,
    colours,
    nameOf: (group) => by.map((name) => valueName(name, group[name] ?? '')).join(' · '),
    allName: t(metricWords[asked.metric]),
    otherName: t`Other`,
  })
  // On days when clocks change there may be one more or fewer: then only the sums are compared.
  const previous = before && pointsOf(before.total)
  const sum = totalOf(total)
  const name = t(metricWords[asked.metric])
  const range = asked.range.preset === null ? t`chosen range` : t(presetNames[asked.range.preset])
  const said = sum === null ? t`no value` : write(sum)
  // No request that read from a cache is a figure too.
  const isNothing = (value: number | null) =>
    value === null || (value === 0 && metric !== 'cacheRate')
  if (pointsOf(total).every(isNothing))
    return (
      <>
        <Headline statistics={statistics} before={before} />
        <Nothing asked={asked} metric={metric} />
      </>
    )
  return (
    <>
      <Headline statistics={statistics} before={before} />
      <div className="mt-2">
        <TimeChart
          kind={isSum(unit) ? 'bars' : 'lines'}
          label={t`${name}, ${range}: ${said}`}
          buckets={buckets}
          series={series}
          format={write}
          height={isPhone ? 220 : 280}
          isLastPartial={isNow}
          highlighted={highlighted}
          onHighlight={onHighlight}
          onZoom={(since, until) => change({ since, until, range: undefined }, { push: true })}
          onZoomOut={() => change({ since: undefined, until: undefined })}
          onPick={(bucket, id) => {
            const found = statistics.series.find(({ group }) => groupId(group, by) === id)
            const at = buckets[bucket]
            if (at !== undefined)
              openRequests({ group: id === otherId ? {} : (found?.group ?? {}), ...at })
          }}
          {...(previous?.length === buckets.length && { previous })}
        />
      </div>
    </>
  )
}

/** Nothing in the range, or nothing that matches the filters. */
function Nothing({ asked, metric }: { readonly asked: Asked; readonly metric: string }) {
  const { data } = useStatistics({ ...asked, metric: 'requests' })
  // There may be requests, of which none has this figure.
  const wasUsed = data !== undefined && (totalOf(data.total) ?? 0) > 0
  const isFiltered = Object.keys(asked.filters).length > 0
  const isOfErrors = metric === 'errors' || metric === 'errorRate'
  return (
    <div className="flex min-h-56 items-center justify-center">
      <Empty
        title={
          isOfErrors ? (
            <Trans>No failed requests in this range.</Trans>
          ) : wasUsed ? (
            <Trans>No request in this range has this figure.</Trans>
          ) : isFiltered ? (
            <Trans>Nothing in this range with these filters.</Trans>
          ) : (
            <Trans>Nothing was used in this range.</Trans>
          )
        }
      >
        {isFiltered ? (
          <Trans>Clear the filters, or choose a longer range.</Trans>
        ) : (
          <Trans>Choose a longer range; requests appear here once they are settled.</Trans>
        )}
      </Empty>
    </div>
  )
}
