// The six figures of the period, each compared with the one before, with its course over time.

import { Trans, useLingui } from '@lingui/react/macro'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { read, type Shape } from '../../api/client.ts'
import type { SeriesColour } from '../../charts/series.ts'
import { Sparkline } from '../../charts/sparkline.tsx'
import { pointsOf } from '../../charts/statistics.ts'
import { shortMoney } from '../../format.ts'
import { Blank, Blanks } from '../../ui/state.tsx'
import { Count, Delta, Duration, Money, Percent } from '../../ui/values.tsx'
import type { Asked } from './asked.ts'

type Overview = Shape<'Overview'>
type Metric = 'spend' | 'requests' | 'tokens' | 'errorRate' | 'ttftP50' | 'cacheRate'

interface FiguresProps {
  readonly asked: Asked
  readonly overview: Overview
}

export function Figures({ asked, overview }: FiguresProps) {
  const { t, i18n } = useLingui()
  const { currency } = overview
  const now = overview[asked.period]
  const before = now.previous
  return (
    <Grid>
      <Tile
        asked={asked}
        metric="spend"
        name={t`Spend`}
        value={<Money nano={now.spendNano} currency={currency} />}
        length={shortMoney(now.spendNano, currency, i18n.locale).length}
        delta={<Delta now={Number(now.spendNano)} before={Number(before.spendNano)} />}
      />
      <Tile
        asked={asked}
        metric="requests"
        name={t`Requests`}
        value={<Count value={now.requests} />}
        delta={<Delta now={now.requests} before={before.requests} />}
      />
      <Tile
        asked={asked}
        metric="tokens"
        name={t`Tokens`}
        value={<Count value={now.tokens} />}
        delta={<Delta now={now.tokens} before={before.tokens} />}
      />
      <Tile
        asked={asked}
        metric="errorRate"
        colour="danger"
        name={t`Error rate`}
        value={<Percent ratio={now.errorRate} />}
        delta={
          now.errorRate !== null && (
            <Delta now={now.errorRate} before={before.errorRate} good="down" />
          )
        }
      />
      <FirstToken asked={asked} now={now} />
      <Tile
        asked={asked}
        metric="cacheRate"
        name={t`Cache hits`}
        value={<Percent ratio={now.cacheRate} />}
        delta={
          now.cacheRate !== null && (
            <Delta now={now.cacheRate} before={before.cacheRate} good="up" />
          )
        }
        more={
          <Trans>
            <Count value={now.cacheHits} /> of <Count value={now.requests} /> requests
          </Trans>
        }
      />
    </Grid>
  )
}

/** As many figures, in the same places. */
export function FiguresBlank() {
  return (
    <Blanks>
      <Grid>
        {Array.from({ length: 6 }, (_, index) => (
          <Place
            key={index}
            name={<Blank />}
            value={<Blank width={96} />}
            delta={<Blank width={56} />}
            {...(index > 3 && { more: <Blank width={112} /> })}
          />
        ))}
      </Grid>
    </Blanks>
  )
}

function Grid({ children }: { readonly children: ReactNode }) {
  return (
    <ul className="grid grid-cols-2 gap-px overflow-hidden rounded-card border border-border bg-border lg:grid-cols-3 xl:grid-cols-6">
      {children}
    </ul>
  )
}

type Period = Overview[Asked['period']]

/** The median and the slowest times to the first token. */
function FirstToken({ asked, now }: { readonly asked: Asked; readonly now: Period }) {
  const { t } = useLingui()
  const before = now.previous
  return (
    <Tile
      asked={asked}
      metric="ttftP50"
      name={t`First token, p50`}
      value={<Duration ms={now.ttftP50Ms} />}
      delta={
        now.ttftP50Ms !== null && (
          <Delta now={now.ttftP50Ms} before={before.ttftP50Ms} good="down" />
        )
      }
      more={
        <span className="flex flex-wrap items-baseline gap-x-2">
          <Trans>
            p95 <Duration ms={now.ttftP95Ms} />
          </Trans>
          {now.ttftP95Ms !== null && (
            <Delta now={now.ttftP95Ms} before={before.ttftP95Ms} good="down" />
          )}
        </span>
      }
    />
  )
}

interface TileProps {
  readonly asked: Asked
  readonly metric: Metric
  readonly name: string
  readonly value: ReactNode
  /** The length of the value in characters, if it may be too long for the size of the others. */
  readonly length?: number
  readonly delta: ReactNode
  readonly more?: ReactNode
  readonly colour?: SeriesColour
}

function Tile({ asked, metric, name, colour, ...shown }: TileProps) {
  return (
    <Place
      {...shown}
      name={name}
      course={<Course asked={asked} metric={metric} name={name} {...(colour && { colour })} />}
    />
  )
}

interface PlaceProps extends Pick<TileProps, 'value' | 'length' | 'delta' | 'more'> {
  readonly name: ReactNode
  readonly course?: ReactNode
}

function Place({ name, value, length = 0, delta, more, course = <NoCourse /> }: PlaceProps) {
  const size =
    length > 11 ? 'text-section' : length > 8 ? 'text-title' : 'text-metric max-md:text-[22px]'
  return (
    <li className="flex min-w-0 flex-col gap-1 bg-surface p-4">
      <h2 className="text-label text-text-2">{name}</h2>
      <p className={`flex min-h-8 items-center ${size}`}>{value}</p>
      <div className="text-label">{delta}</div>
      {more !== undefined && <div className="text-label font-normal text-text-2">{more}</div>}
      <div className="mt-auto pt-2">{course}</div>
    </li>
  )
}

function NoCourse() {
  return <div className="h-5" />
}

type CourseProps = Pick<TileProps, 'asked' | 'metric' | 'name' | 'colour'>

/** The course of the figure: it is decoration, so it shows no waiting state and no error. */
function Course({ asked, metric, name, colour }: CourseProps) {
  const { t } = useLingui()
  const { span, whose, period } = asked
  const interval = period === 'today' ? 'hour' : 'day'
  const { data } = useQuery({
    ...read('/api/statistics', { params: { query: { ...span, ...whose, metric, interval } } }),
    placeholderData: keepPreviousData,
  })
  if (data === undefined) return <NoCourse />
  return (
    <Sparkline
      label={period === 'today' ? t`${name}, by hour` : t`${name}, by day`}
      values={pointsOf(data.total)}
      width={120}
      {...(colour && { colour })}
    />
  )
}
