// Input schemas of all use cases: names, types, bounds, and error texts. In this folder only files named `schema*` load
// the schema library: import them as types, or at first use.

import { z } from 'zod'
import { pathText } from '../config/problems.ts'
import { priceProblem } from './price-card.ts'
import { alertInputs } from './schema-alerts.ts'
import { autoTopUpInputs } from './schema-auto-top-up.ts'
import { dataInputs } from './schema-data.ts'
import { doctorInputs } from './schema-doctor.ts'
import { historyInputs } from './schema-history.ts'
import { keyInputs } from './schema-keys.ts'
import { modelsInputs } from './schema-models.ts'
import { operationsInputs } from './schema-operations.ts'
import { orderInputs } from './schema-orders.ts'
import { amount, count, name, page, text, timeAhead } from './schema-parts.ts'
import { peopleInputs } from './schema-people.ts'
import { preferenceInputs } from './schema-preferences.ts'
import { redemptionInputs } from './schema-redemption.ts'
import { searchInputs } from './schema-search.ts'
import { settingsInputs } from './schema-settings.ts'
import { statementInputs } from './schema-statements.ts'
import { statisticsInputs } from './schema-statistics.ts'
import { storedInputs } from './schema-stored.ts'
import { usageInputs } from './schema-usage.ts'
import { AdminError } from './use-case.ts'

const prices = z
  .record(z.string(), z.string())
  .superRefine((given, check) => {
    // Withdrawing a card is another use case, which stores a card without prices.
    if (Object.keys(given).length === 0) check.addIssue('expected at least one')
    for (const [price, decimal] of Object.entries(given)) {
      const problem = priceProblem(price, decimal)
      if (problem !== null) check.addIssue(problem)
    }
  })
  .describe('Decimal price of a million units in the currency, by the name of the price')

const oneModel = text
  .refine(
    (value) => !value.includes('*'),
    'names that begin alike are priced in the configuration file',
  )
  .describe('Name of the model')

const allowLarge = z
  .boolean()
  .default(false)
  .describe('Whether a price may change more than tenfold, or to or from 0')

const modelPattern = text.regex(/^[^*]*\*?$/, 'expected a name, or a prefix followed by *')

export const inputs = {
  ...keyInputs,
  channel: z.strictObject({ id: text }),
  listChannels: z.strictObject(page),
  listAccounts: z.strictObject(page),
  account: z.strictObject({ account: text }),
  adjustBalance: z.strictObject({
    account: name,
    amount: amount.describe('Amount as a decimal of the currency, such as `12.50`'),
    direction: z
      .enum(['credit', 'debit'])
      .describe('Whether the amount is given to the account or taken from it'),
    reference: name
      .optional()
      .describe('Id that the client chooses: an adjustment is posted once for each reference'),
    reason: text.describe('Reason, shown in the journal'),
    createAccount: z
      .boolean()
      .default(false)
      .describe('true: creates the account if it is missing'),
  }),
  ...usageInputs,
  ...doctorInputs,
  ...alertInputs,
  ...autoTopUpInputs,
  ...orderInputs,
  listPrices: z.strictObject({
    model: text.optional().describe('Only cards of this model'),
    search: text.optional().describe('Part of the model’s name, in any case'),
    all: z.boolean().default(false),
    scheduled: z.boolean().default(false),
    ...page,
  }),
  cancelPrices: z.strictObject({
    model: text.describe('Name of the model'),
    version: count(Number.MAX_SAFE_INTEGER).describe('Version of the scheduled card'),
  }),
  priceEffect: z.strictObject({ model: oneModel, prices }),
  shippedDifferences: z.strictObject(page),
  setPrices: z.strictObject({
    model: oneModel,
    prices,
    from: timeAhead.optional().describe('When the prices take effect; left out: now'),
    source: text.describe('Where the prices come from'),
    allowLarge,
  }),
  withdrawPrices: z.strictObject({ model: text.describe('Name of the model') }),
  rollbackPrices: z.strictObject({
    model: text.describe('Name of the model'),
    version: count(Number.MAX_SAFE_INTEGER)
      .optional()
      .describe('Version to restore; left out: the card before the one in force'),
  }),
  applyFilePrices: z.strictObject({ allowLarge }),
  backUp: z.strictObject({ file: text }),
  restore: z.strictObject({ file: text, force: z.boolean().default(false) }),
  ...dataInputs,
  ...peopleInputs,
  ...preferenceInputs,
  ...redemptionInputs,
  ...statementInputs,
  ...searchInputs,
  ...modelsInputs,
  ...settingsInputs,
  ...storedInputs,
  ...statisticsInputs,
  ...historyInputs,
  ...operationsInputs,
  importPrices: z.strictObject({
    document: z.string().describe('Price document, as text'),
    vendor: text.optional().describe('Vendor whose prices are imported'),
    model: modelPattern
      .optional()
      .describe('Only this model, or models that match this pattern ending in `*`'),
    apply: z.boolean().default(false).describe('true: stores the prices; else only a preview'),
    allowLarge,
  }),
}

type Inputs = typeof inputs
export type InputName = keyof Inputs
export type Input<Name extends InputName> = z.output<Inputs[Name]>

/** Throws AdminError naming the first field at fault. */
export function checkInput<Name extends InputName>(
  useCase: Name,
  given: Readonly<Record<string, unknown>>,
): Input<Name> {
  const checked = inputs[useCase].safeParse(given, { error: plainly })
  if (checked.success) return checked.data as Input<Name>
  const [issue] = checked.error.issues
  const [unknown] = issue?.code === 'unrecognized_keys' ? issue.keys : []
  const path = unknown === undefined ? (issue?.path ?? []) : [unknown]
  throw new AdminError('invalid', pathText(path), issue?.message ?? 'is not valid')
}

/** Error texts where the schema gives none. */
export function plainly(issue: z.core.$ZodRawIssue): string | undefined {
  const { code, input } = issue
  if (code === 'unrecognized_keys') return 'is not known here'
  if (input === undefined && code !== 'custom') return 'is missing'
  switch (code) {
    case 'invalid_type':
      return `expected ${issue.expected}`
    case 'invalid_value':
      return `expected one of ${issue.values.join(', ')}`
    case 'too_small':
      if (issue.minimum === 1 && unitOf(input) !== '') return 'must not be empty'
      return `expected at least ${issue.minimum}${unitOf(input)}`
    case 'too_big':
      return `expected at most ${issue.maximum}${unitOf(input)}`
    case 'invalid_union':
      return 'is not valid'
    default:
      return undefined
  }
}

function unitOf(input: unknown): string {
  if (typeof input === 'string') return ' characters'
  return Array.isArray(input) ? ' elements' : ''
}
