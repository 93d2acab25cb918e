// Input schema of the search.

import { z } from 'zod'
import { text } from './schema-parts.ts'

export const searchInputs = {
  search: z.strictObject({
    q: text
      .max(256)
      .transform((given) => given.trim())
      .describe('Id or text to search'),
  }),
}
