// Public routes: what this deployment offers, and its status page.

import { z } from '@hono/zod-openapi'
import { statusFeed } from '../../../admin/status-feed.ts'
import { readStatusPage } from '../../../admin/status-page.ts'
import { feedPlace, feedReply } from '../feed-reply.ts'
import { timeSchema } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'

const state = z.enum(['operational', 'degraded', 'down', 'unknown']).openapi({
  description:
    'State in the current and the last quarter of an hour: `operational` from 99 % success, `degraded` from 90 %, ' +
    'else `down`; `unknown`: fewer than 10 requests',
})
const success = {
  requests: z.number().int().openapi({
    description:
      'Number of requests that succeeded or failed with 5xx; refused requests (4xx) do not count',
  }),
  successRate: z.number().nullable().openapi({
    description:
      'Share of these requests that succeeded, from 0 to 1; null: there were no requests',
  }),
}

const page = z
  .object({
    at: timeSchema,
    days: z
      .array(z.string().openapi({ format: 'date' }))
      .readonly()
      .openapi({
        description: 'The last 90 days in UTC, today included, oldest first',
      }),
    state: state.openapi({ description: 'The worst state of any model' }),
    models: z
      .array(
        z
          .object({
            model: z.string(),
            state,
            ...success,
            daily: z
              .array(z.object(success))
              .readonly()
              .openapi({ description: 'One entry for each of `days`, in the same order' }),
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
              description: 'Text by language',
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
    summary: 'List the optional features that are turned on',
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
    summary: 'Get the status page: 90 days of each model of public groups, and incidents',
    description:
      'Answers 404 unless the setting `statusPage` is true. Names no channel and no vendor.',
    access: 'public',
    reply: page,
    statuses: { 404: 'The status page is turned off' },
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
    summary: 'Get the incidents of the status page as RSS 2.0',
    access: 'public',
    produces: ['application/rss+xml'],
    statuses: {
      304: 'Not modified since the ETag in If-None-Match',
      404: 'The status page is turned off',
    },
    async run({ admin, request, services }) {
      const { running } = services
      const page = await readStatusPage(admin, await running.offer(), running.settings())
      const place = feedPlace(request, services.config().server.publicUrl)
      return feedReply(request, 'application/rss+xml', statusFeed(page, place))
    },
  }),
]
