// What the payment simulator remembers: keys, payments and notifications under way, in memory or in one file.
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createKeys, type Keys } from './keys.ts'
import type { MessageFlaws } from './misbehaviour.ts'

export type Provider = 'alipay' | 'wechatpay' | 'stripe'

export interface Transaction {
  /** The provider's own number of it. */
  readonly id: string
  readonly amountMinor: number
  readonly payer: string
  readonly at: number
}

export interface Refund {
  /** The provider's own number of it. */
  readonly id: string
  /** The merchant's number of it, by which it is done once. */
  readonly number: string
  readonly transactionId: string
  readonly amountMinor: number
  readonly reason: string
  readonly at: number
  readonly notifyUrl: string
  /** What the merchant gave to have it back. */
  readonly attached?: Readonly<Record<string, string>>
}

/** Of Stripe's: a payer takes a payment back through the bank. */
export interface Dispute {
  readonly id: string
  readonly transactionId: string
  readonly amountMinor: number
  readonly reason: string
  readonly at: number
  status: 'needs_response' | 'won' | 'lost'
}

/** An order as the provider keeps it. Amounts are integers of the currency's minor unit, times Unix ms. */
export interface Payment {
  /** Names its pay page; for Stripe the session. */
  readonly id: string
  readonly provider: Provider
  /** The merchant's number (`out_trade_no`, `client_reference_id`). */
  readonly orderId: string
  /** How it is paid: `page`, `wap`, `precreate`, `native`, `h5`, `jsapi`, `checkout`. */
  readonly product: string
  readonly subject: string
  readonly amountMinor: number
  readonly currency: string
  readonly createdAt: number
  readonly expiresAt: number
  readonly notifyUrl: string
  readonly returnUrl: string
  readonly cancelUrl: string
  /** What the merchant gave to have it back. */
  readonly attached: Readonly<Record<string, string>>
  /** Of Stripe's: what the merchant gave to have back with the charge, where that is something else. */
  readonly chargeAttached?: Readonly<Record<string, string>>
  /** Of WeChat Pay's: what it is paid in. */
  readonly appid?: string
  /** Of Stripe's: the card of this customer is kept; of a payment without its holder, whose it is. */
  readonly customer?: string
  /** Whether a payer has opened its page. */
  opened: boolean
  closedAt?: number
  readonly transactions: Transaction[]
  readonly refunds: Refund[]
  disputes?: Dispute[]
}

/** A notification that is not acknowledged yet. */
export interface Notification {
  readonly id: string
  readonly provider: Provider
  readonly paymentId: string
  readonly kind: 'paid' | 'refunded' | 'expired' | 'disputed' | 'dispute closed'
  /** The transaction, refund or dispute it is about. */
  readonly subjectId: string
  readonly url: string
  readonly createdAt: number
  /** Attempts made. */
  attempts: number
  dueAt: number
  /** What was taken up for it and is still to be done. */
  flaws?: MessageFlaws
}

export interface State {
  readonly keys: Keys
  readonly payments: Payment[]
  readonly notifications: Notification[]
  /** Stripe's replies by idempotency key. */
  readonly replies: Record<string, { asked: string; status: number; body: string }>
}

export interface KeptState {
  readonly state: State
  save(): void
}

/** The state of `directory`, made where it is new; without a directory it lives in memory. */
export async function openState(directory: string | undefined, now: number): Promise<KeptState> {
  const path = directory === undefined ? undefined : join(directory, 'paysim.json')
  const state = (path === undefined ? undefined : read(path)) ?? (await newState(now))
  const save = () => {
    if (path !== undefined) write(path, state)
  }
  save()
  return { state, save }
}

async function newState(now: number): Promise<State> {
  return { keys: await createKeys(now), payments: [], notifications: [], replies: {} }
}

function read(path: string): State | undefined {
  try {
    const state: State = JSON.parse(readFileSync(path, 'utf8'))
    return state
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new Error(`${path} cannot be read; remove it to begin anew`, { cause: error })
  }
}

/** Written beside and renamed, so that a crash leaves the old file or the new one; not fsynced, as it may run in a server. */
function write(path: string, state: State): void {
  const beside = `${path}.new`
  mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 })
  writeFileSync(beside, JSON.stringify(state), { mode: 0o600 })
  // The mode above holds for a new file only.
  chmodSync(beside, 0o600)
  renameSync(beside, path)
}

export type PaymentStatus = 'open' | 'paid' | 'refunded' | 'closed'

/** An expired order is a closed one. Refunded is only what is refunded in full. */
export function statusOf(payment: Payment, now: number): PaymentStatus {
  if (payment.transactions.length > 0) {
    return sumMinor(payment.refunds) === sumMinor(payment.transactions) ? 'refunded' : 'paid'
  }
  return payment.closedAt !== undefined || payment.expiresAt <= now ? 'closed' : 'open'
}

/** What of a transaction is not refunded. */
export function refundableMinor({ refunds }: Payment, { id, amountMinor }: Transaction): number {
  return amountMinor - sumMinor(refunds.filter(({ transactionId }) => transactionId === id))
}

export function sumMinor(items: readonly { readonly amountMinor: number }[]): number {
  return items.reduce((sum, { amountMinor }) => sum + amountMinor, 0)
}
