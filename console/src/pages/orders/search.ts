// The search parameters in these pages' addresses.

import { flag, oneOf, searchOf, text } from '../../app/search.ts'

export const validateOrdersSearch = searchOf({
  state: oneOf(
    'created',
    'shown',
    'paid',
    'credited',
    'part_refunded',
    'refunded',
    'expired',
    'closed',
    'disputed',
  ),
  provider: oneOf('alipay', 'wechatpay', 'stripe'),
  /** Only those that have not ended after two minutes. */
  stuck: flag,
  /** The order's own number, or the provider's of a payment. */
  number: text,
  /** Only those whose payment was unusual. */
  flagged: flag,
  /** The order that is open. */
  open: text,
})

export type OrdersSearch = ReturnType<typeof validateOrdersSearch>
