// Types for what a request may cost and what it did cost: plain data, no I/O.

import type { ModelKind } from '../config/types.ts'
import type { Nano } from '../money.ts'
import type { Usage } from '../wire/ir.ts'

/** A model's card combined with a group's multiplier: compiled once, used for each request. */
export interface Rate {
  /** The name on the card; for a pattern `gpt-*`. */
  readonly model: string
  readonly version: number
  readonly multiplierPpm: number
  /**
   * The published formula: everything is multiplied, divided once and rounded up once. A unit or kind without a price
   * costs nothing: see `missing`. Throws `RangeError` where a count is not finite. Absurd counts may exceed int64.
   */
  charge(usage: Usage, units: Units | null): Nano
  /** The same at a multiplier of 1: what the vendor is assumed to charge. */
  cost(usage: Usage, units: Units | null): Nano
  /** The formula with its numbers, for display: `ceil((12 * 150000000 + ...) * 1000000 / 10^12) = 1234`. */
  explain(usage: Usage, units: Units | null): string
  /** The formula's parts: the amount for each kind and unit used, each rounded down. */
  lines(usage: Usage, units: Units | null): readonly PricedLine[]
  /** The most that a request of this size costs, if all its tokens are of the most expensive kind possible. */
  ceiling(expected: Expected): Nano
  /** The first price that such a request needs and the card lacks; null: it lacks none. */
  missing(kind: ModelKind, units: Units | null): string | null
  /** Whether the card prices a unit of this name: other units need not be counted. */
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

/** Units that are not tokens: `request`, `search`, `image/1024x1024/hd`, `second`, `character`; at most 6 decimals. */
export type Units = Readonly<Record<string, number>>

/** A request's size as known before it is sent. */
export interface Expected {
  readonly kind: ModelKind
  /** Upper bound for the tokens of the prompt. */
  readonly inputTokens: number
  /** Upper bound for the tokens of audio in the prompt, which `inputTokens` does not include. */
  readonly audioTokens?: number
  /** Upper bound for the tokens of one reply, times the choices asked for. */
  readonly outputTokens: number
  readonly units: Units | null
}

/** Prices by model and time. Immutable; a change of prices makes another book. */
export interface PriceBook {
  /** The rate for a model at a moment; null where no card is in force. `multiplierPpm`: the group's, in millionths. */
  find(model: string, atMs: number, multiplierPpm: number): Rate | null
  /** Model names (not patterns) that this deployment priced itself: by the file, a command or an import. */
  readonly given: readonly string[]
  /** How many cards' starting moments have passed: while it is the same, `find` returns the same. */
  begun(atMs: number): number
  /** The rate of the version that a usage row names. */
  version(version: number, multiplierPpm: number): Rate | null
}
