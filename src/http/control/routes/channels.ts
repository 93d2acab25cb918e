// Routes over channels, and the groups of models that they serve.

import { z } from '@hono/zod-openapi'
import { listChannels, testChannel } from '../../../admin/channels.ts'
import { listGroups } from '../../../admin/group-list.ts'
import { inputs } from '../../../admin/schema.ts'
import { pageOf, pageQuery } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'
import { viewerOf } from '../viewer.ts'

const channel = z
  .object({
    id: z.string(),
    vendor: z.string(),
    baseUrl: z.string().nullable(),
    dialect: z.string().nullable(),
    models: z.record(z.string(), z.string()).readonly().nullable().openapi({
      description: "Public name to the vendor's; null: those that are shipped of the vendor",
    }),
    groups: z.array(z.string()).readonly().nullable().openapi({ description: 'null: every group' }),
    priority: z.number().int(),
    weight: z.number().int(),
    origin: z.enum(['file', 'environment', 'built-in']),
    state: z.enum(['ok', 'degraded', 'open', 'disabled']).openapi({
      description: 'As the process that answers sees it; open: it is not asked at the moment',
    }),
  })
  .openapi('Channel')

const probe = z
  .object({
    ok: z.boolean(),
    model: z.string().nullable(),
    durationMs: z.number(),
    message: z.string(),
  })
  .openapi('ChannelTest')

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

export const channelRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/channels',
    id: 'listChannels',
    tag: 'Channels',
    summary: 'The channels that serve, and how each is',
    access: 'auditor',
    query: inputs.listChannels.extend(pageQuery),
    reply: pageOf(channel),
    async run({ services: { running }, query }) {
      return { body: listChannels(running.config(), running.channelState, query) }
    },
  }),
  route({
    method: 'post',
    path: '/api/channels/{id}/test',
    id: 'testChannel',
    tag: 'Channels',
    summary: 'Make one small call to a channel, which its vendor may charge for',
    access: 'admin',
    params: inputs.channel,
    reply: probe,
    run: async ({ services, params }) => ({
      body: await testChannel(services.running.config(), params),
    }),
  }),
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
