// A finished request as the outside sees it: the same on the command line and in the API.

import { formatUnits } from '../money.ts'
import type { UsageRow } from '../store/store.ts'

/** `formula` is the sum that gives charge and write-off together, with its numbers; null where no card is known. */
export function usageView(row: UsageRow, formula: string | null) {
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
    tokens: {
      input: row.input,
      cachedInput: row.cachedInput,
      cacheWrite: row.cacheWrite,
      cacheWrite1h: row.cacheWrite1h,
      audioInput: row.audioInput,
      imageInput: row.imageInput,
      output: row.output,
      reasoning: row.reasoning,
      audioOutput: row.audioOutput,
      imageOutput: row.imageOutput,
    },
    units: row.units,
    usageSource: row.usageSource,
    cost: formatUnits(row.chargeNano),
    formula,
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
  }
}

/** Millionths as a decimal: `1`, `0.85`. */
function multiplierText(ppm: number): string {
  return formatUnits(BigInt(ppm) * 1000n)
}
