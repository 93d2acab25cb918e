// The faults that the simulator can be told to make, and for how long.

/** Faults of a notification. One that a provider cannot have is ignored. */
export interface MessageFlaws {
  /** Never sent, and not retried. */
  readonly lost?: boolean
  /** Sent this much later. */
  readonly lateMs?: number
  /** Sent this many times at once, byte for byte. */
  readonly repeated?: number
  /** Sent after the notification that follows it. */
  readonly reordered?: boolean
  /** Signed with a key that is not the provider's. */
  readonly forged?: boolean
  /** Sent correctly, and this much later again byte for byte, with its old timestamp. */
  readonly replayedAfterMs?: number
  /** One minor unit more than was paid. */
  readonly wrongAmount?: boolean
  /** Another merchant's `app_id` or `appid`. */
  readonly wrongApp?: boolean
  /** Another `seller_id`, `mchid` or account. */
  readonly wrongSeller?: boolean
  /** Another currency; Alipay's notifications name none. */
  readonly wrongCurrency?: boolean
  /** WeChat Pay: signed with a platform certificate that is listed but has expired. */
  readonly expiredCertificate?: boolean
  /** Alipay: signed with SHA-1, or without a `sign_type`. */
  readonly signType?: 'RSA' | 'missing'
  /** WeChat Pay: preceded by a probe with a signature of `WECHATPAY/SIGNTEST/`. */
  readonly signTest?: boolean
}

/** Faults of the provider's API. */
export interface InterfaceFlaws {
  /** Every request is answered with 503. */
  readonly down?: boolean
  /** Every reply is sent this much later. */
  readonly slowMs?: number
  /** A day's bill has an additional row, lacks a row, or has an amount that is one minor unit too high. */
  readonly bill?: 'unknown' | 'missing' | 'amount'
  /** Stripe: payments with a saved card are declined for this reason. */
  readonly declines?: 'card_declined' | 'authentication_required'
}

export interface Misbehaviour extends MessageFlaws, InterfaceFlaws {}

export interface Misbehaviours {
  /** With `next` it applies to one notification and one API request; with `cleared`, to all before `clear`. */
  set(how: Misbehaviour, until: 'next' | 'cleared'): void
  clear(): void
  ofMessage(): MessageFlaws
  ofInterface(): InterfaceFlaws
}

export function createMisbehaviours(): Misbehaviours {
  let once = true
  let ofMessage: MessageFlaws = {}
  let ofInterface: InterfaceFlaws = {}
  return {
    set({ down, slowMs, bill, declines, ...rest }, until) {
      once = until === 'next'
      ofMessage = rest
      ofInterface = {
        ...(down !== undefined && { down }),
        ...(slowMs !== undefined && { slowMs }),
        ...(bill !== undefined && { bill }),
        ...(declines !== undefined && { declines }),
      }
    },
    clear() {
      ofMessage = {}
      ofInterface = {}
    },
    ofMessage() {
      const taken = ofMessage
      if (once) ofMessage = {}
      return taken
    },
    ofInterface() {
      const taken = ofInterface
      if (once) ofInterface = {}
      return taken
    },
  }
}
