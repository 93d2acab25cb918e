// The route that says which channels would serve a request.

import { z } from '@hono/zod-openapi'
import { previewRouting } from '../../../admin/routing-preview.ts'
import { inputs } from '../../../admin/schema.ts'
import { type ControlRoute, route } from '../route.ts'

const key = z.string().nullable().openapi({ description: 'null: it has no list of keys' })

const preview = z
  .object({
    model: z.string(),
    group: z.string(),
    dialect: z
      .string()
      .nullable()
      .openapi({ description: "The client's format; null: the model is not served" }),
    channels: z
      .array(
        z.object({
          channel: z.string(),
          key,
          model: z.string().openapi({ description: "The vendor's own name" }),
          dialect: z.string(),
          identity: z.boolean().openapi({ description: "The client's bytes pass as they are" }),
          priority: z.number().int(),
          weight: z.number(),
        }),
      )
      .readonly(),
    leftOut: z.array(z.object({ channel: z.string(), key, reason: z.string() })).readonly(),
  })
  .openapi('RoutingPreview')

export const routingRoutes: readonly ControlRoute[] = [
  route({
    method: 'post',
    path: '/api/routing/preview',
    id: 'previewRouting',
    tag: 'Channels',
    summary: 'Say which channels would serve a request now, and why the others would not',
    description:
      'As the process that answers sees its channels; nothing is sent. Among equals one is drawn by weight for each request.',
    access: 'auditor',
    reads: true,
    body: inputs.previewRouting,
    reply: preview,
    async run({ services: { running }, body }) {
      const { condition } = running.channels
      const { channels } = running.config()
      return { body: previewRouting(await running.offer(), channels, condition, body) }
    },
  }),
]
