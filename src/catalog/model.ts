// What the gateway knows of a model, independent of who serves it.

import type { ModelKind, TimeoutSettings } from '../config/types.ts'

export interface Model {
  readonly id: string
  readonly kind: ModelKind
  /** Kinds of requests it answers besides its own kind. */
  readonly also: readonly ModelKind[]
  /** In tokens; null when not known. */
  readonly context: number | null
  readonly maxOutput: number | null
  readonly vision: boolean
  /** Whether it reasons before it answers; null: not known. */
  readonly reasoning: true | null
  readonly ownedBy: string
  /** Unix seconds. */
  readonly createdAt: number
  readonly timeouts: Partial<TimeoutSettings>
}

/** The known models. Immutable; a reload builds another. */
export interface Catalog {
  /** A declared or shipped model; null for any other name. */
  find(id: string): Model | null
  /** Every shipped name except the sandbox's. */
  readonly known: readonly string[]
  /** The vendor's own name for one of its shipped models. */
  vendorsName(vendor: string, id: string): string
  /** Shipped models of one vendor, by public name. */
  ofVendor(vendor: string): readonly Model[]
  /** What is assumed of a model that a channel serves but nobody described. */
  assume(id: string, ownedBy: string): Model
}
