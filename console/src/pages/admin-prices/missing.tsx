// Models that are served or requested and have no price: their requests are refused.

import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { useLineName } from '../../ui/model-prices.tsx'
import { Card } from '../../ui/page.tsx'
import { Empty, Skeleton, Widget } from '../../ui/state.tsx'
import { Count } from '../../ui/values.tsx'

export function Missing({ onOpen }: { readonly onOpen: (model: string) => void }) {
  const missing = useQuery(read('/api/prices/missing'))
  return (
    <Card title={<Trans>Missing prices</Trans>}>
      <Widget query={missing} skeleton={<Skeleton rows={3} />}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty
              title={<Trans>Every model that is served or was asked for has a price.</Trans>}
            />
          ) : (
            <ul className="flex flex-col divide-y divide-border">
              {items.map(({ model, reason, groups, channels, refused }) => (
                <li key={model} className="flex flex-wrap items-baseline gap-x-4 gap-y-1 py-2">
                  <span className="font-medium">{model}</span>
                  <span className="min-w-0 flex-1 text-text-2">
                    <WhatLacks reason={reason} />
                  </span>
                  <span className="text-text-2">
                    {groups.join(', ')}
                    {channels.length > 0 && ` · ${channels.join(', ')}`}
                  </span>
                  <span className="text-text-2">
                    <Trans>
                      <Count value={refused} /> refused in 7 days
                    </Trans>
                  </span>
                  <Button onClick={() => onOpen(model)}>
                    <Trans>Set prices</Trans>
                  </Button>
                </li>
              ))}
            </ul>
          )
        }
      </Widget>
    </Card>
  )
}

/** `has no price for output`: the server's words, with the name of the price. */
function WhatLacks({ reason }: { readonly reason: string }) {
  const lineName = useLineName()
  const name = reason.split('has no price for ')[1]
  if (reason === 'has no price') return <Trans>It has no price.</Trans>
  if (name === undefined) return reason
  return <Trans>It has no price of {lineName(name)}.</Trans>
}
