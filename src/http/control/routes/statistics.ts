// Routes for usage statistics: time series, breakdown, export, filter choices and the overview page.

import { z } from '@hono/zod-openapi'
import { readBreakdown } from '../../../admin/breakdown.ts'
import { listChoices } from '../../../admin/choices.ts'
import { readOverview } from '../../../admin/overview.ts'
import { inputs } from '../../../admin/schema.ts'
import { readStatistics } from '../../../admin/statistics.ts'
import { exportStatistics } from '../../../admin/statistics-export.ts'
import { flag, timeSchema, wholeNumber } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'

const tag = 'Statistics'
const { readStatistics: series, readBreakdown: breakdown } = inputs

const compare = flag.default(false).openapi({ default: false })

const nano = z.string().openapi({ description: 'In nano-units of the currency' })
const number = z.number().nullable()
const group = z
  .record(z.string(), z.string())
  .openapi({ description: 'Values by dimension; {} for the others together' })

const points = {
  values: z.array(number).readonly().optional(),
  total: number.optional(),
  valuesNano: z.array(nano).readonly().optional(),
  totalNano: nano.optional(),
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
    intervals: z.array(timeSchema).readonly(),
    series: z.array(z.object({ group, otherGroups: z.number().optional(), ...points })).readonly(),
    total: z.object(points),
    previous: z.object({ ...range, total: z.object(points) }).nullable(),
  })
  .openapi('Statistics')

const figures = {
  requests: z.number(),
  success: z.number(),
  failed: z.number(),
  tokens: z.record(z.string(), z.number()).readonly(),
  spendNano: nano,
  share: number,
  errorRate: number,
  cacheRate: number,
  writeoffNano: nano.optional(),
  vendorCostNano: nano.optional(),
}

const table = z
  .object({
    ...shownBy,
    ...range,
    rows: z.array(z.object({ group, otherGroups: z.number().optional(), ...figures })).readonly(),
    totals: z.object(figures),
  })
  .openapi('Breakdown')

const overviewFigures = {
  ...range,
  spendNano: nano,
  requests: z.number(),
  tokens: z.number(),
  errorRate: number,
  cacheHits: z.number(),
  cacheRate: number,
  ttftP50Ms: number,
  ttftP95Ms: number,
}
const period = z.object({ ...overviewFigures, previous: z.object(overviewFigures) })

const overview = z
  .object({
    currency: z.string(),
    timeZone: z.string(),
    today: period,
    days7: period,
    days30: period,
    balance: z
      .object({
        account: z.string(),
        currency: z.string(),
        availableNano: nano,
        heldNano: nano,
        postedNano: nano,
      })
      .nullable(),
    runwayDays: number,
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
    channel: values.optional(),
  })
  .openapi('StatisticsChoices')

export const statisticsRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/statistics',
    id: 'readStatistics',
    tag,
    summary: 'A figure over time, by up to two dimensions',
    access: 'user',
    query: series.extend({
      compare,
      limit: wholeNumber(1, 100).default(10).openapi({ default: 10 }),
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
    summary: 'What usage is made of, with a totals row',
    access: 'user',
    query: breakdown.extend({
      limit: wholeNumber(1, 1_000).default(100).openapi({ default: 100 }),
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
    summary: 'Statistics as a file: what the series or the breakdown shows, as CSV or JSON',
    access: 'user',
    query: inputs.exportStatistics.extend({
      compare,
      limit: wholeNumber(1, 1_000).optional(),
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
    summary: 'What statistics can be narrowed down to',
    access: 'user',
    query: z.strictObject({ account: z.string().max(128).optional() }),
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
    summary: 'Today, 7 and 30 days with the periods before them, and how long the balance lasts',
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
