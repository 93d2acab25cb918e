// The past and scheduled prices of a model: lines over time, and each change with its figures.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { read } from '../../api/client.ts'
import type { SeriesColour } from '../../charts/series.ts'
import { TimeChart } from '../../charts/time-chart.tsx'
import { Swatch } from '../../charts/tooltip.tsx'
import { dateTime, shortMoney } from '../../format.ts'
import { useTimeZone } from '../../state/preferences.ts'
import { useLineName, useUnitText } from '../../ui/model-prices.tsx'
import { Widget } from '../../ui/state.tsx'
import { useNow } from '../../ui/values.tsx'
import { PriceChanges } from './price-changes.tsx'
import { type PriceChange, pricesOverTime } from './price-steps.ts'
import type { Model } from './queries.ts'

export function PriceHistory({ model }: { readonly model: Model }) {
  const params = { path: { id: model.id }, query: { group: model.group, limit: 100 } }
  const changes = useQuery(read('/api/models/{id}/prices', { params }))
  return (
    <section>
      <h3 className="mb-2 text-section">
        <Trans>How the prices changed</Trans>
      </h3>
      <Widget query={changes}>
        {({ items }) => (
          <>
            {items.length > 1 ? (
              <Chart model={model} changes={items} />
            ) : (
              <p className="mb-3 text-text-2">
                <Trans>Nothing has changed since the first price, and nothing is scheduled.</Trans>
              </p>
            )}
            <PriceChanges currency={model.currency} changes={items} />
          </>
        )}
      </Widget>
    </section>
  )
}

interface ChartProps {
  readonly model: Model
  /** The newest first. */
  readonly changes: readonly PriceChange[]
}

function Chart({ model: { id, currency }, changes }: ChartProps) {
  const { t, i18n } = useLingui()
  const zone = useTimeZone()
  const nameOf = useLineName()
  const unitText = useUnitText()
  const nowMs = useNow(null)
  const shown = useMemo(() => pricesOverTime(changes, nowMs), [changes, nowMs])
  const series = shown.lines.map(({ name, values }, place) => ({
    id: name,
    name: nameOf(name),
    colour: (place + 1) as SeriesColour,
    values,
  }))
  const unit = unitText(shown.unit, shown.size)
  const count = changes.length
  const last = dateTime(changes[0]?.from ?? nowMs, i18n.locale, zone)
  const scheduled = changes.filter(({ state }) => state === 'scheduled')
  const marks = [
    ...scheduled.map(({ from }) => ({ at: from, label: t`Scheduled change` })),
    { at: new Date(nowMs).toISOString(), label: t`Now` },
  ]
  return (
    <div className="mb-3">
      <p className="mb-1 flex flex-wrap items-center gap-x-4 text-label text-text-2">
        <span>
          {currency} {unit}
        </span>
        {series.map(({ id, name, colour }) => (
          <span key={id} className="inline-flex items-center gap-1.5">
            <Swatch colour={colour} />
            {name}
          </span>
        ))}
      </p>
      <TimeChart
        kind="lines"
        label={t`Prices of ${id} ${unit}. Changes: ${count}, the last ${last}`}
        buckets={shown.buckets}
        series={series}
        format={(value) => shortMoney(BigInt(Math.round(value)), currency, i18n.locale)}
        marks={marks}
        height={180}
      />
    </div>
  )
}
