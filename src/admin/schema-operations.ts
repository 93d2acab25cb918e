// What the use cases of those who run the deployment take.

import { z } from 'zod'
import { since, text, time } from './schema-parts.ts'
import { timeZone } from './schema-statistics.ts'

export const operationsInputs = {
  reconcile: z.strictObject({
    since,
    until: time.optional(),
    /** Left out: all of them, for those who see all. */
    account: text.optional(),
    cursor: z.string().max(64).optional(),
  }),
  readOperations: z.strictObject({ timeZone: timeZone.default('UTC') }),
}
