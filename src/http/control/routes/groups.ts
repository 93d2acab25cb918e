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
    multiplier: z.string().openapi({
      description: 'Decimal by which prices are multiplied for this group, such as `1.25`',
    }),
    modelMultipliers: z
      .record(z.string(), z.string())
      .readonly()
      .openapi({
        description:
          'Multipliers of single models, in place of `multiplier`, by model name or by a pattern ending in `*`; the ' +
          'longest match applies',
      }),
    limits: z
      .object({ requestsPerMinute: limit, tokensPerMinute: limit, concurrentRequests: limit })
      .readonly(),
    models: z
      .array(z.string())
      .readonly()
      .openapi({ description: 'Models that the group may use now' }),
    public: z.boolean().openapi({
      description: 'Whether everybody may read its models and prices without signing in',
    }),
    hasKeys: z.boolean().openapi({ description: 'Whether the caller has keys of this group' }),
  })
  .openapi('Group')

const use = z
  .object({
    id: z.string(),
    people: z.number().int().openapi({
      description:
        'Accounts that may make keys of this group because their list of groups names it',
    }),
    invitations: z
      .number()
      .int()
      .openapi({ description: 'Unused invitations whose account may use this group' }),
    keys: z.number().int().openapi({
      description: 'Keys of this group, in the store and in the configuration file',
    }),
    channels: z
      .array(z.string())
      .readonly()
      .openapi({ description: 'Channels that serve this group' }),
    isDefault: z.boolean().openapi({ description: 'Whether new accounts get this group' }),
    requests: z.number().int().openapi({ description: 'Finished requests of the last 24 hours' }),
    chargeNano: nanoSchema.openapi({
      description: 'Charges of the last 24 hours in nano-units',
    }),
  })
  .openapi('GroupUse')

export const groupRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/groups',
    id: 'listGroups',
    tag: 'Models',
    summary: 'List the groups that the caller may see, with models and price multipliers',
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
    summary: 'List the use of each group: people, invitations, keys, channels and requests',
    access: 'auditor',
    reply: z.object({
      items: z.array(use).readonly(),
      peopleOfAll: z
        .number()
        .int()
        .openapi({ description: 'Number of accounts that may make keys of every group' }),
      currency: z.string(),
    }),
    async run({ admin, services: { running } }) {
      const { channels } = running.config()
      return { body: await listGroupUses(admin, running.stored, channels) }
    },
  }),
]
