// What each use case takes: names, types, bounds, and what is said of a field that is wrong. The one file of this room
// that loads the schema library; import it for its types, and at first use.

import { z } from 'zod'
import { pathText } from '../config/problems.ts'
import { parseUnits } from '../money.ts'
import { priceProblem } from './price-card.ts'
import { readSince, readTime } from './time.ts'
import { AdminError } from './use-case.ts'

const mostPerMinute = 1_000_000_000_000

/** Names are compared letter by letter elsewhere, so blanks at the ends would be a trap. */
const nameExpected =
  'expected 1 to 128 characters, none of them a control character, no blank at the ends'
const name = z
  .string()
  .max(128, nameExpected)
  .regex(/^(?!\s)\P{C}+(?<!\s)$/u, nameExpected)

const text = z.string().regex(/\S/, 'must not be empty')

function count(most: number) {
  const expected = `expected a whole number from 1 to ${most}`
  return z.number(expected).int(expected).min(1, expected).max(most, expected)
}

const time = readBy(readTime, 'expected a time such as 2027-01-31T08:00:00Z')
const timeAhead = time.refine((ms) => ms > Date.now(), 'is in the past')
const since = readBy(
  (value) => readSince(value, Date.now()),
  'expected 1h, 2d or a time such as 2027-01-31T08:00:00Z',
)
const amount = readBy(
  (value) => parseUnits(value) || null,
  'expected a decimal above 0 with at most nine places, such as 12.50',
)

/** A text that `read` makes something of, or null. */
function readBy<Value>(read: (value: string) => Value | null, expected: string) {
  return z.string().transform((value, check) => {
    const made = read(value)
    if (made !== null) return made
    check.addIssue(expected)
    return z.NEVER
  })
}

const prices = z.record(z.string(), z.string()).superRefine((given, check) => {
  // A card without prices is how one is withdrawn.
  if (Object.keys(given).length === 0) check.addIssue('expected at least one')
  for (const [price, decimal] of Object.entries(given)) {
    const problem = priceProblem(price, decimal)
    if (problem !== null) check.addIssue(problem)
  }
})

const oneModel = text.refine(
  (value) => !value.includes('*'),
  'names that begin alike are priced in the configuration file',
)

const modelPattern = text.regex(
  /^[^*]*\*?$/,
  'expected a name, or a beginning with one * at its end',
)

const mostOnPage = 5_000

/** Of a list: all of it unless `limit` says how many, from the beginning unless `cursor` is a page's `next`. */
const page = { limit: count(mostOnPage).optional(), cursor: z.string().optional() }

const inputs = {
  createKey: z.strictObject({
    account: name,
    group: name,
    name,
    expiresAt: timeAhead.optional(),
    models: z.array(text).min(1, 'must not be empty').optional(),
    requestsPerMinute: count(mostPerMinute).optional(),
    tokensPerMinute: count(mostPerMinute).optional(),
    concurrentRequests: count(mostPerMinute).optional(),
    showCost: z.boolean().default(false),
  }),
  listKeys: z.strictObject({ account: text.optional(), ...page }),
  key: z.strictObject({ id: text }),
  channel: z.strictObject({ id: text }),
  listAccounts: z.strictObject(page),
  account: z.strictObject({ account: text }),
  adjustBalance: z.strictObject({
    account: name,
    amount,
    direction: z.enum(['credit', 'debit']),
    reference: name.optional(),
    reason: text,
    createAccount: z.boolean().default(false),
  }),
  listUsage: z.strictObject({
    account: text.optional(),
    key: text.optional(),
    model: text.optional(),
    status: z.number().int().optional(),
    since: since.optional(),
    until: time.optional(),
    ...page,
    limit: count(mostOnPage).default(100),
  }),
  listPrices: z.strictObject({ model: text.optional(), all: z.boolean().default(false), ...page }),
  setPrices: z.strictObject({
    model: oneModel,
    prices,
    from: timeAhead.optional(),
    source: text,
    allowLarge: z.boolean().default(false),
  }),
  withdrawPrices: z.strictObject({ model: text }),
  rollbackPrices: z.strictObject({
    model: text,
    version: count(Number.MAX_SAFE_INTEGER).optional(),
  }),
  applyFilePrices: z.strictObject({ allowLarge: z.boolean().default(false) }),
  backUp: z.strictObject({ file: text }),
  restore: z.strictObject({ file: text, force: z.boolean().default(false) }),
  importPrices: z.strictObject({
    document: z.string(),
    vendor: text.optional(),
    model: modelPattern.optional(),
    apply: z.boolean().default(false),
    allowLarge: z.boolean().default(false),
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
  throw new AdminError('invalid', pathText(path), issue?.message ?? 'is not what is expected')
}

/** For what a schema above has no words of its own. */
function plainly(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'unrecognized_keys') return 'is not known here'
  if (issue.code !== 'invalid_type') return undefined
  return issue.input === undefined ? 'is missing' : `expected ${issue.expected}`
}
