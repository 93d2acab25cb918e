// Parts of input schemas: names, times, amounts and pages. Loads the schema library, as the schemas do.

import { z } from 'zod'
import { formatUnits, maxNano, parseUnits } from '../money.ts'
import { readSince, readTime } from './time.ts'

export const mostPerMinute = 1_000_000_000_000

/**
 * Names are compared character by character, so blanks at the ends and invisible characters would be traps. A
 * zero-width joiner is allowed between two emoji, which it makes one.
 */
const nameExpected =
  'expected 1 to 128 characters, none of them a control character, no blank at the ends'
export const name = z
  .string()
  .max(128, nameExpected)
  .regex(
    /^(?!\s)(?:\P{C}|(?<=\p{Extended_Pictographic}[\u{FE0F}\u{1F3FB}-\u{1F3FF}]?)\u200D(?=\p{Extended_Pictographic}))+(?<!\s)$/u,
    nameExpected,
  )

export const text = z.string().regex(/\S/, 'must not be empty')

export function count(most: number) {
  const expected = `expected a whole number from 1 to ${most}`
  return z.number(expected).int(expected).min(1, expected).max(most, expected)
}

const time = readBy(readTime, 'expected a time such as 2027-01-31T08:00:00Z')
export const until = time.describe('End of the period, not included, such as 2027-01-31T08:00:00Z')
export const timeAhead = time.refine((ms) => ms > Date.now(), 'is in the past')
export const since = readBy(
  (value) => readSince(value, Date.now()),
  'expected 1h, 2d or a time such as 2027-01-31T08:00:00Z',
).describe(
  'Begin of the period: a time such as 2027-01-31T08:00:00Z, or a span before now such as 1h or 2d',
)
export const amount = readBy(
  (value) => parseUnits(value) || null,
  (value) =>
    /^[1-9]\d{9,}(?:\.\d{1,9})?$/.test(value)
      ? `expected at most ${formatUnits(maxNano)}`
      : 'expected a decimal above 0 with at most nine places, such as 12.50',
)

export const nano = readBy(
  (value) => (/^[1-9]\d{0,17}$/.test(value) ? BigInt(value) : null),
  'expected a whole number of nano-units above 0, of at most 18 digits',
)

/** A text that `read` converts; where it returns null, the schema reports `expected`, which may depend on the text. */
export function readBy<Value>(
  read: (value: string) => Value | null,
  expected: string | ((value: string) => string),
) {
  return z.string().transform((value, check) => {
    const made = read(value)
    if (made !== null) return made
    check.addIssue(typeof expected === 'string' ? expected : expected(value))
    return z.NEVER
  })
}

export const mostOnPage = 5_000

/** Description of the account of a list. */
export const someAccount =
  'Id of the account, which only operators may choose; left out: the own account, or for operators all accounts'
/** Description of the account of a single object. */
export const oneAccount =
  'Id of the account, which only operators may choose; left out: the own account'

/** A page of a list: all items unless `limit` is given, from the beginning unless `cursor` is a page's `next`. */
export const page = { limit: count(mostOnPage).optional(), cursor: z.string().optional() }
