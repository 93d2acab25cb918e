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
    day: z.string().openapi({ format: 'date', description: 'In UTC' }),
    account: z.string(),
    state: z.enum(['equal', 'different', 'pruned']).openapi({
      description: 'pruned: its requests are kept no more, and there are totals alone',
    }),
    rows: sum.nullable().openapi({ description: 'What the requests say' }),
    entries: z.object(amounts).nullable().openapi({ description: 'What the journal has' }),
    totals: sum.openapi({ description: 'What statistics are made of' }),
  })
  .openapi('ReconciledDay')

const difference = z
  .object({
    requestId: z.string(),
    account: z.string(),
    at: timeSchema,
    kind: z.enum(['entry', 'price', 'row']).openapi({
      description:
        'entry: the journal has something else for it; price: its tokens at its prices give another amount; row: an entry without a request',
    }),
    message: z.string(),
  })
  .openapi('ReconcileDifference')

const answer = z
  .object({
    currency: z.string(),
    since: timeSchema,
    until: timeSchema.openapi({ description: 'What this answer goes to' }),
    ok: z.boolean(),
    items: z.array(day).readonly(),
    differences: z.array(difference).readonly().openapi({ description: 'The first 100' }),
    moreDifferences: z.number().int(),
    next: z.string().nullable().openapi({
      description: 'The cursor of what comes after; null: all of the period is done',
    }),
  })
  .openapi('Reconciled')

export const reconcileRoutes: readonly ControlRoute[] = [
  route({
    method: 'post',
    path: '/api/reconcile',
    id: 'reconcile',
    tag: 'Upkeep',
    summary: 'A period recomputed three ways, to the nano-unit',
    description:
      'What requests say, what the journal has and what the totals say, by day and account; and every request priced again. A long period is done in pieces: ask again with `cursor` until `next` is null. A day may be in two answers, whose sums are to be added.',
    access: 'user',
    reads: true,
    body: inputs.reconcile,
    reply: answer,
    run: async ({ admin, body, scope }) => ({
      body: await reconcile(admin, { ...body, account: scope.account(body.account) }),
    }),
  }),
]
