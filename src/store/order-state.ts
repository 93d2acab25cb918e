// The states of an order for credit, and the events that change them.

export const orderStates = [
  'created',
  'shown',
  'paid',
  'credited',
  'part_refunded',
  'refunded',
  'expired',
  'closed',
  'disputed',
] as const

export type OrderState = (typeof orderStates)[number]

export type OrderEvent =
  /** The customer was shown how to pay. */
  | 'show'
  /** The provider reports that the order is paid. */
  | 'pay'
  /** The payment was posted to the journal, in the same transaction as `pay`. */
  | 'credit'
  | 'expire'
  | 'close'
  /** How much of all that was paid is refunded by now. */
  | 'refund_none'
  | 'refund_part'
  | 'refund_whole'
  | 'dispute'

const refunds = {
  refund_none: 'credited',
  refund_part: 'part_refunded',
  refund_whole: 'refunded',
} as const

/** A payment always counts, whenever it arrives; only a refund or a dispute undoes it. */
const table: Readonly<Record<OrderState, Readonly<Partial<Record<OrderEvent, OrderState>>>>> = {
  created: { show: 'shown', pay: 'paid', expire: 'expired', close: 'closed' },
  shown: { show: 'shown', pay: 'paid', expire: 'expired', close: 'closed' },
  paid: { credit: 'credited' },
  credited: { ...refunds, pay: 'paid', dispute: 'disputed' },
  part_refunded: { ...refunds, pay: 'paid', dispute: 'disputed' },
  refunded: { ...refunds, pay: 'paid', dispute: 'disputed' },
  expired: { pay: 'paid', close: 'closed' },
  closed: { pay: 'paid' },
  disputed: { ...refunds, pay: 'paid', dispute: 'disputed' },
}

/** null: the event is not possible in this state, and changes nothing. */
export function nextState(state: OrderState, event: OrderEvent): OrderState | null {
  return table[state][event] ?? null
}

/** Whether the order may still be shown and cancelled. */
export function isOpen(state: OrderState): boolean {
  return state === 'created' || state === 'shown'
}
