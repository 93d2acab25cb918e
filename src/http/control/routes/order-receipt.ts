// The route of an order's receipt.

import { z } from '@hono/zod-openapi'
import { orderReceiptPage, readOrderReceipt } from '../../../admin/order-receipt.ts'
import { printedPolicy } from '../../../admin/printed-page.ts'
import { inputs } from '../../../admin/schema.ts'
import { escapeHtml } from '../../html.ts'
import { nanoSchema, timeSchema } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'

const part = { id: z.string(), amount: z.string(), at: timeSchema }

const receipt = z
  .object({
    number: z.string(),
    issuer: z.string().nullable().openapi({ description: '`payments.issuer`' }),
    account: z.string(),
    name: z.string(),
    provider: z.enum(['alipay', 'wechatpay', 'stripe']),
    mode: z.enum(['play', 'live']),
    state: z.string(),
    createdAt: timeSchema,
    asOf: timeSchema,
    currency: z.string().openapi({ description: 'Of payments and refunds: the provider’s' }),
    payments: z.array(z.object({ ...part, creditNano: nanoSchema, outcome: z.string() })),
    paid: z.string(),
    refunds: z.array(
      z.object({
        ...part,
        state: z.enum(['pending', 'done', 'failed']),
        amountNano: nanoSchema,
        clawbackNano: nanoSchema,
        reason: z.string(),
        endedAt: timeSchema.nullable(),
        failure: z.string().nullable(),
      }),
    ),
    refunded: z.string().openapi({ description: 'With what is not confirmed yet' }),
    creditCurrency: z.string(),
    creditNano: nanoSchema,
    bonusNano: nanoSchema,
    takenNano: nanoSchema.openapi({ description: 'By refunds, of credit and bonus' }),
  })
  .openapi('OrderReceipt')

export const orderReceiptRoutes: readonly ControlRoute[] = [
  route({
    tag: 'Orders',
    access: 'user',
    method: 'get',
    path: '/api/orders/{id}/receipt',
    id: 'readOrderReceipt',
    summary: 'The receipt of an order that was paid',
    description:
      'As JSON, or a page that browsers print, also as PDF (`format=html`, in `language`).',
    params: inputs.order,
    query: z.strictObject({
      format: z.enum(['json', 'html'], 'expected json or html').default('json'),
      language: z.enum(['en', 'zh-CN'], 'expected en or zh-CN').default('en'),
    }),
    reply: receipt,
    produces: ['text/html'],
    async run({ admin, services, scope, params, query }) {
      const asked = { ...params, owner: scope.owner }
      const body = await readOrderReceipt(admin, await services.orders.desk(), asked)
      if (query.format === 'json') return { body }
      return new Response(orderReceiptPage(body, query.language, escapeHtml), {
        headers: {
          'content-type': 'text/html; charset=utf-8',
          'content-disposition': `inline; filename="receipt-${body.number}.html"`,
          'content-security-policy': printedPolicy,
        },
      })
    },
  }),
]
