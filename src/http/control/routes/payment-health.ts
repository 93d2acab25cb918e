// Routes for whether payment providers reach this deployment.

import { z } from '@hono/zod-openapi'
import { readPaymentHealth, testCallback, testOutcomes } from '../../../admin/payment-health.ts'
import { timeSchema } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'

const health = z
  .object({
    mode: z.enum(['play', 'live']),
    providers: z.array(
      z.object({
        name: z.string(),
        address: z.string().openapi({ description: 'Where its messages are to arrive' }),
        receivedAt: timeSchema.nullable().openapi({ description: 'Of the last message' }),
        refusedAt: timeSchema.nullable().openapi({ description: 'Of the last that was refused' }),
        problem: z.string().nullable().openapi({ description: 'Why that was refused' }),
        creditedAt: timeSchema.nullable().openapi({ description: 'Of the last order' }),
        open: z.number().int().openapi({ description: 'Orders that have not ended' }),
        stuck: z.number().int().openapi({ description: 'Of these, older than two minutes' }),
      }),
    ),
  })
  .openapi('PaymentHealth')

const test = z
  .object({
    address: z.string(),
    outcome: z.enum(testOutcomes).openapi({ description: 'arrived: nothing is in the way' }),
    status: z.number().int().nullable().openapi({ description: 'What was answered, if anything' }),
    detail: z
      .string()
      .nullable()
      .openapi({ description: 'Where a redirect leads, or how the connection failed' }),
    isPublic: z.boolean().openapi({
      description: 'Whether its host is on the public internet, as this process resolves it',
    }),
    isSecure: z.boolean().openapi({ description: 'Whether it is https' }),
    tookMs: z.number().int(),
  })
  .openapi('CallbackTest')

export const paymentHealthRoutes: readonly ControlRoute[] = [
  route({
    tag: 'Orders',
    access: 'auditor',
    method: 'get',
    path: '/api/payments/health',
    id: 'readPaymentHealth',
    summary: 'Of each provider of payment: what it told of late, and orders that wait',
    reply: health,
    async run({ admin, services }) {
      return { body: await readPaymentHealth(admin, await services.orders.desk()) }
    },
  }),
  route({
    tag: 'Orders',
    access: 'admin',
    method: 'post',
    path: '/api/payments/{provider}/self-test',
    id: 'testPaymentCallback',
    summary: 'Ask the address that a provider notifies, and say what is in the way',
    description:
      'The gateway posts there itself what only a process with the same `ENCRYPTION_KEY` can answer. No redirect is ' +
      'followed, and after 5 s it is too slow, since providers do likewise.',
    params: z.strictObject({ provider: z.string() }),
    reply: test,
    async run({ services, params }) {
      const desk = await services.orders.desk()
      return { body: await testCallback(desk, { ...params, box: services.callbackBox }) }
    },
  }),
]
