// Stripe Checkout from a merchant's view: sessions, refunds, events and webhooks.
// https://docs.stripe.com/api; members that a merchant does not need are left out of its objects.
import { createHash, createHmac, randomBytes } from 'node:crypto'
import type { MessageFlaws } from './misbehaviour.ts'
import {
  type Incoming,
  newStripeId,
  type ProviderSide,
  payerId,
  type Simulation,
} from './simulation.ts'
import {
  type Notification,
  type Payment,
  type Refund,
  refundableMinor,
  statusOf,
  sumMinor,
} from './state.ts'
import { listCharges, listRefunds } from './stripe-bill.ts'
import {
  address,
  type Fields,
  integer,
  metadataOf,
  missing,
  required,
  type StripeCall,
  StripeFault,
  seconds,
  wrong,
} from './stripe-call.ts'
import { disputeView, isDisputed } from './stripe-disputes.ts'
import {
  cancelIntent,
  cardOf,
  chargeDetails,
  confirmIntent,
  createIntent,
  intentView,
  offSession,
  retrieveIntent,
} from './stripe-intents.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** Three days in total; the provider documents only that the waits grow. */
const retriesMs = [
  5 * minuteMs,
  30 * minuteMs,
  ...[2, 5, 10, 12, 12, 12, 12].map((hours) => hours * hourMs),
]
const sessionMs = 24 * hourMs

const routes: readonly (readonly [
  method: string,
  path: RegExp,
  run: (call: StripeCall) => Fields,
])[] = [
  ['POST', /^\/v1\/checkout\/sessions()$/, createSession],
  ['GET', /^\/v1\/checkout\/sessions\/(\w+)$/, retrieveSession],
  ['POST', /^\/v1\/checkout\/sessions\/(\w+)\/expire$/, expireSession],
  ['POST', /^\/v1\/payment_intents()$/, createIntent],
  ['GET', /^\/v1\/payment_intents\/(\w+)$/, retrieveIntent],
  ['POST', /^\/v1\/payment_intents\/(\w+)\/confirm$/, confirmIntent],
  ['POST', /^\/v1\/payment_intents\/(\w+)\/cancel$/, cancelIntent],
  ['GET', /^\/v1\/charges()$/, listCharges],
  ['GET', /^\/v1\/refunds()$/, listRefunds],
  ['POST', /^\/v1\/refunds()$/, createRefund],
  ['GET', /^\/v1\/refunds\/(\w+)$/, retrieveRefund],
  ['GET', /^\/v1\/disputes\/(\w+)$/, retrieveDispute],
  ['GET', /^\/v1\/events()$/, listEvents],
  ['GET', /^\/v1\/events\/(\w+)$/, retrieveEvent],
]

/** `webhookUrl`: the endpoint that the merchant registered; empty: none. */
export function createStripe(simulation: Simulation, webhookUrl: string): ProviderSide {
  return {
    retriesMs,
    acknowledgedWithinMs: 20_000,
    answer(request) {
      if (!request.path.startsWith('/v1/')) return undefined
      const { status, body, replayed } = replyTo(simulation, request, webhookUrl)
      const headers = {
        'content-type': 'application/json',
        'request-id': newStripeId('req'),
        ...(replayed && { 'idempotent-replayed': 'true' }),
      }
      return new Response(body, { status, headers })
    },
    async message(notification, payment, flaws) {
      const body = JSON.stringify(eventOf(simulation, { payment, flaws, ...notification }))
      const { webhookSecret } = simulation.state.keys.stripe
      const secret = flaws.forged ? randomBytes(16).toString('hex') : webhookSecret
      const time = Math.floor(simulation.clock.now() / 1000)
      const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')
      const headers = {
        'content-type': 'application/json; charset=utf-8',
        'stripe-signature': `t=${time},v1=${signature}`,
      }
      return { url: notification.url, headers, body }
    },
    acknowledges: (status) => status >= 200 && status < 300,
    returnAddress: ({ returnUrl, id }) => returnUrl.replaceAll('{CHECKOUT_SESSION_ID}', id),
  }
}

interface Reply {
  readonly status: number
  readonly body: string
  readonly replayed: boolean
}

/** A POST with an idempotency key is executed once. */
function replyTo(simulation: Simulation, request: Incoming, webhookUrl: string): Reply {
  const { replies } = simulation.state
  const key = request.method === 'POST' ? request.headers.get('idempotency-key') : null
  const asked = createHash('sha256').update(`${request.path}\n${request.body}`).digest('hex')
  const known = key !== null && Object.hasOwn(replies, key) ? replies[key] : undefined
  if (known !== undefined && known.asked === asked) return { ...known, replayed: true }
  let status = 200
  let body: Fields
  try {
    requireKey(simulation, request)
    if (known !== undefined) {
      throw new StripeFault(
        'Keys for idempotent requests can only be used with the same parameters',
        {
          type: 'idempotency_error',
        },
      )
    }
    body = run(simulation, request, webhookUrl)
  } catch (error) {
    if (!(error instanceof StripeFault)) throw error
    status = error.status
    body = { error: { type: 'invalid_request_error', message: error.message, ...error.details } }
  }
  const text = JSON.stringify(body)
  if (key !== null && status === 200) {
    replies[key] = { asked, status, body: text }
    simulation.save()
  }
  return { status, body: text, replayed: false }
}

function requireKey({ state }: Simulation, { headers }: Incoming): void {
  const [scheme = '', given = ''] = (headers.get('authorization') ?? '').split(' ')
  const basic = scheme === 'Basic' ? Buffer.from(given, 'base64').toString().split(':')[0] : given
  if (basic !== state.keys.stripe.secretKey)
    throw new StripeFault('Invalid API Key provided', {}, 401)
}

function run(simulation: Simulation, request: Incoming, webhookUrl: string): Fields {
  const form = request.method === 'POST' ? new URLSearchParams(request.body) : request.query
  for (const [method, pattern, answer] of routes) {
    const match = pattern.exec(request.path)
    if (match === null || method !== request.method) continue
    const { declines, bill } = request.flaws
    return answer({ simulation, webhookUrl, form, declines, bill, caught: match[1] ?? '' })
  }
  const message = `Unrecognized request URL (${request.method}: ${request.path}).`
  throw new StripeFault(message, {}, 404)
}

function createSession(call: StripeCall): Fields {
  const { simulation, form, webhookUrl } = call
  const now = simulation.clock.now()
  if (required(form, 'mode') !== 'payment') throw wrong('mode', 'Only payment is simulated')
  const price = 'line_items[0][price_data]'
  const currency = required(form, `${price}[currency]`).toLowerCase()
  if (!/^[a-z]{3}$/.test(currency)) throw wrong(`${price}[currency]`, 'Invalid currency')
  const unit = integer(form, `${price}[unit_amount]`)
  const amountMinor = unit * integer(form, 'line_items[0][quantity]')
  const id = newStripeId('cs_test').replaceAll('-', '')
  const expires = form.has('expires_at') ? integer(form, 'expires_at') * 1000 : now + sessionMs
  if (expires < now + 30 * minuteMs || expires > now + sessionMs) {
    throw wrong('expires_at', 'The `expires_at` must be between 30 minutes and 24 hours from now')
  }
  const payment: Payment = {
    id,
    provider: 'stripe',
    orderId: form.get('client_reference_id') ?? id,
    product: 'checkout',
    subject: required(form, `${price}[product_data][name]`),
    amountMinor,
    currency,
    createdAt: now,
    expiresAt: expires,
    notifyUrl: webhookUrl,
    returnUrl: address(form, 'success_url'),
    cancelUrl: form.has('cancel_url') ? address(form, 'cancel_url') : '',
    attached: metadataOf(form),
    chargeAttached: metadataOf(form, 'payment_intent_data'),
    ...(form.get('customer_creation') === 'always' && { customer: newStripeId('cus') }),
    opened: false,
    transactions: [],
    refunds: [],
  }
  simulation.state.payments.push(payment)
  simulation.save()
  return sessionView(call, payment)
}

function sessionOf({ simulation, caught }: StripeCall): Payment {
  const payment = simulation.state.payments.find((one) => one.id === caught)
  if (payment?.provider === 'stripe') return payment
  throw missing(`No such checkout.session: ${caught}`, 'session')
}

/** Includes the payment intent where the request expands it. */
function retrieveSession(call: StripeCall): Fields {
  const payment = sessionOf(call)
  const view = sessionView(call, payment)
  const [paid] = payment.transactions
  const [asked, part] = (call.form.get('expand[]') ?? '').split('.')
  if (asked !== 'payment_intent' || paid === undefined) return view
  const isKept = payment.customer !== undefined
  const payment_intent = {
    id: paid.id,
    object: 'payment_intent',
    latest_charge: part === 'latest_charge' ? chargeDetails(paid) : chargeDetails(paid).id,
    payment_method: isKept ? cardOf(payment) : null,
    status: 'succeeded',
  }
  return { ...view, payment_intent }
}

function expireSession(call: StripeCall): Fields {
  const payment = sessionOf(call)
  const now = call.simulation.clock.now()
  if (statusOf(payment, now) !== 'open') {
    throw new StripeFault('Only Checkout Sessions with a status in ["open"] can be expired.')
  }
  payment.closedAt = now
  call.simulation.save()
  void call.simulation.notify(payment, 'expired', payment.id)
  return sessionView(call, payment)
}

/** Stripe pays a session once; only its event reports a second transaction. */
function sessionView(
  { simulation }: Pick<StripeCall, 'simulation'>,
  payment: Payment,
  transaction = payment.transactions[0],
): Fields {
  const now = simulation.clock.now()
  const open = statusOf(payment, now) === 'open'
  const amount = transaction?.amountMinor ?? payment.amountMinor
  const email = transaction && payerId('stripe', transaction.payer)
  return {
    id: payment.id,
    object: 'checkout.session',
    amount_subtotal: amount,
    amount_total: amount,
    cancel_url: payment.cancelUrl || null,
    client_reference_id: payment.orderId === payment.id ? null : payment.orderId,
    created: seconds(payment.createdAt),
    currency: payment.currency,
    customer: payment.customer ?? null,
    customer_details: transaction ? { email, name: transaction.payer } : null,
    expires_at: seconds(payment.expiresAt),
    livemode: false,
    metadata: payment.attached,
    mode: 'payment',
    payment_intent: transaction?.id ?? null,
    payment_method_types: ['card'],
    payment_status: transaction ? 'paid' : 'unpaid',
    status: transaction ? 'complete' : open ? 'open' : 'expired',
    success_url: payment.returnUrl,
    url: open ? `${simulation.baseUrl}/pay/stripe/${payment.id}` : null,
  }
}

function createRefund({ simulation, form }: StripeCall): Fields {
  const intent = form.get('payment_intent') ?? form.get('charge')?.replace(/^ch_/, 'pi_')
  if (intent === undefined) throw wrong('payment_intent', 'Missing required param: payment_intent')
  const isAsked = ({ id }: { readonly id: string }) => id === intent
  const payment = stripePayments(simulation).find((one) => one.transactions.some(isAsked))
  const transaction = payment?.transactions.find(isAsked)
  if (payment === undefined || transaction === undefined)
    throw missing(`No such payment_intent: ${intent}`, 'payment_intent')
  const rest = refundableMinor(payment, transaction)
  if (rest === 0) {
    throw new StripeFault('The charge has already been refunded.', {
      code: 'charge_already_refunded',
    })
  }
  if (isDisputed(payment, intent)) {
    throw new StripeFault('The charge has been charged back; cannot issue a refund.', {
      code: 'charge_disputed',
    })
  }
  const amountMinor = form.has('amount') ? integer(form, 'amount') : rest
  if (amountMinor > rest) {
    throw wrong('amount', 'Refund amount is greater than unrefunded amount on charge')
  }
  const id = newStripeId('re')
  const refund: Refund = {
    id,
    number: id,
    transactionId: intent,
    amountMinor,
    reason: form.get('reason') ?? '',
    at: simulation.clock.now(),
    notifyUrl: payment.notifyUrl,
    attached: metadataOf(form),
  }
  payment.refunds.push(refund)
  simulation.save()
  void simulation.notify(payment, 'refunded', id)
  return refundView(payment, refund)
}

function retrieveRefund({ simulation, caught }: StripeCall): Fields {
  for (const payment of stripePayments(simulation)) {
    const refund = payment.refunds.find(({ id }) => id === caught)
    if (refund !== undefined) return refundView(payment, refund)
  }
  throw missing(`No such refund: ${caught}`, 'refund')
}

function refundView(payment: Payment, refund: Refund): Fields {
  return {
    id: refund.id,
    object: 'refund',
    amount: refund.amountMinor,
    charge: refund.transactionId.replace(/^pi_/, 'ch_'),
    created: seconds(refund.at),
    currency: payment.currency,
    metadata: refund.attached ?? {},
    payment_intent: refund.transactionId,
    reason: refund.reason || null,
    status: 'succeeded',
  }
}

function retrieveDispute({ simulation, caught }: StripeCall): Fields {
  for (const payment of stripePayments(simulation)) {
    const dispute = payment.disputes?.find(({ id }) => id === caught)
    if (dispute !== undefined) return disputeView(payment, dispute)
  }
  throw missing(`No such dispute: ${caught}`, 'dispute')
}

type EventInput = Pick<Notification, 'kind' | 'subjectId'> & {
  readonly payment: Payment
  readonly flaws: MessageFlaws
}

/** Derives an event from payments and refunds, so that events need not be stored. */
function eventOf(simulation: Simulation, { payment, kind, subjectId, flaws }: EventInput): Fields {
  const refund = payment.refunds.find(({ id }) => id === subjectId)
  const transaction = payment.transactions.find(({ id }) => id === subjectId)
  const [type, object] = contentOf(simulation, { payment, kind, subjectId, flaws })
  const dispute = payment.disputes?.find(({ id }) => id === subjectId)
  const at = refund?.at ?? transaction?.at ?? dispute?.at ?? payment.closedAt ?? payment.createdAt
  const field = 'amount_total' in object ? 'amount_total' : 'amount'
  const amount = Number(object[field])
  const other = payment.currency === 'eur' ? 'usd' : 'eur'
  return {
    id: `evt_${createHash('sha256').update(`${type} ${subjectId}`).digest('hex').slice(0, 24)}`,
    object: 'event',
    ...(flaws.wrongSeller && { account: 'acct_000000000000' }),
    created: seconds(at),
    data: {
      object: {
        ...object,
        ...(flaws.wrongAmount && { [field]: amount + 1 }),
        ...(flaws.wrongCurrency && { currency: other }),
        ...(flaws.wrongApp && { client_reference_id: 'another-order' }),
      },
    },
    livemode: false,
    type,
  }
}

/** The event's type and object. */
function contentOf(simulation: Simulation, input: EventInput): readonly [string, Fields] {
  const { payment, kind, subjectId } = input
  const refund = payment.refunds.find(({ id }) => id === subjectId)
  if (refund !== undefined) return ['charge.refunded', chargeView(payment, refund)]
  const dispute = payment.disputes?.find(({ id }) => id === subjectId)
  if (dispute !== undefined) {
    const what = kind === 'disputed' ? 'created' : 'closed'
    return [`charge.dispute.${what}`, disputeView(payment, dispute)]
  }
  if (payment.product === offSession) return ['payment_intent.succeeded', intentView(payment)]
  const transaction = payment.transactions.find(({ id }) => id === subjectId)
  const what = kind === 'paid' ? 'completed' : kind
  return [`checkout.session.${what}`, sessionView({ simulation }, payment, transaction)]
}

/** The charge as it was after this refund. */
function chargeView(payment: Payment, refund: Refund): Fields {
  const { transactionId } = refund
  const before = payment.refunds.slice(0, payment.refunds.indexOf(refund) + 1)
  const amount = payment.transactions.find(({ id }) => id === transactionId)?.amountMinor
  const refunded = sumMinor(before.filter((one) => one.transactionId === transactionId))
  return {
    id: refund.transactionId.replace(/^pi_/, 'ch_'),
    object: 'charge',
    amount,
    amount_refunded: refunded,
    created: seconds(payment.createdAt),
    currency: payment.currency,
    livemode: false,
    metadata: payment.attached,
    payment_intent: refund.transactionId,
    refunded: refunded === amount,
    status: 'succeeded',
  }
}

/** All events, newest first. */
function events(simulation: Simulation): Fields[] {
  const all = stripePayments(simulation).flatMap((payment) => [
    ...payment.transactions.map(({ id }) => ({ payment, kind: 'paid' as const, subjectId: id })),
    ...payment.refunds.map(({ id }) => ({ payment, kind: 'refunded' as const, subjectId: id })),
    ...(payment.disputes ?? []).flatMap(({ id: subjectId, status }) => [
      { payment, kind: 'disputed' as const, subjectId },
      ...(status === 'needs_response'
        ? []
        : [{ payment, kind: 'dispute closed' as const, subjectId }]),
    ]),
    ...(payment.closedAt === undefined
      ? []
      : [{ payment, kind: 'expired' as const, subjectId: payment.id }]),
  ])
  return all
    .map((one) => eventOf(simulation, { ...one, flaws: {} }))
    .sort((one, other) => Number(other['created']) - Number(one['created']))
}

function listEvents({ simulation, form }: StripeCall): Fields {
  const limit = form.has('limit') ? integer(form, 'limit') : 10
  if (limit > 100) throw wrong('limit', 'This value must be less than or equal to 100')
  const since = Number(form.get('created[gte]') ?? 0)
  const type = form.get('type')
  const found = events(simulation).filter(
    (one) => Number(one['created']) >= since && (type === null || one['type'] === type),
  )
  const after = form.get('starting_after')
  const start = after === null ? 0 : found.findIndex(({ id }) => id === after) + 1
  if (after !== null && start === 0) throw missing(`No such event: ${after}`, 'starting_after')
  return {
    object: 'list',
    url: '/v1/events',
    has_more: start + limit < found.length,
    data: found.slice(start, start + limit),
  }
}

function retrieveEvent({ simulation, caught }: StripeCall): Fields {
  const event = events(simulation).find(({ id }) => id === caught)
  if (event === undefined) throw missing(`No such event: ${caught}`, 'id')
  return event
}

function stripePayments({ state }: Simulation): Payment[] {
  return state.payments.filter(({ provider }) => provider === 'stripe')
}
