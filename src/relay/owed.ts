// What a finished request owes: the stated policies, on plain data.

import type { BillingSettings } from '../config/types.ts'
import type { Nano } from '../money.ts'
import type { UsageRow } from '../store/usage-row.ts'
import type { Usage } from '../wire/ir.ts'
import type { Settlement, Sight } from './ask.ts'
import { noUsage } from './bill.ts'

export interface Owed {
  readonly usage: Usage
  readonly source: UsageRow['usageSource']
  /** By the formula; 0n where a policy makes the request free. */
  readonly chargeNano: Nano
  /** The card the charge follows; null where a policy and no price decides. */
  readonly priceVersion: number | null
  /** What the vendors are taken to ask for all attempts. */
  readonly vendorCostNano: Nano
}

const nothing = { usage: noUsage, source: 'none' } as const

export function owedBy(settlement: Settlement, billing: BillingSettings): Owed {
  const { ask, sight, failedAttempts } = settlement
  const { rate, units } = ask.bill
  const { usage, source } = usageOf(settlement, sight)
  const costNano = source === 'none' ? 0n : rate.cost(usage, units)
  let vendorCostNano = costNano
  for (const failed of failedAttempts) vendorCostNano += BigInt(failed.costNano)
  const free = source !== 'none' && isFree(settlement, usage, billing)
  if (free) return { usage, source, chargeNano: 0n, priceVersion: null, vendorCostNano }
  const chargeNano =
    source === 'none' || rate.multiplierPpm === 1_000_000 ? costNano : rate.charge(usage, units)
  return { usage, source, chargeNano, priceVersion: rate.version, vendorCostNano }
}

/** Reported by the vendor, else counted from the bytes that passed; nothing where nothing was delivered. */
function usageOf(settlement: Settlement, sight: Sight | null): Pick<Owed, 'usage' | 'source'> {
  const { status, errorCode, accepted } = settlement
  const outputBytes = sight?.outputBytes ?? 0
  const clientLeft = errorCode === 'client_closed_request'
  if (sight?.usage) {
    return { usage: sight.usage, source: settlement.drained ? 'drained' : 'reported' }
  }
  // A client that leaves a vendor at work owes the prompt; an error without content is nobody's debt.
  const owes = outputBytes > 0 || (status === 200 && errorCode === null) || (clientLeft && accepted)
  if (sight === null || !owes) return nothing
  return { usage: settlement.ask.bill.counted(outputBytes), source: 'counted' }
}

function isFree(settlement: Settlement, usage: Usage, billing: BillingSettings): boolean {
  const { status, errorCode, ask } = settlement
  if (status !== 200) return errorCode !== 'client_closed_request'
  if (errorCode === null) {
    return billing.emptyAnswers === 'free' && speaks(ask.dialect.operation) && isEmpty(usage)
  }
  // The client's own money or ceiling ended it: what was delivered is owed whatever the policy.
  if (errorCode === 'insufficient_quota') return false
  return billing.vendorFails === 'free' || isEmpty(usage)
}

function speaks(operation: string): boolean {
  return operation === 'chat' || operation === 'completion'
}

function isEmpty(usage: Usage): boolean {
  const { output, reasoning, audioOutput = 0, imageOutput = 0 } = usage
  return output + reasoning + audioOutput + imageOutput === 0
}
