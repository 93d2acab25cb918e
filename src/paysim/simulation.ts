// What the providers share: the clock, what is kept, how an order is paid, and what a provider has to offer.
import { createHash, randomBytes } from 'node:crypto'
import { digits } from './keys.ts'
import type { InterfaceFlaws, MessageFlaws } from './misbehaviour.ts'
import type { Notification, Payment, Provider, State } from './state.ts'

/** Unix ms now, and a timer that gives what cancels it: tests move both. */
export interface Clock {
  now(): number
  after(ms: number, run: () => void): () => void
}

export interface Simulation {
  /** Without a trailing slash. */
  readonly baseUrl: string
  readonly clock: Clock
  readonly state: State
  save(): void
  /** Sends it, and again on the provider's schedule; resolves when the first attempt is over. */
  notify(payment: Payment, kind: Notification['kind'], subjectId: string): Promise<void>
}

/** A request as a provider reads it. `path` is below the base address, `target` the path and query as requested. */
export interface Incoming {
  readonly method: string
  readonly path: string
  readonly target: string
  readonly query: URLSearchParams
  readonly headers: Headers
  readonly body: string
  readonly flaws: InterfaceFlaws
}

/** A notification's bytes and headers. */
export interface Message {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface ProviderSide {
  /** How long after each attempt the next one follows. */
  readonly retriesMs: readonly number[]
  /** How long an acknowledgement is waited for. */
  readonly acknowledgedWithinMs: number
  /** Undefined where the path is none of its. */
  answer(request: Incoming): Response | undefined
  message(notification: Notification, payment: Payment, flaws: MessageFlaws): Promise<Message>
  acknowledges(status: number, body: string): boolean
  /** Where the payer's browser goes after paying; undefined where it stays. */
  returnAddress(payment: Payment, query: URLSearchParams): string | undefined
}

/** The payer's id as the provider gives it to the merchant: the same for a name each time. */
export function payerId(provider: Provider, payer: string): string {
  const hash = createHash('sha256').update(`${provider}:${payer}`).digest()
  if (provider === 'stripe') return `${hash.toString('hex').slice(0, 12)}@payer.example`
  if (provider === 'wechatpay') return `o${hash.toString('base64url').slice(0, 27)}`
  return `2088${hash.readBigUInt64BE().toString().padStart(20, '0').slice(-12)}`
}

/** A provider's number of a new transaction, in its own form. */
export function newTransactionId(provider: Provider, now: number): string {
  if (provider === 'stripe') return newStripeId('pi')
  const day = chinaTime(now).slice(0, 10).replaceAll('-', '')
  return provider === 'alipay' ? `${day}22001${digits(15)}` : `420000${day}${digits(14)}`
}

export function newStripeId(prefix: string): string {
  return `${prefix}_${randomBytes(12).toString('hex')}`
}

/** The minor units as a decimal of two places. */
export function decimalOf(amountMinor: number): string {
  return `${Math.floor(amountMinor / 100)}.${String(amountMinor % 100).padStart(2, '0')}`
}

const chinaMs = 8 * 3_600_000

/** `2026-11-23 09:30:00`, in China's time, which the providers there write. */
export function chinaTime(ms: number): string {
  return new Date(ms + chinaMs).toISOString().slice(0, 19).replace('T', ' ')
}

/** The Unix ms of `2026-11-23 09:30:00` in China's time; NaN where it is none. */
export function chinaTimeMs(text: string): number {
  return Date.parse(`${text.replace(' ', 'T')}+08:00`)
}
