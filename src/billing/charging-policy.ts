// What a finished request owes, by the charging policies; pure functions on plain data.

import { callsIn, promptTokens } from '../config/prices.ts'
import type { BillingSettings } from '../config/types.ts'
import { type Fault, faultTable } from '../errors.ts'
import { bytesPerToken } from '../meter/ceiling.ts'
import type { Rate, Units } from '../meter/meter.ts'
import { formatUnits, type Nano } from '../money.ts'
import type { Candidate } from '../router/route.ts'
import type { FailedAttempt, UsageRow } from '../store/usage-row.ts'
import type { Usage } from '../wire/ir.ts'
import { type Authorization, noUsage } from './authorization.ts'
import type { BilledRequest, ReplySummary, Settlement } from './settlement.ts'

interface Charges {
  readonly usage: Usage
  readonly units: Units | null
  readonly source: UsageRow['usageSource']
  /** A charging policy makes the request free, whatever it used. */
  readonly free: boolean
  /** By the price formula; 0n if the request is free. */
  readonly chargeNano: Nano
  /** What the vendors presumably charge us for all attempts. */
  readonly vendorCostNano: Nano
}

const nothing = { usage: noUsage, source: 'none' } as const

export function chargesOf(settlement: Settlement): Charges {
  const { request, failedAttempts } = settlement
  const { authorization } = request
  const { rate, rooms } = authorization
  const summary = withAllImages(settlement)
  const found = usageOf(settlement, summary)
  const { usage } = found
  const isScaled = summary !== settlement.summary && found.source === 'reported'
  const source = isScaled ? 'counted' : found.source
  const units = unitsOf(authorization, summary, usage)
  const costNano = source === 'none' ? 0n : rate.cost(usage, units)
  // Where every attempt failed, the one asked last is among them.
  const isAmongFailed = failedAttempts.length > 0 && settlement.attempts === failedAttempts.length
  let vendorCostNano = isAmongFailed ? 0n : atOwnCost(costNano, settlement.candidate?.costPpm)
  for (const failed of failedAttempts) vendorCostNano += BigInt(failed.costNano)
  if (source === 'none')
    return { usage, units: null, source, free: false, chargeNano: 0n, vendorCostNano }
  const free = isFree(settlement, { usage, source }, rooms.policies)
  const chargeNano = free ? 0n : isPlain(rate) ? costNano : rate.charge(usage, units)
  return { usage, units, source, free, chargeNano, vendorCostNano }
}

/** The cost at a vendor that gives a discount or adds a surcharge (`costPpm`, in millionths); rounded up. */
function atOwnCost(costNano: Nano, costPpm: number | undefined): Nano {
  if (costPpm === undefined) return costNano
  return (costNano * BigInt(costPpm) + 999_999n) / 1_000_000n
}

/** Units charged beside tokens: those the reply reports, otherwise those expected in advance. */
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

/** Without a multiplier the client's price equals the vendor's. */
function isPlain({ multiplierPpm }: Rate): boolean {
  return multiplierPpm === 1_000_000
}

/** The charge of a stream that ends well, shown to its client beside the vendor's counts. */
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

/** False if a vendor counts only in units for which the rate card has no price: that usage then cannot be priced. */
function isMetered(authorization: Authorization, { usage, units }: ReplySummary): boolean {
  if (usage === null || promptTokens(usage) > 0 || units == null) return true
  return (
    Object.keys(units).some((name) => authorization.rate.prices(name)) ||
    authorization.rate.prices('request')
  )
}

/** Error codes of requests that ended before their reply did, for a reason other than the vendor. */
const stoppedBy = new Set(['client_closed_request', 'insufficient_quota', 'request_stopped'])

/** Usage reported by the vendor, else estimated from the bytes that passed; none where nothing was delivered. */
function usageOf(
  settlement: Settlement,
  summary: ReplySummary | null,
): Pick<Charges, 'usage' | 'source'> {
  const { status, errorCode, accepted } = settlement
  // The client left or its money ran out, but the vendor has processed the prompt nevertheless.
  const stopped = stoppedBy.has(errorCode ?? '')
  const reported = summary?.usage && !isUnbelieved(settlement) ? summary.usage : null
  if (summary && reported && errorCode !== null && settlement.request.peek.stream) {
    const counted = countedOf(settlement.request, summary)
    if (isOfBeginning(reported, summary, counted))
      return { usage: withReplyOf(counted, reported), source: 'counted' }
  }
  if (
    summary &&
    reported &&
    (!isEmpty(reported) || isMetered(settlement.request.authorization, summary))
  ) {
    return { usage: reported, source: settlement.drained ? 'drained' : 'reported' }
  }
  // An error without content is charged to nobody.
  const isCharged =
    (status === 200 && errorCode === null) ||
    (stopped && accepted) ||
    outputOf(settlement.request, summary) > 0 ||
    hasImages(settlement.request, summary)
  if (summary === null || !isCharged) return nothing
  return { usage: countedOf(settlement.request, summary), source: 'counted' }
}

/**
 * Tools that the vendor runs let a model read its prompt several times: ten times at most in any documentation
 * (Anthropic, "Server tools", `pause_turn`). With reads for summaries and advisers, more than this is not believed.
 */
const mostRounds = 16

/** Whether the vendor reports usage that no request to this model can have, or that is no valid count. */
export function isUnbelieved({ request, summary }: Settlement): boolean {
  if (summary === null) return false
  return summary.unbelieved === true || (summary.usage !== null && isBeyond(request, summary.usage))
}

/** A research request of over half an hour makes one or two hundred searches. */
const mostSearches = 1_000

function isBeyond({ model, dialect, peek }: BilledRequest, usage: Usage): boolean {
  if ((usage.webSearch ?? 0) > mostSearches) return true
  if (model.context === null || !speaks(dialect.operation)) return false
  const most = mostRounds * model.context
  return promptTokens(usage) > most || replyOf(usage) > most * Math.max(1, peek.choices)
}

/**
 * Whether a stream that broke off had reported no more than its beginning, as Anthropic's do in `message_start`: who
 * leaves before the end would get the reply for a token.
 */
function isOfBeginning(reported: Usage, summary: ReplySummary, counted: Usage): boolean {
  return summary.finishReason === null && replyOf(counted) > 2 * replyOf(reported)
}

/** The reported prompt, with the reply as it was counted. */
function withReplyOf(counted: Usage, reported: Usage): Usage {
  const { output, reasoning } = counted
  return { ...reported, output, reasoning }
}

function countedOf(request: BilledRequest, summary: ReplySummary): Usage {
  return summary.counted ?? request.authorization.counted(outputOf(request, summary))
}

/** Bytes of text delivered; where usage was reported and they were not counted, estimated from its output tokens. */
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
  // A request that an operator stopped costs the same as one whose client left.
  const isLeft = errorCode === 'client_closed_request' || errorCode === 'request_stopped'
  if (status !== 200) return !isLeft
  // An empty answer whose usage nobody reports has nothing to charge for.
  const policy = source === 'counted' ? { emptyAnswers: 'free' as const } : billing
  if (errorCode === null) return isFreeAnswer(request, usage, policy)
  // The client's own money or `max_cost` ended it: what was delivered is owed whatever the policy.
  if (errorCode === 'insufficient_quota' || errorCode === 'request_stopped') return false
  return (
    billing.vendorFails === 'free' || (isEmpty(usage) && !hasImages(request, settlement.summary))
  )
}

/** Whether images were delivered, which may have no usage. */
function hasImages({ dialect }: BilledRequest, summary: ReplySummary | null): boolean {
  return dialect.operation === 'image' && summary?.units != null
}

/**
 * All images count that were asked for, at the average of those that came, where the client left before the last: a
 * vendor makes and bills them together.
 */
function withAllImages({ request, summary, errorCode, drained }: Settlement): ReplySummary | null {
  if (summary?.units == null || !hasImages(request, summary)) return summary
  const { units, usage, finishReason } = summary
  if (drained || finishReason !== null || !stoppedBy.has(errorCode ?? '')) return summary
  const made = Object.values(units).reduce((total, count) => total + count, 0)
  const all = (count: number) => Math.ceil((count * Math.max(made, request.peek.choices)) / made)
  const { output = 0, imageOutput = 0 } = usage ?? {}
  return {
    ...{ model: summary.model, outputBytes: summary.outputBytes, finishReason: 'stop' },
    usage: usage && { ...usage, output: all(output), imageOutput: all(imageOutput) },
    units: Object.fromEntries(Object.entries(units).map(([name, count]) => [name, all(count)])),
  }
}

/** Whether a reply that broke off had delivered something its client is charged for. */
export function isDelivered(request: BilledRequest, summary: ReplySummary | null): boolean {
  if (summary === null) return false
  const { usage, outputBytes } = summary
  return usage !== null || (outputBytes ?? 0) > 0 || hasImages(request, summary)
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

/** The record of an attempt that delivered nothing, with what its vendor may charge for it. */
export function failedAttempt(
  { authorization }: BilledRequest,
  { channelId: channel, costPpm }: Pick<Candidate, 'channelId' | 'costPpm'>,
  attempt: { readonly accepted: boolean; readonly summary: ReplySummary },
  { kind, status, worked: inPart }: Fault,
): FailedAttempt {
  const { accepted, summary } = attempt
  const counted = authorization.counted(summary.outputBytes ?? 0)
  const { usage: reported } = summary
  const isPart = reported !== null && isOfBeginning(reported, summary, counted)
  const usage = isPart ? withReplyOf(counted, reported) : (reported ?? counted)
  const worked = faultTable[kind].uncertain || accepted || inPart === true
  const units = unitsOf(authorization, summary, usage)
  const costNano = worked ? atOwnCost(authorization.rate.cost(usage, units), costPpm) : 0n
  return { channel, kind, costNano: String(costNano), ...(status !== undefined && { status }) }
}
