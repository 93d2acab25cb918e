// Input schemas of alerts.

import { z } from 'zod'
import { isTimeZone } from '../config/rules.ts'
import { count, nano, page, text } from './schema-parts.ts'

const percent = count(100)
const addressExpected = 'expected an address such as me@example.com'
const httpsExpected = 'expected an https address without credentials, of at most 1024 characters'

/** A bare mail address, without anything that could end a line of a mail. */
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
    /** Alerts when the balance is lower. */
    lowBalanceNano: nano.nullable().default(null),
    /** Alerts when a day in the time zone costs more. */
    daySpendNano: nano.nullable().default(null),
    timeZone: z
      .string()
      .max(64)
      .refine(isTimeZone, 'expected a time zone such as Asia/Shanghai')
      .default('UTC'),
    /** Alerts when a key has spent this percentage of its limit. */
    keyLimitPercent: percent.nullable().default(null),
    /** Alerts when this percentage of an hour's requests failed. */
    errorRatePercent: percent.nullable().default(null),
    webhook: z
      .string()
      .max(1_024, httpsExpected)
      .refine(isWebhook, httpsExpected)
      .nullable()
      .default(null),
    /** Must be verified by a mailed code unless it is the verified address that the person signs in with. */
    email: address.nullable().default(null),
    /** Mails a new code, where the previous one was lost. */
    newCode: z.boolean().default(false),
    /** Makes a new webhook secret; otherwise the previous one remains valid. */
    newSecret: z.boolean().default(false),
  }),
  verifyEmail: z.strictObject({
    code: z.string().min(1).max(64, 'expected at most 64 characters'),
  }),
  listNotices: z.strictObject({ account: text, unread: z.boolean().default(false), ...page }),
  readNotices: z.strictObject({
    account: text,
    /** null: all notices. */
    ids: z.array(text.max(64)).min(1, 'must not be empty').max(500).nullable().default(null),
  }),
}
