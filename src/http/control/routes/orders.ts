// Routes for orders for credit: the offers, an order's steps, refunds, and notifications of payment providers.

import { z } from '@hono/zod-openapi'
import { planRefund, refundOrder } from '../../../admin/order-refunds.ts'
import {
  cancelOrder,
  checkOrder,
  createOrder,
  listOrders,
  readOffer,
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
    mode: z.enum(['play', 'live']).openapi({
      description: '`play`: paid to the payment simulator, without real money',
    }),
    method: z.string().openapi({ description: 'Payment method of the provider' }),
    amount: z.string().openapi({ description: 'Amount to pay, such as `12.50`' }),
    currency: z.string().openapi({ description: 'Currency of `amount`' }),
    creditNano: nanoSchema.openapi({
      description: 'Credit in nano-units, at the exchange rate at the time of the order',
    }),
    bonusNano: nanoSchema.openapi({
      description:
        'Bonus for a first top-up in nano-units, given with the credit unless the account or the payer has had one ' +
        'before',
    }),
    state: z.enum(orderStates),
    flag: z.string().nullable().openapi({
      description:
        'What an operator should look at, such as a late or a second payment; null: nothing',
    }),
    tradeNumber: z.string().nullable().openapi({
      description: 'The provider’s number of the first payment; null: nothing is paid',
    }),
    pay: z
      .object({
        kind: z.enum(['redirect', 'qr', 'bridge']),
        url: z.string(),
        bridge: z.record(z.string(), z.string()).optional().openapi({
          description: 'For `bridge`: the arguments of `getBrandWCPayRequest` in WeChat’s browser',
        }),
      })
      .nullable()
      .openapi({
        description:
          'How to pay: an address to open, or the content of a QR code; null: the order cannot be paid',
      }),
    createdAt: timeSchema,
    expiresAt: timeSchema.openapi({ description: 'Until when it can be paid' }),
    creditedAt: timeSchema
      .nullable()
      .openapi({ description: 'When it was credited; null: not yet' }),
    endedAt: timeSchema.nullable().openapi({
      description: 'When it expired or was cancelled; null: it did not',
    }),
    revision: z.number().int(),
  })
  .openapi('Order')

const entry = z.object({ at: timeSchema, what: z.string(), detail: z.string().nullable() })

const refund = z
  .object({
    id: z.string(),
    state: z.enum(['pending', 'done', 'failed']),
    amount: z.string().openapi({ description: 'Amount in the currency of the order' }),
    amountNano: nanoSchema.openapi({ description: 'Credit that is taken back, in nano-units' }),
    clawbackNano: nanoSchema.openapi({ description: 'Bonus that is taken back, in nano-units' }),
    reason: z.string(),
    actor: z.string().openapi({ description: 'Operator who began the refund' }),
    at: timeSchema,
    endedAt: timeSchema.nullable(),
    failure: z.string().nullable().openapi({
      description: 'Why it failed, or why the provider could not be asked yet; null: neither',
    }),
  })
  .openapi('Refund')

const refundPlan = z
  .object({
    amount: z.string().openapi({ description: 'Amount in the currency of the order' }),
    amountNano: nanoSchema.openapi({
      description: 'Credit that would be taken back, in nano-units',
    }),
    clawbackNano: nanoSchema.openapi({
      description: 'Bonus that would be taken back, in nano-units',
    }),
  })
  .openapi('RefundPlan')

const details = order
  .extend({
    refundable: z.string().openapi({
      description:
        'Amount that was paid and is not refunded, in `currency`; `0.00` while a payment is disputed',
    }),
    payments: z.array(
      z.object({
        id: z.string().openapi({ description: 'The provider’s number of the payment' }),
        amount: z.string(),
        creditNano: nanoSchema,
        outcome: z.string(),
        at: timeSchema.openapi({ description: 'When the payment was credited' }),
      }),
    ),
    refunds: z.array(refund.omit({ actor: true })),
    givenBonusNano: nanoSchema.openapi({ description: 'Bonus that was given, in nano-units' }),
    timeline: z.array(entry).openapi({ description: 'What happened to the order, oldest first' }),
  })
  .openapi('OrderDetails')

const credited = z.object({
  amount: z.string().openapi({ description: 'Amount in the provider’s currency' }),
  creditNano: nanoSchema.openapi({ description: 'Credit for this amount, in nano-units' }),
  bonusNano: nanoSchema.openapi({ description: 'Bonus for this amount, in nano-units' }),
})

const offer = z
  .object({
    account: z.string(),
    currency: z.string().openapi({ description: 'Currency of the credit' }),
    mode: z.enum(['play', 'live']),
    minimum: z.string().openapi({ description: 'Least amount of an order' }),
    maximum: z.string().openapi({ description: 'Greatest amount of an order' }),
    orderMinutes: z.number().int().openapi({
      description: 'Minutes for which an order can be paid',
    }),
    providers: z.array(
      z.object({
        name: z.string(),
        currency: z.string(),
        methods: z.array(z.string()),
        rate: z.string().openapi({ description: 'Credit for one unit of the provider’s currency' }),
        presets: z.array(credited).openapi({ description: 'Amounts to choose from' }),
        asked: credited.nullable().openapi({
          description: 'Credit and bonus for the `amount` of the request; null: none was given',
        }),
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
      .openapi({
        description:
          'Bonus for a first top-up; null: there is none, or the account has paid before',
      }),
    paidNano: nanoSchema.openapi({
      description: 'Credit of all payments of the account so far, in nano-units',
    }),
    bonusNano: nanoSchema.openapi({
      description: 'Part of the balance that is unspent bonus, in nano-units',
    }),
    bonusExpiresAt: timeSchema.nullable().openapi({
      description: 'When the unspent bonus expires; null: never, or there is none',
    }),
    refundableNano: nanoSchema.openapi({
      description: 'Part of the balance that can be refunded, in nano-units',
    }),
  })
  .openapi('PaymentOffer')

const bill = z
  .object({
    provider: z.string(),
    day: z.string().openapi({ format: 'date', description: 'Day in China’s time zone' }),
    currency: z.string(),
    payments: z.number().int().openapi({ description: 'Number of payments in the bill' }),
    paid: z.string().openapi({ description: 'Sum of these payments' }),
    refunds: z.number().int().openapi({ description: 'Number of refunds in the bill' }),
    refunded: z.string().openapi({ description: 'Sum of these refunds' }),
    differences: z
      .array(
        z.object({
          kind: z.enum(differenceKinds),
          transactionId: z.string(),
          orderId: z.string(),
          refundId: z
            .string()
            .nullable()
            .openapi({ description: 'Refund that differs; null: the difference is in a payment' }),
          billed: z.string().nullable().openapi({
            description: 'Amount in the bill; null: it is not in the bill',
          }),
          booked: z.string().nullable().openapi({
            description: 'Amount that was booked here; null: it was not booked',
          }),
          isOrder: z.boolean().openapi({ description: 'Whether this deployment has the order' }),
        }),
      )
      .openapi({ description: 'The first 1,000 differences' }),
    moreDifferences: z.number().int().openapi({
      description: 'Number of differences that are not listed',
    }),
  })
  .openapi('PaymentBill')

const common = { tag: 'Orders', access: 'user' } as const
const one = { params: inputs.order } as const
const mostMessageBytes = 65_536

const pace = {
  count: 60,
  spanMs: 60_000,
  message: 'Payment providers are asked at most 60 times a minute for an account; try again later.',
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
    summary: 'Get the ways to pay for credit, and the credit and bonus for each',
    query: z.strictObject({
      account: inputs.listOrders.shape.account,
      amount: inputs.createOrder.shape.amount.optional().openapi({
        description: 'Amount for which `asked` shows credit and bonus',
      }),
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
    summary: 'Create an order for credit',
    description:
      'Answers with `pay`, how to pay the order at the provider. A repeated request with the same `attempt` answers with ' +
      'the same order; with another provider or amount it is refused with 409. `amount` is in the provider’s currency. ' +
      'Refused with 409 where the provider refuses the order or cannot be reached.',
    body: inputs.createOrder.extend({ account: inputs.listOrders.shape.account }),
    reply: order,
    status: 201,
    statuses: { 429: pace.message },
    async run({ admin, services, scope, body, address, request, principal }) {
      const account = scope.oneAccount(body.account)
      await keepOrderPace(services.store, scope.owner)
      const { origin } = new URL(request.url)
      const browser = principal?.kind === 'session' ? principal.sessionId : null
      const input = { ...body, account, self: scope.self, clientAddress: address, origin, browser }
      const made = await createOrder(admin, await services.orders.desk(), input)
      return { body: made, etag: made.revision }
    },
  }),
  route({
    ...common,
    method: 'get',
    path: '/api/orders',
    id: 'listOrders',
    summary: 'List orders, newest first',
    description:
      '`stuck`: only orders that are open for more than two minutes. `flagged`: only orders with a `flag`. `number`: the ' +
      'id of an order, or the provider’s number of a payment.',
    query: inputs.listOrders.extend({
      ...pageQuery,
      flagged: flag.optional().openapi({ description: 'true: only orders with a `flag`' }),
      stuck: flag.optional().openapi({
        description: 'true: only orders that are open for more than two minutes',
      }),
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
    summary: 'Get an order with its payments, refunds and timeline',
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
    summary: 'Ask the provider now whether an order is paid, and credit it if so',
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
    summary: 'Cancel an order',
    description:
      'If it was paid meanwhile, it is credited instead. Refused with 409 unless its state is `created` or `shown`.',
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
    summary: 'Stream an order as it changes as server-sent events',
    description: 'Sends `event: order` with the whole order at once and after each change.',
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
    summary: 'Compare a payment provider’s bill of a day with the booked payments',
    description:
      '`day` is in China’s time zone and must be over. For a difference whose `isOrder` is true, ' +
      '`POST /api/orders/{id}/check` asks the provider and credits what was paid.',
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
    summary: 'Preview what a refund would take from the wallet',
    description: 'Changes nothing. Refused with 409 where that amount cannot be refunded.',
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
    summary: 'Refund an order or a part of it',
    description:
      'Takes the money from the wallet and has the provider pay it back; at most what the account has beside bonuses. The ' +
      'first top-up bonus is taken back in proportion. Without `amount`, all that is left of the payment. A repeated ' +
      'request with the same `refund` answers with the same refund. State `pending`: the provider has not confirmed ' +
      'it, and is asked again.',
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
    summary: 'Receive a notification of a payment provider',
    description: 'For payment providers only, which sign their notifications.',
    params: z.strictObject({ provider: z.string() }),
    consumes: ['application/json', 'application/x-www-form-urlencoded'],
    produces: ['text/plain', 'application/json'],
    refuses: ['text/plain', 'application/json'],
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
