// Routes for groups of models: the groups a caller may use, and who uses a group.

import { z } from '@hono/zod-openapi'
import { listGroups } from '../../../admin/group-list.ts'
import { listGroupUses } from '../../../admin/group-uses.ts'
import { inputs } from '../../../admin/schema.ts'
import { nanoSchema, pageOf, pageQuery } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'
import { viewerOf } from '../viewer.ts'

const limit = z.number().int().optional()

const group = z
  .object({
    id: z.string(),
    multiplier: z.string(),
    modelMultipliers: z.record(z.string(), z.string()).readonly().openapi({
      description:
        'Of some models, by name or by beginning with a * at the end; the longest counts',
    }),
    limits: z
      .object({ requestsPerMinute: limit, tokensPerMinute: limit, concurrentRequests: limit })
      .readonly(),
    models: z.array(z.string()).readonly(),
    public: z.boolean(),
    hasKeys: z.boolean(),
  })
  .openapi('Group')

const use = z
  .object({
    id: z.string(),
    people: z.number().int().openapi({ description: 'That may make keys of it by name' }),
    invitations: z.number().int().openapi({ description: 'That may still be used' }),
    keys: z.number().int(),
    channels: z.array(z.string()).readonly().openapi({ description: 'That serve it' }),
    isDefault: z.boolean().openapi({ description: 'A new account gets it' }),
    requests: z.number().int().openapi({ description: 'Of the last 24 hours' }),
    chargeNano: nanoSchema,
  })
  .openapi('GroupUse')

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
  route({
    method: 'get',
    path: '/api/groups/uses',
    id: 'listGroupUses',
    tag: 'Models',
    summary: 'What uses each group: people, keys, channels, and requests of the last 24 hours',
    access: 'auditor',
    reply: z.object({
      items: z.array(use).readonly(),
      peopleOfAll: z.number().int().openapi({ description: 'Who may make keys of any group' }),
      currency: z.string(),
    }),
    async run({ admin, services: { running } }) {
      const { channels } = running.config()
      return { body: await listGroupUses(admin, running.stored, channels) }
    },
  }),
]
