// Input schemas of keys: those that call models, and management keys.

import { z } from 'zod'
import { isAddressRange, isTimeZone } from '../config/rules.ts'
import {
  amount,
  count,
  mostPerMinute,
  name,
  nano,
  page,
  someAccount,
  text,
  timeAhead,
} from './schema-parts.ts'

const modelPattern = text
  .max(256, 'expected at most 256 characters')
  .regex(/^[^*]*\*?$/, 'expected a name, or a prefix followed by *')

function listOf<Item extends z.ZodType>(item: Item, most: number) {
  return z.array(item).min(1, 'must not be empty').max(most, `expected at most ${most}`)
}

const mostModelText = 8_192

/** Bounded in all too, because every server keeps the lists of all keys in memory. */
const modelList = listOf(modelPattern, 1_000).refine(
  (patterns) => patterns.reduce((sum, { length }) => sum + length, 0) <= mostModelText,
  `expected at most ${mostModelText} characters in all`,
)

const addressExpected = 'expected an IP address, or a range such as 10.0.0.0/8'
const address = z.string(addressExpected).refine(isAddressRange, addressExpected)

/** Given in units (`amount`) or in nano-units (`amountNano`), as it is shown. */
const spendLimit = z
  .strictObject({
    amount: amount
      .optional()
      .describe('Most that may be spent in a period, as a decimal of the currency'),
    amountNano: nano.optional().describe('The same in nano-units, in place of `amount`'),
    period: z
      .enum(['day', 'week', 'month', 'never'], 'expected one of day, week, month, never')
      .default('never')
      .describe('`never`: one limit for all time'),
    timeZone: z
      .string()
      .max(64)
      .refine(isTimeZone, 'expected a time zone such as Asia/Shanghai')
      .nullish()
      .describe('IANA time zone whose midnight begins a period; UTC by default'),
  })
  .transform(({ amount, amountNano, ...limit }, check) => {
    const given = amountNano ?? amount
    if (given !== undefined && (amount === undefined || amountNano === undefined))
      return { ...limit, amountNano: given }
    const issue =
      given === undefined
        ? { path: ['amount'], message: 'is missing' }
        : { path: ['amountNano'], message: 'cannot be given together with amount' }
    check.addIssue({ code: 'custom', ...issue })
    return z.NEVER
  })

/** Limits of a key: null removes one; left out, a new key has none and an edited key keeps its own. */
const narrowing = {
  expiresAt: timeAhead.nullish().describe('When the key expires; null: never'),
  models: modelList
    .nullish()
    .describe(
      'Models of the group that the key may use, by name or by a pattern ending in `*`; null: all',
    ),
  deniedModels: modelList
    .nullish()
    .describe('Models that the key may not use, by name or by a pattern ending in `*`; null: none'),
  addresses: listOf(address, 100)
    .nullish()
    .describe('IP addresses and ranges from which the key is accepted; null: any'),
  requestsPerMinute: count(mostPerMinute)
    .nullish()
    .describe('Most requests in a minute; null: no limit'),
  tokensPerMinute: count(mostPerMinute)
    .nullish()
    .describe('Most tokens in a minute; null: no limit'),
  concurrentRequests: count(mostPerMinute)
    .nullish()
    .describe('Most requests that run at the same time; null: no limit'),
  spendLimit: spendLimit.nullish().describe('Spend limit; null: none'),
  historyMode: z
    .enum(['off', 'metadata', 'full', 'sealed'], 'expected one of off, metadata, full, sealed')
    .nullish()
    .describe('What is kept of the messages of this key; null: as the account chose'),
}

const revision = z
  .number()
  .int()
  .min(0)
  .optional()
  .describe('Revision that was read; left out: any')
/**
 * `owner`: the account that must own the item; left out: any. `revision`: the revision that was read; left out: any.
 */
const one = { id: text, owner: text.optional(), revision }
const aDay = 86_400
const mostIds = 200
const showCostText = 'Whether replies contain their cost unless the request says otherwise'

const scope = z.enum(['read', 'write'], 'expected one of read, write')
const scopes = z
  .array(scope)
  .min(1, 'must not be empty')
  .max(2, 'expected each once')
  .refine((given) => new Set(given).size === given.length, 'expected each once')

const scopesText =
  '`read`: operations that change nothing. `write`: operations that change something'

const newKeyGroup = name
  .optional()
  .describe(
    'Group of models that the key may use; left out: `default`, or else the first that the account may use',
  )

export const keyInputs = {
  createKey: z.strictObject({
    account: name.describe('Id of the account; left out: the own account'),
    group: newKeyGroup,
    name: name.describe('Name for people'),
    ...narrowing,
    showCost: z.boolean().default(false).describe(showCostText),
  }),
  listKeys: z.strictObject({
    account: text.optional().describe(someAccount),
    ids: z
      .string()
      .max(16_384)
      .transform((value) => value.split(','))
      .pipe(z.array(z.string()).max(mostIds, `expected at most ${mostIds} ids`))
      .optional()
      .describe(`Only these keys, by id, at most ${mostIds}, separated by commas`),
    group: text.optional().describe('Only keys of this group'),
    status: z
      .enum(['active', 'disabled', 'expired'], 'expected one of active, disabled, expired')
      .optional()
      .describe('Only keys with this status'),
    search: text
      .max(128)
      .optional()
      .describe('Part of the name or of the last four characters, in any case'),
    sort: z
      .enum(
        ['created', 'name', 'lastUsed', 'spend', 'expiry'],
        'expected one of created, name, lastUsed, spend, expiry',
      )
      .optional()
      .describe('Sort key, `created` by default; `spend`: charges of this month in UTC'),
    order: z
      .enum(['asc', 'desc'], 'expected one of asc, desc')
      .optional()
      .describe('Ascending (the default) or descending'),
    playground: z
      .enum(['without', 'with', 'only'], 'expected one of without, with, only')
      .optional()
      .describe('Whether keys that the playground made are listed; `without` by default'),
    ...page,
  }),
  playgroundKey: z.strictObject({
    account: name,
    group: newKeyGroup,
  }),
  key: z.strictObject(one),
  updateKey: z.strictObject({
    ...one,
    name: name.optional().describe('Name for people'),
    group: name.optional().describe('Group of models that the key may use'),
    ...narrowing,
    showCost: z.boolean().optional().describe(showCostText),
  }),
  rotateKey: z.strictObject({
    ...one,
    overlapSeconds: z
      .number()
      .int('expected a whole number from 0 to 604800')
      .min(0, 'expected a whole number from 0 to 604800')
      .max(7 * aDay, 'expected a whole number from 0 to 604800')
      .default(aDay)
      .describe('For how many seconds the previous secret keeps working'),
  }),
  testKey: z.strictObject({
    id: one.id,
    owner: one.owner,
    address: z
      .string()
      .refine((given) => isAddressRange(given) && !given.includes('/'), 'expected an IP address')
      .optional()
      .describe('Client address to test; left out: the key’s address list is not tested'),
  }),
  createManagementKey: z.strictObject({
    name: name.describe('Name for people'),
    account: name
      .nullable()
      .default(null)
      .describe(
        'Id of the account that the key is bound to; null: the own account, or for operators the whole deployment',
      ),
    scopes: scopes.describe(scopesText),
    expiresAt: timeAhead.nullish().describe('When the key expires; null: never'),
  }),
  listManagementKeys: z.strictObject({ account: text.optional().describe(someAccount), ...page }),
  updateManagementKey: z.strictObject({
    ...one,
    name: name.optional().describe('Name for people'),
    scopes: scopes.optional().describe(scopesText),
    expiresAt: timeAhead.nullish().describe('When the key expires; null: never'),
  }),
}
