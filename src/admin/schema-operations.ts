// Input schemas of what operators do.

import { z } from 'zod'
import { page, since, text, time } from './schema-parts.ts'
import { timeZone } from './schema-statistics.ts'
import { format } from './schema-usage.ts'

const events = {
  /** The actor as an event names it: `account root`. */
  actor: text.optional(),
  /** The operation id: `updateKey`. */
  action: text.optional(),
  text: text.max(256).optional(),
  since: since.optional(),
  until: time.optional(),
}

export const operationsInputs = {
  listEvents: z.strictObject({ ...events, ...page }),
  exportEvents: z.strictObject({ ...events, format: format.default('csv') }),
  reconcile: z.strictObject({
    since,
    until: time.optional(),
    /** Left out: all accounts, for callers who may see all. */
    account: text.optional(),
    cursor: z.string().max(64).optional(),
  }),
  readOperations: z.strictObject({ timeZone: timeZone.default('UTC') }),
}
