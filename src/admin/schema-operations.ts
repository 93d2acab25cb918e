// Input schemas of what operators do.

import { z } from 'zod'
import { count, page, since, someAccount, text, until } from './schema-parts.ts'
import { timeZone, zoneText } from './schema-statistics.ts'
import { format } from './schema-usage.ts'

const events = {
  actor: text
    .optional()
    .describe('Only events of this actor, such as `account root`, or of this id alone: `root`'),
  action: text.optional().describe('Only events of this operation id, such as `updateKey`'),
  text: text.max(256).optional().describe('Text to search in all fields of an event'),
  since: since.optional(),
  until: until.optional(),
}

export const operationsInputs = {
  listEvents: z.strictObject({ ...events, ...page }),
  exportEvents: z.strictObject({ ...events, format: format.default('csv') }),
  reconcile: z.strictObject({
    since,
    until: until.optional(),
    account: text.optional().describe(someAccount),
    cursor: z
      .string()
      .max(64)
      .optional()
      .describe('`next` of the previous answer; left out: from the begin of the period'),
  }),
  listSetAsides: z.strictObject({
    limit: count(1_000).default(50).describe('At most this many, newest first'),
  }),
  settleSetAside: z.strictObject({ id: text }),
  discardSetAside: z.strictObject({
    id: text,
    reason: text.max(1_024).describe('Why it is never charged; kept with the record'),
  }),
  readOperations: z.strictObject({ timeZone: timeZone.default('UTC').describe(zoneText) }),
}
