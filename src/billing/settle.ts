// The end of a request's billing: its record with what it owes, and how the record reaches the ledger.

import { Buffer, isUtf8 } from 'node:buffer'
import { tokenCounts } from '../config/prices.ts'
import { causeOf } from '../errors.ts'
import { tagOf, traceIdOf } from '../history/caller.ts'
import type { Finished } from '../ledger/ledger.ts'
import { formatUnits } from '../money.ts'
import type { IdempotencyDone } from '../store/ledger.ts'
import type { UsageRow } from '../store/usage-row.ts'
import { chargesOf } from './charging-policy.ts'
import type { Keeping, Settlement } from './settlement.ts'

/** A finished request with its usage row. */
export interface Priced {
  readonly settlement: Settlement
  readonly row: UsageRow
}

export function price(settlement: Settlement): Priced {
  return { settlement, row: usageRow(settlement) }
}

/** What the client is charged, as a decimal number of the currency. */
export function costOf({ settlement, row }: Priced): string {
  return formatUnits(settlement.request.authorization.capped(row.chargeNano))
}

/** Closes the hold and passes the record to the ledger; called once. */
export function settle(priced: Priced, keeping: Keeping): void {
  const { hold, rooms } = priced.settlement.request.authorization
  const finished = finishedOf(priced)
  if (keeping === null) rooms.ledger.finish(hold, finished, null)
  else if ('then' in keeping) rooms.ledger.finish(hold, finished, keeping.then)
  else rooms.ledger.finishNow(hold, finished)
}

/**
 * Records what a running request owes so far: if the process dies during it, its Idempotency-Key stays taken, without a
 * reply to repeat.
 */
export function progress(settlement: Settlement): void {
  const { principal, authorization } = settlement.request
  const { capNano, idempotencyKey: key } = authorization.options
  const idempotency =
    key === null ? null : { account: principal.account, key, reply: null, keep: true }
  const finished = { row: usageRow(settlement), capNano, idempotency }
  authorization.rooms.ledger.progress(authorization.hold, finished)
}

/** What the ledger is given of the request. */
export function finishedOf({ settlement, row }: Priced): Finished {
  const { capNano } = settlement.request.authorization.options
  return { row, capNano, idempotency: idempotencyOf(settlement) }
}

function usageRow(settlement: Settlement): UsageRow {
  const { request, candidate, summary, fault } = settlement
  const { principal, peek, dialect, authorization, caller } = request
  const { usage, units, source, free, chargeNano, vendorCostNano } = chargesOf(settlement)
  return {
    // Spread first, where the engine does it at the lowest cost.
    ...tokenCounts(usage),
    requestId: request.requestId,
    at: request.at,
    account: principal.account,
    key: principal.keyId,
    keyName: principal.keyName,
    group: principal.group,
    operation: dialect.operation,
    modelAsked: peek.model,
    modelServed: summary?.model ?? null,
    channel: candidate?.channelId ?? null,
    vendor: settlement.vendor,
    attempts: settlement.attempts,
    stream: peek.stream,
    units,
    usageSource: source,
    priceVersion: authorization.rate.version,
    // A free request has multiplier 0, so that the audit derives the same charge from the price.
    multiplierPpm: free ? 0 : authorization.rate.multiplierPpm,
    chargeNano,
    writeoffNano: 0n,
    vendorCostNano,
    ttftMs: settlement.ttftMs === null ? null : Math.round(settlement.ttftMs),
    durationMs: Math.round(settlement.durationMs),
    status: settlement.status,
    errorCode: settlement.errorCode,
    errorCause: fault === null ? null : causeOf(fault),
    failedAttempts: settlement.failedAttempts.length === 0 ? null : settlement.failedAttempts,
    clientAddress: caller.address,
    clientRequestId: caller.requestId,
    traceId: traceIdOf(caller),
    heldNano: authorization.hold.amountNano,
    client: caller.client?.name ?? null,
    clientVersion: caller.client?.version ?? null,
    vendorRequestId: settlement.vendorRequestId,
    tag: tagOf(caller),
  }
}

/** The reply goes to the ledger together with its charge, so that neither is kept without the other. */
function idempotencyOf({
  request,
  reply,
  type,
  status,
  errorCode,
}: Settlement): IdempotencyDone | null {
  const key = request.authorization.options.idempotencyKey
  if (key === null || reply === null) return null
  const { account } = request.principal
  const whole = status === 200 && errorCode === null
  const bytes = whole ? reply.bytes() : null
  // A reply is repeated byte for byte or not at all.
  if (bytes === null || !isUtf8(bytes)) return { account, key, reply: null, keep: whole }
  const plain = request.peek.stream ? 'text/event-stream; charset=utf-8' : 'application/json'
  const contentType = type ?? plain
  const body = Buffer.from(bytes).toString('utf8')
  return { account, key, reply: { status, contentType, body }, keep: true }
}
