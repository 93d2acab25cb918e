// What the use cases of those who run the deployment take.

import { z } from 'zod'
import { timeZone } from './schema-statistics.ts'

export const operationsInputs = {
  readOperations: z.strictObject({ timeZone: timeZone.default('UTC') }),
}
