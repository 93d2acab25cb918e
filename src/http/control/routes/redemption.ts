// Routes for redemption codes: batches for operators, redeeming for customers.

import { z } from '@hono/zod-openapi'
import {
  createRedemptionBatch,
  listRedemptionBatches,
  redeemCode,
  revokeRedemptionBatch,
} from '../../../admin/redemption.ts'
import { inputs } from '../../../admin/schema.ts'
import { keepPace } from '../pace.ts'
import { nanoSchema, pageOf, pageQuery, timeSchema } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'

const batch = z
  .object({
    id: z.string(),
    note: z.string(),
    amountNano: nanoSchema.openapi({ description: 'Credit of each code, in nano-units' }),
    currency: z.string(),
    codes: z.number().int().openapi({ description: 'Number of codes in the batch' }),
    redeemed: z.number().int().openapi({ description: 'Number of codes that were redeemed' }),
    actor: z.string().openapi({ description: 'Who created the batch' }),
    createdAt: timeSchema,
    expiresAt: timeSchema.nullable().openapi({ description: 'When its codes expire; null: never' }),
    revokedAt: timeSchema
      .nullable()
      .openapi({ description: 'When it was revoked; null: it was not' }),
  })
  .openapi('RedemptionBatch')

/** Codes have 100 random bits, so guessing is hopeless; this stops those who try nevertheless. */
const tooOften = 'Too many codes were tried; try again in a minute.'
const minute = { spanMs: 60_000, message: tooOften }
const ofAccount = { ...minute, count: 10 }
const ofAddress = { ...minute, count: 30 }

const tag = 'Redemption codes'

export const redemptionRoutes: readonly ControlRoute[] = [
  route({
    tag,
    access: 'admin',
    method: 'post',
    path: '/api/redemption-batches',
    id: 'createRedemptionBatch',
    summary: 'Create a batch of redemption codes',
    description:
      'The reply contains the codes, which cannot be read again. Each gives its credit once.',
    body: inputs.createRedemptionBatch,
    reply: batch
      .extend({
        secrets: z
          .array(z.string())
          .openapi({ description: 'The codes, shown in this reply only' }),
      })
      .openapi('NewRedemptionBatch'),
    status: 201,
    run: async ({ admin, body }) => ({ body: await createRedemptionBatch(admin, body) }),
  }),
  route({
    tag,
    access: 'auditor',
    method: 'get',
    path: '/api/redemption-batches',
    id: 'listRedemptionBatches',
    summary: 'List batches of redemption codes, newest first',
    query: inputs.listRedemptionBatches.extend(pageQuery),
    reply: pageOf(batch),
    run: async ({ admin, query }) => ({ body: await listRedemptionBatches(admin, query) }),
  }),
  route({
    tag,
    access: 'admin',
    method: 'post',
    path: '/api/redemption-batches/{id}/revoke',
    id: 'revokeRedemptionBatch',
    summary: 'Revoke the unused codes of a batch; redeemed credit stays',
    params: inputs.redemptionBatch,
    reply: z.object({ id: z.string(), revokedAt: timeSchema }),
    run: async ({ admin, params }) => ({ body: await revokeRedemptionBatch(admin, params) }),
  }),
  route({
    tag,
    access: 'user',
    method: 'post',
    path: '/api/redeem',
    id: 'redeemCode',
    summary: 'Redeem a code; its credit is available at once',
    body: inputs.redeem.extend({ account: inputs.listOrders.shape.account }),
    reply: z.object({ account: z.string(), amountNano: nanoSchema, currency: z.string() }),
    statuses: {
      404: 'There is no such account',
      409: 'The account was deleted, or it or all promotions can be credited no such amount any more',
      429: tooOften,
    },
    async run({ admin, scope, body, address, services }) {
      const account = scope.oneAccount(body.account)
      await keepPace(services.store, `code tried by account: ${account}`, ofAccount)
      if (address !== null) await keepPace(services.store, `code tried from: ${address}`, ofAddress)
      return { body: await redeemCode(admin, { code: body.code, account }) }
    },
  }),
]
