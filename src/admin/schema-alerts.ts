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
    lowBalanceNano: nano
      .nullable()
      .default(null)
      .describe('Alerts when the balance is lower, in nano-units; null: never'),
    daySpendNano: nano
      .nullable()
      .default(null)
      .describe('Alerts when a day in `timeZone` costs more, in nano-units; null: never'),
    timeZone: z
      .string()
      .max(64)
      .refine(isTimeZone, 'expected a time zone such as Asia/Shanghai')
      .default('UTC')
      .describe('IANA time zone whose midnight begins a day'),
    keyLimitPercent: percent
      .nullable()
      .default(null)
      .describe('Alerts when a key has spent this percentage of its spend limit; null: never'),
    errorRatePercent: percent
      .nullable()
      .default(null)
      .describe('Alerts when this percentage of the last hour’s requests failed; null: never'),
    webhook: z
      .string()
      .max(1_024, httpsExpected)
      .refine(isWebhook, httpsExpected)
      .nullable()
      .default(null)
      .describe('Address to which notices are posted, https; null: none'),
    email: address
      .nullable()
      .default(null)
      .describe(
        'Address to which notices are mailed; null: none. It must be verified by a mailed code, unless it is the verified address with which the person signs in',
      ),
    newCode: z
      .boolean()
      .default(false)
      .describe('true: mails a new verification code, in place of the previous one'),
    newSecret: z
      .boolean()
      .default(false)
      .describe('true: replaces the webhook secret; else the previous one stays valid'),
  }),
  verifyEmail: z.strictObject({
    code: z
      .string()
      .min(1)
      .max(64, 'expected at most 64 characters')
      .describe('Code that was mailed last'),
  }),
  listNotices: z.strictObject({ account: text, unread: z.boolean().default(false), ...page }),
  readNotices: z.strictObject({
    account: text,
    ids: z
      .array(text.max(64))
      .min(1, 'must not be empty')
      .max(500)
      .nullable()
      .default(null)
      .describe('Ids of the notices; null: all notices'),
  }),
}
