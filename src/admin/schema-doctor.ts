// Input schema of the setup doctor.

import { z } from 'zod'
import { count, since, someAccount, text } from './schema-parts.ts'

export const doctorInputs = {
  listArrivals: z.strictObject({
    account: text.max(1_024).optional().describe(someAccount),
    since: since.optional(),
    limit: count(200).default(50),
  }),
}
