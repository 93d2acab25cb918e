// The shape of the shipped model data, one file per vendor under models/.

import type { ModelKind, TimeoutSettings } from '../config/types.ts'

/**
 * What is known of a model; left out: chat, not known, no images. A window is given only where a
 * source gives it, and `vision` also where it is likely: a vendor refuses better than a guess does.
 */
export interface ShippedModel {
  readonly kind?: ModelKind
  /** Kinds of requests it answers beside those of its own kind. */
  readonly also?: readonly ModelKind[]
  readonly context?: number
  readonly maxOutput?: number
  readonly vision?: boolean
  /** Thinks before it answers. */
  readonly reasoning?: true
  /** What the vendor calls it, where that is another name: one of its other models. */
  readonly calls?: string
  readonly timeouts?: Partial<TimeoutSettings>
}

export interface ShippedModels {
  /** The value of `vendor` in the configuration. */
  readonly vendor: string
  /** Shown as `owned_by` for names that do not begin with their maker's (`maker/model`). */
  readonly ownedBy: string
  readonly models: Readonly<Record<string, ShippedModel>>
}

/** Models that think before the first event they stream get five minutes for it. */
export const thinks: ShippedModel = { reasoning: true, timeouts: { firstEventMs: 300_000 } }

export const embeds: ShippedModel = { kind: 'embedding' }

export const draws: ShippedModel = { kind: 'image' }

export const films: ShippedModel = { kind: 'video' }

export const transcribes: ShippedModel = { kind: 'transcription' }

export const speaks: ShippedModel = { kind: 'speech' }

export const moderates: ShippedModel = { kind: 'moderation' }

export const converses: ShippedModel = { kind: 'realtime' }
