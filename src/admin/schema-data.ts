// Input schema of copying a deployment to PostgreSQL.

import { z } from 'zod'
import { expectedDatabaseUrl, isDatabaseUrl } from '../config/rules.ts'

export const dataInputs = {
  copyData: z.strictObject({
    /** URL of the PostgreSQL database to copy into. */
    to: z.string().refine(isDatabaseUrl, expectedDatabaseUrl),
    /** What to do with an unfinished copy where the deployment has changed since it began. */
    begun: z.enum(['resume', 'restart']).optional(),
  }),
}
