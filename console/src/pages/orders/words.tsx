// Names of states, flags and events of orders.

import { Trans, useLingui } from '@lingui/react/macro'
import type { Shape } from '../../api/client.ts'
import { Status } from '../../ui/values.tsx'

type Order = Shape<'Order'>

export function useStateNames(): Readonly<Record<Order['state'], string>> {
  const { t } = useLingui()
  return {
    created: t`Made`,
    shown: t`Waiting to be paid`,
    paid: t`Paid`,
    credited: t`Credited`,
    part_refunded: t`Partly refunded`,
    refunded: t`Refunded`,
    expired: t`Expired`,
    closed: t`Cancelled`,
    disputed: t`Disputed`,
  }
}

const tones: Readonly<Record<Order['state'], 'ok' | 'warning' | 'off'>> = {
  created: 'off',
  shown: 'warning',
  paid: 'warning',
  credited: 'ok',
  part_refunded: 'warning',
  refunded: 'off',
  expired: 'off',
  closed: 'off',
  disputed: 'warning',
}

export function OrderState({ order }: { readonly order: Pick<Order, 'state' | 'mode'> }) {
  const names = useStateNames()
  return (
    <span className="inline-flex max-w-full items-center gap-2 align-bottom">
      <Status tone={tones[order.state]}>{names[order.state]}</Status>
      {order.mode === 'play' && (
        <span className="min-w-0 truncate text-label font-normal text-text-3">
          <Trans>play money</Trans>
        </span>
      )}
    </span>
  )
}

/** What was unusual about the payment; nothing if it was normal. */
export function OrderFlag({ order: { flag } }: { readonly order: Pick<Order, 'flag'> }) {
  switch (flag) {
    case 'late':
      return <Trans>paid after its end</Trans>
    case 'second':
      return <Trans>paid twice</Trans>
    case 'partial':
      return <Trans>less than ordered</Trans>
    case 'over':
      return <Trans>more than ordered</Trans>
    default:
      return flag
  }
}

/** A value that is unknown here is shown as in the API. */
export function useEventName(): (what: string) => string {
  const { t } = useLingui()
  const names: Readonly<Record<string, string>> = {
    created: t`Made`,
    shown: t`Shown to be paid`,
    closed: t`Cancelled`,
    expired: t`Expired`,
    notified: t`The provider reported it`,
    notification_refused: t`A message in the provider’s name was refused`,
    credited: t`Credited`,
    late: t`Credited after its end`,
    second: t`A second payment was credited`,
    partial: t`Credited, less than ordered`,
    over: t`Credited, more than ordered`,
    disputed: t`Disputed at the provider`,
    dispute_won: t`The dispute was won`,
    dispute_lost: t`The dispute was lost, and the credit taken back`,
    refund_begun: t`Refund begun`,
    refund_done: t`Refund done`,
    refund_failed: t`Refund refused by the provider`,
  }
  return (what) => names[what] ?? what
}
