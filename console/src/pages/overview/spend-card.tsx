// The main chart: spend over time by model. A bar links to its requests.

import { Trans, useLingui } from '@lingui/react/macro'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { read, type Shape } from '../../api/client.ts'
import {
  bucketsOf,
  coloursOf,
  groupId,
  mostColours,
  otherId,
  seriesOf,
} from '../../charts/statistics.ts'
import { TimeChart } from '../../charts/time-chart.tsx'
import { Swatch } from '../../charts/tooltip.tsx'
import { shortMoney } from '../../format.ts'
import { useIsPhone } from '../../ui/media.ts'
import { Card } from '../../ui/page.tsx'
import { Empty, Skeleton, Widget } from '../../ui/state.tsx'
import { Money, useNow } from '../../ui/values.tsx'
import type { Asked } from './asked.ts'
import type { Period } from './search.ts'

type Statistics = Shape<'Statistics'>

const ranges: Readonly<Record<Period, 'today' | '7d' | '30d'>> = {
  today: 'today',
  days7: '7d',
  days30: '30d',
}

export function SpendCard({ asked }: { readonly asked: Asked }) {
  const { span, whose, period } = asked
  const interval = period === 'today' ? 'hour' : 'day'
  const query = useQuery({
    ...read('/api/statistics', {
      params: { query: { ...span, ...whose, by: 'model', interval, limit: mostColours } },
    }),
    placeholderData: keepPreviousData,
  })
  return (
    <Card
      title={<Trans>Spend by model</Trans>}
      actions={
        <Link to="/usage" search={{ range: ranges[period] }}>
          <Trans>Usage</Trans>
        </Link>
      }
    >
      <Widget query={query} skeleton={<Skeleton rows={1} height={320} />}>
        {(statistics) => <Spend statistics={statistics} />}
      </Widget>
    </Card>
  )
}

function Spend({ statistics }: { readonly statistics: Statistics }) {
  const { t, i18n } = useLingui()
  const isPhone = useIsPhone()
  const navigate = useNavigate()
  const nowMs = useNow(60_000)
  const [highlighted, setHighlighted] = useState<string>()
  const { currency, total, until } = statistics
  const buckets = useMemo(() => bucketsOf(statistics), [statistics])
  const series = useMemo(() => {
    const ids = statistics.series.map(({ group }) => groupId(group, ['model']))
    const colours = coloursOf(ids, ids)
    const nameOf = ({ model = '' }) => (model === '' ? t`Unknown` : model)
    return seriesOf({ statistics, colours, nameOf, allName: '', otherName: t`Other` })
  }, [statistics, t])
  const write = (value: number) => shortMoney(BigInt(Math.round(value)), currency, i18n.locale)
  const sum = shortMoney(total.totalNano ?? '0', currency, i18n.locale)
  if (BigInt(total.totalNano ?? '0') === 0n)
    return <Empty title={<Trans>Nothing was spent in this period.</Trans>} />
  return (
    <>
      <TimeChart
        kind="bars"
        label={t`Spend by model: ${sum}`}
        buckets={buckets}
        series={series}
        format={write}
        height={isPhone ? 220 : 280}
        isLastPartial={Date.parse(until) > nowMs}
        highlighted={highlighted}
        onHighlight={setHighlighted}
        onZoom={(since, until) => void navigate({ to: '/usage', search: { since, until } })}
        onPick={(bucket, id) => {
          const at = buckets[bucket]
          if (at === undefined) return
          const model = id === otherId || id === '' ? [] : [['model', id]]
          const search = Object.fromEntries([...model, ['since', at.start], ['until', at.end]])
          void navigate({ to: '/requests', search })
        }}
      />
      <ul className="mt-2 flex flex-wrap gap-x-6 gap-y-1.5">
        {series.map(({ id, name, colour }, index) => (
          <li
            key={id}
            className="flex max-w-full items-center gap-2 text-cell"
            onPointerEnter={() => setHighlighted(id)}
            onPointerLeave={() => setHighlighted(undefined)}
          >
            <Swatch colour={colour} />
            <span className="min-w-0 truncate text-text-2" title={name}>
              {name}
            </span>
            <Money nano={statistics.series[index]?.totalNano ?? '0'} currency={currency} />
          </li>
        ))}
      </ul>
    </>
  )
}
