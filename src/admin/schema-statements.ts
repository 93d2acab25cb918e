// Input schemas of statements.

import { z } from 'zod'
import { isTimeZone } from '../config/rules.ts'
import { count, oneAccount, page, text } from './schema-parts.ts'

const account = text.max(1_024).describe(oneAccount)
const timeZone = z
  .string()
  .max(64)
  .refine(isTimeZone, 'expected a time zone such as Asia/Shanghai')
  .default('UTC')
  .describe('IANA time zone whose midnight begins a month')

export const statementInputs = {
  listStatements: z.strictObject({ account, timeZone, ...page, limit: count(500).default(50) }),
  readStatement: z.strictObject({
    account,
    timeZone,
    month: z
      .string()
      .regex(/^[2-9]\d{3}-(?:0[1-9]|1[0-2])$/, 'expected a month such as 2027-01')
      .describe('Month, such as `2027-01`'),
  }),
}
