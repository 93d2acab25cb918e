// An empty usage row, from which every record of a request starts.

import { noTokens } from '../config/prices.ts'
import type { UsageRow } from '../store/usage-row.ts'

/** Defaults of fields that are not known from the start. */
export const emptyRow = {
  modelServed: null,
  channel: null,
  vendor: null,
  attempts: 0,
  ...noTokens,
  units: null,
  usageSource: 'none',
  priceVersion: null,
  multiplierPpm: 1_000_000,
  chargeNano: 0n,
  writeoffNano: 0n,
  vendorCostNano: 0n,
  ttftMs: null,
  errorCode: null,
  errorCause: null,
  failedAttempts: null,
  clientAddress: null,
  clientRequestId: null,
  traceId: null,
  heldNano: 0n,
  client: null,
  clientVersion: null,
  vendorRequestId: null,
  tag: null,
} as const satisfies Partial<UsageRow>
