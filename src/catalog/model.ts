// What the gateway knows of a model, whoever serves it.

import type { ModelKind, TimeoutSettings } from '../config/types.ts'

export interface Model {
  readonly id: string
  readonly kind: ModelKind
  /** Kinds of requests it answers beside those of its own kind. */
  readonly also: readonly ModelKind[]
  /** Tokens; null when not known. */
  readonly context: number | null
  readonly maxOutput: number | null
  readonly vision: boolean
  /** Thinks before it answers; null: not known. */
  readonly reasoning: true | null
  readonly ownedBy: string
  /** Unix seconds. */
  readonly createdAt: number
  readonly timeouts: Partial<TimeoutSettings>
}

/** Immutable after construction; a reload builds another. */
export interface Catalog {
  /** A declared or shipped model; null for a name nobody described. */
  find(id: string): Model | null
  /** Every shipped name but the sandbox's. */
  readonly known: readonly string[]
  /** What a vendor calls one of its shipped models. */
  vendorsName(vendor: string, id: string): string
  /** Shipped models of one vendor, by public name. */
  ofVendor(vendor: string): readonly Model[]
  /** What is assumed of a name a channel serves but nobody described. */
  assume(id: string, ownedBy: string): Model
}
