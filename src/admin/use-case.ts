// What every use case is given, and how it refuses; use cases never print, prompt or exit.

import type { Store } from '../store/store.ts'

export interface AdminContext {
  readonly store: Store
  /** The name of the actor, which journal entries and rate cards keep. */
  readonly actor: string
  readonly nowMs: number
  /** ISO code of the deployment's currency. */
  currency(): Promise<string>
}

/**
 * `invalid`: the input is wrong. `not_found`: an item it names does not exist. `conflict`: the present state forbids
 * it. `stale`: the item is newer than the caller read. `forbidden`: the caller may not do it.
 */
export type Refusal = 'invalid' | 'not_found' | 'conflict' | 'stale' | 'forbidden'

/** What exactly forbids it, where a program may have its own words for it. */
export const refusalReasons = [
  'balance_left',
  'built_in',
  'changed_meanwhile',
  'code_expired',
  'code_revoked',
  'code_unknown',
  'code_used',
  'day_not_over',
  'disputed',
  'in_configuration_file',
  'in_use',
  'invitation_used',
  'key_disabled',
  'last_admin',
  'last_identity',
  'mail_code_wrong',
  'name_taken',
  'no_mail_server',
  'not_paid',
  'order_closed',
  'provider_unreachable',
  'range_too_long',
  'refund_held',
  'refund_too_large',
  'sign_in_again',
] as const

export type RefusalReason = (typeof refusalReasons)[number]

/** A refusal for the caller; the message leaves the field's name out. */
export class AdminError extends Error {
  override readonly name = 'AdminError'
  readonly refusal: Refusal
  /** The input field at fault: `amount`, `models[1]`. */
  readonly field: string
  readonly reason: RefusalReason | null

  constructor(
    refusal: Refusal,
    field: string,
    message: string,
    reason: RefusalReason | null = null,
  ) {
    super(message)
    this.refusal = refusal
    this.field = field
    this.reason = reason
  }
}
