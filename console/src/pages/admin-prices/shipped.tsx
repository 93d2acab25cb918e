// Prices in force that differ from the shipped ones; each shipped price can be applied separately.

import { Trans, useLingui } from '@lingui/react/macro'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { change, get, type Shape } from '../../api/client.ts'
import { roleOf, useMe } from '../../api/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Card } from '../../ui/page.tsx'
import { Empty, Skeleton, Widget } from '../../ui/state.tsx'
import { moreOf, ShowMore } from '../../ui/table.tsx'
import { Differences, Origin } from './prices.tsx'
import { refreshPrices } from './refresh.ts'

type Difference = Shape<'ShippedPriceDifference'>

export function Shipped({ onOpen }: { readonly onOpen: (model: string) => void }) {
  const { t } = useLingui()
  const client = useQueryClient()
  const { admin } = roleOf(useMe())
  const [chosen, choose] = useState<Difference | null>(null)
  const rows = useInfiniteQuery({
    queryKey: ['/api/prices/diff'],
    queryFn: ({ pageParam, signal }) => {
      const query = { limit: 100, ...(pageParam && { cursor: pageParam }) }
      return get('/api/prices/diff', { params: { query } }, signal)
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  })
  async function take() {
    if (chosen === null) return
    await change('post', '/api/prices/withdraw', { body: { model: chosen.model } })
    await refreshPrices(client)
  }
  return (
    <Card title={<Trans>Differs from shipped</Trans>}>
      <Widget query={rows} skeleton={<Skeleton rows={3} />}>
        {({ pages }) => {
          const items = pages.flatMap((page) => page.items)
          if (items.length === 0)
            return <Empty title={<Trans>Every shipped price is in force as it is.</Trans>} />
          return (
            <ul className="flex flex-col divide-y divide-border">
              {items.map((row) => (
                <Row
                  key={row.model}
                  row={row}
                  onOpen={onOpen}
                  onTake={admin ? choose : undefined}
                />
              ))}
            </ul>
          )
        }}
      </Widget>
      <ShowMore more={moreOf(rows)} />
      {chosen !== null && (
        <Confirm
          title={<Trans>Take the shipped prices of {chosen.model}?</Trans>}
          action={t`Take the shipped prices`}
          danger={false}
          onConfirm={take}
          onClose={() => choose(null)}
        >
          <Differences of={chosen.differences} />
          <p>
            <Trans>
              They are charged from the next request on. The version before stays listed.
            </Trans>
          </p>
        </Confirm>
      )}
    </Card>
  )
}

interface RowProps {
  readonly row: Difference
  readonly onOpen: (model: string) => void
  readonly onTake: ((row: Difference) => void) | undefined
}

function Row({ row, onOpen, onTake }: RowProps) {
  return (
    <li className="flex flex-wrap items-start gap-x-4 gap-y-1 py-2">
      <span className="flex min-w-48 flex-col">
        <button
          type="button"
          className="text-left font-medium underline"
          onClick={() => onOpen(row.model)}
        >
          {row.model}
        </button>
        <span className="text-label font-normal text-text-2">
          <Origin origin={row.origin} />
        </span>
      </span>
      <span className="min-w-0 flex-1">
        <Differences of={row.differences} />
      </span>
      <span className="max-w-[32ch] text-label font-normal text-text-2">
        {[row.source, row.sourceDate].filter(Boolean).join(', ')}
      </span>
      {onTake !== undefined && (row.origin === 'set' || row.origin === 'import') && (
        <Button onClick={() => onTake(row)}>
          <Trans>Take the shipped prices</Trans>
        </Button>
      )}
    </li>
  )
}
