// Input schemas of orders.

import { z } from 'zod'
import { orderStates } from '../store/order-state.ts'
import { name, page, text } from './schema-parts.ts'

const provider = z.enum(['alipay', 'wechatpay', 'stripe'], 'expected alipay, wechatpay or stripe')
/** A day before any provider had bills. */
const firstBillDay = '2000-01-01'
const money = z
  .string()
  .regex(
    /^[0-9]{1,7}(\.[0-9]{1,2})?$/,
    'expected plain digits with at most two decimals, such as 12.50',
  )

export const orderInputs = {
  createOrder: z.strictObject({
    provider: name,
    method: name.optional(),
    amount: money,
    attempt: name,
  }),
  order: z.strictObject({ id: text }),
  paymentBill: z.strictObject({
    provider,
    day: z.iso
      .date('expected a day such as 2026-11-23')
      .refine((day) => day >= firstBillDay, `expected a day from ${firstBillDay} on`),
  }),
  listOrders: z.strictObject({
    ...page,
    account: name.optional(),
    state: z.enum(orderStates).optional(),
    provider: provider.optional(),
    flagged: z.boolean('expected true or false').optional(),
    stuck: z.boolean('expected true or false').optional(),
    number: text.max(128, 'expected at most 128 characters').optional(),
  }),
  planRefund: z.strictObject({ id: text, amount: money }),
  refundOrder: z.strictObject({
    id: text,
    refund: z
      .string()
      .regex(/^[0-9A-Za-z_-]{1,32}$/, 'expected 1 to 32 letters, digits, _ and -')
      .optional(),
    amount: money.optional(),
    reason: text.max(256, 'expected at most 256 characters'),
  }),
}
