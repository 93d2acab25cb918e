// Says that no real money is needed, and why.

import { Trans } from '@lingui/react/macro'

export function PlayMoney() {
  return (
    <p role="note" className="rounded-card border border-warning/40 bg-warning-tint p-3 text-text">
      <strong>
        <Trans>Play money: no real payment.</Trans>
      </strong>{' '}
      <Trans>
        No payment service is set up, so a simulator on this machine stands in for all of them. What
        you buy with it works like any credit.
      </Trans>
    </p>
  )
}
