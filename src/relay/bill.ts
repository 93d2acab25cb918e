// What one request pays with: its rate, its hold, and when a running stream needs more of it.

import type { Hold, Ledger } from '../ledger/ledger.ts'
import { countedTokens, quantumBytes } from '../meter/ceiling.ts'
import type { Rate, Units } from '../meter/meter.ts'
import { formatUnits, type Nano } from '../money.ts'
import type { Usage } from '../wire/ir.ts'

export const noUsage: Usage = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 }

/** What the client asked of its bill beside the work itself. */
export interface BillWishes {
  /** The charge is never more than this. */
  readonly capNano: Nano | null
  /** The reply's usage carries its cost. */
  readonly showCost: boolean
  /** The client's `Idempotency-Key`, taken for this request. */
  readonly idempotencyKey: string | null
}

export type Extension = 'enough' | 'refused' | 'over-cap' | Promise<'enough' | 'refused'>

export class Bill {
  readonly rate: Rate
  readonly hold: Hold
  readonly wishes: BillWishes
  /** What is charged beside tokens; null where the rate has no price for it. */
  readonly units: Units | null
  /** Output bytes at which a running stream must ask again. */
  dueBytes = quantumBytes
  private readonly ledger: Ledger
  /** The prompt's tokens, counted from its bytes. */
  private readonly inputTokens: number

  constructor(
    ledger: Ledger,
    rate: Rate,
    hold: Hold,
    units: Units | null,
    inputTokens: number,
    wishes: BillWishes,
  ) {
    this.ledger = ledger
    this.rate = rate
    this.units = units
    this.hold = hold
    this.inputTokens = inputTokens
    this.wishes = wishes
  }

  /** What so much delivered text comes to, where no vendor has counted yet. */
  counted(outputBytes: number): Usage {
    return { ...noUsage, input: this.inputTokens, output: countedTokens(outputBytes) }
  }

  /** What a reply of this usage is charged, as the client is shown it. */
  shownCost(usage: Usage): string {
    return formatUnits(this.capped(this.rate.charge(usage, this.units)))
  }

  /** The part of a charge that the client's own ceiling leaves. */
  capped(chargeNano: Nano): Nano {
    const { capNano } = this.wishes
    return capNano !== null && chargeNano > capNano ? capNano : chargeNano
  }

  /** Makes sure of the money for another quantum of output. */
  extend(outputBytes: number): Extension {
    this.dueBytes = outputBytes + quantumBytes
    const nextNano = this.rate.charge(this.counted(this.dueBytes), this.units)
    const { capNano } = this.wishes
    if (capNano !== null && nextNano > capNano) {
      // The last quantum may be cut by the cap; what is owed already must not pass it.
      if (this.rate.charge(this.counted(outputBytes), this.units) >= capNano) return 'over-cap'
    }
    const wantedNano = capNano !== null && nextNano > capNano ? capNano : nextNano
    const missingNano = wantedNano - this.hold.amountNano
    if (missingNano <= 0n) return 'enough'
    const extended = this.ledger.extend(this.hold, missingNano)
    if (typeof extended === 'boolean') return said(extended)
    return extended.then(said)
  }
}

function said(extended: boolean): 'enough' | 'refused' {
  return extended ? 'enough' : 'refused'
}
