// What use cases of orders take.

import { z } from 'zod'
import { orderStates } from '../store/order-state.ts'
import { name, page, text } from './schema-parts.ts'

export const orderInputs = {
  createOrder: z.strictObject({
    provider: name,
    method: name.optional(),
    amount: z
      .string()
      .regex(
        /^[0-9]{1,7}(\.[0-9]{1,2})?$/,
        'expected plain digits with at most two decimals, such as 12.50',
      ),
    attempt: name,
  }),
  order: z.strictObject({ id: text }),
  paymentBill: z.strictObject({
    provider: z.enum(['alipay', 'wechatpay', 'stripe'], 'expected alipay, wechatpay or stripe'),
    day: z.iso.date('expected a day such as 2026-11-23'),
  }),
  listOrders: z.strictObject({
    ...page,
    account: name.optional(),
    state: z.enum(orderStates).optional(),
    flagged: z.boolean('expected true or false').optional(),
  }),
  refundOrder: z.strictObject({
    id: text,
    refund: z
      .string()
      .regex(/^[0-9A-Za-z_-]{1,32}$/, 'expected 1 to 32 letters, digits, _ and -')
      .optional(),
    amount: z
      .string()
      .regex(
        /^[0-9]{1,7}(\.[0-9]{1,2})?$/,
        'expected plain digits with at most two decimals, such as 12.50',
      )
      .optional(),
    reason: text.max(256, 'expected at most 256 characters'),
  }),
}
