// Routes for usage statistics: time series, breakdown, export, filter choices and the overview page.

import { z } from '@hono/zod-openapi'
import { readBreakdown } from '../../../admin/breakdown.ts'
import { listChoices } from '../../../admin/choices.ts'
import { readOverview } from '../../../admin/overview.ts'
import { inputs } from '../../../admin/schema.ts'
import { someAccount } from '../../../admin/schema-parts.ts'
import { readStatistics } from '../../../admin/statistics.ts'
import { exportStatistics } from '../../../admin/statistics-export.ts'
import { flag, timeSchema, wholeNumber } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'

const tag = 'Statistics'
const { readStatistics: series, readBreakdown: breakdown } = inputs

const compare = flag.default(false).openapi({
  default: false,
  description: 'true: also the total of the period of the same length before',
})

const nano = z.string().openapi({
  description:
    'Amount in nano-units (billionths of the currency’s unit), a decimal string of an integer',
})
const number = z.number().nullable().openapi({ description: 'null: there was nothing to measure' })
const group = z
  .record(z.string(), z.string())
  .openapi({ description: 'Value of each dimension of `by`; empty for all other groups together' })

const otherGroups = z.number().optional().openapi({
  description: 'Number of groups that are summed up here, since they are not shown',
})

const points = {
  values: z.array(number).readonly().optional().openapi({
    description: 'One value for each interval; left out for money',
  }),
  total: number.optional().openapi({ description: 'Value over the whole period' }),
  valuesNano: z.array(nano).readonly().optional().openapi({
    description: 'One amount in nano-units for each interval; only for money',
  }),
  totalNano: nano.optional().openapi({ description: 'Amount in nano-units over the whole period' }),
}

const range = { since: timeSchema, until: timeSchema }
const shownBy = { currency: z.string(), timeZone: z.string(), by: z.array(z.string()).readonly() }

const statistics = z
  .object({
    metric: z.string(),
    unit: z.string(),
    ...shownBy,
    interval: z.string(),
    ...range,
    intervals: z.array(timeSchema).readonly().openapi({
      description: 'Begin of each interval, which ends where the next begins',
    }),
    series: z.array(z.object({ group, otherGroups, ...points })).readonly(),
    total: z.object(points).openapi({ description: 'All series together' }),
    previous: z
      .object({ ...range, total: z.object(points) })
      .nullable()
      .openapi({
        description: 'The period of the same length before; null: `compare` was not true',
      }),
  })
  .openapi('Statistics')

const figures = {
  requests: z.number(),
  success: z.number(),
  failed: z.number(),
  tokens: z.record(z.string(), z.number()).readonly().openapi({
    description: 'Number of tokens by kind; each token is in one kind only',
  }),
  spendNano: nano.openapi({ description: 'Charges in nano-units' }),
  share: number.openapi({
    description: 'Share of the whole spend, from 0 to 1; null: nothing was spent',
  }),
  errorRate: number.openapi({ description: 'Share of the requests that failed, from 0 to 1' }),
  cacheRate: number.openapi({
    description: 'Share of the requests with cached input tokens, from 0 to 1',
  }),
  writeoffNano: nano.optional().openapi({
    description: 'Write-offs in nano-units; only for operators',
  }),
  vendorCostNano: nano.optional().openapi({
    description: 'Cost at the vendors in nano-units; only for operators',
  }),
}

const table = z
  .object({
    ...shownBy,
    ...range,
    rows: z.array(z.object({ group, otherGroups, ...figures })).readonly(),
    totals: z.object(figures),
  })
  .openapi('Breakdown')

const overviewFigures = {
  ...range,
  spendNano: nano.openapi({ description: 'Charges in nano-units' }),
  requests: z.number(),
  tokens: z.number(),
  errorRate: number.openapi({ description: 'Share of the requests that failed, from 0 to 1' }),
  cacheHits: z.number().openapi({ description: 'Requests with cached input tokens' }),
  cacheRate: number.openapi({
    description: 'Share of the requests with cached input tokens, from 0 to 1',
  }),
  ttftP50Ms: number.openapi({ description: 'Median time to the first token in ms' }),
  ttftP95Ms: number.openapi({
    description: '95th percentile of the time to the first token in ms',
  }),
}
const period = z.object({
  ...overviewFigures,
  previous: z.object(overviewFigures).openapi({
    description: 'The period as many days earlier, with the same local times',
  }),
})

const overview = z
  .object({
    currency: z.string(),
    timeZone: z.string(),
    today: period.openapi({ description: 'Since midnight in `timeZone`' }),
    days7: period.openapi({ description: 'The last 7 days in `timeZone`, today included' }),
    days30: period.openapi({ description: 'The last 30 days in `timeZone`, today included' }),
    balance: z
      .object({
        account: z.string(),
        currency: z.string(),
        availableNano: nano,
        heldNano: nano,
        postedNano: nano,
      })
      .nullable()
      .openapi({ description: 'null: the figures are of all accounts' }),
    runwayDays: number.openapi({
      description:
        'Days for which the available balance lasts at the pace of the last 7 days; null: nothing was spent, or no ' +
        'balance',
    }),
  })
  .openapi('Overview')

const values = z.array(z.string()).readonly()
const choices = z
  .object({
    model: values,
    key: values,
    group: values,
    operation: values,
    statusClass: values,
    tag: values,
    channel: values.optional().openapi({ description: 'Only for operators' }),
  })
  .openapi('StatisticsChoices')

export const statisticsRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/statistics',
    id: 'readStatistics',
    tag,
    summary: 'Get a metric over time, by up to two dimensions',
    description:
      'Users get the usage of their own account; operators that of all accounts or of `account`. The `limit` largest ' +
      'groups have a series each, and all others share one.',
    access: 'user',
    query: series.extend({
      compare,
      limit: wholeNumber(1, 100)
        .default(10)
        .openapi({ default: 10, description: 'Number of groups that have a series of their own' }),
    }),
    reply: statistics,
    run: async ({ admin, query, scope: { owner } }) => ({
      body: await readStatistics(admin, { ...query, owner }),
    }),
  }),
  route({
    method: 'get',
    path: '/api/statistics/breakdown',
    id: 'readBreakdown',
    tag,
    summary: 'Get a breakdown of usage by up to two dimensions, with totals',
    access: 'user',
    query: breakdown.extend({
      limit: wholeNumber(1, 1_000)
        .default(100)
        .openapi({ default: 100, description: 'Number of groups that have a row of their own' }),
    }),
    reply: table,
    run: async ({ admin, query, scope: { owner } }) => ({
      body: await readBreakdown(admin, { ...query, owner }),
    }),
  }),
  route({
    method: 'get',
    path: '/api/statistics/export',
    id: 'exportStatistics',
    tag,
    summary: 'Export statistics as CSV or JSON',
    description:
      'What `GET /api/statistics` (`view=series`) or the breakdown (`view=breakdown`) shows, as a file.',
    access: 'user',
    query: inputs.exportStatistics.extend({
      compare,
      limit: wholeNumber(1, 1_000).optional().openapi({
        description: 'Number of groups; by default 10 series or 100 rows',
      }),
    }),
    produces: ['text/csv', 'application/json'],
    async run({ admin, query, scope: { owner } }) {
      const { contentType, fileName, chunks } = await exportStatistics(admin, { ...query, owner })
      return new Response(streamOf(chunks), {
        headers: {
          'content-type': contentType,
          'content-disposition': `attachment; filename="${fileName}"`,
        },
      })
    },
  }),
  route({
    method: 'get',
    path: '/api/statistics/choices',
    id: 'listStatisticsChoices',
    tag,
    summary: 'List the values by which statistics can be filtered, at most 500 of each dimension',
    access: 'user',
    query: z.strictObject({
      account: z.string().max(128).optional().openapi({ description: someAccount }),
    }),
    reply: choices,
    run: async ({ admin, query, scope }) => ({
      body: await listChoices(admin, { account: scope.account(query.account), owner: scope.owner }),
    }),
  }),
  route({
    method: 'get',
    path: '/api/overview',
    id: 'readOverview',
    tag,
    summary: 'Get the figures of today, 7 and 30 days, and how long the balance lasts',
    access: 'user',
    query: inputs.readOverview,
    reply: overview,
    run: async ({ admin, query, scope }) => ({
      body: await readOverview(admin, { ...query, account: scope.account(query.account) }),
    }),
  }),
]

/** Each chunk is produced when the client takes it. */
function streamOf(chunks: Iterable<string>): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.iterator]()
  const encoder = new TextEncoder()
  return new ReadableStream({
    pull(controller) {
      const { done, value } = iterator.next()
      if (done === true) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
  })
}
