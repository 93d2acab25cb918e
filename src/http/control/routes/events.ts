// Routes over what operators did.

import { z } from '@hono/zod-openapi'
import { listEvents } from '../../../admin/events.ts'
import { inputs } from '../../../admin/schema.ts'
import { pageOf, pageQuery, timeSchema } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'

const event = z
  .object({
    id: z.string(),
    at: timeSchema,
    actor: z.string(),
    role: z.enum(['user', 'admin', 'auditor']),
    action: z.string(),
    target: z.record(z.string(), z.string()).readonly(),
    detail: z.record(z.string(), z.unknown()).readonly(),
    address: z.string().nullable(),
  })
  .openapi('OperatorEvent')

export const eventRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/events',
    id: 'listEvents',
    tag: 'Operators',
    summary: 'What operators did, newest first',
    description: 'Every change by an admin or by a management key that is bound to no account.',
    access: 'auditor',
    query: inputs.listEvents.extend(pageQuery),
    reply: pageOf(event),
    run: async ({ admin, query }) => ({ body: await listEvents(admin, query) }),
  }),
]
