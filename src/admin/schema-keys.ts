// Input schemas of keys: those that call models, and management keys.

import { z } from 'zod'
import { isAddressRange, isTimeZone } from '../config/rules.ts'
import { amount, count, mostPerMinute, name, nano, page, text, timeAhead } from './schema-parts.ts'

const modelPattern = text
  .max(256, 'expected at most 256 characters')
  .regex(/^[^*]*\*?$/, 'expected a name, or a prefix followed by *')

function listOf<Item extends z.ZodType>(item: Item, most: number) {
  return z.array(item).min(1, 'must not be empty').max(most, `expected at most ${most}`)
}

const addressExpected = 'expected an IP address, or a range such as 10.0.0.0/8'
const address = z.string(addressExpected).refine(isAddressRange, addressExpected)

/** Given in units (`amount`) or in nano-units (`amountNano`), as it is shown. */
const spendLimit = z
  .strictObject({
    amount: amount.optional(),
    amountNano: nano.optional(),
    period: z
      .enum(['day', 'week', 'month', 'never'], 'expected one of day, week, month, never')
      .default('never'),
    /** The zone whose midnight begins a period; UTC by default. */
    timeZone: z
      .string()
      .max(64)
      .refine(isTimeZone, 'expected a time zone such as Asia/Shanghai')
      .nullish(),
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
  expiresAt: timeAhead.nullish(),
  models: listOf(modelPattern, 1_000).nullish(),
  deniedModels: listOf(modelPattern, 1_000).nullish(),
  addresses: listOf(address, 100).nullish(),
  requestsPerMinute: count(mostPerMinute).nullish(),
  tokensPerMinute: count(mostPerMinute).nullish(),
  concurrentRequests: count(mostPerMinute).nullish(),
  spendLimit: spendLimit.nullish(),
  historyMode: z
    .enum(['off', 'metadata', 'full', 'sealed'], 'expected one of off, metadata, full, sealed')
    .nullish(),
}

const revision = z.number().int().min(0).optional()
/**
 * `owner`: the account that must own the item; left out: any. `revision`: the revision that was read; left out: any.
 */
const one = { id: text, owner: text.optional(), revision }
const aDay = 86_400

const scope = z.enum(['read', 'write'], 'expected one of read, write')
const scopes = z
  .array(scope)
  .min(1, 'must not be empty')
  .max(2, 'expected each once')
  .refine((given) => new Set(given).size === given.length, 'expected each once')

export const keyInputs = {
  createKey: z.strictObject({
    account: name,
    group: name,
    name,
    ...narrowing,
    showCost: z.boolean().default(false),
  }),
  listKeys: z.strictObject({
    account: text.optional(),
    group: text.optional(),
    status: z
      .enum(['active', 'disabled', 'expired'], 'expected one of active, disabled, expired')
      .optional(),
    /** Part of the name or the hint, in any case. */
    search: text.max(128).optional(),
    sort: z
      .enum(
        ['created', 'name', 'lastUsed', 'spend', 'expiry'],
        'expected one of created, name, lastUsed, spend, expiry',
      )
      .optional(),
    order: z.enum(['asc', 'desc'], 'expected one of asc, desc').optional(),
    /** Keys that the console's playground made; `without` by default. */
    playground: z
      .enum(['without', 'with', 'only'], 'expected one of without, with, only')
      .optional(),
    ...page,
  }),
  playgroundKey: z.strictObject({ account: name, group: name.optional() }),
  key: z.strictObject(one),
  updateKey: z.strictObject({
    ...one,
    name: name.optional(),
    group: name.optional(),
    ...narrowing,
    showCost: z.boolean().optional(),
  }),
  rotateKey: z.strictObject({
    ...one,
    /** How long the previous secret keeps working. */
    overlapSeconds: z
      .number()
      .int('expected a whole number from 0 to 604800')
      .min(0, 'expected a whole number from 0 to 604800')
      .max(7 * aDay, 'expected a whole number from 0 to 604800')
      .default(aDay),
  }),
  testKey: z.strictObject({
    ...one,
    /** The address that the tested request is taken to come from. */
    address: z
      .string()
      .refine((given) => isAddressRange(given) && !given.includes('/'), 'expected an IP address')
      .optional(),
  }),
  createManagementKey: z.strictObject({
    name,
    /** null: the whole deployment. */
    account: name.nullable().default(null),
    scopes,
    expiresAt: timeAhead.nullish(),
  }),
  listManagementKeys: z.strictObject({ account: text.optional(), ...page }),
  updateManagementKey: z.strictObject({
    ...one,
    name: name.optional(),
    scopes: scopes.optional(),
    expiresAt: timeAhead.nullish(),
  }),
}
