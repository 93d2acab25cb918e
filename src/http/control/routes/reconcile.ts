// The route that computes a period's totals in three ways, to compare them.

import { z } from '@hono/zod-openapi'
import { reconcile } from '../../../admin/reconcile.ts'
import { inputs } from '../../../admin/schema.ts'
import { nanoSchema, timeSchema } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'

const amounts = { chargeNano: nanoSchema, writeoffNano: nanoSchema }
const sum = z.object({ requests: z.number().int(), ...amounts }).openapi('ReconciledSum')

const day = z
  .object({
    day: z.string().openapi({ format: 'date', description: 'Day in UTC' }),
    account: z.string(),
    state: z.enum(['equal', 'different', 'pruned']).openapi({
      description: '`pruned`: the requests of the day are no longer kept, and only totals remain',
    }),
    rows: sum.nullable().openapi({
      description: 'Sum of the request records; null: pruned',
    }),
    entries: z.object(amounts).nullable().openapi({
      description: 'Sum of the journal entries; null: pruned',
    }),
    totals: sum.openapi({ description: 'Sum of the totals that statistics are computed from' }),
  })
  .openapi('ReconciledDay')

const difference = z
  .object({
    requestId: z.string(),
    account: z.string(),
    at: timeSchema,
    kind: z.enum(['entry', 'price', 'row']).openapi({
      description:
        '`entry`: the journal has another amount. `price`: tokens and prices of the request give another amount. ' +
        '`row`: a journal entry without a request record',
    }),
    message: z.string(),
  })
  .openapi('ReconcileDifference')

const answer = z
  .object({
    currency: z.string(),
    since: timeSchema,
    until: timeSchema.openapi({ description: 'End of the period that this answer covers' }),
    ok: z.boolean().openapi({ description: 'Whether nothing differs' }),
    items: z.array(day).readonly(),
    differences: z
      .array(difference)
      .readonly()
      .openapi({ description: 'The first 100 differences' }),
    moreDifferences: z.number().int().openapi({
      description: 'Number of differences that are not listed',
    }),
    next: z.string().nullable().openapi({
      description: 'Cursor for the rest of the period; null: this answer completes it',
    }),
  })
  .openapi('Reconciled')

export const reconcileRoutes: readonly ControlRoute[] = [
  route({
    method: 'post',
    path: '/api/reconcile',
    id: 'reconcile',
    tag: 'Upkeep',
    summary: 'Reconcile a period: compare request records, journal and totals',
    description:
      'Computes the sums of request records, journal entries and totals by day and account, to the nano-unit, and prices ' +
      'every request again. Changes nothing. A long period is answered in parts: repeat the request with `cursor` until ' +
      '`next` is null. A day may be split over two answers, whose sums are to be added. At most 3,700 days.',
    access: 'user',
    reads: true,
    body: inputs.reconcile,
    reply: answer,
    run: async ({ admin, body, scope }) => ({
      body: await reconcile(admin, { ...body, account: scope.account(body.account) }),
    }),
  }),
]
