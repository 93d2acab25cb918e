// Input schemas of settings: each value follows the schema of the configuration file.

import { z } from 'zod'
import { runTimeNames } from '../config/run-time.ts'
import { runTimeValues } from '../config/schema-run-time.ts'

const name = z.enum(runTimeNames, `expected one of ${runTimeNames.join(', ')}`)
/** The revision that was read; left out: any revision is changed. */
const revision = z.number().int().min(0).optional()

export const settingsInputs = {
  setSetting: z
    .strictObject({ name, value: z.unknown(), revision })
    .transform(({ value, ...given }, check) => {
      const judged = runTimeValues[given.name].safeParse(value)
      if (judged.success) return { ...given, value: judged.data }
      for (const { path, message } of judged.error.issues)
        check.addIssue({ code: 'custom', path: ['value', ...path], message })
      return z.NEVER
    }),
  unsetSetting: z.strictObject({ name, revision }),
}
