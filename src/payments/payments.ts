// Payments of this deployment: the providers offered, their messages, and how payments are credited, at once or later.

import type { PaymentSettings } from '../config/types.ts'
import { isOpen } from '../store/order-state.ts'
import type {
  PaidOutcome,
  PaymentMode,
  PaymentOrder,
  PaymentProvider,
  ProviderEvent,
  Refund,
} from '../store/payment-tables.ts'
import type { Store } from '../store/store.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { bonusOf } from './bonus.ts'
import { bonusSpending } from './bonus-spending.ts'
import {
  type Acknowledgement,
  CallerRefused,
  type Notified,
  NotVerified,
  type Provider,
  type ProviderMessage,
  ProviderRefused,
  type Send,
  type StartDetails,
} from './provider.ts'
import { whenFree } from './when-free.ts'

const providerNames: readonly PaymentProvider[] = ['alipay', 'wechatpay', 'stripe']

export interface PaymentsOptions {
  readonly store: Pick<
    Store,
    'paymentOrders' | 'payments' | 'callbacks' | 'refunds' | 'disputes' | 'leases'
  >
  readonly settings: PaymentSettings
  /** The deployment's currency. */
  readonly currency: string
  readonly mode: PaymentMode
  readonly send: Send
  /** How often the arrival of a provider's messages is recorded; every few seconds by default. */
  readonly noteEveryMs?: number
  readonly metrics?: Pick<Metrics, 'payments' | 'paymentCallbackErrors'>
  /** Receives failures that are handled, to be logged. */
  onProblem(error: unknown, of: { readonly provider: string; readonly order?: string }): void
}

export interface Payments {
  /** The configured providers; their code is loaded at first use. */
  offered(): Promise<readonly { readonly name: PaymentProvider; readonly provider: Provider }[]>
  /** Starts the order at its provider and stores how to pay. Throws ProviderRefused, or another error if it is down. */
  start(order: PaymentOrder, details: StartDetails): Promise<void>
  /** Handles a provider's message; answers only after any credit is committed. null: no such provider is configured. */
  receive(name: string, message: ProviderMessage): Promise<Acknowledgement | null>
  /** Asks the provider about the order and credits a payment; returns the outcome, or null if nothing was paid. */
  check(order: PaymentOrder): Promise<PaidOutcome | null>
  /** Ends the order at the provider and here; false if it was paid meanwhile, and then it is credited. */
  end(order: PaymentOrder, how: 'expire' | 'close'): Promise<boolean>
  /** Asks the provider to refund money taken from the wallet; if it refuses, the money returns to the wallet. */
  refund(refund: Refund): Promise<void>
  /** Queries orders that are due, ends expired ones, and repeats requests for pending refunds. */
  sweep(nowMs: number): Promise<void>
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** Times after an order's creation at which its provider is asked about it, if it is not settled. */
export const queryScheduleMs: readonly number[] = [
  ...[1, 2, 5, 15, 30].map((minutes) => minutes * minuteMs),
  ...[1, 2, 4, 8, 16, 24].map((hours) => hours * hourMs),
]

const mostAtOnce = 50
const usualNoteEveryMs = 5_000

export function createPayments(options: PaymentsOptions): Payments {
  return new ProviderPayments(options)
}

type Disputed = NonNullable<Notified['dispute']>
type Paid = NonNullable<Awaited<ReturnType<Provider['query']>>['paid']>

class ProviderPayments implements Payments {
  readonly #options: PaymentsOptions
  readonly #open: ReturnType<typeof openers>
  readonly #opened = new Map<PaymentProvider, Promise<Provider>>()
  readonly #notedAt = new Map<string, number>()
  /** Where the next sweep continues, so that refunds that stay pending do not keep later ones from being asked for. */
  #askedRefund: Refund | null = null

  constructor(options: PaymentsOptions) {
    this.#options = options
    this.#open = openers(options)
  }

  #provider(name: PaymentProvider): Promise<Provider> | null {
    const make = this.#open[name]
    if (make === null) return null
    const before = this.#opened.get(name)
    if (before !== undefined) return before
    const opened = make()
    this.#opened.set(name, opened)
    // It may be there the next time.
    opened.catch(() => this.#opened.delete(name))
    return opened
  }

  async #needed(name: PaymentProvider): Promise<Provider> {
    const provider = await this.#provider(name)
    if (provider === null) throw new Error(`${name} is not configured any more`)
    return provider
  }

  async offered() {
    const found = []
    for (const name of providerNames) {
      const provider = await this.#provider(name)
      if (provider !== null) found.push({ name, provider })
    }
    return found
  }

  async start(order: PaymentOrder, details: StartDetails): Promise<void> {
    const instructions = await (await this.#needed(order.provider)).start(order, details)
    await this.#options.store.paymentOrders.show(order.id, instructions, Date.now())
  }

  /** The bonus is the one shown with the order, if the order is paid exactly; otherwise the rule decides. */
  async #mark(order: PaymentOrder, paid: Paid): Promise<PaidOutcome> {
    const { store, settings, mode, metrics } = this.#options
    const at = Date.now()
    const rule = settings.bonus?.firstTopUp
    const byRule = bonusOf(rule, BigInt(paid.amountMinor) * order.nanoPerMinor, at)
    const isAsOrdered = paid.amountMinor === order.amountMinor
    const amountNano = isAsOrdered ? order.bonusNano : byRule?.amountNano
    const expiresAt = rule?.days ? at + rule.days * 24 * hourMs : null
    const bonus = amountNano ? { amountNano, expiresAt } : null
    const { provider } = order
    const outcome = await store.payments.markPaid(order.id, { ...paid, provider, mode }, bonus, at)
    if (outcome !== 'known') metrics?.payments.with(provider, outcome).inc()
    return outcome
  }

  async #query(order: PaymentOrder): Promise<Paid | null> {
    return (await (await this.#needed(order.provider)).query(order)).paid
  }

  async check(order: PaymentOrder): Promise<PaidOutcome | null> {
    if (order.mode !== this.#options.mode) return null
    const paid = await this.#query(order)
    return paid === null ? null : this.#mark(order, paid)
  }

  /** Credits a payment that a message reports. Throws NotVerified if it contradicts the order or the provider. */
  async #take(name: PaymentProvider, orderId: string | null, paid: Paid): Promise<void> {
    const { store, settings, mode } = this.#options
    const order = orderId === null ? null : await store.paymentOrders.find(orderId)
    // Stripe tells every deployment of an account about the sales of all, and disables an address that refuses them.
    if (order === null && name === 'stripe') return
    if (order === null || order.provider !== name || order.mode !== mode)
      throw new NotVerified('it pays no order of this provider')
    if (order.currency !== paid.currency) throw new NotVerified('its currency is another')
    const isAsOrdered = order.amountMinor === paid.amountMinor
    if (isAsOrdered && !settings.queryBeforeCredit) {
      await this.#mark(order, paid)
      return
    }
    // A different amount is credited only by the provider's answer to a query, never by a message alone.
    const confirmed = await this.#query(order)
    if (confirmed !== null) await this.#mark(order, confirmed)
    if (confirmed?.id !== paid.id || confirmed.amountMinor !== paid.amountMinor)
      throw new NotVerified('the provider, when asked, says something else')
  }

  /** Returns the order's id, or null if the payment is not ours. Throws if requests hold the money for too long. */
  async #dispute(provider: PaymentProvider, dispute: Disputed): Promise<string | null> {
    const { store, settings, mode } = this.#options
    const spending = bonusSpending(settings)
    const seen = { ...dispute, provider, mode }
    const noted = await whenFree(store.leases, () => store.disputes.note(seen, spending))
    if (noted.outcome === 'leased') throw new Error('requests hold what a lost dispute takes')
    return 'orderId' in noted ? noted.orderId : null
  }

  /**
   * Stores the message, and records its arrival only every few seconds, because anyone may send any number. Returns
   * whether it was recorded.
   */
  async #keep(event: ProviderEvent): Promise<boolean> {
    const { store, mode, noteEveryMs = usualNoteEveryMs } = this.#options
    await store.payments.keepEvent(event)
    const { provider, problem, at } = event
    const what = `${provider} ${problem === null}`
    if (at - (this.#notedAt.get(what) ?? 0) < noteEveryMs) return false
    this.#notedAt.set(what, at)
    await store.callbacks.note({ provider, mode, problem, at })
    return true
  }

  async receive(name: string, message: ProviderMessage): Promise<Acknowledgement | null> {
    const { onProblem, metrics } = this.#options
    const known = providerNames.find((each) => each === name)
    const provider = known === undefined ? null : await this.#provider(known)
    if (known === undefined || provider === null) return null
    const at = Date.now()
    const raw = new TextEncoder().encode(message.body)
    const event = { provider: known, raw, headers: signatureHeaders(message), at }
    let named: { readonly eventId: string | null; readonly orderId: string | null } = unnamed
    try {
      const { paid, dispute, ...names } = await provider.readNotification(message, at)
      named = names
      if (paid !== null) await this.#take(known, names.orderId, paid)
      if (dispute !== undefined) named = { ...names, orderId: await this.#dispute(known, dispute) }
      await this.#keep({ ...event, ...named, problem: null })
      return provider.acknowledge(true)
    } catch (error) {
      const isRefused = error instanceof NotVerified
      metrics?.paymentCallbackErrors.with(known, isRefused ? 'refused' : 'failed').inc()
      if (!isRefused) throw error
      const refused = { ...event, ...named, problem: error.message }
      const isUnverified = named === unnamed
      const isRecorded = await this.#keep(isUnverified ? { ...refused, isUnverified } : refused)
      const { orderId } = named
      if (orderId !== null) onProblem(error, { provider: known, order: orderId })
      else if (isRecorded) onProblem(error, { provider: known })
      return provider.acknowledge(false)
    }
  }

  async end(order: PaymentOrder, how: 'expire' | 'close'): Promise<boolean> {
    // An order in play money cannot be paid in live mode, nor the reverse. A provider that was removed cannot be asked;
    // should it come back, a late payment is still credited.
    if (order.mode !== this.#options.mode || this.#provider(order.provider) === null)
      return this.#options.store.paymentOrders.end(order.id, how, Date.now())
    if ((await this.check(order)) !== null) return false
    const provider = await this.#needed(order.provider)
    try {
      await provider.close(order)
    } catch (error) {
      if (!(error instanceof ProviderRefused)) throw error
      // Refused, probably because it has just been paid.
      if ((await this.check(order)) !== null) return false
    }
    return this.#options.store.paymentOrders.end(order.id, how, Date.now())
  }

  async refund(asked: Refund): Promise<void> {
    const { store, mode, settings } = this.#options
    const spending = bonusSpending(settings)
    const order = await store.paymentOrders.find(asked.orderId)
    if (order === null || order.mode !== mode) return
    try {
      const how = await (await this.#needed(order.provider)).refund(asked, order)
      if (how === 'done') await store.refunds.end(asked.id, 'done', null, Date.now())
    } catch (error) {
      // An earlier call may have made it: only a refusal of the refund itself returns the money.
      if (!(error instanceof ProviderRefused) || error instanceof CallerRefused) throw error
      await store.refunds.end(asked.id, 'failed', error.message, Date.now(), spending)
    }
  }

  async #look(order: PaymentOrder, nowMs: number): Promise<void> {
    if (isOpen(order.state) && order.expiresAt <= nowMs) await this.end(order, 'expire')
    else await this.check(order)
  }

  async sweep(nowMs: number): Promise<void> {
    const { store, onProblem } = this.#options
    for (const order of await store.paymentOrders.takeDue(nowMs, queryScheduleMs, mostAtOnce)) {
      await this.#look(order, nowMs).catch((error: unknown) =>
        onProblem(error, { provider: order.provider, order: order.id }),
      )
    }
    const place = { before: nowMs - minuteMs, after: this.#askedRefund, limit: mostAtOnce }
    const refunds = await store.refunds.pending(place)
    this.#askedRefund = refunds.length < mostAtOnce ? null : (refunds.at(-1) ?? null)
    for (const pending of refunds) {
      await this.refund(pending).catch((error: unknown) =>
        onProblem(error, { provider: pending.provider, order: pending.orderId }),
      )
    }
  }
}

const unnamed = { eventId: null, orderId: null }

function openers({ settings, currency, send }: PaymentsOptions) {
  const { alipay, wechatpay, stripe } = settings
  return {
    alipay: alipay && (async () => (await import('./alipay.ts')).openAlipay(alipay, send)),
    wechatpay:
      wechatpay && (async () => (await import('./wechatpay.ts')).openWechatPay(wechatpay, send)),
    stripe:
      stripe &&
      (async () =>
        (await import('./stripe.ts')).openStripe(stripe, stripe.currency ?? currency, send)),
  } satisfies Record<PaymentProvider, (() => Promise<Provider>) | null>
}

/** The headers that a signature covers beside the body, and the signature itself. */
function signatureHeaders({ header }: ProviderMessage): Record<string, string> {
  const names = ['timestamp', 'nonce', 'signature', 'serial'].map((name) => `wechatpay-${name}`)
  return Object.fromEntries(
    [...names, 'stripe-signature'].flatMap((name) => {
      const value = header(name)
      return value === null ? [] : [[name, value.slice(0, 2_048)]]
    }),
  )
}
