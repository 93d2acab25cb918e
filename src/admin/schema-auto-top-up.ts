// What the use cases of automatic top-up take.

import { z } from 'zod'
import { orderInputs } from './schema-orders.ts'
import { nano } from './schema-parts.ts'

const money = orderInputs.createOrder.shape.amount

export const autoTopUpInputs = {
  setAutoTopUp: z.strictObject({
    /** Less than this is left. */
    thresholdNano: nano.refine((amount) => amount > 0n, 'expected more than 0'),
    /** In the provider's currency. */
    amount: money,
    /** Most in a calendar month, in UTC. */
    monthMost: money,
  }),
}
