// The route that says which channels would serve a request.

import { z } from '@hono/zod-openapi'
import { previewRouting } from '../../../admin/routing-preview.ts'
import { inputs } from '../../../admin/schema.ts'
import { type ControlRoute, route } from '../route.ts'

const key = z
  .string()
  .nullable()
  .openapi({ description: 'Name of the channel’s key; null: the channel has no list of keys' })

const preview = z
  .object({
    model: z.string(),
    group: z.string(),
    dialect: z
      .string()
      .nullable()
      .openapi({ description: 'Client format that is assumed; null: the group has no such model' }),
    channels: z
      .array(
        z.object({
          channel: z.string(),
          key,
          model: z.string().openapi({ description: 'The vendor’s own name of the model' }),
          dialect: z.string().openapi({ description: 'Format in which the vendor is asked' }),
          identity: z.boolean().openapi({
            description:
              'Whether client and vendor use the same format, so that nothing is translated',
          }),
          priority: z.number().int(),
          weight: z.number(),
        }),
      )
      .readonly()
      .openapi({
        description: 'In the order of attempts; of equal priorities, the heavier comes first here',
      }),
    leftOut: z.array(z.object({ channel: z.string(), key, reason: z.string() })).readonly(),
  })
  .openapi('RoutingPreview')

export const routingRoutes: readonly ControlRoute[] = [
  route({
    method: 'post',
    path: '/api/routing/preview',
    id: 'previewRouting',
    tag: 'Channels',
    summary: 'Preview which channels would serve a request, and why the others would not',
    description:
      'Shows the state of channels in the process that answers, and sends nothing to vendors. For a real request, ' +
      'channels of equal priority are drawn at random by weight.',
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
