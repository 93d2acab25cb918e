// The sections of the file on keys, and the limits they share with groups.

import { z } from 'zod'
import { defaultAccount, defaultGroup } from './defaults.ts'
import { isAddressRange, isTimeZone } from './rules.ts'
import {
  checkedText,
  choice,
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
  wholeNumber,
  yesOrNo,
} from './schema-parts.ts'

const count = wholeNumber(1, 1_000_000_000)

export const limits = part(
  sparse({
    requestsPerMinute: sparseKey(count, 'Requests a minute.'),
    tokensPerMinute: sparseKey(count, 'Tokens a minute, input and output together.'),
    concurrentRequests: sparseKey(count, 'Requests under way at once.'),
  }),
  'Ceilings; an absent one does not limit.',
)

const spendLimit = section({
  amount: decimal(9, '10.00')
    .refine((amount) => /[1-9]/.test(amount), 'expected more than 0')
    .meta({ description: 'How much, in the currency.' }),
  period: key(
    choice(['day', 'week', 'month', 'never']),
    'When what was spent counts from 0 again: at midnight, on Monday, on the first of the month, or never.',
    'never',
  ),
  timeZone: key(
    checkedText('expected a time zone such as Asia/Shanghai', isTimeZone),
    'Whose midnight that is; left out: UTC.',
  ),
})

export const apiKey = section({
  name: text('expected a name').meta({ description: 'Name of the key, unique.' }),
  account: key(identifier, 'Account that pays.', defaultAccount),
  group: key(identifier, 'Group that decides models, channels and multiplier.', defaultGroup),
  secret: z
    .string('expected text; put a number in quotes')
    .min(16, 'expected a secret of at least 16 characters')
    .regex(
      /^(?!\s)\P{Cc}*(?<!\s)$/u,
      'expected a secret without control characters and without blanks at its ends',
    )
    .meta({ description: 'The key itself, of any form, 16 characters or more.', fromFile: true }),
  expiresAt: key(
    instant().transform((time) => Date.parse(time)),
    'Refused from then on: an ISO date (its first moment in UTC) or a date and time with its zone.',
  ),
  models: key(modelPatterns, 'Models it may use within its group; left out: all of them.'),
  deniedModels: key(modelPatterns, 'Models it may not use, whatever else allows them.'),
  addresses: key(
    z
      .array(
        checkedText('expected an IP address, or a range such as 10.0.0.0/8', isAddressRange),
        'expected a list of addresses',
      )
      .min(1, 'expected at least one; left out: it may be used from anywhere'),
    'Where it may be used from: IP addresses, or ranges such as 10.0.0.0/8; left out: anywhere.',
  ),
  spendLimit: key(spendLimit, 'The most it may spend.'),
  historyMode: key(
    choice(['off', 'metadata', 'full', 'sealed']),
    "What is kept of its requests' messages; left out: what its account says.",
  ),
  disabled: key(yesOrNo, 'Refused.', false),
  showCost: key(yesOrNo, 'Its replies carry what they cost.', false),
  limits,
})
