// The route of the search over all kinds of things.

import { z } from '@hono/zod-openapi'
import { inputs } from '../../../admin/schema.ts'
import { search } from '../../../admin/search.ts'
import { anyoneOf } from '../../../operations/model-access.ts'
import { timeSchema } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'
import { viewerOf } from '../viewer.ts'

const found = z
  .object({
    kind: z.enum(['request', 'key', 'model', 'account', 'channel', 'group', 'order']),
    id: z.string(),
    title: z.string(),
    detail: z.string().openapi({
      description:
        'What tells the match from others, such as the status of a request or the provider’s number of an order',
    }),
    at: timeSchema
      .nullable()
      .openapi({ description: 'When a request ended or an order was made; null for others' }),
    account: z
      .string()
      .nullable()
      .openapi({ description: 'Account that owns it; null: none does' }),
  })
  .openapi('Found')

export const searchRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/search',
    id: 'search',
    tag: 'Search',
    summary: 'Search by id or text',
    description:
      'Finds requests by their id (or, among the latest 10,000, by the id that the vendor, the client or the trace gave ' +
      'them), keys by id, part of the name, beginning of the secret or its last four characters, models by part of the ' +
      'name, and orders by their own number or the payment provider’s; for operators also channels and groups, and accounts by id, ' +
      'name, e-mail address, identity or key. Exact matches of an id come first; at most 20 results.',
    access: 'user',
    query: inputs.search,
    reply: z.object({ items: z.array(found).readonly() }),
    async run(asked) {
      const { admin, query, scope, services } = asked
      const { groups } = await viewerOf(asked)
      const names = groups.flatMap((group) => services.models(anyoneOf(group)))
      const rooms = { owner: scope.owner, config: services.running.config() }
      const models = [...new Set(names)].sort()
      return { body: await search(admin, query, { ...rooms, models }) }
    },
  }),
]
