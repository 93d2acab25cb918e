// Prices that are set but not yet in force.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { change, readAll, type Shape } from '../../api/client.ts'
import { roleOf, useMe } from '../../api/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Card } from '../../ui/page.tsx'
import { Empty, Skeleton, Widget } from '../../ui/state.tsx'
import { Time } from '../../ui/values.tsx'
import { PriceLine } from './prices.tsx'
import { refreshPrices } from './refresh.ts'

type Row = Shape<'ListedPriceCard'>

export function Scheduled({ onOpen }: { readonly onOpen: (model: string) => void }) {
  const { t } = useLingui()
  const client = useQueryClient()
  const { admin } = roleOf(useMe())
  const [chosen, choose] = useState<Row | null>(null)
  const cards = useQuery(readAll('/api/prices', { scheduled: true }))
  async function cancel() {
    if (chosen === null) return
    const { model, version } = chosen
    await change('post', '/api/prices/cancel', { body: { model, version } })
    await refreshPrices(client)
  }
  return (
    <Card title={<Trans>Scheduled</Trans>}>
      <Widget query={cards} skeleton={<Skeleton rows={3} />}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title={<Trans>Nothing is scheduled.</Trans>}>
              <Trans>Open a model in force and choose when its new prices begin.</Trans>
            </Empty>
          ) : (
            <ul className="flex flex-col divide-y divide-border">
              {items.map((card) => (
                <li
                  key={card.version}
                  className="flex flex-wrap items-baseline gap-x-4 gap-y-1 py-2"
                >
                  <button
                    type="button"
                    className="font-medium underline"
                    onClick={() => onOpen(card.model)}
                  >
                    {card.model}
                  </button>
                  <span className="min-w-0 flex-1">
                    <PriceLine prices={card.prices} />
                  </span>
                  <span className="text-text-2">
                    <Trans>
                      from <Time at={card.from} />
                    </Trans>
                  </span>
                  {admin && (
                    <Button onClick={() => choose(card)}>
                      <Trans>Cancel it</Trans>
                    </Button>
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </Widget>
      {chosen !== null && (
        <Confirm
          title={<Trans>Take back what was scheduled for {chosen.model}?</Trans>}
          action={t`Take back`}
          onConfirm={cancel}
          onClose={() => choose(null)}
        >
          <p>
            <Trans>Its prices stay as they are now.</Trans>
          </p>
        </Confirm>
      )}
    </Card>
  )
}
