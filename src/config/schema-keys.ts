// The sections of the file on keys, and the limits they share with groups.

import { z } from 'zod'
import { defaultAccount, defaultGroup } from './defaults.ts'
import { isAddressRange, isTimeZone } from './rules.ts'
import {
  checkedText,
  choice,
  count,
  decimal,
  identifier,
  instant,
  key,
  modelPatterns,
  part,
  section,
  sparse,
  sparseKey,
  text,
  yesOrNo,
} from './schema-parts.ts'

export const limits = part(
  sparse({
    requestsPerMinute: sparseKey(count, 'Requests per minute.'),
    tokensPerMinute: sparseKey(count, 'Tokens per minute, input and output together.'),
    concurrentRequests: sparseKey(count, 'Concurrent requests.'),
  }),
  'Rate limits; further requests get 429. One left out does not limit.',
)

const spendLimit = section({
  amount: decimal(9, '10.00')
    .refine((amount) => /[1-9]/.test(amount), 'expected more than 0')
    .meta({ description: 'Amount in the currency; requests that may exceed it get 429.' }),
  period: key(
    choice(['day', 'week', 'month', 'never']),
    'Period after which spending counts from 0 again: at midnight (day), at midnight before Monday (week) or before the first of the month (month), or never.',
    'never',
  ),
  timeZone: key(
    checkedText('expected a time zone such as Asia/Shanghai', isTimeZone),
    'Time zone of that midnight, such as Asia/Shanghai; left out: UTC.',
  ),
})

export const apiKey = section({
  name: text('expected a name').meta({ description: 'Unique name of the key.' }),
  account: key(
    identifier,
    "Account that pays for the key's requests; it is created if it does not exist.",
    defaultAccount,
  ),
  group: key(
    identifier,
    'Group of the key, which decides its models, channels and price multiplier.',
    defaultGroup,
  ),
  secret: z
    .string('expected text; put a number in quotes')
    .min(16, 'expected a secret of at least 16 characters')
    .regex(
      /^(?!\s)\P{Cc}*(?<!\s)$/u,
      'expected a secret without control characters and without blanks at its ends',
    )
    .meta({ description: 'The key itself: any text of 16 characters or more.', fromFile: true }),
  expiresAt: key(
    instant().transform((time) => Date.parse(time)),
    'Time from which the key is refused: an ISO date (its first moment in UTC), or a date and time with a time zone; left out: never.',
  ),
  models: key(
    modelPatterns,
    'Models that the key may use, among those of its group: names, or prefixes followed by *; left out: all.',
  ),
  deniedModels: key(
    modelPatterns,
    'Models that the key may not use, whatever else allows them: names, or prefixes followed by *.',
  ),
  addresses: key(
    z
      .array(
        checkedText('expected an IP address, or a range such as 10.0.0.0/8', isAddressRange),
        'expected a list of addresses',
      )
      .min(1, 'expected at least one address; leave it out to allow every address'),
    'IP addresses from which the key may be used, or ranges such as 10.0.0.0/8; left out: any.',
  ),
  spendLimit: key(spendLimit, 'Spend limit of the key; left out: none.'),
  historyMode: key(
    choice(['off', 'metadata', 'full', 'sealed']),
    "What is stored of the messages of the key's requests, at most history.maxMode; left out: as the account chose.",
  ),
  disabled: key(yesOrNo, 'Whether the key is refused.', false),
  showCost: key(yesOrNo, 'Whether replies to the key contain their cost.', false),
  limits,
})
