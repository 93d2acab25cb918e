// Input schemas of message history.

import { z } from 'zod'
import { historyModes } from '../config/schema-history.ts'
import { count, mostOnPage, name, page, since, text, time } from './schema-parts.ts'

const range = { since: since.optional(), until: time.optional() }

export const historyInputs = {
  setHistory: z.strictObject({
    account: name,
    mode: z.enum(historyModes, `expected one of ${historyModes.join(', ')}`),
    retentionDays: count(3_650).nullable().default(null),
    publicKey: text.nullable().default(null),
    revision: z.number().int().min(0).optional(),
  }),
  listHistory: z.strictObject({
    id: text.optional(),
    account: text.optional(),
    key: text.optional(),
    model: text.optional(),
    hasBody: z.boolean().optional(),
    text: text.max(200, 'expected at most 200 characters').optional(),
    ...range,
    ...page,
    limit: count(mostOnPage).default(100),
  }),
  historyMessage: z.strictObject({ id: text }),
  deleteHistory: z.strictObject({ account: name, ...range }),
}
