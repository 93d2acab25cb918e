// Input schemas of statistics.

import { z } from 'zod'
import type { RollupDimension } from '../store/rollup-table.ts'
import { count, text } from './schema-parts.ts'
import { metricNames } from './statistics-metrics.ts'
import { readSince } from './time.ts'
import { isZone } from './zone.ts'

const dimensionNames = [
  'model',
  'key',
  'group',
  'operation',
  'statusClass',
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

/** Values are those of the totals; an empty channel stands for requests that tried none. */
const filter = {
  account: list.optional(),
  key: list.optional(),
  model: list.optional(),
  channel: list.optional(),
  group: list.optional(),
  operation: list.optional(),
  statusClass: list.optional(),
}

const range = {
  since: moment.default('7d'),
  until: moment.optional(),
  timeZone: timeZone.default('UTC'),
}

const dimensions = list
  .pipe(
    z
      .array(z.enum(dimensionNames, `expected ${dimensionNames.join(', ')}`))
      .max(2, 'expected at most two')
      .refine((by) => new Set(by).size === by.length, 'expected each dimension once'),
  )
  .optional()

const metric = z.enum(metricNames, `expected one of ${metricNames.join(', ')}`)
const intervals = ['auto', 'quarter', 'hour', 'day', 'week', 'month'] as const

const mostSeries = 100

const series = z.strictObject({
  metric: metric.default('spend'),
  by: dimensions,
  interval: z.enum(intervals, `expected one of ${intervals.join(', ')}`).default('auto'),
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
  sort: z.enum(sorts, `expected one of ${sorts.join(', ')}`).default('spend'),
  order: z.enum(['desc', 'asc'], 'expected desc or asc').default('desc'),
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
    view: z.enum(['series', 'breakdown'], 'expected series or breakdown').default('series'),
    format: z.enum(['csv', 'json'], 'expected csv or json').default('csv'),
  }),
  readOverview: z.strictObject({
    account: text.optional(),
    timeZone: timeZone.default('UTC'),
  }),
}
