// Views of a finished request: complete for operators, and reduced for its account or key.

import { promptKinds, replyKinds, type TokenCounts } from '../config/prices.ts'
import type { PriceBook } from '../meter/meter.ts'
import { formatUnits } from '../money.ts'
import type { UsageRow } from '../store/usage-row.ts'

/** For a caller by key: without the operator's costs and vendors. */
export function callerView(row: UsageRow, book: PriceBook) {
  const { heldNano, client, clientVersion, vendorRequestId, ...shown } = ownerView(row, book)
  return shown
}

/** For the account's owner: without the channels that were asked, their faults and their costs. */
export function ownerView(row: UsageRow, book: PriceBook) {
  const { channel, vendor, vendorCostNano, failedAttempts, errorCause, ...shown } = usageView(
    row,
    book,
  )
  return shown
}

/** For operators. */
export function usageView(row: UsageRow, book: PriceBook) {
  return {
    requestId: row.requestId,
    at: new Date(row.at).toISOString(),
    account: row.account,
    key: row.key,
    keyName: row.keyName,
    group: row.group,
    operation: row.operation,
    model: row.modelAsked,
    modelServed: row.modelServed,
    channel: row.channel,
    vendor: row.vendor,
    attempts: row.attempts,
    stream: row.stream,
    status: row.status,
    tokens: tokensOf(row),
    units: row.units,
    usageSource: row.usageSource,
    cost: formatUnits(row.chargeNano),
    formula: formulaOf(row, book),
    chargeNano: String(row.chargeNano),
    writeoffNano: String(row.writeoffNano),
    vendorCostNano: String(row.vendorCostNano),
    priceVersion: row.priceVersion,
    multiplier: multiplierText(row.multiplierPpm),
    failedAttempts: row.failedAttempts ?? [],
    ttftMs: row.ttftMs,
    durationMs: row.durationMs,
    errorCode: row.errorCode,
    errorCause: row.errorCause,
    heldNano: String(row.heldNano),
    client: row.client,
    clientVersion: row.clientVersion,
    vendorRequestId: row.vendorRequestId,
    ...known(row),
  }
}

/** Tokens of each kind, those of the prompt first. */
function tokensOf(row: UsageRow): TokenCounts {
  const counts = [...promptKinds, ...replyKinds].map((kind) => [kind, row[kind]])
  return Object.fromEntries(counts) as TokenCounts
}

/** Fields that only some requests have. */
function known({ clientAddress, clientRequestId, traceId, tag }: UsageRow) {
  return {
    ...(clientAddress !== null && { clientAddress }),
    ...(clientRequestId !== null && { clientRequestId }),
    ...(traceId !== null && { traceId }),
    ...(tag !== null && { tag }),
  }
}

/** Parts per million as a decimal: `1`, `0.85`. */
export function multiplierText(ppm: number): string {
  return formatUnits(BigInt(ppm) * 1000n)
}

/** How the charge was computed; null where the request was never priced, or by a card newer than the book. */
function formulaOf(row: UsageRow, book: PriceBook): string | null {
  if (row.priceVersion === null) return null
  return book.version(row.priceVersion, row.multiplierPpm)?.explain(row, row.units) ?? null
}
