// Public routes: what this deployment offers, and its status page.

import { z } from '@hono/zod-openapi'
import { statusFeed } from '../../../admin/status-feed.ts'
import { readStatusPage } from '../../../admin/status-page.ts'
import { feedPlace, feedReply } from '../feed-reply.ts'
import { timeSchema } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'

const state = z.enum(['operational', 'degraded', 'down', 'unknown']).openapi({
  description: 'Of the last quarters of an hour; unknown: there were fewer than 10 requests',
})
const success = {
  requests: z.number().int().openapi({ description: 'Those at fault themselves (4xx) left out' }),
  successRate: z.number().nullable().openapi({ description: 'null: there was no request' }),
}

const page = z
  .object({
    at: timeSchema,
    days: z
      .array(z.string().openapi({ format: 'date' }))
      .readonly()
      .openapi({
        description: '90 days in UTC, oldest first',
      }),
    state: state.openapi({ description: 'The worst of the models' }),
    models: z
      .array(
        z
          .object({
            model: z.string(),
            state,
            ...success,
            daily: z.array(z.object(success)).readonly().openapi({ description: 'As `days`' }),
          })
          .openapi('ModelStatus'),
      )
      .readonly(),
    incidents: z
      .array(
        z
          .object({
            severity: z.enum(['warning', 'critical']),
            state: z.enum(['scheduled', 'ongoing', 'over']),
            text: z.record(z.string(), z.string()).readonly().openapi({
              description: 'By language',
            }),
            from: timeSchema.nullable(),
            until: timeSchema.nullable(),
          })
          .openapi('Incident'),
      )
      .readonly(),
  })
  .openapi('StatusPage')

export const statusPageRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/features',
    id: 'listFeatures',
    tag: 'Models',
    summary: 'What of this deployment is turned on',
    access: 'public',
    reply: z.object({
      statusPage: z.boolean().openapi({ description: 'Whether `/api/status` answers' }),
    }),
    async run({ services: { running } }) {
      const { statusPage } = running.settings()
      return { body: { statusPage } }
    },
  }),
  route({
    method: 'get',
    path: '/api/status',
    id: 'readStatusPage',
    tag: 'Models',
    summary: 'How the models of public groups have done in 90 days, and incidents',
    description: 'Only where the setting `statusPage` is true; else 404.',
    access: 'public',
    reply: page,
    statuses: { 404: 'The operator has not turned it on' },
    async run({ admin, services: { running } }) {
      const body = await readStatusPage(admin, await running.offer(), running.settings())
      return { body, headers: { 'cache-control': 'public, max-age=30' } }
    },
  }),
  route({
    method: 'get',
    path: '/api/status/feed.rss',
    id: 'statusFeed',
    tag: 'Models',
    summary: 'Incidents, as RSS 2.0',
    access: 'public',
    produces: ['application/rss+xml'],
    statuses: { 304: 'Nothing has changed', 404: 'The operator has not turned it on' },
    async run({ admin, request, services }) {
      const { running } = services
      const page = await readStatusPage(admin, await running.offer(), running.settings())
      const place = feedPlace(request, services.config().server.publicUrl)
      return feedReply(request, 'application/rss+xml', statusFeed(page, place))
    },
  }),
]
