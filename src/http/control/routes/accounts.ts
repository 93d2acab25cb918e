// Routes for accounts, and for journal entries that an operator makes.

import { z } from '@hono/zod-openapi'
import { adjustBalance, listAccounts, readBalance } from '../../../admin/accounts.ts'
import { inputs } from '../../../admin/schema.ts'
import { nanoSchema, pageOf, pageQuery, timeSchema } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'

const balance = {
  account: z.string().openapi({ description: 'Id of the account' }),
  currency: z.string().openapi({ description: 'Currency of the amounts' }),
  availableNano: nanoSchema.openapi({
    description: 'Nano-units that new requests may spend: `postedNano` less `heldNano`',
  }),
  heldNano: nanoSchema.openapi({ description: 'Nano-units that are held for running requests' }),
  postedNano: nanoSchema.openapi({
    description: 'Balance of the wallet in the journal, in nano-units, holds included',
  }),
}

const adjustment = z
  .object({
    ...balance,
    id: z.string().openapi({ description: 'Id of the journal entry' }),
    posted: z.boolean().openapi({
      description:
        'Whether this request posted the entry; false: the same adjustment was posted before, and nothing has changed',
    }),
    amountNano: nanoSchema.openapi({
      description: 'Amount of the adjustment in nano-units; negative for a debit',
    }),
  })
  .openapi('Adjustment')

const params = z.strictObject({ id: z.string() })

export const accountRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/accounts',
    id: 'listAccounts',
    tag: 'Accounts',
    summary: 'List accounts with their balances, sorted by id',
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
    summary: 'Get the balance of an account',
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
    summary: 'Credit or debit an account',
    description:
      'Posts one journal entry with the given reason. At most once for each `reference`: a repeated request changes ' +
      'nothing and answers with `posted: false`; the same `reference` with another account or amount is refused with ' +
      '409. Without `reference`, every request posts a new entry. A debit is posted whole, or refused with 409 where ' +
      'the account has less than that beside what running requests hold. `createAccount` creates a missing account.',
    access: 'admin',
    params: z.strictObject({ id: inputs.adjustBalance.shape.account }),
    body: inputs.adjustBalance.omit({ account: true }),
    reply: adjustment,
    run: async ({ admin, params, body }) => ({
      body: await adjustBalance(admin, { ...body, account: params.id }),
    }),
  }),
]
