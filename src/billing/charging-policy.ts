// What a finished request owes: the stated policies, on plain data.

import type { BillingSettings } from '../config/types.ts'
import { type Fault, faultTable } from '../errors.ts'
import { bytesPerToken } from '../meter/ceiling.ts'
import type { Rate, Units } from '../meter/meter.ts'
import { formatUnits, type Nano } from '../money.ts'
import type { Ask, Settlement, Sight } from '../relay/request.ts'
import type { FailedAttempt, UsageRow } from '../store/usage-row.ts'
import type { Usage } from '../wire/ir.ts'
import { type Bill, noUsage } from './authorization.ts'

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
  const free = isFree(settlement, { usage, source }, billing)
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
  const owed = isBeyond(ask, usage) ? countedOf(ask, sight) : usage
  const free = isFreeAnswer(ask, owed, billing)
  return formatUnits(free ? 0n : bill.capped(bill.rate.charge(owed, unitsOf(bill, sight))))
}

/** A vendor that counts in units which the card has no price for has told nothing of the price. */
function isMetered(bill: Bill, { usage, units }: Sight): boolean {
  if (usage === null || promptOf(usage) > 0 || units == null) return true
  return Object.keys(units).some((name) => bill.rate.prices(name)) || bill.rate.prices('request')
}

function promptOf(usage: Usage): number {
  const { input, cachedInput, cacheWrite, cacheWrite1h = 0, audioInput = 0, imageInput = 0 } = usage
  return input + cachedInput + cacheWrite + cacheWrite1h + audioInput + imageInput
}

/** Reported by the vendor, else counted from the bytes that passed; nothing where nothing was delivered. */
function usageOf(settlement: Settlement, sight: Sight | null): Pick<Owed, 'usage' | 'source'> {
  const { status, errorCode, accepted } = settlement
  const outputBytes = outputOf(settlement.ask, sight)
  // Its client left, or its money ended: the vendor has worked on the prompt all the same.
  const stopped = errorCode === 'client_closed_request' || errorCode === 'insufficient_quota'
  const told = sight?.usage && !isUnbelieved(settlement) ? sight.usage : null
  if (sight && told && (!isEmpty(told) || isMetered(settlement.ask.bill, sight))) {
    return { usage: told, source: settlement.drained ? 'drained' : 'reported' }
  }
  // An error without content is nobody's debt.
  const owes = outputBytes > 0 || (status === 200 && errorCode === null) || (stopped && accepted)
  if (sight === null || !owes) return nothing
  return { usage: countedOf(settlement.ask, sight), source: 'counted' }
}

/**
 * A model's own tools, where the vendor runs them, let it read its prompt several times: ten times at most where anybody
 * says so (Anthropic, "Server tools", `pause_turn`). With what summaries and advisers read, no more is believed.
 */
const mostRounds = 16

/** Whether the vendor reports what no request of this model can use, or what is no count at all. */
export function isUnbelieved({ ask, sight }: Settlement): boolean {
  if (sight === null) return false
  return sight.unbelieved === true || (sight.usage !== null && isBeyond(ask, sight.usage))
}

function isBeyond({ model, dialect, peek }: Ask, usage: Usage): boolean {
  if (model.context === null || !speaks(dialect.operation)) return false
  const most = mostRounds * model.context
  return promptOf(usage) > most || replyOf(usage) > most * Math.max(1, peek.choices)
}

function countedOf(ask: Ask, sight: Sight): Usage {
  return sight.counted ?? ask.bill.counted(outputOf(ask, sight))
}

/** Bytes of a reply that nobody counted, as its usage was reported, are what its tokens come to, as far as there are so many. */
function outputOf({ model, peek }: Ask, sight: Sight | null): number {
  if (sight === null) return 0
  if (sight.outputBytes !== null || sight.usage === null) return sight.outputBytes ?? 0
  const most = (model.maxOutput ?? model.context ?? 0) * Math.max(1, peek.choices)
  return Math.min(replyOf(sight.usage), most) * bytesPerToken
}

function isFree(
  settlement: Settlement,
  { usage, source }: Pick<Owed, 'usage' | 'source'>,
  billing: BillingSettings,
): boolean {
  const { status, errorCode, ask } = settlement
  if (status !== 200) return errorCode !== 'client_closed_request'
  // Of an answer of nothing, where nobody reports anything, there is nothing to charge.
  const policy = source === 'counted' ? { emptyAnswers: 'free' as const } : billing
  if (errorCode === null) return isFreeAnswer(ask, usage, policy)
  // The client's own money or ceiling ended it: what was delivered is owed whatever the policy.
  if (errorCode === 'insufficient_quota') return false
  return billing.vendorFails === 'free' || isEmpty(usage)
}

function isFreeAnswer(
  { dialect }: Ask,
  usage: Usage,
  billing: Pick<BillingSettings, 'emptyAnswers'>,
): boolean {
  return billing.emptyAnswers === 'free' && speaks(dialect.operation) && isEmpty(usage)
}

function speaks(operation: string): boolean {
  return operation === 'chat' || operation === 'completion'
}

function isEmpty(usage: Usage): boolean {
  return replyOf(usage) === 0
}

function replyOf({ output, reasoning, audioOutput = 0, imageOutput = 0 }: Usage): number {
  return output + reasoning + audioOutput + imageOutput
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
