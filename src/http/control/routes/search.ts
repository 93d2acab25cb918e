// The route of the search over all kinds of things.

import { z } from '@hono/zod-openapi'
import { inputs } from '../../../admin/schema.ts'
import { search } from '../../../admin/search.ts'
import { anyoneOf } from '../../../operations/model-access.ts'
import { type ControlRoute, route } from '../route.ts'
import { viewerOf } from '../viewer.ts'

const found = z
  .object({
    kind: z.enum(['request', 'key', 'model', 'account', 'channel', 'order']),
    id: z.string(),
    title: z.string(),
    detail: z.string().openapi({ description: 'A hint of a key, a status and a time, ...' }),
    account: z.string().nullable().openapi({ description: 'Whose it is; null: nobody’s' }),
  })
  .openapi('Found')

export const searchRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/search',
    id: 'search',
    tag: 'Search',
    summary: 'Any id or text: what there is of it',
    description:
      'Requests by their id (or, among the latest 10,000, by the vendor’s, the client’s or the trace’s), keys by id, name, ' +
      'the beginning of the secret or its last four characters, models by a part of the name, orders by their number or ' +
      'the provider’s of what was paid; for operators accounts by ' +
      'id, name or e-mail address, and channels. What has the very id comes first; at most 20.',
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
