// The route that computes what past requests would cost at present prices.

import { z } from '@hono/zod-openapi'
import { inputs } from '../../../admin/schema.ts'
import { whatIf } from '../../../admin/what-if.ts'
import { nanoSchema, timeSchema, wholeNumber } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'
import { viewerOf } from '../viewer.ts'

const sum = {
  requests: z.number().int(),
  thenNano: nanoSchema.openapi({ description: 'What was paid and what was written off' }),
  nowNano: nanoSchema,
  differenceNano: nanoSchema.openapi({ description: 'Above 0: dearer now' }),
}

const answer = z
  .object({
    currency: z.string(),
    since: timeSchema,
    until: timeSchema,
    coveredSince: timeSchema.nullable().openapi({
      description: 'Requests before this moment were not looked at: there are too many',
    }),
    exact: z.boolean().openapi({
      description: 'false: another model would have counted tokens otherwise',
    }),
    total: z.object(sum),
    keys: z.array(z.object({ key: z.string(), keyName: z.string(), ...sum })).readonly(),
    unpriced: z
      .array(
        z.object({
          reason: z.enum(['model', 'group', 'kind', 'units']),
          requests: z.number().int(),
          thenNano: nanoSchema,
        }),
      )
      .readonly(),
  })
  .openapi('WhatIf')

export const whatIfRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/what-if',
    id: 'whatIf',
    tag: 'Models',
    summary: 'What past requests would cost now, by another model or in another group',
    access: 'user',
    query: inputs.whatIf.extend({
      days: wholeNumber(1, 90).default(30).openapi({ default: 30 }),
    }),
    reply: answer,
    async run(asked) {
      const { admin, scope, services, query } = asked
      const input = { ...query, account: scope.account(query.account) }
      const offer = await services.running.offer()
      return { body: await whatIf(admin, offer, await viewerOf(asked), input) }
    },
  }),
]
