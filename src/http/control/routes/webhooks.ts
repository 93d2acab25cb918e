// Routes for the operators' webhooks, which the configuration defines.

import { z } from '@hono/zod-openapi'
import { listWebhooks, testWebhook, webhookNamed } from '../../../admin/webhooks.ts'
import { operatorEvents } from '../../../config/schema-webhooks.ts'
import { keepPace } from '../pace.ts'
import { pageOf, timeSchema } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'
import { delivery } from './alerts.ts'

const webhook = z
  .object({
    id: z.string(),
    address: z.string().openapi({ description: 'Address of the receiver, without its query' }),
    events: z
      .array(z.enum(operatorEvents))
      .readonly()
      .nullable()
      .openapi({ description: 'Events that are posted to it; null: all' }),
    waiting: z.number().int().openapi({
      description: 'Events that are still to be delivered, counted among the latest 100',
    }),
    last: z
      .object({
        at: timeSchema,
        state: z.enum(['raised', 'resolved', 'test']),
        code: z.string(),
        subject: z.string().nullable(),
        delivery: delivery.nullable(),
      })
      .nullable()
      .openapi({ description: 'Latest event for this webhook; null: there was none' }),
  })
  .openapi('Webhook')

const tested = z
  .object({
    ok: z.boolean().openapi({ description: 'Whether the receiver accepted the post' }),
    failure: z.string().nullable().openapi({
      description: 'Why the receiver did not accept the post; null: it did',
    }),
  })
  .openapi('WebhookTest')

/** Enough for setting a receiver up, and no tool for flooding one with posts. */
const tests = {
  count: 10,
  spanMs: 60_000,
  message: 'A webhook can be tested ten times a minute; try again later.',
}

export const webhookRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/webhooks',
    id: 'listWebhooks',
    tag: 'Operators',
    summary: 'List the webhooks of the configuration with their latest deliveries',
    access: 'auditor',
    reply: pageOf(webhook),
    run: async ({ admin, services }) => ({
      body: await listWebhooks(admin, services.config().webhooks),
    }),
  }),
  route({
    method: 'post',
    path: '/api/webhooks/{id}/test',
    id: 'testWebhook',
    tag: 'Operators',
    summary: 'Send a signed test post to a webhook',
    access: 'admin',
    params: z.strictObject({ id: z.string() }),
    reply: tested,
    statuses: { 429: tests.message },
    async run({ admin, services, params: { id }, noted }) {
      const found = webhookNamed(services.config().webhooks, id)
      await keepPace(services.store, `webhook tested: ${id}`, tests)
      const failure = await testWebhook(found, admin.nowMs)
      noted({ ok: failure === null })
      return { body: { ok: failure === null, failure } }
    },
  }),
]
