// What the simulated providers share: the clock, the state, notifications, and the interface of a provider.
import { createHash, randomBytes } from 'node:crypto'
import { digits } from './keys.ts'
import type { InterfaceFlaws, MessageFlaws } from './misbehaviour.ts'
import type { Notification, Payment, Provider, State } from './state.ts'

/** The time in Unix ms, and timers whose result cancels them; tests control both. */
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
  /** Sends a notification, repeated on the provider's schedule; resolves when the first attempt is over. */
  notify(payment: Payment, kind: Notification['kind'], subjectId: string): Promise<void>
}

/** A request to a provider. `path` is relative to the base address; `target` is the requested path and query. */
export interface Incoming {
  readonly method: string
  readonly path: string
  readonly target: string
  readonly query: URLSearchParams
  readonly headers: Headers
  readonly body: string
  readonly flaws: InterfaceFlaws
}

/** The content of a notification. */
export interface Message {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface ProviderSide {
  /** The wait before each repetition. */
  readonly retriesMs: readonly number[]
  /** How long an acknowledgement is waited for. */
  readonly acknowledgedWithinMs: number
  /** Undefined where the path is not the provider's. */
  answer(request: Incoming): Response | undefined
  message(notification: Notification, payment: Payment, flaws: MessageFlaws): Promise<Message>
  acknowledges(status: number, body: string): boolean
  /** The URL to which the payer's browser returns after paying; undefined where it stays. */
  returnAddress(payment: Payment, query: URLSearchParams): string | undefined
}

/** The payer's id that the provider gives the merchant: the same each time for a name. */
export function payerId(provider: Provider, payer: string): string {
  const hash = createHash('sha256').update(`${provider}:${payer}`).digest()
  if (provider === 'stripe') return `${hash.toString('hex').slice(0, 12)}@payer.example`
  if (provider === 'wechatpay') return `o${hash.toString('base64url').slice(0, 27)}`
  return `2088${hash.readBigUInt64BE().toString().padStart(20, '0').slice(-12)}`
}

/** The number of a new transaction, in the provider's own form. */
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

/** A time like `2026-11-23 09:30:00` in China's time zone, which the providers there use. */
export function chinaTime(ms: number): string {
  return new Date(ms + chinaMs).toISOString().slice(0, 19).replace('T', ' ')
}

/** Unix ms of a time like `2026-11-23 09:30:00` in China's time zone; NaN where it is invalid. */
export function chinaTimeMs(text: string): number {
  return Date.parse(`${text.replace(' ', 'T')}+08:00`)
}
