// Input schema of the setup doctor.

import { z } from 'zod'
import { count, since, text } from './schema-parts.ts'

export const doctorInputs = {
  listArrivals: z.strictObject({
    account: text.max(1_024).optional(),
    since: since.optional(),
    limit: count(200).default(50),
  }),
}
