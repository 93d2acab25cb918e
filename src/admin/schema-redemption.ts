// Input schemas of redemption codes.

import { z } from 'zod'
import { amount, count, page, text, timeAhead } from './schema-parts.ts'

const mostCodes = 1_000

export const redemptionInputs = {
  createRedemptionBatch: z.strictObject({
    codes: count(mostCodes),
    /** The amount of each code. */
    amount,
    note: z.string().max(256, 'expected at most 256 characters').default(''),
    expiresAt: timeAhead.optional(),
  }),
  listRedemptionBatches: z.strictObject(page),
  redemptionBatch: z.strictObject({ id: text }),
  redeem: z.strictObject({ code: z.string().min(1).max(64, 'expected at most 64 characters') }),
}
