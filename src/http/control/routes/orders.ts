// Routes for orders for credit: the offers, an order's steps, refunds, and notifications of payment providers.

import { z } from '@hono/zod-openapi'
import {
  cancelOrder,
  checkOrder,
  createOrder,
  listOrders,
  planRefund,
  readOffer,
  refundOrder,
  showOrder,
} from '../../../admin/orders.ts'
import { comparePaymentBill } from '../../../admin/payment-bill.ts'
import { answerTest, testHeader } from '../../../admin/payment-health.ts'
import { inputs } from '../../../admin/schema.ts'
import { differenceKinds } from '../../../payments/compare-bill.ts'
import { orderStates } from '../../../store/order-state.ts'
import type { Store } from '../../../store/store.ts'
import { keepPace } from '../pace.ts'
import { flag, nanoSchema, pageOf, pageQuery, timeSchema } from '../parts.ts'
import { ControlError } from '../problem.ts'
import { type ControlRoute, route } from '../route.ts'
import { followStatuses, streamEvents } from '../streams.ts'

const order = z
  .object({
    id: z.string(),
    account: z.string(),
    provider: z.enum(['alipay', 'wechatpay', 'stripe']),
    mode: z
      .enum(['play', 'live'])
      .openapi({ description: 'play: of the simulator, no real money' }),
    method: z.string(),
    amount: z.string(),
    currency: z.string().openapi({ description: 'Of `amount`: the provider’s' }),
    creditNano: nanoSchema.openapi({ description: 'At the rate of when it was ordered' }),
    bonusNano: nanoSchema.openapi({ description: 'Given with it, where nobody has had it before' }),
    state: z.enum(orderStates),
    flag: z.string().nullable(),
    tradeNumber: z
      .string()
      .nullable()
      .openapi({ description: 'The provider’s own, of what was paid first' }),
    pay: z
      .object({
        kind: z.enum(['redirect', 'qr', 'bridge']),
        url: z.string(),
        bridge: z.record(z.string(), z.string()).optional().openapi({
          description: 'Of `bridge`: what `getBrandWCPayRequest` of WeChat’s browser is given',
        }),
      })
      .nullable()
      .openapi({ description: 'An address to open, or what a QR code says; null: no more' }),
    createdAt: timeSchema,
    expiresAt: timeSchema,
    creditedAt: timeSchema.nullable(),
    endedAt: timeSchema.nullable(),
    revision: z.number().int(),
  })
  .openapi('Order')

const entry = z.object({ at: timeSchema, what: z.string(), detail: z.string().nullable() })

const refund = z
  .object({
    id: z.string(),
    state: z.enum(['pending', 'done', 'failed']),
    amount: z.string(),
    amountNano: nanoSchema,
    clawbackNano: nanoSchema,
    reason: z.string(),
    actor: z.string(),
    at: timeSchema,
    endedAt: timeSchema.nullable(),
    failure: z.string().nullable(),
  })
  .openapi('Refund')

const refundPlan = z
  .object({
    amount: z.string(),
    amountNano: nanoSchema,
    clawbackNano: nanoSchema.openapi({ description: 'Of the bonus, taken back with it' }),
  })
  .openapi('RefundPlan')

const details = order
  .extend({
    refundable: z
      .string()
      .openapi({ description: 'Of what was paid, in `currency`; `0.00` while it is disputed' }),
    payments: z.array(
      z.object({
        id: z.string().openapi({ description: 'The provider’s own number' }),
        amount: z.string(),
        creditNano: nanoSchema,
        outcome: z.string(),
        at: timeSchema.openapi({ description: 'When it was credited' }),
      }),
    ),
    refunds: z.array(refund.omit({ actor: true })),
    givenBonusNano: nanoSchema,
    timeline: z.array(entry),
  })
  .openapi('OrderDetails')

const credited = z.object({ amount: z.string(), creditNano: nanoSchema, bonusNano: nanoSchema })

const offer = z
  .object({
    account: z.string(),
    currency: z.string(),
    mode: z.enum(['play', 'live']),
    minimum: z.string(),
    maximum: z.string(),
    orderMinutes: z.number().int(),
    providers: z.array(
      z.object({
        name: z.string(),
        currency: z.string(),
        methods: z.array(z.string()),
        rate: z.string().openapi({ description: 'What one unit of it is credited as' }),
        presets: z.array(credited),
        asked: credited.nullable().openapi({ description: 'Of the amount that was asked about' }),
      }),
    ),
    bonus: z
      .object({
        percent: z.string().nullable(),
        amount: z.string().nullable(),
        tiers: z.array(z.object({ from: z.string(), percent: z.string() })),
        max: z.string().nullable(),
        minimum: z.string(),
        days: z.number().int().nullable(),
        spent: z.enum(['first', 'last']),
      })
      .nullable()
      .openapi({ description: 'null: there is none for this account, or no more' }),
    paidNano: nanoSchema,
    bonusNano: nanoSchema.openapi({ description: 'Of the balance' }),
    bonusExpiresAt: timeSchema.nullable(),
    refundableNano: nanoSchema,
  })
  .openapi('PaymentOffer')

const bill = z
  .object({
    provider: z.string(),
    day: z.string().openapi({ format: 'date' }),
    currency: z.string(),
    payments: z.number().int(),
    paid: z.string(),
    refunds: z.number().int(),
    refunded: z.string(),
    differences: z
      .array(
        z.object({
          kind: z.enum(differenceKinds),
          transactionId: z.string(),
          orderId: z.string(),
          refundId: z.string().nullable().openapi({ description: 'null: it is of a payment' }),
          billed: z.string().nullable().openapi({ description: 'null: it is not in the bill' }),
          booked: z.string().nullable().openapi({ description: 'null: it was not booked' }),
          isOrder: z.boolean().openapi({ description: 'Whether there is such an order here' }),
        }),
      )
      .openapi({ description: 'The first 1,000' }),
    moreDifferences: z.number().int(),
  })
  .openapi('PaymentBill')

const common = { tag: 'Orders', access: 'user' } as const
const one = { params: inputs.order } as const
const mostMessageBytes = 65_536

const pace = {
  count: 60,
  spanMs: 60_000,
  message: 'Providers of payment are asked at most 60 times a minute.',
}

/** Limits customers only: an operator may ask as often as needed. */
async function keepOrderPace(store: Store, owner: string | undefined): Promise<void> {
  if (owner !== undefined) await keepPace(store, `payment provider asked: ${owner}`, pace)
}

export const orderRoutes: readonly ControlRoute[] = [
  route({
    ...common,
    method: 'get',
    path: '/api/payments/offer',
    id: 'readPaymentOffer',
    summary: 'How an account may pay, and what it would be given',
    query: z.strictObject({
      account: inputs.listOrders.shape.account,
      amount: inputs.createOrder.shape.amount.optional(),
    }),
    reply: offer,
    async run({ admin, services, scope, query }) {
      const account = scope.oneAccount(query.account)
      return {
        body: await readOffer(admin, await services.orders.desk(), {
          account,
          amount: query.amount,
        }),
      }
    },
  }),
  route({
    ...common,
    method: 'post',
    path: '/api/orders',
    id: 'createOrder',
    summary: 'Order credit; the same `attempt` again is the same order',
    body: inputs.createOrder.extend({ account: inputs.listOrders.shape.account }),
    reply: order,
    status: 201,
    statuses: { 429: pace.message },
    async run({ admin, services, scope, body, address, request, principal }) {
      const account = scope.oneAccount(body.account)
      await keepOrderPace(services.store, scope.owner)
      const { origin } = new URL(request.url)
      const browser = principal?.kind === 'session' ? principal.sessionId : null
      const input = { ...body, account, clientAddress: address, origin, browser }
      const made = await createOrder(admin, await services.orders.desk(), input)
      return { body: made, etag: made.revision }
    },
  }),
  route({
    ...common,
    method: 'get',
    path: '/api/orders',
    id: 'listOrders',
    summary: 'Orders, newest first',
    description:
      '`stuck`: those that have not ended after two minutes. `number`: the order’s own, or the provider’s of a payment.',
    query: inputs.listOrders.extend({
      ...pageQuery,
      flagged: flag.optional(),
      stuck: flag.optional(),
    }),
    reply: pageOf(order),
    async run({ admin, scope, query }) {
      return { body: await listOrders(admin, { ...query, account: scope.account(query.account) }) }
    },
  }),
  route({
    ...common,
    ...one,
    method: 'get',
    path: '/api/orders/{id}',
    id: 'readOrder',
    summary: 'One order, with what became of it',
    reply: details,
    async run({ admin, scope, params }) {
      const shown = await showOrder(admin, { ...params, owner: scope.owner })
      return { body: shown, etag: shown.revision }
    },
  }),
  route({
    ...common,
    ...one,
    method: 'post',
    path: '/api/orders/{id}/check',
    id: 'checkOrder',
    summary: 'I have paid: ask the provider now',
    reply: order,
    statuses: { 429: pace.message },
    async run({ admin, services, scope, params }) {
      await keepOrderPace(services.store, scope.owner)
      const input = { ...params, owner: scope.owner }
      const checked = await checkOrder(admin, await services.orders.desk(), input)
      return { body: checked, etag: checked.revision }
    },
  }),
  route({
    ...common,
    ...one,
    method: 'post',
    path: '/api/orders/{id}/cancel',
    id: 'cancelOrder',
    summary: 'Cancel an order; one that was paid meanwhile is credited',
    reply: order,
    statuses: { 429: pace.message },
    async run({ admin, services, scope, params }) {
      await keepOrderPace(services.store, scope.owner)
      const input = { ...params, owner: scope.owner }
      const ended = await cancelOrder(admin, await services.orders.desk(), input)
      return { body: ended, etag: ended.revision }
    },
  }),
  route({
    ...common,
    ...one,
    method: 'get',
    path: '/api/orders/{id}/events',
    id: 'followOrder',
    summary: 'The order as it changes: server-sent events `order`',
    produces: ['text/event-stream'],
    statuses: followStatuses,
    async run(asked) {
      const input = { ...asked.params, owner: asked.scope.owner }
      return streamEvents(asked, async () => {
        let { revision: shown } = await showOrder(asked.admin, input)
        let isFirst = true
        return async () => {
          const now = await showOrder(asked.admin, input)
          if (!isFirst && now.revision === shown) return { text: '', more: false }
          isFirst = false
          shown = now.revision
          return { text: `event: order\ndata: ${JSON.stringify(now)}\n\n`, more: false }
        }
      })
    },
  }),
  route({
    tag: 'Orders',
    access: 'auditor',
    method: 'get',
    path: '/api/payments/bill',
    id: 'comparePaymentBill',
    summary: 'A provider’s bill of a day against what was booked',
    description:
      'The day is one of China’s, and over. Where `isOrder` holds, `POST /api/orders/{id}/check` asks the provider about it and ' +
      'credits what was paid.',
    query: inputs.paymentBill,
    reply: bill,
    async run({ admin, services, query }) {
      return { body: await comparePaymentBill(admin, await services.orders.desk(), query) }
    },
  }),
  route({
    ...one,
    tag: 'Orders',
    access: 'auditor',
    method: 'get',
    path: '/api/orders/{id}/refund',
    id: 'planRefund',
    summary: 'What a refund would take from the wallet; nothing is begun',
    query: inputs.planRefund.omit({ id: true }),
    reply: refundPlan,
    async run({ admin, services, params, query }) {
      return {
        body: await planRefund(admin, await services.orders.desk(), { ...params, ...query }),
      }
    },
  }),
  route({
    ...one,
    tag: 'Orders',
    access: 'admin',
    method: 'post',
    path: '/api/orders/{id}/refund',
    id: 'refundOrder',
    summary: 'Pay back an order or a part of it; the same `refund` again is the same refund',
    description:
      'Within what the account has beside bonuses; a first bonus is taken back in proportion. `pending`: the provider ' +
      'has not confirmed it, and is asked again.',
    body: inputs.refundOrder.omit({ id: true }),
    reply: refund,
    async run({ admin, services, params, body }) {
      const input = { ...body, id: params.id }
      return { body: await refundOrder(admin, await services.orders.desk(), input) }
    },
  }),
  route({
    tag: 'Orders',
    access: 'public',
    method: 'post',
    path: '/api/payments/{provider}/notify',
    id: 'notifyPayment',
    summary: 'For providers of payment: what they tell of orders, signed by them',
    params: z.strictObject({ provider: z.string() }),
    produces: ['text/plain', 'application/json'],
    maxBodyBytes: mostMessageBytes,
    async run({ services, params, request, text }) {
      const { payments } = await services.orders.desk()
      const test = answerTest(services.callbackBox, request.headers.get(testHeader))
      if (test !== null) return test
      const header = (name: string) => request.headers.get(name)
      const acknowledged = await payments.receive(params.provider, { body: text, header })
      if (acknowledged === null) {
        const { pathname } = new URL(request.url)
        throw new ControlError('not_found', `Unknown path: POST ${pathname}`)
      }
      const { status, contentType, body } = acknowledged
      return new Response(body, { status, headers: { 'content-type': contentType } })
    },
  }),
]
