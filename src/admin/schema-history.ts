// Input schemas of message history.

import { z } from 'zod'
import { historyModes } from '../config/schema-history.ts'
import { count, mostOnPage, name, page, since, someAccount, text, until } from './schema-parts.ts'

const range = { since: since.optional(), until: until.optional() }

export const historyInputs = {
  setHistory: z.strictObject({
    account: name,
    mode: z
      .enum(historyModes, `expected one of ${historyModes.join(', ')}`)
      .describe(
        'What is kept: nothing (`off`), facts without bodies (`metadata`), bodies that only the account can open (`sealed`), or bodies (`full`)',
      ),
    retentionDays: count(3_650)
      .nullable()
      .default(null)
      .describe('For how many days messages are kept; null: as the operator set'),
    publicKey: text
      .nullable()
      .default(null)
      .describe('X25519 public key, base64url, to which bodies are sealed; mode `sealed` needs it'),
    revision: z.number().int().min(0).optional(),
  }),
  listHistory: z.strictObject({
    id: text.optional().describe('Id of the request'),
    account: text.optional().describe(someAccount),
    key: text.optional().describe('Id of the key'),
    model: text.optional().describe('Model name that the client asked for'),
    hasBody: z.boolean().optional(),
    text: text
      .max(200, 'expected at most 200 characters')
      .optional()
      .describe('Text to search in open bodies of the own account'),
    ...range,
    ...page,
    limit: count(mostOnPage).default(100),
  }),
  historyMessage: z.strictObject({ id: text }),
  deleteHistory: z.strictObject({ account: name, ...range }),
}
