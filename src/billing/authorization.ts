// What one request pays with: its rate, its hold, and when a running stream needs more of it.

import type { BillingSettings } from '../config/types.ts'
import type { Hold, Ledger } from '../ledger/ledger.ts'
import { countedTokens, quantumBytes } from '../meter/ceiling.ts'
import type { Rate, Units } from '../meter/meter.ts'
import type { Nano } from '../money.ts'
import type { Usage } from '../wire/ir.ts'

export const noUsage: Usage = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 }

/** What the client asked of its bill beside the work itself. */
export interface RequestOptions {
  /** The charge is never more than this. */
  readonly capNano: Nano | null
  /** The reply's usage carries its cost. */
  readonly showCost: boolean
  /** The client's `Idempotency-Key`, taken for this request. */
  readonly idempotencyKey: string | null
}

/** A request's tokens as far as they are known without any vendor's count. */
export interface Uncounted {
  readonly inputTokens: number
  readonly imageTokens: number
  /** Of sound, in files too. */
  readonly audioTokens: number
  /** What comes is sound and not text. */
  readonly speaks: boolean
}

export type Extension = 'enough' | 'refused' | 'over-cap' | Promise<'enough' | 'refused'>

/** Where the money is, and by which policies it is charged. */
export interface BillingRooms {
  readonly ledger: Ledger
  readonly policies: BillingSettings
}

export class Authorization {
  readonly rooms: BillingRooms
  readonly rate: Rate
  readonly hold: Hold
  readonly options: RequestOptions
  /** What is charged beside tokens where the reply does not say; null where the rate has no price for it. */
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

  /** Of a request that never began. */
  release(): void {
    this.rooms.ledger.release(this.hold)
  }

  /** What so much delivered text comes to, where no vendor has counted yet. */
  counted(outputBytes: number): Usage {
    const { inputTokens, imageTokens, audioTokens, speaks } = this.uncounted
    const output = countedTokens(outputBytes)
    return {
      ...noUsage,
      input: inputTokens,
      ...(imageTokens > 0 && { imageInput: imageTokens }),
      ...(audioTokens > 0 && { audioInput: audioTokens }),
      ...(speaks ? { audioOutput: output } : { output }),
    }
  }

  /** The part of a charge that the client's own ceiling leaves. */
  capped(chargeNano: Nano): Nano {
    const { capNano } = this.options
    return capNano !== null && chargeNano > capNano ? capNano : chargeNano
  }

  /** Makes sure of the money for another quantum of output. */
  extend(outputBytes: number): Extension {
    const { capNano } = this.options
    if (capNano !== null && this.chargeAt(outputBytes) >= capNano) return 'over-cap'
    this.dueBytes = this.dueAfter(outputBytes)
    const missingNano = this.capped(this.chargeAt(this.dueBytes)) - this.hold.amountNano
    if (missingNano <= 0n) return 'enough'
    const extended = this.rooms.ledger.extend(this.hold, missingNano)
    if (typeof extended === 'boolean') return said(extended)
    return extended.then(said)
  }

  /** Makes sure of the money for so much, where the request's usage is known by kinds. */
  cover(usage: Usage): Exclude<Extension, 'over-cap'> {
    const missingNano = this.capped(this.rate.charge(usage, this.units)) - this.hold.amountNano
    if (missingNano <= 0n) return 'enough'
    const extended = this.rooms.ledger.extend(this.hold, missingNano)
    return typeof extended === 'boolean' ? said(extended) : extended.then(said)
  }

  /** A quantum further, or where the client's own ceiling is reached: past it nobody would pay. */
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

function said(extended: boolean): 'enough' | 'refused' {
  return extended ? 'enough' : 'refused'
}
