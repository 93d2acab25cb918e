// What a finished request owes: the stated policies, on plain data.

import { callsIn, promptTokens } from '../config/prices.ts'
import type { BillingSettings } from '../config/types.ts'
import { type Fault, faultTable } from '../errors.ts'
import { bytesPerToken } from '../meter/ceiling.ts'
import type { Rate, Units } from '../meter/meter.ts'
import { formatUnits, type Nano } from '../money.ts'
import type { FailedAttempt, UsageRow } from '../store/usage-row.ts'
import type { Usage } from '../wire/ir.ts'
import { type Authorization, noUsage } from './authorization.ts'
import type { BilledRequest, ReplySummary, Settlement } from './settlement.ts'

interface Charges {
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

export function chargesOf(settlement: Settlement): Charges {
  const { request, summary, failedAttempts } = settlement
  const { authorization } = request
  const { rate, rooms } = authorization
  const { usage, source } = usageOf(settlement, summary)
  const units = unitsOf(authorization, summary, usage)
  const costNano = source === 'none' ? 0n : rate.cost(usage, units)
  let vendorCostNano = atOwnCost(costNano, settlement.candidate?.costPpm)
  for (const failed of failedAttempts) vendorCostNano += BigInt(failed.costNano)
  if (source === 'none')
    return { usage, units: null, source, free: false, chargeNano: 0n, vendorCostNano }
  const free = isFree(settlement, { usage, source }, rooms.policies)
  const chargeNano = free ? 0n : isPlain(rate) ? costNano : rate.charge(usage, units)
  return { usage, units, source, free, chargeNano, vendorCostNano }
}

/** What a vendor asks that gives a discount, or takes more; rounded up. */
function atOwnCost(costNano: Nano, costPpm: number | undefined): Nano {
  if (costPpm === undefined) return costNano
  return (costNano * BigInt(costPpm) + 999_999n) / 1_000_000n
}

/** What is charged beside tokens: what the reply brought where it says so, else what was expected of it. */
function unitsOf(
  authorization: Authorization,
  summary: ReplySummary | null,
  usage: Usage,
): Units | null {
  const brought = summary?.units ?? callsIn(usage)
  if (brought == null) return authorization.units
  const priced = Object.entries(brought).filter(([name]) => authorization.rate.prices(name))
  const { request } = authorization.units ?? {}
  const units = { ...(request !== undefined && { request }), ...Object.fromEntries(priced) }
  return Object.keys(units).length === 0 ? null : units
}

/** What the vendor asks is what the client pays. */
function isPlain({ multiplierPpm }: Rate): boolean {
  return multiplierPpm === 1_000_000
}

/** What a stream that ends well is charged, as its client is shown it beside the vendor's counts. */
export function shownCost(
  request: BilledRequest,
  { usage, summary }: { readonly usage: Usage; readonly summary: ReplySummary },
): string {
  const { authorization } = request
  const charged = isBeyond(request, usage) ? countedOf(request, summary) : usage
  const free = isFreeAnswer(request, charged, authorization.rooms.policies)
  return formatUnits(
    free
      ? 0n
      : authorization.capped(
          authorization.rate.charge(charged, unitsOf(authorization, summary, charged)),
        ),
  )
}

/** A vendor that counts in units which the card has no price for has told nothing of the price. */
function isMetered(authorization: Authorization, { usage, units }: ReplySummary): boolean {
  if (usage === null || promptTokens(usage) > 0 || units == null) return true
  return (
    Object.keys(units).some((name) => authorization.rate.prices(name)) ||
    authorization.rate.prices('request')
  )
}

/** It ended before its reply did, and not by its vendor's doing. */
const stoppedBy = new Set(['client_closed_request', 'insufficient_quota', 'request_stopped'])

/** Reported by the vendor, else counted from the bytes that passed; nothing where nothing was delivered. */
function usageOf(
  settlement: Settlement,
  summary: ReplySummary | null,
): Pick<Charges, 'usage' | 'source'> {
  const { status, errorCode, accepted } = settlement
  // Its client left, or its money ended: the vendor has worked on the prompt all the same.
  const stopped = stoppedBy.has(errorCode ?? '')
  const reported = summary?.usage && !isUnbelieved(settlement) ? summary.usage : null
  if (
    summary &&
    reported &&
    (!isEmpty(reported) || isMetered(settlement.request.authorization, summary))
  ) {
    return { usage: reported, source: settlement.drained ? 'drained' : 'reported' }
  }
  // An error without content is nobody's debt.
  const isCharged =
    (status === 200 && errorCode === null) ||
    (stopped && accepted) ||
    outputOf(settlement.request, summary) > 0
  if (summary === null || !isCharged) return nothing
  return { usage: countedOf(settlement.request, summary), source: 'counted' }
}

/**
 * A model's own tools, where the vendor runs them, let it read its prompt several times: ten times at most where anybody
 * says so (Anthropic, "Server tools", `pause_turn`). With what summaries and advisers read, no more is believed.
 */
const mostRounds = 16

/** Whether the vendor reports what no request of this model can use, or what is no count at all. */
export function isUnbelieved({ request, summary }: Settlement): boolean {
  if (summary === null) return false
  return summary.unbelieved === true || (summary.usage !== null && isBeyond(request, summary.usage))
}

/** Research over half an hour makes a hundred or two. */
const mostSearches = 1_000

function isBeyond({ model, dialect, peek }: BilledRequest, usage: Usage): boolean {
  if ((usage.webSearch ?? 0) > mostSearches) return true
  if (model.context === null || !speaks(dialect.operation)) return false
  const most = mostRounds * model.context
  return promptTokens(usage) > most || replyOf(usage) > most * Math.max(1, peek.choices)
}

function countedOf(request: BilledRequest, summary: ReplySummary): Usage {
  return summary.counted ?? request.authorization.counted(outputOf(request, summary))
}

/** Bytes of a reply that nobody counted, as its usage was reported, are what its tokens come to, as far as there are so many. */
function outputOf({ model, peek }: BilledRequest, summary: ReplySummary | null): number {
  if (summary === null) return 0
  if (summary.outputBytes !== null || summary.usage === null) return summary.outputBytes ?? 0
  const most = (model.maxOutput ?? model.context ?? 0) * Math.max(1, peek.choices)
  return Math.min(replyOf(summary.usage), most) * bytesPerToken
}

function isFree(
  settlement: Settlement,
  { usage, source }: Pick<Charges, 'usage' | 'source'>,
  billing: BillingSettings,
): boolean {
  const { status, errorCode, request } = settlement
  // A request that is stopped costs what it would if its client had left.
  const isLeft = errorCode === 'client_closed_request' || errorCode === 'request_stopped'
  if (status !== 200) return !isLeft
  // Of an answer of nothing, where nobody reports anything, there is nothing to charge.
  const policy = source === 'counted' ? { emptyAnswers: 'free' as const } : billing
  if (errorCode === null) return isFreeAnswer(request, usage, policy)
  // The client's own money or ceiling ended it: what was delivered is owed whatever the policy.
  if (errorCode === 'insufficient_quota' || errorCode === 'request_stopped') return false
  return billing.vendorFails === 'free' || isEmpty(usage)
}

function isFreeAnswer(
  { dialect }: BilledRequest,
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
  { authorization }: BilledRequest,
  channel: string,
  attempt: { readonly accepted: boolean; readonly summary: ReplySummary },
  { kind, status }: Fault,
): FailedAttempt {
  const { accepted, summary } = attempt
  const usage = summary.usage ?? authorization.counted(summary.outputBytes ?? 0)
  const worked = faultTable[kind].uncertain || accepted
  const units = unitsOf(authorization, summary, usage)
  const costNano = worked ? authorization.rate.cost(usage, units) : 0n
  return { channel, kind, costNano: String(costNano), ...(status !== undefined && { status }) }
}
