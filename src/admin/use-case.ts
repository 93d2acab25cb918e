// What every use case is given, and how it refuses; none of them prints, asks or ends a process.

import type { Store } from '../store/store.ts'

export interface AdminContext {
  readonly store: Store
  /** Who acts: the name that the journal and the cards of prices keep. */
  readonly actor: string
  readonly nowMs: number
  /** Code of the currency that amounts are in. */
  currency(): Promise<string>
}

/**
 * `invalid`: the input cannot be. `not_found`: what it names is not there. `conflict`: what is there forbids it.
 * `stale`: what is there is newer than what the caller read. `forbidden`: not by this caller.
 */
export type Refusal = 'invalid' | 'not_found' | 'conflict' | 'stale' | 'forbidden'

/** A refusal, for whoever asked: the message stands without the field's name. */
export class AdminError extends Error {
  override readonly name = 'AdminError'
  readonly refusal: Refusal
  /** The field of the input it is about: `amount`, `models[1]`. */
  readonly field: string

  constructor(refusal: Refusal, field: string, message: string) {
    super(message)
    this.refusal = refusal
    this.field = field
  }
}
