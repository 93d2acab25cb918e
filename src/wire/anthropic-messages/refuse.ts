// Writes errors in Anthropic's shape: its types and statuses for the gateway's codes ("Errors").

import { type ErrorCode, errorTable, type GatewayError } from '../../errors.ts'
import { frame } from './writer.ts'

interface Row {
  readonly type: string
  /** HTTP status, where it differs from the table of errors.ts. */
  readonly status?: number
}

const invalid: Row = { type: 'invalid_request_error' }
const missing: Row = { type: 'not_found_error' }
const conflict: Row = { type: 'conflict_error' }

const rows: Readonly<Record<ErrorCode, Row>> = {
  invalid_request_error: invalid,
  invalid_api_key: { type: 'authentication_error' },
  invalid_signature: { type: 'permission_error' },
  model_not_found: missing,
  unsupported_endpoint: missing,
  not_found: missing,
  method_not_allowed: invalid,
  upgrade_required: invalid,
  request_timeout: { type: 'timeout_error' },
  request_in_progress: conflict,
  request_stopped: conflict,
  reply_not_kept: conflict,
  file_expired: missing,
  request_too_large: { type: 'request_too_large' },
  unsupported_media_type: invalid,
  idempotency_key_reused: invalid,
  insufficient_quota: { type: 'billing_error', status: 402 },
  rate_limit_exceeded: { type: 'rate_limit_error' },
  request_headers_too_large: invalid,
  server_error: { type: 'api_error' },
  service_unavailable: { type: 'overloaded_error', status: 529 },
}

/** An error that no retry can fix must not be reported as overload. */
const unservable: Row = { type: 'api_error' }

function rowOf({ code, detail }: GatewayError): Row {
  return code === 'service_unavailable' && detail.retry === false ? unservable : rows[code]
}

export function refusalStatus(error: GatewayError): number {
  return rowOf(error).status ?? errorTable[error.code].status
}

function bodyOf(error: GatewayError, requestId: string) {
  const { shownCode } = error.detail
  return {
    type: 'error',
    error: {
      type: rowOf(error).type,
      message: error.message,
      ...(shownCode !== undefined && { details: { error_code: shownCode } }),
    },
    request_id: requestId,
  }
}

/** The error as JSON text. */
export function refuse(error: GatewayError, requestId: string): string {
  return JSON.stringify(bodyOf(error, requestId))
}

/** The frame that ends a stream with an error. */
export function errorFrames(error: GatewayError, requestId: string): string {
  const { type, ...rest } = bodyOf(error, requestId)
  return frame(type, rest)
}
