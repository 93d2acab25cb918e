// Routes for accounts, and for journal entries that an operator makes.

import { z } from '@hono/zod-openapi'
import { adjustBalance, listAccounts, readBalance } from '../../../admin/accounts.ts'
import { inputs } from '../../../admin/schema.ts'
import { nanoSchema, pageOf, pageQuery, timeSchema } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'

const balance = {
  account: z.string(),
  currency: z.string(),
  availableNano: nanoSchema,
  heldNano: nanoSchema,
  postedNano: nanoSchema,
}

const adjustment = z
  .object({
    ...balance,
    id: z.string(),
    posted: z.boolean().openapi({ description: 'false: the same was posted before' }),
    amountNano: nanoSchema.openapi({ description: 'Below 0 for a debit' }),
  })
  .openapi('Adjustment')

const params = z.strictObject({ id: z.string() })

export const accountRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/accounts',
    id: 'listAccounts',
    tag: 'Accounts',
    summary: 'The accounts and what they have',
    access: 'auditor',
    query: inputs.listAccounts.extend(pageQuery),
    reply: pageOf(z.object({ ...balance, createdAt: timeSchema }).openapi('Account')),
    run: async ({ admin, query }) => ({ body: await listAccounts(admin, query) }),
  }),
  route({
    method: 'get',
    path: '/api/accounts/{id}',
    id: 'showAccount',
    tag: 'Accounts',
    summary: 'What an account has',
    access: 'auditor',
    params,
    reply: z.object(balance).openapi('AccountBalance'),
    run: async ({ admin, params }) => ({ body: await readBalance(admin, { account: params.id }) }),
  }),
  route({
    method: 'post',
    path: '/api/accounts/{id}/adjustments',
    id: 'adjustBalance',
    tag: 'Accounts',
    summary: 'Give an account money or take it, with the reason',
    description: 'Once for each `reference`. A debit takes all of it or nothing.',
    access: 'admin',
    params,
    body: inputs.adjustBalance.omit({ account: true }),
    reply: adjustment,
    run: async ({ admin, params, body }) => ({
      body: await adjustBalance(admin, { ...body, account: params.id }),
    }),
  }),
]
