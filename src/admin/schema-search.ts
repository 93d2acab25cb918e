// What a search takes.

import { z } from 'zod'
import { text } from './schema-parts.ts'

export const searchInputs = {
  search: z.strictObject({ q: text.max(256).transform((given) => given.trim()) }),
}
