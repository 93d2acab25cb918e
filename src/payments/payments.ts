// Payments of this deployment: what is offered, what providers say, and how what is paid gets credited, at once or later.

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
import { bonusOf } from './bonus.ts'
import {
  type Acknowledgement,
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
  /** Of the deployment. */
  readonly currency: string
  readonly mode: PaymentMode
  readonly send: Send
  /** How often it is noted that a provider was heard; every few seconds unless a test says otherwise. */
  readonly noteEveryMs?: number
  /** What should not be and is worked around: for the log. */
  onProblem(error: unknown, of: { readonly provider: string; readonly order?: string }): void
}

export interface Payments {
  /** Those of the configuration; their files are loaded at first use. */
  offered(): Promise<readonly { readonly name: PaymentProvider; readonly provider: Provider }[]>
  /** Shows the order at its provider. Throws ProviderRefused, or where the provider cannot be reached. */
  start(order: PaymentOrder, details: StartDetails): Promise<void>
  /** Answers only after the credit is committed; null: there is no such provider here. */
  receive(name: string, message: ProviderMessage): Promise<Acknowledgement | null>
  /** Asks the provider, and credits what it says was paid; the outcome, null where nothing was. */
  check(order: PaymentOrder): Promise<PaidOutcome | null>
  /** Ends it at the provider and here; false where it was paid meanwhile, and is credited now. */
  end(order: PaymentOrder, how: 'expire' | 'close'): Promise<boolean>
  /** Has the provider pay back what has left the wallet; where it refuses, the money comes back. */
  refund(refund: Refund): Promise<void>
  /** Asks about orders that are due, ends those that expired, and asks again for refunds. */
  sweep(nowMs: number): Promise<void>
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** After its creation, its provider is asked about an order that is not settled. */
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

  constructor(options: PaymentsOptions) {
    this.#options = options
    this.#open = openers(options)
  }

  #provider(name: PaymentProvider): Promise<Provider> | null {
    const make = this.#open[name]
    if (make === null) return null
    const opened = this.#opened.get(name) ?? make()
    this.#opened.set(name, opened)
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

  /** The bonus is that of the order, where it is paid as ordered. */
  async #mark(order: PaymentOrder, paid: Paid): Promise<PaidOutcome> {
    const { store, settings, mode } = this.#options
    const at = Date.now()
    const rule = settings.bonus?.firstTopUp
    const byRule = bonusOf(rule, BigInt(paid.amountMinor) * order.nanoPerMinor, at)
    const isAsOrdered = paid.amountMinor === order.amountMinor
    const amountNano = isAsOrdered ? order.bonusNano : byRule?.amountNano
    const expiresAt = rule?.days ? at + rule.days * 24 * hourMs : null
    const bonus = amountNano ? { amountNano, expiresAt } : null
    return store.payments.markPaid(order.id, { ...paid, provider: order.provider, mode }, bonus, at)
  }

  async #query(order: PaymentOrder): Promise<Paid | null> {
    return (await (await this.#needed(order.provider)).query(order)).paid
  }

  async check(order: PaymentOrder): Promise<PaidOutcome | null> {
    if (order.mode !== this.#options.mode) return null
    const paid = await this.#query(order)
    return paid === null ? null : this.#mark(order, paid)
  }

  /** Throws NotVerified where it says what is not so. */
  async #take(name: PaymentProvider, orderId: string | null, paid: Paid): Promise<void> {
    const { store, settings, mode } = this.#options
    const order = orderId === null ? null : await store.paymentOrders.find(orderId)
    if (order === null || order.provider !== name || order.mode !== mode)
      throw new NotVerified('it pays no order of this provider')
    if (order.currency !== paid.currency) throw new NotVerified('its currency is another')
    const isAsOrdered = order.amountMinor === paid.amountMinor
    if (isAsOrdered && !settings.queryBeforeCredit) {
      await this.#mark(order, paid)
      return
    }
    // Less or more is credited on the provider's answer, never on a message alone.
    const confirmed = await this.#query(order)
    if (confirmed !== null) await this.#mark(order, confirmed)
    if (confirmed?.id !== paid.id || confirmed.amountMinor !== paid.amountMinor)
      throw new NotVerified('the provider, when asked, says something else')
  }

  /** The order; null: the payment is none of ours. Throws where running requests hold the money for long. */
  async #dispute(provider: PaymentProvider, dispute: Disputed): Promise<string | null> {
    const { store, settings, mode } = this.#options
    const spending = settings.bonus?.firstTopUp?.spent ?? 'last'
    const seen = { ...dispute, provider, mode }
    const noted = await whenFree(store.leases, () => store.disputes.note(seen, spending))
    if (noted.outcome === 'leased') throw new Error('requests hold what a lost dispute takes')
    return 'orderId' in noted ? noted.orderId : null
  }

  /** Keeps the message; that one came is noted now and then, since anyone may send any number. */
  async #keep(event: ProviderEvent): Promise<void> {
    const { store, mode, noteEveryMs = usualNoteEveryMs } = this.#options
    await store.payments.keepEvent(event)
    const { provider, problem, at } = event
    const what = `${provider} ${problem === null}`
    if (at - (this.#notedAt.get(what) ?? 0) < noteEveryMs) return
    this.#notedAt.set(what, at)
    await store.callbacks.note({ provider, mode, problem, at })
  }

  async receive(name: string, message: ProviderMessage): Promise<Acknowledgement | null> {
    const { onProblem } = this.#options
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
      if (!(error instanceof NotVerified)) throw error
      await this.#keep({ ...event, ...named, problem: error.message })
      onProblem(error, { provider: known, ...(named.orderId !== null && { order: named.orderId }) })
      return provider.acknowledge(false)
    }
  }

  async end(order: PaymentOrder, how: 'expire' | 'close'): Promise<boolean> {
    // What was to be paid in play money cannot be paid any more, and the other way round.
    if (order.mode !== this.#options.mode)
      return this.#options.store.paymentOrders.end(order.id, how, Date.now())
    if ((await this.check(order)) !== null) return false
    const provider = await this.#needed(order.provider)
    try {
      await provider.close(order)
    } catch (error) {
      if (!(error instanceof ProviderRefused)) throw error
      // Paid in this moment, most likely.
      if ((await this.check(order)) !== null) return false
    }
    return this.#options.store.paymentOrders.end(order.id, how, Date.now())
  }

  async refund(asked: Refund): Promise<void> {
    const { store, mode } = this.#options
    const order = await store.paymentOrders.find(asked.orderId)
    if (order === null || order.mode !== mode) return
    try {
      const how = await (await this.#needed(order.provider)).refund(asked, order)
      if (how === 'done') await store.refunds.end(asked.id, 'done', null, Date.now())
    } catch (error) {
      if (!(error instanceof ProviderRefused)) throw error
      await store.refunds.end(asked.id, 'failed', error.message, Date.now())
    }
  }

  async #look(order: PaymentOrder, nowMs: number): Promise<void> {
    if (isOpen(order.state) && order.expiresAt <= nowMs) await this.end(order, 'expire')
    else await this.check(order)
  }

  async sweep(nowMs: number): Promise<void> {
    const { store, settings, onProblem } = this.#options
    for (const order of await store.paymentOrders.takeDue(nowMs, queryScheduleMs, mostAtOnce)) {
      await this.#look(order, nowMs).catch((error: unknown) =>
        onProblem(error, { provider: order.provider, order: order.id }),
      )
    }
    for (const pending of await store.refunds.pending(nowMs - minuteMs, mostAtOnce)) {
      await this.refund(pending).catch((error: unknown) =>
        onProblem(error, { provider: pending.provider, order: pending.orderId }),
      )
    }
    await store.payments.expireBonuses(nowMs, settings.bonus?.firstTopUp?.spent ?? 'last')
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

/** What a signature was made over beside the body. */
function signatureHeaders({ header }: ProviderMessage): Record<string, string> {
  const names = ['timestamp', 'nonce', 'signature', 'serial'].map((name) => `wechatpay-${name}`)
  return Object.fromEntries(
    [...names, 'stripe-signature'].flatMap((name) => {
      const value = header(name)
      return value === null ? [] : [[name, value.slice(0, 2_048)]]
    }),
  )
}
