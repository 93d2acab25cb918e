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

/** A refusal for the caller; the message leaves the field's name out. */
export class AdminError extends Error {
  override readonly name = 'AdminError'
  readonly refusal: Refusal
  /** The input field at fault: `amount`, `models[1]`. */
  readonly field: string

  constructor(refusal: Refusal, field: string, message: string) {
    super(message)
    this.refusal = refusal
    this.field = field
  }
}
