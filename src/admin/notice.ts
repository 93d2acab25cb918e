// The content of a notice, whatever its rule.

import { randomBytes } from 'node:crypto'

export interface NoticeFacts {
  readonly rule:
    | 'low_balance'
    | 'day_spend'
    | 'key_limit'
    | 'error_rate'
    | 'order_late'
    | 'order_refunded'
    | 'top_up_stopped'
  /** The text for people, in English. */
  readonly text: string
  readonly currency: string
  /** For rules about money: the limit that was set, and the actual value. */
  readonly limitNano: string | null
  readonly valueNano: string | null
  /** For rules about a percentage. */
  readonly limitPercent: number | null
  readonly valuePercent: number | null
  readonly keyId: string | null
  readonly keyName: string | null
  /** The number of requests behind the percentage. */
  readonly requests: number | null
  readonly orderId: string | null
}

/** An id that sorts by time. */
export function newNoticeId(nowMs: number): string {
  return `ntc_${nowMs.toString(16).padStart(12, '0')}${randomBytes(8).toString('hex')}`
}

export interface Crossing {
  readonly account: string
  readonly subject: string
  readonly facts: NoticeFacts
}

export const plain = {
  limitNano: null,
  valueNano: null,
  limitPercent: null,
  valuePercent: null,
  keyId: null,
  keyName: null,
  requests: null,
  orderId: null,
} as const
