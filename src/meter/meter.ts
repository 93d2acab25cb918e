// What a request may cost and what it did cost: the shapes; pure, on plain data.

import type { ModelKind } from '../config/types.ts'
import type { Nano } from '../money.ts'
import type { Usage } from '../wire/ir.ts'

/** A model's card with a group's multiplier: compiled once, asked for each request. */
export interface Rate {
  /** As the card names it: for a pattern `gpt-*`. */
  readonly model: string
  readonly version: number
  readonly multiplierPpm: number
  /**
   * The published formula: everything multiplied, divided once, rounded up once. A unit or kind the card does not
   * price costs nothing: see `missing`. Throws `RangeError` where a count is not finite. May be above what int64
   * holds where counts are absurd.
   */
  charge(usage: Usage, units: Units | null): Nano
  /** The same at a multiplier of 1: what the vendor is taken to ask. */
  cost(usage: Usage, units: Units | null): Nano
  /** The formula with its numbers, for people: `ceil((12 * 150000000 + ...) * 1000000 / 10^12) = 1234`. */
  explain(usage: Usage, units: Units | null): string
  /** The formula's parts: of each kind and unit that was used what it came to by itself, rounded down. */
  lines(usage: Usage, units: Units | null): readonly PricedLine[]
  /** The most that a request of this size costs, at the dearest kind of token it may turn out to be made of. */
  ceiling(expected: Expected): Nano
  /** The price that a request of this kind, for these units, cannot do without and the card lacks; null: none. */
  missing(kind: ModelKind, units: Units | null): string | null
  /** Whether the card has a price for a unit of this name: what it does not price need not be counted. */
  prices(unit: string): boolean
}

export interface PricedLine {
  /** A kind of token, or the name of a unit. */
  readonly item: string
  /** A decimal: units have up to six places. */
  readonly count: string
  /** Nano-units per million; 0n where the card has no price for it. */
  readonly priceNano: Nano
  readonly amountNano: Nano
}

/** What is not tokens, by price name: `request`, `search`, `image/1024x1024/hd`, `second`, `character`; at most 6 decimals. */
export type Units = Readonly<Record<string, number>>

/** A request's size as it is known before the work. */
export interface Expected {
  readonly kind: ModelKind
  /** Tokens of the prompt, bounded from above. */
  readonly inputTokens: number
  /** Tokens of sound in the prompt beside them, bounded from above. */
  readonly audioTokens?: number
  /** Tokens of one reply, bounded from above, times the choices asked for. */
  readonly outputTokens: number
  readonly units: Units | null
}

/** Prices by model and time. Immutable; a change of prices makes another. */
export interface PriceBook {
  /** The rate for a model at a moment; null where no card is in force. `multiplier` is the group's, in millionths. */
  find(model: string, atMs: number, multiplierPpm: number): Rate | null
  /** Whole names that this deployment gave a price itself: by the file, a command or an import. */
  readonly given: readonly string[]
  /** How many of the moments at which cards begin have passed: while it stays, `find` finds the same. */
  begun(atMs: number): number
  /** By the version a usage row names. */
  version(version: number, multiplierPpm: number): Rate | null
}
