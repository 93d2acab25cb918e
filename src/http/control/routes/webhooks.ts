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
    address: z.string().openapi({ description: 'Without its query' }),
    events: z
      .array(z.enum(operatorEvents))
      .readonly()
      .nullable()
      .openapi({ description: 'null: it is told of all' }),
    waiting: z
      .number()
      .int()
      .openapi({ description: 'Events that it has not taken yet, of the last 100' }),
    last: z
      .object({
        at: timeSchema,
        state: z.enum(['raised', 'resolved', 'test']),
        code: z.string(),
        subject: z.string().nullable(),
        delivery: delivery.nullable(),
      })
      .nullable()
      .openapi({ description: 'The last event that it is told of' }),
  })
  .openapi('Webhook')

const tested = z
  .object({
    ok: z.boolean(),
    failure: z.string().nullable().openapi({ description: 'Why it was not taken' }),
  })
  .openapi('WebhookTest')

/** Enough for setting a receiver up, and no tool for flooding one with posts. */
const tests = {
  count: 10,
  spanMs: 60_000,
  message: 'Ten tests a minute go to a webhook; try again later.',
}

export const webhookRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/webhooks',
    id: 'listWebhooks',
    tag: 'Operators',
    summary: 'The webhooks of the configuration, and what each was told last',
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
    summary: 'Post a signed test to a webhook, and say whether it took it',
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
