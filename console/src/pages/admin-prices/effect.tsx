// What proposed prices would have earned on the requests of the last seven days.

import { Trans } from '@lingui/react/macro'
import type { Shape } from '../../api/client.ts'
import { Count, Money, Time } from '../../ui/values.tsx'

export function Effect({ effect }: { readonly effect: Shape<'PriceEffect'> }) {
  const { requests, currency, coveredSince, thenNano, proposedNano, differenceNano, unpriced } =
    effect
  if (requests === 0)
    return (
      <p className="text-text-2">
        <Trans>Nobody asked for this model in the last 7 days.</Trans>
      </p>
    )
  return (
    <div className="rounded-card border border-border p-3" aria-live="polite">
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1.5">
        <dt className="text-text-2">
          <Trans>Requests</Trans>
        </dt>
        <dd>
          <Count value={requests} />
        </dd>
        <dt className="text-text-2">
          <Trans>As they were charged</Trans>
        </dt>
        <dd>
          <Money nano={thenNano} currency={currency} />
        </dd>
        <dt className="text-text-2">
          <Trans>By these prices</Trans>
        </dt>
        <dd>
          <Money nano={proposedNano} currency={currency} />
        </dd>
        <dt className="text-text-2">
          <Trans>Difference</Trans>
        </dt>
        <dd>
          <Money nano={differenceNano} currency={currency} />
        </dd>
      </dl>
      {coveredSince !== null && (
        <p className="pt-2 text-label font-normal text-text-2">
          <Trans>
            There are too many to look at all: those since <Time at={coveredSince} />.
          </Trans>
        </p>
      )}
      {unpriced.requests > 0 && (
        <p className="pt-2 text-label font-normal text-warning">
          <Trans>
            <Count value={unpriced.requests} /> more requests used units that these prices do not
            name: those units would not be charged.
          </Trans>
        </p>
      )}
    </div>
  )
}
