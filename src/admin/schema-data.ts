// What copying a deployment to PostgreSQL takes.

import { z } from 'zod'

export const dataInputs = {
  copyData: z.strictObject({
    /** Of the PostgreSQL that is copied into. */
    to: z
      .string()
      .refine(
        (url) => /^postgres(ql)?:\/\//.test(url) && URL.canParse(url),
        'expected postgres://USER:PASSWORD@HOST/DATABASE',
      ),
    /** Of a copy that was begun and not ended: what to do with it where the deployment has gone on since. */
    begun: z.enum(['resume', 'restart']).optional(),
  }),
}
