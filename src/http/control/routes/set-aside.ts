// Routes for records that the ledger refused to settle.

import { z } from '@hono/zod-openapi'
import { inputs } from '../../../admin/schema.ts'
import { discardSetAside, listSetAsides, settleSetAside } from '../../../admin/set-aside.ts'
import { nanoSchema, timeSchema, wholeNumber } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'

const record = z
  .object({
    requestId: z.string(),
    account: z.string(),
    currency: z.string(),
    heldNano: nanoSchema.openapi({ description: 'What it holds of the balance, in nano-units' }),
    costNano: nanoSchema.nullable().openapi({
      description: 'What the request costs, in nano-units; null: the record cannot be read',
    }),
    reason: z.string().openapi({ description: 'Why the ledger refused it' }),
    at: timeSchema,
  })
  .openapi('SetAsideRecord')

const done = z
  .object({
    requestId: z.string(),
    outcome: z.enum(['settled', 'discarded']),
    changed: z.boolean().openapi({
      description: 'false: this was done before, and nothing was changed; all amounts are 0',
    }),
    currency: z.string(),
    releasedNano: nanoSchema.openapi({ description: 'What the record had held, in nano-units' }),
    chargeNano: nanoSchema.openapi({ description: 'What the wallet paid, in nano-units' }),
    writeoffNano: nanoSchema.openapi({ description: 'What it could not pay, in nano-units' }),
  })
  .openapi('ResolvedRecord')

const tag = 'Upkeep'
const params = inputs.settleSetAside
const statuses = { 404: 'No such record was set aside' }

export const setAsideRoutes: readonly ControlRoute[] = [
  route({
    tag,
    access: 'auditor',
    method: 'get',
    path: '/api/set-aside-records',
    id: 'listSetAsides',
    summary: 'List the records that the ledger refused and that still hold money, newest first',
    query: z.strictObject({
      limit: wholeNumber(1, 1_000).default(50).openapi({ description: 'At most this many' }),
    }),
    reply: z.object({ items: z.array(record).readonly() }),
    run: async ({ admin, query }) => ({ body: await listSetAsides(admin, query) }),
  }),
  route({
    tag,
    access: 'admin',
    method: 'post',
    path: '/api/set-aside-records/{id}/settle',
    id: 'settleSetAside',
    summary: 'Settle a set-aside record after all',
    description:
      'Charges the request from what the record holds and the free money of the account. Repeating it changes nothing.',
    params,
    reply: done,
    statuses: { ...statuses, 409: 'It was discarded, cannot be read, or is still refused' },
    run: async ({ admin, params }) => ({ body: await settleSetAside(admin, params) }),
  }),
  route({
    tag,
    access: 'admin',
    method: 'post',
    path: '/api/set-aside-records/{id}/discard',
    id: 'discardSetAside',
    summary: 'Release what a set-aside record holds, without charging it',
    description: 'Repeating it changes nothing.',
    params,
    body: inputs.discardSetAside.omit({ id: true }),
    reply: done,
    statuses: { ...statuses, 409: 'It was settled before' },
    run: async ({ admin, params, body }) => ({
      body: await discardSetAside(admin, { ...params, ...body }),
    }),
  }),
]
