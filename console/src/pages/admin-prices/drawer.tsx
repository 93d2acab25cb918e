// One model's prices beside the list: what is in force for a group, a form for the next version, and every version.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Problem, read, readAll, type Shape } from '../../api/client.ts'
import { roleOf, useMe } from '../../api/queries.ts'
import { shortCount } from '../../format.ts'
import { Drawer } from '../../ui/dialog.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { sizeOfLine, useLineName, useUnitText } from '../../ui/model-prices.tsx'
import { Skeleton, Widget } from '../../ui/state.tsx'
import { Id, Money, None } from '../../ui/values.tsx'
import { PriceForm } from './price-form.tsx'
import { Origin } from './prices.tsx'
import { Versions } from './versions.tsx'

interface PriceDrawerProps {
  readonly model: string
  readonly onClose: () => void
  readonly onPrevious?: (() => void) | undefined
  readonly onNext?: (() => void) | undefined
}

type Listed = Shape<'ListedPriceCard'>

export function PriceDrawer({ model, ...rest }: PriceDrawerProps) {
  const { t } = useLingui()
  const { admin } = roleOf(useMe())
  const cards = useQuery(readAll('/api/prices', { model, all: true }))
  // Also for a model without a price: its first version is made here.
  const isNew = cards.error instanceof Problem && cards.error.status === 404
  const items = isNew ? [] : cards.data?.items
  const shown = items ?? []
  const current = shown.find(({ state }) => state === 'in force')
  return (
    <Drawer
      {...rest}
      label={t`Prices of ${model}`}
      header={
        <span className="flex items-center gap-3 text-section">
          <Id whole value={model} />
        </span>
      }
    >
      {items === undefined ? (
        <Widget query={cards} skeleton={<Skeleton rows={8} />}>
          {() => null}
        </Widget>
      ) : (
        <div className="flex flex-col gap-6">
          <Standing model={model} current={current} />
          {!model.endsWith('*') && current !== undefined && <ForGroup model={model} />}
          {admin && (
            <PriceForm
              model={model}
              version={current?.version ?? 0}
              prices={current?.model === model ? current.prices : {}}
            />
          )}
          <Versions model={model} cards={shown.filter((card) => card.model === model)} />
        </div>
      )}
    </Drawer>
  )
}

interface StandingProps {
  readonly model: string
  readonly current: Listed | undefined
}

function Standing({ model, current }: StandingProps) {
  if (current === undefined)
    return (
      <p className="rounded-card bg-warning-tint px-3 py-2">
        <Trans>{model} has no price: its requests are refused.</Trans>
      </p>
    )
  if (current.origin === 'file')
    return (
      <p className="rounded-card bg-info-tint px-3 py-2">
        <Trans>
          The configuration file prices this model and takes precedence over what is set here: a new
          version applies once the file no longer prices it.
        </Trans>
      </p>
    )
  const { source, sourceDate } = current
  return (
    <p className="text-text-2">
      <Origin origin={current.origin} /> · {[source, sourceDate].filter(Boolean).join(', ')}
      {current.model !== model && (
        <>
          {' · '}
          <Trans>by the pattern {current.model}</Trans>
        </>
      )}
    </p>
  )
}

/** The sale price of a group beside the base price. */
function ForGroup({ model }: { readonly model: string }) {
  const { t } = useLingui()
  const groups = useQuery(readAll('/api/groups'))
  const [chosen, choose] = useState<string | null>(null)
  const items = groups.data?.items ?? []
  const serving = items.filter(({ models }) => models.includes(model))
  const group = chosen ?? (serving[0] ?? items[0])?.id
  const isAbsent = serving.every(({ id }) => id !== group)
  const params = { path: { id: model }, query: { ...(group !== undefined && { group }) } }
  const offered = useQuery({
    ...read('/api/models/{id}', { params }),
    enabled: !isAbsent,
    retry: false,
  })
  return (
    <section className="flex flex-col gap-2">
      <div className="w-56">
        <Field label={t`As the group pays it`}>
          <Select value={group ?? ''} onChange={({ target }) => choose(target.value)}>
            {items.map(({ id, multiplier }) => (
              <option key={id} value={id}>
                {id} × {multiplier}
              </option>
            ))}
          </Select>
        </Field>
      </div>
      {groups.data !== undefined && isAbsent ? (
        <p className="text-text-2">
          <Trans>This group is not served this model.</Trans>
        </p>
      ) : (
        <Widget query={offered} skeleton={<Skeleton rows={2} />}>
          {({ price, currency }) => <Lines lines={price.lines} currency={currency} />}
        </Widget>
      )}
    </section>
  )
}

interface LinesProps {
  readonly lines: readonly Shape<'PriceLine'>[]
  readonly currency: string
}

function Lines({ lines, currency }: LinesProps) {
  const lineName = useLineName()
  const unitText = useUnitText()
  const { t, i18n } = useLingui()
  return (
    <table aria-label={t`Prices`} className="w-full text-left text-cell">
      <thead className="text-label text-text-2">
        <tr>
          <th scope="col" className="py-1 pr-4">
            <Trans>Price</Trans>
          </th>
          <th scope="col" className="py-1 pr-4 text-right">
            <Trans>Base</Trans>
          </th>
          <th scope="col" className="py-1 pr-4 text-right">
            <Trans>Group pays</Trans>
          </th>
          <th scope="col" className="py-1 text-right">
            <Trans>Vendor publishes</Trans>
          </th>
        </tr>
      </thead>
      <tbody>
        {lines.map((line) => {
          const { name, unit, above, baseNano, priceNano, officialNano } = line
          const size = sizeOfLine(line)
          const tokens = shortCount(above, i18n.locale)
          const of = (nano: string) => (
            <Money nano={(BigInt(nano) * BigInt(size)) / 1_000_000n} currency={currency} />
          )
          return (
            <tr key={name} className="border-t border-border">
              <th scope="row" className="py-1 pr-4 font-normal">
                {lineName(name)}{' '}
                <span className="text-text-2">
                  {above > 0 && <Trans>above {tokens} tokens</Trans>} {unitText(unit, size)}
                </span>
              </th>
              <td className="py-1 pr-4 text-right">{of(baseNano)}</td>
              <td className="py-1 pr-4 text-right">{of(priceNano)}</td>
              <td className="py-1 text-right">
                {officialNano === null ? <None /> : of(officialNano)}
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
