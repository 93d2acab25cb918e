// The interface of payment providers; each provider's module implements it.

import type { DisputeSeen, PaidTransaction, PaymentOrder, Refund } from '../store/payment-tables.ts'
import type { BillRow } from './bill.ts'

/** Sends a request to a provider, at an address that the operator configured. Rejects without a readable reply. */
export type Send = (request: {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
}) => Promise<ProviderReply>

export interface ProviderReply {
  readonly status: number
  readonly text: string
  /** The bytes from which `text` was decoded. */
  readonly bytes: Uint8Array
  header(name: string): string | null
}

/** A provider's message as received. */
export interface ProviderMessage {
  readonly body: string
  header(name: string): string | null
}

/** How the customer pays: an address to open, or the content of a QR code. */
export interface Instructions {
  /** `none`: paid without the customer. `bridge`: paid by a script of the showing browser, with `bridge`'s fields. */
  readonly kind: 'redirect' | 'qr' | 'none' | 'bridge'
  readonly url: string
  readonly bridge?: Readonly<Record<string, string>>
}

export interface StartDetails {
  /** The page to which the provider sends the customer back. */
  readonly returnUrl: string
  readonly notifyUrl: string
  readonly subject: string
  /** The customer's IP address, if known. */
  readonly clientAddress: string | null
  /** Identifies the customer's signed-in browser; null if there is none. */
  readonly browser?: string | null
  /** What the provider returned through that browser. */
  readonly returned?: { readonly code: string; readonly state: string } | undefined
  /** For a payment without the payer's presence: the order by which the payer agreed to it. */
  readonly agreement?: PaymentOrder
}

type Paid = Omit<PaidTransaction, 'provider' | 'mode'>

/** `paid` null: the message does not report a payment, and is only stored. */
export interface Notified {
  readonly eventId: string | null
  readonly orderId: string | null
  readonly paid: Paid | null
  /** Present if the message reports a dispute, which names the payment rather than the order. */
  readonly dispute?: Omit<DisputeSeen, 'provider' | 'mode'>
}

/** The message was not sent by the provider to this merchant; the error text says why, without any secret. */
export class NotVerified extends Error {
  override readonly name = 'NotVerified'
}

/** The provider answered that it refuses; the error text is the provider's. */
export class ProviderRefused extends Error {
  override readonly name = 'ProviderRefused'
}

/** It refused the caller: its key, rights, address or rate. That says nothing about what was asked. */
export class CallerRefused extends ProviderRefused {}

/** Turns what a query failed with into an error that decides nothing. */
export function undecided(message: string): (cause: unknown) => never {
  return (cause) => {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${message}: ${why}`, { cause })
  }
}

export interface Acknowledgement {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

export interface Provider {
  readonly currency: string
  /** Payment methods, the first one for desktops. */
  readonly methods: readonly string[]
  /** `agree`: method by which a payer agrees to payments without them, whose method is `pay`; null: there are none. */
  readonly automatic: { readonly agree: string; readonly pay: string } | null
  /** Creates the payment; without its payer, a second call pays it once the first is stored. Throws ProviderRefused. */
  start(order: PaymentOrder, details: StartDetails): Promise<Instructions>
  /** Throws NotVerified. */
  readNotification(message: ProviderMessage, nowMs: number): Promise<Notified>
  /** The reply that the provider expects to a message. */
  acknowledge(isTaken: boolean): Acknowledgement
  /** `paid` null: not paid yet. */
  query(order: PaymentOrder): Promise<{ readonly paid: Paid | null }>
  /** Prevents later payment. Throws ProviderRefused, for example if it is already paid. */
  close(order: PaymentOrder): Promise<void>
  /**
   * Looks for the refund first, as an earlier call may have made it without its reply arriving. `pending`: to be
   * repeated later with the same id. Throws ProviderRefused only where the refund was not made.
   */
  refund(refund: Refund, order: PaymentOrder): Promise<'done' | 'pending'>
  /** The bill of a past day in the provider's time zone (`2026-11-23`). */
  bill(day: string): Promise<readonly BillRow[]>
}

/** Where a provider must send its messages; `address`: the deployment's, without a trailing slash. */
export function callbackAddress(address: string, provider: string): string {
  return `${address}/api/payments/${provider}/notify`
}

const mostSkewMs = 300_000

/** Rejects old signed messages, which may be replays. Throws NotVerified with the clocks' difference. */
export function checkTime(signedAt: number, nowMs: number): void {
  const skewMs = Math.abs(nowMs - signedAt)
  if (skewMs <= mostSkewMs) return
  const seconds = Math.round(skewMs / 1_000)
  throw new NotVerified(
    `its time is ${seconds} s from this clock's, more than 300 s: look at the clock`,
  )
}
