// The state of the payment simulator: keys, payments and pending notifications, in memory or in one file.
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createKeys, type Keys } from './keys.ts'
import type { MessageFlaws } from './misbehaviour.ts'

export type Provider = 'alipay' | 'wechatpay' | 'stripe'

export interface Transaction {
  /** The provider's own number of the transaction. */
  readonly id: string
  readonly amountMinor: number
  readonly payer: string
  readonly at: number
}

export interface Refund {
  /** The provider's own number of the refund. */
  readonly id: string
  /** The merchant's number of the refund, by which it is made only once. */
  readonly number: string
  readonly transactionId: string
  readonly amountMinor: number
  readonly reason: string
  readonly at: number
  readonly notifyUrl: string
  /** The merchant's own data, returned to it. */
  readonly attached?: Readonly<Record<string, string>>
}

/** A dispute with Stripe: a payer takes a payment back through the bank. */
export interface Dispute {
  readonly id: string
  readonly transactionId: string
  readonly amountMinor: number
  readonly reason: string
  readonly at: number
  status: 'needs_response' | 'won' | 'lost'
}

/** An order as the provider stores it. Amounts are integers of the currency's minor unit, times are Unix ms. */
export interface Payment {
  /** Identifies its pay page; with Stripe it is the session's id. */
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
  /** The merchant's own data, returned to it. */
  readonly attached: Readonly<Record<string, string>>
  /** Stripe: the merchant's own data returned with the charge, where it differs. */
  readonly chargeAttached?: Readonly<Record<string, string>>
  /** WeChat Pay: the app or account in which it is paid. */
  readonly appid?: string
  /** Stripe: the customer whose card is saved or, in a payment with a saved card, charged. */
  readonly customer?: string
  /** Whether a payer has opened its page. */
  opened: boolean
  closedAt?: number
  readonly transactions: Transaction[]
  readonly refunds: Refund[]
  disputes?: Dispute[]
}

/** A notification that has not been acknowledged. */
export interface Notification {
  readonly id: string
  readonly provider: Provider
  readonly paymentId: string
  readonly kind: 'paid' | 'refunded' | 'expired' | 'disputed' | 'dispute closed'
  /** The id of the transaction, refund or dispute that it is about. */
  readonly subjectId: string
  readonly url: string
  readonly createdAt: number
  /** The number of attempts made. */
  attempts: number
  dueAt: number
  /** Faults assigned to it that are not applied yet. */
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

/** Opens the state in `directory`, which is created where it is missing; without a directory it is in memory. */
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

/** Writes a new file and renames it: a crash leaves the old or the new one. No fsync, as it may run in a server. */
function write(path: string, state: State): void {
  const beside = `${path}.new`
  mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 })
  writeFileSync(beside, JSON.stringify(state), { mode: 0o600 })
  // The mode above applies only to a new file.
  chmodSync(beside, 0o600)
  renameSync(beside, path)
}

export type PaymentStatus = 'open' | 'paid' | 'refunded' | 'closed'

/** An expired order counts as closed. `refunded` means fully refunded. */
export function statusOf(payment: Payment, now: number): PaymentStatus {
  if (payment.transactions.length > 0) {
    return sumMinor(payment.refunds) === sumMinor(payment.transactions) ? 'refunded' : 'paid'
  }
  return payment.closedAt !== undefined || payment.expiresAt <= now ? 'closed' : 'open'
}

/** The part of a transaction that has not been refunded. */
export function refundableMinor({ refunds }: Payment, { id, amountMinor }: Transaction): number {
  return amountMinor - sumMinor(refunds.filter(({ transactionId }) => transactionId === id))
}

export function sumMinor(items: readonly { readonly amountMinor: number }[]): number {
  return items.reduce((sum, { amountMinor }) => sum + amountMinor, 0)
}
