// The route over the groups of models, for those who use them.

import { z } from '@hono/zod-openapi'
import { listGroups } from '../../../admin/group-list.ts'
import { inputs } from '../../../admin/schema.ts'
import { pageOf, pageQuery } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'
import { viewerOf } from '../viewer.ts'

const limit = z.number().int().optional()

const group = z
  .object({
    id: z.string(),
    multiplier: z.string(),
    limits: z
      .object({ requestsPerMinute: limit, tokensPerMinute: limit, concurrentRequests: limit })
      .readonly(),
    models: z.array(z.string()).readonly(),
    public: z.boolean(),
    hasKeys: z.boolean(),
  })
  .openapi('Group')

export const groupRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/groups',
    id: 'listGroups',
    tag: 'Models',
    summary: 'The groups you may see: what they have, and what they multiply prices by',
    access: 'user',
    query: inputs.listGroups.extend(pageQuery),
    reply: pageOf(group),
    async run(asked) {
      const offer = await asked.services.running.offer()
      return { body: listGroups(offer, await viewerOf(asked), asked.query) }
    },
  }),
]
