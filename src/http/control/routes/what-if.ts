// The route that computes what past requests would cost at present prices.

import { z } from '@hono/zod-openapi'
import { inputs } from '../../../admin/schema.ts'
import { whatIf } from '../../../admin/what-if.ts'
import { nanoSchema, timeSchema, wholeNumber } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'
import { viewerOf } from '../viewer.ts'

const sum = {
  requests: z.number().int(),
  thenNano: nanoSchema.openapi({
    description: 'Charges and write-offs at the time, in nano-units',
  }),
  nowNano: nanoSchema.openapi({ description: 'Cost at present prices, in nano-units' }),
  differenceNano: nanoSchema.openapi({
    description: '`nowNano` less `thenNano`; positive: dearer now',
  }),
}

const answer = z
  .object({
    currency: z.string(),
    since: timeSchema,
    until: timeSchema,
    coveredSince: timeSchema.nullable().openapi({
      description:
        'Requests before this time were not priced, since only the newest 50,000 are; null: all were',
    }),
    exact: z.boolean().openapi({
      description:
        'Whether the amounts are what would have been charged; false: another model would count tokens differently',
    }),
    total: z.object(sum),
    keys: z
      .array(z.object({ key: z.string(), keyName: z.string(), ...sum }))
      .readonly()
      .openapi({ description: 'The 100 keys with the highest cost at the time, dearest first' }),
    unpriced: z
      .array(
        z.object({
          reason: z.enum(['model', 'group', 'kind', 'units']).openapi({
            description:
              '`model`: the group does not have it, or it has no price. `group`: it no longer exists. `kind`: the ' +
              'model does not serve such requests. `units`: it has no price for something that was counted',
          }),
          requests: z.number().int(),
          thenNano: nanoSchema,
        }),
      )
      .readonly()
      .openapi({ description: 'Requests that could not be priced, and are in no sum' }),
  })
  .openapi('WhatIf')

export const whatIfRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/what-if',
    id: 'whatIf',
    tag: 'Models',
    summary: 'Compute what past requests would cost now, with another model or group',
    access: 'user',
    query: inputs.whatIf.extend({
      days: wholeNumber(1, 90)
        .default(30)
        .openapi({ default: 30, description: 'Length of the period in days, up to `until`' }),
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
