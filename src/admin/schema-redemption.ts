// Input schemas of redemption codes.

import { z } from 'zod'
import { amount, count, page, text, timeAhead } from './schema-parts.ts'

const mostCodes = 1_000

export const redemptionInputs = {
  createRedemptionBatch: z.strictObject({
    codes: count(mostCodes).describe('Number of codes'),
    amount: amount.describe('Credit of each code, as a decimal of the currency'),
    note: z
      .string()
      .max(256, 'expected at most 256 characters')
      .default('')
      .describe('Note for operators'),
    expiresAt: timeAhead.optional().describe('When the codes expire; left out: never'),
  }),
  listRedemptionBatches: z.strictObject(page),
  redemptionBatch: z.strictObject({ id: text }),
  redeem: z.strictObject({
    code: z.string().min(1).max(64, 'expected at most 64 characters').describe('Redemption code'),
  }),
}
