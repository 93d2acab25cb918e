// Input schemas of automatic top-up.

import { z } from 'zod'
import { orderInputs } from './schema-orders.ts'
import { nano } from './schema-parts.ts'

const money = orderInputs.createOrder.shape.amount

export const autoTopUpInputs = {
  setAutoTopUp: z.strictObject({
    /** Tops up when the balance is below this. */
    thresholdNano: nano.refine((amount) => amount > 0n, 'expected more than 0'),
    /** In the provider's currency. */
    amount: money,
    /** Most that is paid in a calendar month, in UTC. */
    monthMost: money,
  }),
}
