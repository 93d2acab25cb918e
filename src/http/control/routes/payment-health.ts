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
        address: z.string().openapi({
          description: 'Callback address that the provider must reach with its notifications',
        }),
        receivedAt: timeSchema
          .nullable()
          .openapi({ description: 'When the latest notification arrived; null: never' }),
        refusedAt: timeSchema
          .nullable()
          .openapi({ description: 'When the latest notification was refused; null: never' }),
        problem: z.string().nullable().openapi({
          description: 'Why the latest refused notification was refused; null: none was',
        }),
        creditedAt: timeSchema.nullable().openapi({
          description: 'When an order of this provider was last credited; null: never',
        }),
        open: z.number().int().openapi({ description: 'Number of open orders' }),
        stuck: z
          .number()
          .int()
          .openapi({ description: 'Number of open orders that are older than two minutes' }),
      }),
    ),
  })
  .openapi('PaymentHealth')

const test = z
  .object({
    address: z.string().openapi({ description: 'Callback address that was tested' }),
    outcome: z.enum(testOutcomes).openapi({
      description:
        '`arrived`: this deployment answers at the address; all others: what prevents it',
    }),
    status: z.number().int().nullable().openapi({
      description: 'HTTP status of the answer; null: there was none',
    }),
    detail: z.string().nullable().openapi({
      description: 'Target of a redirect, or how the connection failed; null: neither',
    }),
    isPublic: z.boolean().openapi({
      description:
        'Whether all addresses of the host are public, as this process resolves its name',
    }),
    isSecure: z.boolean().openapi({ description: 'Whether the address is https' }),
    tookMs: z.number().int().openapi({ description: 'Duration of the test in ms' }),
  })
  .openapi('CallbackTest')

export const paymentHealthRoutes: readonly ControlRoute[] = [
  route({
    tag: 'Orders',
    access: 'auditor',
    method: 'get',
    path: '/api/payments/health',
    id: 'readPaymentHealth',
    summary: 'Get the latest notifications and the open orders of each payment provider',
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
    summary: 'Test whether a payment provider can reach the callback address',
    description:
      'Posts a question to the callback address that only a process with the same `ENCRYPTION_KEY` can answer. As ' +
      'providers do, it follows no redirect and waits for 5 s.',
    params: z.strictObject({ provider: z.string() }),
    reply: test,
    async run({ services, params }) {
      const desk = await services.orders.desk()
      return { body: await testCallback(desk, { ...params, box: services.callbackBox }) }
    },
  }),
]
