// What one request pays with: its rate, its hold, and when a running stream must extend the hold.

import type { BillingSettings } from '../config/types.ts'
import type { Hold, Ledger } from '../ledger/ledger.ts'
import { countedReply, quantumBytes } from '../meter/ceiling.ts'
import type { Rate, Units } from '../meter/meter.ts'
import type { Nano } from '../money.ts'
import type { Usage } from '../wire/ir.ts'

export const noUsage: Usage = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 }

/** The billing options that the client set for its request. */
export interface RequestOptions {
  /** The charge is never more than this; null: no such limit. */
  readonly capNano: Nano | null
  /** Whether the reply's usage includes its cost. */
  readonly showCost: boolean
  /** The client's `Idempotency-Key`, taken for this request. */
  readonly idempotencyKey: string | null
}

/** A request's tokens as far as they can be estimated without a vendor's count. */
export interface Uncounted {
  readonly inputTokens: number
  readonly imageTokens: number
  /** Tokens of audio, including audio in files. */
  readonly audioTokens: number
  /** The most output tokens that the vendor was asked for; null where the request does not limit its text. */
  readonly limitTokens?: number | null
  /** Whether the output is audio rather than text. */
  readonly speaks: boolean
  /** Tokens of the images that the vendor makes, at most; 0 where images are priced by the piece, or none are asked. */
  readonly madeImageTokens?: number
}

/** Why a hold is not extended. `refused`: by the account's money; `closed`: the ledger cannot be asked at present. */
type Shortage = 'refused' | 'spend-limit' | 'closed'
export type Extension = 'enough' | Shortage | 'over-cap' | Promise<'enough' | Shortage>
/** Why a running request is stopped. */
export type StopReason = Exclude<Awaited<Extension>, 'enough'>

/** The ledger that has the money, and the policies by which it is charged. */
export interface BillingRooms {
  readonly ledger: Ledger
  readonly policies: BillingSettings
}

export class Authorization {
  readonly rooms: BillingRooms
  readonly rate: Rate
  readonly hold: Hold
  readonly options: RequestOptions
  /** Units charged beside tokens if the reply reports none; null where the rate has no price for any. */
  readonly units: Units | null
  /** Output bytes at which a running stream must ask again. */
  dueBytes: number
  private readonly uncounted: Uncounted

  constructor(
    rooms: BillingRooms,
    rate: Rate,
    hold: Hold,
    units: Units | null,
    uncounted: Uncounted,
    options: RequestOptions,
  ) {
    this.rooms = rooms
    this.rate = rate
    this.units = units
    this.hold = hold
    this.uncounted = uncounted
    this.options = options
    this.dueBytes = this.dueAfter(0)
  }

  /** Closes the hold of a request that never began. */
  release(): void {
    this.rooms.ledger.release(this.hold)
  }

  /**
   * The usage estimated from the bytes of text delivered, where no vendor has reported any. All images count that were
   * asked for: a vendor makes and bills them together.
   */
  counted(outputBytes: number): Usage {
    const { madeImageTokens = 0 } = this.uncounted
    const usage = countedUsage(this.uncounted, outputBytes)
    return madeImageTokens > 0 ? { ...usage, imageOutput: madeImageTokens } : usage
  }

  /** Limits a charge to the client's own `max_cost`. */
  capped(chargeNano: Nano): Nano {
    const { capNano } = this.options
    return capNano !== null && chargeNano > capNano ? capNano : chargeNano
  }

  /** Makes sure that the hold covers another quantum of output, and extends it where necessary. */
  extend(outputBytes: number): Extension {
    const { capNano } = this.options
    if (capNano !== null && this.chargeAt(outputBytes) >= capNano) return 'over-cap'
    this.dueBytes = this.dueAfter(outputBytes)
    return this.holdAtLeast(this.chargeAt(this.dueBytes))
  }

  /** Makes sure that the hold covers this usage, where usage is known by kinds of tokens. */
  cover(usage: Usage): Exclude<Extension, 'over-cap'> {
    return this.holdAtLeast(this.rate.charge(usage, this.units))
  }

  private holdAtLeast(chargeNano: Nano): Exclude<Extension, 'over-cap'> {
    const missingNano = this.capped(chargeNano) - this.hold.amountNano
    if (missingNano <= 0n) return 'enough'
    const extended = this.rooms.ledger.extend(this.hold, missingNano)
    if (typeof extended === 'boolean') return this.said(extended)
    return extended.then((done) => this.said(done))
  }

  private said(extended: boolean): 'enough' | Shortage {
    if (extended) return 'enough'
    const { lacking } = this.hold
    if (lacking === 'closed' || this.rooms.ledger.closed != null) return 'closed'
    return lacking === 'spend-limit' ? lacking : 'refused'
  }

  /** One quantum further, or where the client's `max_cost` is reached: past that nobody would pay. */
  private dueAfter(outputBytes: number): number {
    const { capNano } = this.options
    if (capNano === null) return outputBytes + quantumBytes
    const dueNano = this.chargeAt(outputBytes)
    const quantumNano = this.chargeAt(outputBytes + quantumBytes) - dueNano
    const leftNano = capNano - dueNano
    if (quantumNano <= leftNano) return outputBytes + quantumBytes
    return outputBytes + Math.max(1, Number((BigInt(quantumBytes) * leftNano) / quantumNano))
  }

  private chargeAt(outputBytes: number): Nano {
    return this.rate.charge(this.counted(outputBytes), this.units)
  }
}

/** The usage estimated from a request and the bytes of text delivered for it, without images that are made. */
export function countedUsage(uncounted: Uncounted, outputBytes: number): Usage {
  const { inputTokens, imageTokens, audioTokens, limitTokens = null, speaks } = uncounted
  const output = countedReply(outputBytes, limitTokens)
  return {
    ...noUsage,
    input: inputTokens,
    ...(imageTokens > 0 && { imageInput: imageTokens }),
    ...(audioTokens > 0 && { audioInput: audioTokens }),
    ...(speaks ? { audioOutput: output } : { output }),
  }
}
