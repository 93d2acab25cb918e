// The format of the shipped model data, one file per vendor under models/.

import type { ModelKind, TimeoutSettings } from '../config/types.ts'

/**
 * What is known of a model; by default a chat model with unknown limits and no images. A context window is given only
 * where a source names it, but `vision` also where it is likely: it is better if a vendor refuses than if a guess does.
 */
export interface ShippedModel {
  readonly kind?: ModelKind
  /** Kinds of requests it answers besides its own kind. */
  readonly also?: readonly ModelKind[]
  readonly context?: number
  readonly maxOutput?: number
  readonly vision?: boolean
  /** Whether it reasons before it answers. */
  readonly reasoning?: true
  /** The vendor's name for it, where that is the name of another of its models. */
  readonly calls?: string
  readonly timeouts?: Partial<TimeoutSettings>
}

export interface ShippedModels {
  /** The value of `vendor` in the configuration. */
  readonly vendor: string
  /** The `owned_by` of names that do not begin with their maker (`maker/model`). */
  readonly ownedBy: string
  readonly models: Readonly<Record<string, ShippedModel>>
}

/** Models that reason before their first streamed event may take five minutes for it. */
export const thinks: ShippedModel = { reasoning: true, timeouts: { firstEventMs: 300_000 } }

export const embeds: ShippedModel = { kind: 'embedding' }

export const draws: ShippedModel = { kind: 'image' }

export const films: ShippedModel = { kind: 'video' }

export const transcribes: ShippedModel = { kind: 'transcription' }

export const speaks: ShippedModel = { kind: 'speech' }

export const moderates: ShippedModel = { kind: 'moderation' }

export const converses: ShippedModel = { kind: 'realtime' }
