// What an order for credit may be, and what turns it from one into another.

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
  /** The customer was given something to pay by. */
  | 'show'
  /** The provider says that it is paid. */
  | 'pay'
  /** The journal has the payment: in one transaction with `pay`. */
  | 'credit'
  | 'expire'
  | 'close'
  /** What is refunded now, of all that was paid. */
  | 'refund_none'
  | 'refund_part'
  | 'refund_whole'
  | 'dispute'

const refunds = {
  refund_none: 'credited',
  refund_part: 'part_refunded',
  refund_whole: 'refunded',
} as const

/** A payment always counts, whenever it comes; nothing else undoes it than a refund. */
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

/** null: it cannot happen to an order in this state, and changes nothing. */
export function nextState(state: OrderState, event: OrderEvent): OrderState | null {
  return table[state][event] ?? null
}

/** Of an order that may still be shown and cancelled. */
export function isOpen(state: OrderState): boolean {
  return state === 'created' || state === 'shown'
}
