// What the simulator can be told to do wrong, and for how long.

/** What is wrong with a notification. Where a provider has no such thing, it goes out as it should. */
export interface MessageFlaws {
  /** Never sent, nor tried again. */
  readonly lost?: boolean
  /** Sent that much later. */
  readonly lateMs?: number
  /** Sent that many times at once, byte for byte. */
  readonly repeated?: number
  /** Sent after the notification that follows it. */
  readonly reordered?: boolean
  /** Signed with a key that is not the provider's. */
  readonly forged?: boolean
  /** Sent as it should be, and that much later again byte for byte, with its old time. */
  readonly replayedAfterMs?: number
  /** One minor unit more than was paid. */
  readonly wrongAmount?: boolean
  /** Another merchant's `app_id` or `appid`. */
  readonly wrongApp?: boolean
  /** Another `seller_id`, `mchid` or account. */
  readonly wrongSeller?: boolean
  /** Another currency; Alipay's notifications name none. */
  readonly wrongCurrency?: boolean
  /** WeChat Pay: signed with a platform certificate that is listed, but past its end. */
  readonly expiredCertificate?: boolean
  /** Alipay: signed with SHA-1, or with no `sign_type` in it. */
  readonly signType?: 'RSA' | 'missing'
  /** WeChat Pay: a probe with a signature of `WECHATPAY/SIGNTEST/` goes before. */
  readonly signTest?: boolean
}

/** What is wrong with the interface. */
export interface InterfaceFlaws {
  /** Every request is answered 503. */
  readonly down?: boolean
  /** Every reply comes that much later. */
  readonly slowMs?: number
  /** A day's bill has a row too many, a row too few, or an amount that is one minor unit too high. */
  readonly bill?: 'unknown' | 'missing' | 'amount'
  /** Stripe: cards are charged nothing without their holders. */
  readonly declines?: 'card_declined' | 'authentication_required'
}

export interface Misbehaviour extends MessageFlaws, InterfaceFlaws {}

export interface Misbehaviours {
  /** `next` holds for one notification, and one request to the interface; `cleared` until `clear`. */
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
