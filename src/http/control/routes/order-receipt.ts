// The route of an order's receipt.

import { z } from '@hono/zod-openapi'
import { orderReceiptPage, readOrderReceipt } from '../../../admin/order-receipt.ts'
import { printedPolicy } from '../../../admin/printed-page.ts'
import { inputs } from '../../../admin/schema.ts'
import { escapeHtml } from '../../html.ts'
import { nanoSchema, timeSchema } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'
import { shownBuyer } from './preferences.ts'

const part = { id: z.string(), amount: z.string(), at: timeSchema }

const receipt = z
  .object({
    number: z.string().openapi({ description: 'Id of the order' }),
    issuer: z.string().nullable().openapi({
      description: 'Issuer of the receipt: `payments.issuer` of the configuration; null: not set',
    }),
    account: z.string(),
    name: z.string(),
    buyer: shownBuyer,
    provider: z.enum(['alipay', 'wechatpay', 'stripe']),
    mode: z.enum(['play', 'live']),
    state: z.string(),
    createdAt: timeSchema,
    asOf: timeSchema.openapi({ description: 'When this receipt was made' }),
    currency: z.string().openapi({ description: 'Currency of payments and refunds' }),
    payments: z.array(z.object({ ...part, creditNano: nanoSchema, outcome: z.string() })),
    paid: z.string().openapi({ description: 'Sum of the payments, in `currency`' }),
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
    refunded: z.string().openapi({
      description:
        'Sum of the refunds in `currency`, those included that the provider has not confirmed',
    }),
    creditCurrency: z.string().openapi({ description: 'Currency of credit and bonus' }),
    creditNano: nanoSchema.openapi({ description: 'Credit that was bought, in nano-units' }),
    bonusNano: nanoSchema.openapi({ description: 'Bonus that was given, in nano-units' }),
    takenNano: nanoSchema.openapi({
      description: 'Credit and bonus that refunds took back, in nano-units',
    }),
  })
  .openapi('OrderReceipt')

export const orderReceiptRoutes: readonly ControlRoute[] = [
  route({
    tag: 'Orders',
    access: 'user',
    method: 'get',
    path: '/api/orders/{id}/receipt',
    id: 'readOrderReceipt',
    summary: 'Get the receipt of a paid order',
    description:
      'As JSON, or with `format=html` as a page for browsers to print or save as PDF, in `language`. Refused with ' +
      '409 while nothing of the order is paid. Failed refunds are left out.',
    params: inputs.order,
    query: z.strictObject({
      format: z
        .enum(['json', 'html'], 'expected json or html')
        .default('json')
        .openapi({ description: 'Format of the reply' }),
      language: z
        .enum(['en', 'zh-CN'], 'expected en or zh-CN')
        .default('en')
        .openapi({ description: 'Language of the page' }),
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
