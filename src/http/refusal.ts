// The usage record of a request the front door refused itself: every request of a known caller leaves one.

import { emptyRow } from '../history/row.ts'
import type { UsageRow } from '../store/store.ts'
import type { Refusal } from './model-request.ts'

/** null where nobody knows who asked. */
export function refusalRow(refusal: Refusal): UsageRow | null {
  const { principal, peek } = refusal
  if (principal === null) return null
  return {
    ...emptyRow,
    requestId: refusal.requestId,
    at: refusal.at,
    account: principal.account,
    key: principal.keyId,
    keyName: principal.keyName,
    group: principal.group,
    operation: refusal.dialect.operation,
    modelAsked: peek?.model ?? '',
    stream: peek?.stream ?? false,
    durationMs: Math.round(refusal.durationMs),
    status: refusal.status,
    errorCode: refusal.error.code,
  }
}
