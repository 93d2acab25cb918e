// Schemas that many routes share: pages, times, whole numbers in a query.

import { z } from '@hono/zod-openapi'

/** A whole number in a query, where every value is text. */
export function wholeNumber(least: number, most: number) {
  const expected = `expected a whole number from ${least} to ${most}`
  return z
    .string()
    .regex(/^\d{1,15}$/, expected)
    .transform(Number)
    .refine((number) => number >= least && number <= most, expected)
    .openapi({ type: 'integer', minimum: least, maximum: most })
}

/** A boolean in a query: `true` or `false`. */
export const flag = z
  .enum(['true', 'false'], 'expected true or false')
  .transform((text) => text === 'true')
  .openapi({ type: 'boolean' })

const usualPage = 50
const mostOnPage = 500

/** Query parameters of every list. */
export const pageQuery = {
  limit: wholeNumber(1, mostOnPage)
    .default(usualPage)
    .openapi({ default: usualPage, description: 'Most items on the page' }),
  cursor: z.string().max(2_048).optional().openapi({
    description: '`next` of the previous page; left out: the first page',
  }),
}

/** The reply format of every list. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    items: z.array(item).readonly(),
    next: z.string().nullable().openapi({
      description: '`cursor` of the next page; null: this is the last page',
    }),
  })
}

/** A time as every reply shows it: RFC 3339 in UTC. */
export const timeSchema = z
  .string()
  .openapi({ format: 'date-time', description: 'Time in UTC, RFC 3339' })

/** A decimal string of integer nano-units (1e-9 of the currency's unit). */
export const nanoSchema = z.string().openapi({
  pattern: '^-?\\d+$',
  description:
    'Amount in nano-units (billionths of the currency’s unit), a decimal string of an integer',
})
