// Input schemas of preferences.

import { z } from 'zod'
import { isTimeZone } from '../config/rules.ts'
import { name, text } from './schema-parts.ts'

const mostViews = 50
const mostColumns = 64
const mostColumnBytes = 16_384

/** A page of the console with its search. */
const view = z.strictObject({
  name,
  page: text.max(256),
  search: z.string().max(4_096),
  /** Whether each column is shown, by column id; left out: the table's default. */
  columns: z
    .record(z.string().max(64), z.boolean())
    .refine((given) => Object.keys(given).length <= mostColumns, `expected at most ${mostColumns}`)
    .optional(),
})

const views = z
  .array(view)
  .max(mostViews, `expected at most ${mostViews}`)
  .refine(
    (given) => new Set(given.map((each) => each.name)).size === given.length,
    'expected each name once',
  )

const columns = z
  .record(z.string().max(64), z.unknown())
  .refine(
    (given) => new TextEncoder().encode(JSON.stringify(given)).length <= mostColumnBytes,
    `expected at most ${mostColumnBytes} bytes as JSON`,
  )

/** Of who buys credit, as printed on its receipts and statements. */
const buyer = z.strictObject({
  title: text.max(128, 'expected at most 128 characters').describe('Name of the buyer'),
  taxNumber: z
    .string()
    .max(64, 'expected at most 64 characters')
    .describe('Tax number; empty: none is printed'),
  address: z
    .string()
    .max(256, 'expected at most 256 characters')
    .describe('Address; empty: none is printed'),
})

export type Buyer = z.output<typeof buyer>

export const preferenceInputs = {
  preferences: z.strictObject({
    language: z
      .enum(['en', 'zh-CN'], 'expected en or zh-CN')
      .nullable()
      .describe('Language of the console; null: the browser’s')
      .default(null),
    theme: z
      .enum(['system', 'light', 'dark'], 'expected system, light or dark')
      .describe('Colours of the console')
      .default('system'),
    density: z
      .enum(['comfortable', 'compact'], 'expected comfortable or compact')
      .describe('Height of table rows')
      .default('comfortable'),
    timeZone: z
      .string()
      .max(64)
      .refine(isTimeZone, 'expected a time zone such as Asia/Shanghai')
      .nullable()
      .describe('IANA time zone in which times are shown; null: the browser’s')
      .default(null),
    views: views.describe('Saved views of pages, by name').default([]),
    columns: columns.describe('Settings of each table, by its id').default({}),
    buyer: buyer
      .nullable()
      .describe('Buyer that receipts and statements name; null: only the account')
      .default(null),
  }),
}
