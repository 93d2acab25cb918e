// Input schemas of orders.

import { z } from 'zod'
import { orderStates } from '../store/order-state.ts'
import { name, page, someAccount, text } from './schema-parts.ts'

const provider = z.enum(['alipay', 'wechatpay', 'stripe'], 'expected alipay, wechatpay or stripe')
/** A day before any provider had bills. */
const firstBillDay = '2000-01-01'
const money = z
  .string()
  .regex(
    /^[0-9]{1,12}(\.[0-9]{1,2})?$/,
    'expected plain digits with at most two decimals, such as 12.50',
  )

export const orderInputs = {
  createOrder: z.strictObject({
    provider: name.describe('Payment provider, from the offer'),
    method: name.optional().describe('Payment method of the provider; left out: its first method'),
    amount: money.describe('Amount to pay, in the provider’s currency'),
    attempt: name.describe(
      'Id that the client chooses for this order: the same `attempt` gives the same order',
    ),
  }),
  order: z.strictObject({ id: text }),
  paymentBill: z.strictObject({
    provider: provider.describe('Payment provider'),
    day: z.iso
      .date('expected a day such as 2026-11-23')
      .refine((day) => day >= firstBillDay, `expected a day from ${firstBillDay} on`)
      .describe('Day of the bill, in China’s time zone'),
  }),
  listOrders: z.strictObject({
    ...page,
    account: name.optional().describe(someAccount),
    state: z.enum(orderStates).optional().describe('Only orders in this state'),
    provider: provider.optional().describe('Only orders of this payment provider'),
    flagged: z.boolean('expected true or false').optional(),
    stuck: z.boolean('expected true or false').optional(),
    number: text
      .max(128, 'expected at most 128 characters')
      .optional()
      .describe('Id of the order, or the provider’s number of a payment'),
  }),
  planRefund: z.strictObject({
    id: text,
    amount: money.describe('Amount to refund, in the currency of the order'),
  }),
  refundOrder: z.strictObject({
    id: text,
    refund: z
      .string()
      .regex(/^[0-9A-Za-z_-]{1,32}$/, 'expected 1 to 32 letters, digits, _ and -')
      .optional()
      .describe(
        'Id that the client chooses for this refund: the same id gives the same refund; left out: a new refund',
      ),
    amount: money
      .optional()
      .describe('Amount to refund, in the currency of the order; left out: all that is left'),
    reason: text.max(256, 'expected at most 256 characters').describe('Reason, for the records'),
  }),
}
