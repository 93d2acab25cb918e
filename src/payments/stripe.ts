// Stripe Checkout: Stripe's payment page, a webhook signed with a shared secret, and queries of checkout sessions.

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { PaymentSettings } from '../config/types.ts'
import type { PaymentOrder, Refund } from '../store/payment-tables.ts'
import { payerHash } from './amount.ts'
import { type BillRow, BillUnreadable } from './bill.ts'
import { chinaDay } from './china-time.ts'
import {
  CallerRefused,
  checkTime,
  type Notified,
  NotVerified,
  type Provider,
  type ProviderMessage,
  ProviderRefused,
  type Send,
  type StartDetails,
  undecided,
} from './provider.ts'

type Settings = NonNullable<PaymentSettings['stripe']>

/** `funds_withdrawn`: an inquiry of the payer's bank, which takes no money, has become a dispute. */
const disputeEvents = [
  'charge.dispute.created',
  'charge.dispute.funds_withdrawn',
  'charge.dispute.closed',
]
const paidEvents = ['checkout.session.completed', 'checkout.session.async_payment_succeeded']
/**
 * Extra life of a session beyond its order, which may be shown again until it expires; Stripe's minimum is 30 minutes.
 */
const beyondOrderMs = 35 * 60_000
/**
 * Metadata field with the order's id, set only on sessions and charges of our checkout pages. A session's
 * `client_reference_id` is no proof: buyers choose it for the merchant's Payment Links.
 */
const orderMark = 'checkout_order'
const mostPages = 1_000
/** Stripe ends a session within 24 hours; a minute less allows for clock differences. */
const mostLifeMs = 24 * 3_600_000 - 60_000

/** Fields available when Stripe is asked to expand the charge. */
interface Charged {
  readonly latest_charge?: string | ChargeDetails | null
}

interface ChargeDetails {
  readonly amount_refunded?: number
  readonly created?: number
  readonly payment_method_details?: {
    /** The same for every use of one card. */
    readonly card?: { readonly fingerprint?: string | null } | null
  } | null
}

type Paid = NonNullable<Notified['paid']>

interface Session {
  readonly id?: string
  readonly url?: string | null
  readonly client_reference_id?: string | null
  readonly payment_status?: string
  readonly payment_intent?: string | (Charged & { readonly id: string }) | null
  readonly amount_total?: number | null
  readonly currency?: string | null
  readonly customer_details?: { readonly email?: string | null } | null
  readonly created?: number
  readonly customer?: string | null
  readonly metadata?: Readonly<Record<string, string>>
}

interface Intent extends Charged {
  readonly id: string
  readonly status: string
  readonly amount_received: number
  readonly currency: string
  readonly metadata?: { readonly order?: string }
}

interface Charge {
  readonly id: string
  readonly amount: number
  readonly payment_intent?: string | null
  readonly status: string
  readonly metadata?: Readonly<Record<string, string>>
}

interface RefundOfCharge extends Pick<Charge, 'id' | 'amount' | 'payment_intent' | 'status'> {
  readonly metadata?: { readonly refund?: string }
  readonly charge: Pick<Charge, 'metadata'>
}

interface StripeDispute {
  readonly id: string
  readonly payment_intent?: string | null
  readonly amount: number
  readonly reason?: string
  /** Only with `lost` does the merchant lose the money; `warning_...` is that of an inquiry. */
  readonly status: string
}

export function openStripe(settings: Settings, currency: string, send: Send): Provider {
  return new Stripe(settings, currency, send)
}

class Stripe implements Provider {
  readonly currency: string
  readonly methods = ['checkout']
  readonly automatic = { agree: 'checkout_saved', pay: 'off_session' }
  readonly #settings: Settings
  readonly #send: Send

  constructor(settings: Settings, currency: string, send: Send) {
    this.currency = currency
    this.#settings = settings
    this.#send = send
  }

  /** Sends a POST if there are fields, else a GET. Throws ProviderRefused. */
  async #call<Reply>(path: string, fields?: Fields, idempotencyKey?: string): Promise<Reply> {
    const { secretKey, baseUrl } = this.#settings
    const isPost = fields !== undefined
    const { status, text } = await this.#send({
      method: isPost ? 'POST' : 'GET',
      url: `${baseUrl}${path}`,
      headers: {
        authorization: `Bearer ${secretKey}`,
        ...(isPost && { 'content-type': 'application/x-www-form-urlencoded' }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      ...(isPost && { body: new URLSearchParams(fields).toString() }),
    })
    // 409: the same call is still running; 429: too many at once. Neither decides anything.
    if (status >= 500 || status === 409 || status === 429)
      throw new Error(`Stripe answered ${status}`)
    const reply = JSON.parse(text) as Reply & { readonly error?: { readonly message?: string } }
    const reason = reply.error?.message ?? `status ${status}`
    if (status === 401 || status === 403) throw new CallerRefused(reason)
    if (status >= 400) throw new ProviderRefused(reason)
    return reply
  }

  async start(order: PaymentOrder, details: StartDetails) {
    if (order.method === this.automatic.pay) return this.#pay(order, details)
    const item = 'line_items[0][price_data]'
    const expiresAt = Math.min(order.expiresAt + beyondOrderMs, order.createdAt + mostLifeMs)
    const fields = {
      mode: 'payment',
      client_reference_id: order.id,
      success_url: details.returnUrl,
      cancel_url: details.returnUrl,
      expires_at: String(Math.floor(expiresAt / 1_000)),
      'line_items[0][quantity]': '1',
      [`${item}[currency]`]: order.currency.toLowerCase(),
      [`${item}[unit_amount]`]: String(order.amountMinor),
      [`${item}[product_data][name]`]: details.subject,
      [`metadata[${orderMark}]`]: order.id,
      [`payment_intent_data[metadata][${orderMark}]`]: order.id,
      // The card is stored for payments without its holder, whom the page tells so.
      ...(order.method === this.automatic.agree && {
        customer_creation: 'always',
        'payment_method_types[0]': 'card',
        'payment_intent_data[setup_future_usage]': 'off_session',
      }),
    }
    const session = await this.#call<Session>('/v1/checkout/sessions', fields, order.id)
    if (!session.url || !session.id) throw new Error('Stripe answered without an address')
    return { kind: 'redirect' as const, url: session.url, session: session.id }
  }

  /** Creates a payment first and pays it at the second call, so that its id is stored before money can be taken. */
  async #pay(order: PaymentOrder, { agreement, subject }: StartDetails) {
    const { intent } = instructionsOf(order)
    if (intent !== undefined) {
      const path = `/v1/payment_intents/${encodeURIComponent(intent)}/confirm`
      const fields = { off_session: 'true' }
      const { status } = await this.#call<Intent>(path, fields, `${order.id}-pay`)
      // Other states need an action of the card holder, who is not present.
      if (status !== 'succeeded' && status !== 'processing')
        throw new ProviderRefused(`the payment is ${status}`)
      return { kind: 'none' as const, url: '', intent }
    }
    const path = agreement && pathOf(agreement)
    if (!path) throw new ProviderRefused('nobody has agreed to automatic payments')
    type Agreed = Session & {
      readonly payment_intent?: { readonly payment_method?: string | null }
    }
    const agreed = await this.#call<Agreed>(`${path}?expand[]=payment_intent`)
    const method = agreed.payment_intent?.payment_method
    if (!agreed.customer || !method) throw new ProviderRefused('the card was not kept')
    const fields = {
      amount: String(order.amountMinor),
      currency: order.currency.toLowerCase(),
      customer: agreed.customer,
      payment_method: method,
      'payment_method_types[0]': 'card',
      description: subject,
      'metadata[order]': order.id,
    }
    const { id } = await this.#call<Intent>('/v1/payment_intents', fields, order.id)
    return { kind: 'none' as const, url: '', intent: id }
  }

  async readNotification(message: ProviderMessage, nowMs: number): Promise<Notified> {
    const { dispute, paid, ...rest } = notified(message, this.#settings.webhookSecret, nowMs)
    if (dispute === undefined) return { ...rest, paid: paid && (await this.#withCharge(paid)) }
    // A loss takes money from a customer, so it must be confirmed by a query.
    if (dispute.state === 'lost' && !(await this.#isLost(dispute.id)))
      throw new NotVerified('the provider, when asked, says something else')
    return { ...rest, paid, dispute }
  }

  /** A message has neither the card nor the time of its charge; where Stripe is away, what it has must do. */
  async #withCharge(paid: Paid): Promise<Paid> {
    const path = `/v1/payment_intents/${encodeURIComponent(paid.id)}?expand[]=latest_charge`
    const charged = await this.#call<Charged>(path).catch(() => ({}))
    const { payerHash: byMail, paidAt } = paid
    return {
      ...paid,
      payerHash: byMail && (cardHash(charged) ?? byMail),
      paidAt: chargedAt(charged) ?? paidAt,
    }
  }

  async #isLost(id: string): Promise<boolean> {
    const path = `/v1/disputes/${encodeURIComponent(id)}`
    return (await this.#call<StripeDispute>(path)).status === 'lost'
  }

  acknowledge(isTaken: boolean) {
    const body = JSON.stringify({ received: isTaken })
    return { status: isTaken ? 200 : 400, contentType: 'application/json', body }
  }

  async query(order: PaymentOrder) {
    const { intent } = instructionsOf(order)
    if (intent !== undefined) {
      const path = `/v1/payment_intents/${encodeURIComponent(intent)}`
      const paid = await this.#call<Intent>(`${path}?expand[]=latest_charge`)
      return {
        paid: notRefunded(paidByIntent(paid, order.id, Date.now()), { order, charged: paid }),
      }
    }
    const path = pathOf(order)
    if (path === null) return { paid: null }
    const whole = `${path}?expand[]=payment_intent.latest_charge`
    const session = await this.#call<Session>(whole)
    if (session.client_reference_id !== order.id)
      throw new NotVerified('the reply is of another order')
    const paid = session.payment_status === 'paid' ? paidOf(session, Date.now()) : null
    const { payment_intent: charged } = session
    return { paid: notRefunded(paid, { order, charged }) }
  }

  async close(order: PaymentOrder): Promise<void> {
    const { intent } = instructionsOf(order)
    const path = pathOf(order)
    if (intent !== undefined)
      await this.#call(`/v1/payment_intents/${encodeURIComponent(intent)}/cancel`, {})
    else if (path !== null) await this.#call(`${path}/expire`, {})
  }

  /** Looks for it first: Stripe forgets an idempotency key after a day, and a refund may be pending for longer. */
  async refund(refund: Refund): Promise<'done' | 'pending'> {
    const { status } = (await this.#madeRefund(refund)) ?? (await this.#makeRefund(refund))
    if (status === 'failed' || status === 'canceled')
      throw new ProviderRefused(`the refund is ${status}`)
    return status === 'succeeded' ? 'done' : 'pending'
  }

  async #madeRefund({ id, transactionId }: Refund): Promise<RefundOfCharge | undefined> {
    const path = `/v1/refunds?payment_intent=${encodeURIComponent(transactionId)}&limit=100`
    const listed = this.#list<RefundOfCharge>(path)
    const made = await listed.catch(undecided('Stripe does not list the refunds of the payment'))
    return made.find(({ metadata }) => metadata?.refund === id)
  }

  #makeRefund(refund: Refund): Promise<Pick<RefundOfCharge, 'status'>> {
    const fields = {
      payment_intent: refund.transactionId,
      amount: String(refund.amountMinor),
      'metadata[refund]': refund.id,
    }
    return this.#call('/v1/refunds', fields, refund.id)
  }

  /** Uses days in China, like the other providers. Leaves out other sales of the same Stripe account. */
  async bill(day: string): Promise<readonly BillRow[]> {
    const { since, until } = chinaDay(day)
    const span = `created[gte]=${since / 1_000}&created[lt]=${until / 1_000}&limit=100`
    const charges = await this.#list<Charge>(`/v1/charges?${span}`)
    const refunds = await this.#list<RefundOfCharge>(`/v1/refunds?${span}&expand[]=data.charge`)
    return [...charges.flatMap(chargeRow), ...refunds.flatMap(refundRow)]
  }

  async #list<Item extends { readonly id: string }>(path: string): Promise<readonly Item[]> {
    const all: Item[] = []
    for (let pages = 0; pages < mostPages; pages += 1) {
      type Page = { readonly data: readonly Item[]; readonly has_more: boolean }
      const last = all.at(-1)
      const after = last === undefined ? '' : `&starting_after=${last.id}`
      const { data, has_more: hasMore } = await this.#call<Page>(`${path}${after}`)
      all.push(...data)
      if (!hasMore) return all
    }
    throw new BillUnreadable(`a day has more than ${mostPages} pages`)
  }
}

/** The order's id in a charge's metadata; null if the charge is not ours. */
function orderOfCharge({ metadata = {} }: Pick<Charge, 'metadata'>): string | null {
  return metadata[orderMark] ?? metadata['order'] ?? null
}

function chargeRow(charge: Charge): BillRow[] {
  const { amount: amountMinor, payment_intent: transactionId, status } = charge
  const orderId = orderOfCharge(charge)
  if (status !== 'succeeded' || orderId === null || !transactionId) return []
  return [{ transactionId, orderId, refundId: null, amountMinor }]
}

/** A refund made in Stripe's dashboard has no id of ours. */
function refundRow({ id, metadata, charge, status, ...refund }: RefundOfCharge): BillRow[] {
  const { payment_intent: transactionId, amount: amountMinor } = refund
  const orderId = orderOfCharge(charge)
  const isOver = status === 'failed' || status === 'canceled'
  if (isOver || orderId === null || !transactionId) return []
  return [{ transactionId, orderId, refundId: metadata?.refund ?? id, amountMinor }]
}

type Fields = Readonly<Record<string, string>>

/** The ids at Stripe that were stored with the order. */
function instructionsOf({ instructions }: PaymentOrder) {
  return (instructions ?? {}) as { readonly session?: string; readonly intent?: string }
}

/** null if no checkout session was created for the order. */
function pathOf(order: PaymentOrder): string | null {
  const { session } = instructionsOf(order)
  return session === undefined ? null : `/v1/checkout/sessions/${encodeURIComponent(session)}`
}

function notified({ body, header }: ProviderMessage, secret: string, nowMs: number): Notified {
  checkSignature(body, header('stripe-signature') ?? '', secret, nowMs)
  interface Event {
    readonly id?: string
    readonly type?: string
    /** A connected account, which can put any values into its sessions. */
    readonly account?: string
    /** Unix seconds. */
    readonly created?: number
    readonly data?: { readonly object?: Session }
  }
  const { id = null, type = '', account, created, data } = JSON.parse(body) as Event
  const at = created === undefined ? nowMs : created * 1_000
  if (account !== undefined) throw new NotVerified('it is of another account')
  const object = data?.object
  if (disputeEvents.includes(type) && object !== undefined)
    return {
      eventId: id,
      orderId: null,
      paid: null,
      ...disputeOf(type, object as StripeDispute, nowMs),
    }
  if (type === 'payment_intent.succeeded') {
    const intent = object as Intent | undefined
    // Payments of checkout pages name no order here; their sessions do.
    const order = intent?.metadata?.order ?? null
    return {
      eventId: id,
      orderId: order,
      paid: intent && order ? paidByIntent(intent, order, at) : null,
    }
  }
  // Messages about other sales of this Stripe account are accepted, because Stripe would repeat refused ones.
  const orderId = object?.metadata?.[orderMark] ?? null
  const isOurs = paidEvents.includes(type) && orderId !== null
  if (isOurs && object?.client_reference_id !== orderId)
    throw new NotVerified('it pays no order of this provider')
  const isPaid = isOurs && object?.payment_status === 'paid'
  return { eventId: id, orderId, paid: isPaid ? paidOf(object, at) : null }
}

/** Only for a payment made through Checkout, which has a payment intent. */
function disputeOf(type: string, dispute: StripeDispute, at: number): Pick<Notified, 'dispute'> {
  const { id, payment_intent: transactionId, amount: amountMinor, reason = '', status } = dispute
  if (!transactionId) return {}
  if (!Number.isSafeInteger(amountMinor) || amountMinor <= 0)
    throw new NotVerified('the amount of the dispute cannot be read')
  const isOpen = type !== 'charge.dispute.closed'
  // A refund may prevent that an inquiry becomes a dispute, so it must not be held up.
  if (isOpen && status.startsWith('warning_')) return {}
  const state = isOpen ? 'open' : status === 'lost' ? 'lost' : 'won'
  return { dispute: { id, transactionId, amountMinor, reason, state, at } }
}

/** Stripe sends several signatures while a secret is being replaced. */
function checkSignature(body: string, shown: string, secret: string, nowMs: number): void {
  const parts = shown.split(',').map((part) => part.trim().split('=', 2))
  const time = parts.find(([name]) => name === 't')?.[1] ?? ''
  const expected = createHmac('sha256', secret).update(`${time}.${body}`).digest()
  const isSigned = parts.some(([name, value = '']) => {
    const given = Buffer.from(value, 'hex')
    return name === 'v1' && given.length === expected.length && timingSafeEqual(given, expected)
  })
  if (!isSigned) throw new NotVerified('the signature does not fit')
  checkTime(Number(time) * 1_000, nowMs)
}

/** null if it is not paid. */
function paidByIntent(intent: Intent, orderId: string, at: number) {
  const { id, status, amount_received: amountMinor, currency, metadata } = intent
  if (metadata?.order !== orderId) throw new NotVerified('the reply is of another order')
  if (status !== 'succeeded') return null
  if (!Number.isSafeInteger(amountMinor) || amountMinor <= 0)
    throw new NotVerified('the amount cannot be read')
  const paidAt = chargedAt(intent) ?? at
  return { id, amountMinor, currency: currency.toUpperCase(), payerHash: null, paidAt }
}

/** null if the charge was not expanded in the reply. */
function chargeOf({ latest_charge: charge }: Charged): ChargeDetails | null {
  return typeof charge === 'object' ? (charge ?? null) : null
}

/** Payers type any e-mail address, but a card remains the same. null if it was not paid by card. */
function cardHash(charged: Charged): string | null {
  return payerHash('stripe', chargeOf(charged)?.payment_method_details?.card?.fingerprint)
}

function chargedAt(charged: Charged): number | null {
  const created = chargeOf(charged)?.created
  return created ? created * 1_000 : null
}

/**
 * A session stays paid after its refund. Money that went back before it was credited is not credited; null: all of it
 * went back.
 */
function notRefunded(
  paid: Paid | null,
  { order, charged }: { readonly order: PaymentOrder; readonly charged: Session['payment_intent'] },
): Paid | null {
  if (paid === null || order.creditedAt !== null) return paid
  const charge = typeof charged === 'object' && charged !== null ? chargeOf(charged) : null
  const amountMinor = paid.amountMinor - (charge?.amount_refunded ?? 0)
  return amountMinor > 0 ? { ...paid, amountMinor } : null
}

function paidOf(session: Session, at: number) {
  const {
    amount_total: amountMinor,
    payment_intent: intent,
    currency,
    customer_details: payer,
  } = session
  const isWhole = typeof intent === 'object' && intent !== null
  const id = isWhole ? intent.id : intent
  if (typeof amountMinor !== 'number' || amountMinor <= 0 || !id || !currency)
    throw new NotVerified('the amount or the payment cannot be read')
  return {
    id,
    amountMinor,
    currency: currency.toUpperCase(),
    payerHash:
      (isWhole ? cardHash(intent) : null) ?? payerHash('stripe', payer?.email?.toLowerCase()),
    paidAt: (isWhole ? chargedAt(intent) : null) ?? at,
  }
}
