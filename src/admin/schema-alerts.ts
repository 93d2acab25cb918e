// What the use cases of alerts take.

import { z } from 'zod'
import { isTimeZone } from '../config/rules.ts'
import { count, nano, page, text } from './schema-parts.ts'

const percent = count(100)
const addressExpected = 'expected an address such as me@example.com'
const httpsExpected = 'expected an https address without credentials, of at most 1024 characters'

/** Without a name, and with nothing that could end a line of a mail. */
const address = z
  .string()
  .max(254, addressExpected)
  .regex(/^[^\s\p{Cc}<>()[\]\\,;:"@]{1,64}@[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/iu, addressExpected)

function isWebhook(address: string): boolean {
  if (!URL.canParse(address)) return false
  const { protocol, username, password } = new URL(address)
  return protocol === 'https:' && username === '' && password === ''
}

export const alertInputs = {
  setAlerts: z.strictObject({
    /** Warned when less is left. */
    lowBalanceNano: nano.nullable().default(null),
    /** When more is spent in a day of the time zone. */
    daySpendNano: nano.nullable().default(null),
    timeZone: z
      .string()
      .max(64)
      .refine(isTimeZone, 'expected a time zone such as Asia/Shanghai')
      .default('UTC'),
    /** When a key has spent so much of its limit. */
    keyLimitPercent: percent.nullable().default(null),
    /** When so many requests of an hour failed. */
    errorRatePercent: percent.nullable().default(null),
    webhook: z
      .string()
      .max(1_024, httpsExpected)
      .refine(isWebhook, httpsExpected)
      .nullable()
      .default(null),
    /** Shown to be read by a code that is mailed to it, unless whoever signs in is known to read it. */
    email: address.nullable().default(null),
    /** Mailed again, where the one before was lost. */
    newCode: z.boolean().default(false),
    /** Of the webhook; else the one it has goes on to count. */
    newSecret: z.boolean().default(false),
  }),
  verifyEmail: z.strictObject({
    code: z.string().min(1).max(64, 'expected at most 64 characters'),
  }),
  listNotices: z.strictObject({ account: text, unread: z.boolean().default(false), ...page }),
  readNotices: z.strictObject({
    account: text,
    /** null: all. */
    ids: z.array(text.max(64)).min(1, 'must not be empty').max(500).nullable().default(null),
  }),
}
