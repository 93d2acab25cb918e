// Builds the usage record of a request that was answered without the relay: each request of a known caller has one.

import type { GatewayError } from '../errors.ts'
import { tagOf, traceIdOf } from '../history/caller.ts'
import { emptyRow } from '../history/row.ts'
import type { UsageRow } from '../store/usage-row.ts'
import type { Denial } from '../telemetry/denials.ts'
import type { Refusal, ReplayedRequest } from './front.ts'

/** null where the caller is unknown. */
export function refusalRow(refusal: Refusal): UsageRow | null {
  const { principal, peek } = refusal
  if (principal === null) return null
  return {
    ...rowOf({ ...refusal, principal }),
    modelAsked: peek?.model ?? '',
    stream: peek?.stream ?? false,
    errorCode: refusal.error.code,
  }
}

/** The record of a replayed reply, which costs nothing. */
export function replayedRow(repeat: ReplayedRequest): UsageRow {
  const { peek } = repeat
  return { ...rowOf(repeat), modelAsked: peek.model, stream: peek.stream, errorCause: 'replayed' }
}

function rowOf(request: Omit<ReplayedRequest, 'peek'>): UsageRow {
  const { principal, caller } = request
  return {
    ...emptyRow,
    requestId: request.requestId,
    at: request.at,
    account: principal.account,
    key: principal.keyId,
    keyName: principal.keyName,
    group: principal.group,
    operation: request.dialect.operation,
    modelAsked: '',
    stream: false,
    durationMs: Math.round(request.durationMs),
    status: request.status,
    clientAddress: caller.address,
    clientRequestId: caller.requestId,
    traceId: traceIdOf(caller),
    client: caller.client?.name ?? null,
    clientVersion: caller.client?.version ?? null,
    tag: tagOf(caller),
  }
}

/** The log entry for a caller without a valid key. */
export function denialOf(
  { message, detail }: GatewayError,
  requestId: string,
  path: string,
  clientAddress: string | null,
): Denial {
  const { keyPrefix = null } = detail
  return { requestId, path, clientAddress, keyPrefix, reason: message }
}
