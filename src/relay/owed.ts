// What a finished request owes: the stated policies, on plain data.

import type { BillingSettings } from '../config/types.ts'
import { type Fault, faultTable } from '../errors.ts'
import type { Rate, Units } from '../meter/meter.ts'
import { formatUnits, type Nano } from '../money.ts'
import type { FailedAttempt, UsageRow } from '../store/usage-row.ts'
import type { Usage } from '../wire/ir.ts'
import type { Ask, Settlement, Sight } from './ask.ts'
import { type Bill, noUsage } from './bill.ts'

export interface Owed {
  readonly usage: Usage
  readonly units: Units | null
  readonly source: UsageRow['usageSource']
  /** A policy makes it so, whatever was used. */
  readonly free: boolean
  /** By the formula; 0n where it is free. */
  readonly chargeNano: Nano
  /** What the vendors are taken to ask for all attempts. */
  readonly vendorCostNano: Nano
}

const nothing = { usage: noUsage, source: 'none' } as const

export function owedBy(settlement: Settlement, billing: BillingSettings): Owed {
  const { ask, sight, failedAttempts } = settlement
  const { rate } = ask.bill
  const { usage, source } = usageOf(settlement, sight)
  const units = unitsOf(ask.bill, sight)
  const costNano = source === 'none' ? 0n : rate.cost(usage, units)
  let vendorCostNano = costNano
  for (const failed of failedAttempts) vendorCostNano += BigInt(failed.costNano)
  if (source === 'none')
    return { usage, units: null, source, free: false, chargeNano: 0n, vendorCostNano }
  const free = isFree(settlement, usage, billing)
  const chargeNano = free ? 0n : isPlain(rate) ? costNano : rate.charge(usage, units)
  return { usage, units, source, free, chargeNano, vendorCostNano }
}

/** What is charged beside tokens: what the reply brought where it says so, else what was expected of it. */
function unitsOf(bill: Bill, sight: Sight | null): Units | null {
  const brought = sight?.units
  if (brought == null) return bill.units
  const priced = Object.entries(brought).filter(([name]) => bill.rate.prices(name))
  const { request } = bill.units ?? {}
  const units = { ...(request !== undefined && { request }), ...Object.fromEntries(priced) }
  return Object.keys(units).length === 0 ? null : units
}

/** What the vendor asks is what the client pays. */
function isPlain({ multiplierPpm }: Rate): boolean {
  return multiplierPpm === 1_000_000
}

/** What a stream that ends well is charged, as its client is shown it beside the vendor's counts. */
export function shownCost(
  ask: Ask,
  { usage, sight }: { readonly usage: Usage; readonly sight: Sight },
  billing: BillingSettings,
): string {
  const { bill } = ask
  const free = isFreeAnswer(ask, usage, billing)
  return formatUnits(free ? 0n : bill.capped(bill.rate.charge(usage, unitsOf(bill, sight))))
}

/** A vendor that counts in units which the card has no price for has told nothing of the price. */
function isMetered(bill: Bill, { usage, units }: Sight): boolean {
  if (usage === null || promptOf(usage) > 0 || units == null) return true
  return Object.keys(units).some((name) => bill.rate.prices(name)) || bill.rate.prices('request')
}

function promptOf({ input, cachedInput, cacheWrite, audioInput = 0, imageInput = 0 }: Usage) {
  return input + cachedInput + cacheWrite + audioInput + imageInput
}

/** Reported by the vendor, else counted from the bytes that passed; nothing where nothing was delivered. */
function usageOf(settlement: Settlement, sight: Sight | null): Pick<Owed, 'usage' | 'source'> {
  const { status, errorCode, accepted } = settlement
  const outputBytes = sight?.outputBytes ?? 0
  // Its client left, or its money ended: the vendor has worked on the prompt all the same.
  const stopped = errorCode === 'client_closed_request' || errorCode === 'insufficient_quota'
  if (sight?.usage && (!isEmpty(sight.usage) || isMetered(settlement.ask.bill, sight))) {
    return { usage: sight.usage, source: settlement.drained ? 'drained' : 'reported' }
  }
  // An error without content is nobody's debt.
  const owes = outputBytes > 0 || (status === 200 && errorCode === null) || (stopped && accepted)
  if (sight === null || !owes) return nothing
  return { usage: sight.counted ?? settlement.ask.bill.counted(outputBytes), source: 'counted' }
}

function isFree(settlement: Settlement, usage: Usage, billing: BillingSettings): boolean {
  const { status, errorCode, ask } = settlement
  if (status !== 200) return errorCode !== 'client_closed_request'
  if (errorCode === null) return isFreeAnswer(ask, usage, billing)
  // The client's own money or ceiling ended it: what was delivered is owed whatever the policy.
  if (errorCode === 'insufficient_quota') return false
  return billing.vendorFails === 'free' || isEmpty(usage)
}

function isFreeAnswer({ dialect }: Ask, usage: Usage, billing: BillingSettings): boolean {
  return billing.emptyAnswers === 'free' && speaks(dialect.operation) && isEmpty(usage)
}

function speaks(operation: string): boolean {
  return operation === 'chat' || operation === 'completion'
}

function isEmpty(usage: Usage): boolean {
  const { output, reasoning, audioOutput = 0, imageOutput = 0 } = usage
  return output + reasoning + audioOutput + imageOutput === 0
}

/** An attempt that delivered nothing, with what its vendor may ask for it. */
export function failedAttempt(
  { bill }: Ask,
  channel: string,
  attempt: { readonly accepted: boolean; readonly sight: Sight },
  { kind }: Fault,
): FailedAttempt {
  const { accepted, sight } = attempt
  const usage = sight.usage ?? bill.counted(sight.outputBytes ?? 0)
  const worked = faultTable[kind].uncertain || accepted
  const costNano = worked ? bill.rate.cost(usage, unitsOf(bill, sight)) : 0n
  return { channel, kind, costNano: String(costNano) }
}
