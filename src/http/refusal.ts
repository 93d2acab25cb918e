// The usage record of a request the front door refused itself: every request of a known caller leaves one.

import type { UsageRow } from '../store/store.ts'
import type { Refusal } from './model-request.ts'

/** null where nobody knows who asked. */
export function refusalRow(refusal: Refusal): UsageRow | null {
  const { principal, peek } = refusal
  if (principal === null) return null
  return {
    requestId: refusal.requestId,
    at: refusal.at,
    account: principal.account,
    key: principal.keyId,
    keyName: principal.keyName,
    group: principal.group,
    operation: refusal.dialect.operation,
    modelAsked: peek?.model ?? '',
    modelServed: null,
    channel: null,
    vendor: null,
    attempts: 0,
    stream: peek?.stream ?? false,
    input: 0,
    cachedInput: 0,
    cacheWrite: 0,
    output: 0,
    reasoning: 0,
    usageSource: 'none',
    ttftMs: null,
    durationMs: Math.round(refusal.durationMs),
    status: refusal.status,
    errorCode: refusal.error.code,
    errorCause: null,
  }
}
