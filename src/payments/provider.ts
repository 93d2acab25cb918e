// What every provider of payment can do, whatever it calls it: one file each implements this.

import type { DisputeSeen, PaidTransaction, PaymentOrder, Refund } from '../store/payment-tables.ts'
import type { BillRow } from './bill.ts'

/** A request to a provider; the operator named its address. Rejects where no reply comes that can be read. */
export type Send = (request: {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
}) => Promise<ProviderReply>

export interface ProviderReply {
  readonly status: number
  readonly text: string
  /** What the text was read from. */
  readonly bytes: Uint8Array
  header(name: string): string | null
}

/** A message as it came. */
export interface ProviderMessage {
  readonly body: string
  header(name: string): string | null
}

/** What the customer pays by: an address to open, or the content of a QR code. */
export interface Instructions {
  /** `none`: it is paid without the customer. `bridge`: by a script of the browser it is shown in, with `bridge`. */
  readonly kind: 'redirect' | 'qr' | 'none' | 'bridge'
  readonly url: string
  readonly bridge?: Readonly<Record<string, string>>
}

export interface StartDetails {
  /** Where the provider sends the customer back to. */
  readonly returnUrl: string
  readonly notifyUrl: string
  readonly subject: string
  /** The customer's address, where it is known. */
  readonly clientAddress: string | null
  /** Names the customer's signed-in browser; null: it is none. */
  readonly browser?: string | null
  /** What the provider gave that browser to bring back. */
  readonly returned?: { readonly code: string; readonly state: string } | undefined
  /** Of a payment without its payer: the order by which they agreed. */
  readonly agreement?: PaymentOrder
}

type Paid = Omit<PaidTransaction, 'provider' | 'mode'>

/** `paid` null: the message tells of something else, and is only kept. */
export interface Notified {
  readonly eventId: string | null
  readonly orderId: string | null
  readonly paid: Paid | null
  /** Of one that tells of a dispute; it names the payment, not the order. */
  readonly dispute?: Omit<DisputeSeen, 'provider' | 'mode'>
}

/** The message is not the provider's word to this merchant; the message says why and names no secret. */
export class NotVerified extends Error {
  override readonly name = 'NotVerified'
}

/** The provider answered that it will not; the text is its own. */
export class ProviderRefused extends Error {
  override readonly name = 'ProviderRefused'
}

export interface Acknowledgement {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

export interface Provider {
  readonly currency: string
  /** Ways to pay, the first for desktops. */
  readonly methods: readonly string[]
  /** `agree`: the method by which a payer agrees to payments without them, whose method is `pay`; null: there are none. */
  readonly automatic: { readonly agree: string; readonly pay: string } | null
  /** One without its payer is started twice: it is made, and once that is kept, paid. Throws ProviderRefused. */
  start(order: PaymentOrder, details: StartDetails): Promise<Instructions>
  /** Throws NotVerified. */
  readNotification(message: ProviderMessage, nowMs: number): Promise<Notified>
  /** Exactly what the provider takes for an answer. */
  acknowledge(isTaken: boolean): Acknowledgement
  /** `paid` null: it is not paid, so far or ever. */
  query(order: PaymentOrder): Promise<{ readonly paid: Paid | null }>
  /** Nobody can pay it afterwards. Throws ProviderRefused, where it is paid already, say. */
  close(order: PaymentOrder): Promise<void>
  /** `pending`: asked again with the same id later. Throws ProviderRefused. */
  refund(refund: Refund, order: PaymentOrder): Promise<'done' | 'pending'>
  /** Of a day of the provider's (`2026-11-23`) that is over. */
  bill(day: string): Promise<readonly BillRow[]>
}

/** Where a provider is to send its messages; `address`: of this deployment, without a slash at its end. */
export function callbackAddress(address: string, provider: string): string {
  return `${address}/api/payments/${provider}/notify`
}

const mostSkewMs = 300_000

/** Of a signed message: an old one may be replayed. Throws NotVerified, which names the clocks. */
export function checkTime(signedAt: number, nowMs: number): void {
  const skewMs = Math.abs(nowMs - signedAt)
  if (skewMs <= mostSkewMs) return
  const seconds = Math.round(skewMs / 1_000)
  throw new NotVerified(
    `its time is ${seconds} s from this clock's, more than 300 s: look at the clock`,
  )
}
