// Input schemas of statistics.

import { z } from 'zod'
import type { RollupDimension } from '../store/rollup-table.ts'
import { count, someAccount, text } from './schema-parts.ts'
import { metricNames } from './statistics-metrics.ts'
import { readSince } from './time.ts'
import { isZone } from './zone.ts'

const dimensionNames = [
  'model',
  'key',
  'group',
  'operation',
  'statusClass',
  'tag',
  'channel',
  'account',
] as const satisfies readonly RollupDimension[]

const mostValues = 50

/** Texts separated by commas; a comma within a text is written with a backslash before it. */
const list = z
  .string()
  .max(16_384)
  .transform((value) => value.split(/(?<!\\),/).map((each) => each.replaceAll('\\,', ',').trim()))
  .pipe(z.array(z.string().max(1_024)).max(mostValues, `expected at most ${mostValues} values`))

const moment = text
  .max(64)
  .refine(
    (value) => readSince(value, Date.now()) !== null,
    'expected 1h, 7d, 2027-01-31 or a time such as 2027-01-31T08:00:00Z',
  )

export const timeZone = z
  .string()
  .refine(isZone, 'expected a time zone such as Europe/Berlin or Asia/Kolkata')

const listText = 'Separated by commas; a comma within a value is written `\\,`'
/** Values are those of the totals; an empty channel stands for requests that tried none. */
const filter = {
  account: list.optional().describe(`Only these accounts; only for operators. ${listText}`),
  key: list.optional().describe(`Only these keys, by id. ${listText}`),
  model: list.optional().describe(`Only these models. ${listText}`),
  channel: list
    .optional()
    .describe(
      `Only these channels; only for operators. An empty text stands for requests that reached none. ${listText}`,
    ),
  group: list.optional().describe(`Only these groups. ${listText}`),
  operation: list.optional().describe(`Only these operations. ${listText}`),
  statusClass: list
    .optional()
    .describe(`Only these classes of status, such as \`2xx\`. ${listText}`),
  tag: list
    .optional()
    .describe(
      `Only requests labelled so (\`x-tollgate-tag\`). An empty text stands for those without a label. ${listText}`,
    ),
}

export const zoneText = 'IANA time zone whose midnight begins a day'
const range = {
  since: moment
    .default('7d')
    .describe(
      'Begin of the period: a time, a day in `timeZone`, or a span before now such as `1h` or `7d`',
    ),
  until: moment
    .optional()
    .describe('End of the period, not included, in the same form; left out: now'),
  timeZone: timeZone.default('UTC').describe(zoneText),
}

const dimensions = list
  .pipe(
    z
      .array(z.enum(dimensionNames, `expected ${dimensionNames.join(', ')}`))
      .max(2, 'expected at most two')
      .refine((by) => new Set(by).size === by.length, 'expected each dimension once'),
  )
  .optional()
  .describe(
    `Dimensions to group by, at most two, separated by a comma: ${dimensionNames.join(', ')}`,
  )

const metric = z.enum(metricNames, `expected one of ${metricNames.join(', ')}`)
const intervals = ['auto', 'quarter', 'hour', 'day', 'week', 'month'] as const

const mostSeries = 100

const series = z.strictObject({
  metric: metric.default('spend').describe('Figure to compute'),
  by: dimensions,
  interval: z
    .enum(intervals, `expected one of ${intervals.join(', ')}`)
    .default('auto')
    .describe('Length of an interval; `auto`: chosen by the length of the period'),
  compare: z.boolean().default(false),
  limit: count(mostSeries).default(10),
  ...range,
  ...filter,
})

const mostRows = 1_000
const sorts = [
  'spend',
  'requests',
  'success',
  'failed',
  'tokens',
  'input',
  'cachedInput',
  'output',
  'reasoning',
  'errorRate',
  'cacheRate',
] as const

const breakdown = z.strictObject({
  by: dimensions,
  sort: z
    .enum(sorts, `expected one of ${sorts.join(', ')}`)
    .default('spend')
    .describe('Figure to sort by'),
  order: z
    .enum(['desc', 'asc'], 'expected desc or asc')
    .default('desc')
    .describe('Descending or ascending'),
  limit: count(mostRows).default(100),
  ...range,
  ...filter,
})

export const statisticsInputs = {
  readStatistics: series,
  readBreakdown: breakdown,
  /** The input of either view, and which view to export. */
  exportStatistics: z.strictObject({
    ...series.shape,
    ...breakdown.shape,
    limit: count(mostRows).optional(),
    view: z
      .enum(['series', 'breakdown'], 'expected series or breakdown')
      .default('series')
      .describe('What to export'),
    format: z
      .enum(['csv', 'json'], 'expected csv or json')
      .default('csv')
      .describe('Format of the file'),
  }),
  readOverview: z.strictObject({
    account: text.optional().describe(someAccount),
    timeZone: timeZone.default('UTC').describe(zoneText),
  }),
}
