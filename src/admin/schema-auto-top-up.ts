// Input schemas of automatic top-up.

import { z } from 'zod'
import { orderInputs } from './schema-orders.ts'
import { nano } from './schema-parts.ts'

const money = orderInputs.createOrder.shape.amount

export const autoTopUpInputs = {
  setAutoTopUp: z.strictObject({
    thresholdNano: nano
      .refine((amount) => amount > 0n, 'expected more than 0')
      .describe('Balance in nano-units below which a payment is made'),
    amount: money.describe('Amount of one payment, in the provider’s currency'),
    monthMost: money.describe(
      'Most that is paid in a calendar month in UTC, in the provider’s currency',
    ),
  }),
}
