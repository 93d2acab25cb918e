// Input schema of copying a deployment to PostgreSQL.

import { z } from 'zod'

export const dataInputs = {
  copyData: z.strictObject({
    /** URL of the PostgreSQL database to copy into. */
    to: z
      .string()
      .refine(
        (url) => /^postgres(ql)?:\/\//.test(url) && URL.canParse(url),
        'expected postgres://USER:PASSWORD@HOST/DATABASE',
      ),
    /** What to do with an unfinished copy where the deployment has changed since it began. */
    begun: z.enum(['resume', 'restart']).optional(),
  }),
}
