// What a notice says, whatever it is about.

import { randomBytes } from 'node:crypto'

/** What a notice says. */
export interface NoticeFacts {
  readonly rule:
    | 'low_balance'
    | 'day_spend'
    | 'key_limit'
    | 'error_rate'
    | 'order_late'
    | 'order_refunded'
    | 'top_up_stopped'
  /** For people, in English. */
  readonly text: string
  readonly currency: string
  /** Of a rule about money: what was asked for, and what is the case. */
  readonly limitNano: string | null
  readonly valueNano: string | null
  /** Of a rule about a share. */
  readonly limitPercent: number | null
  readonly valuePercent: number | null
  readonly keyId: string | null
  readonly keyName: string | null
  /** How many requests the share is of. */
  readonly requests: number | null
  readonly orderId: string | null
}

/** Sorts by time. */
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
