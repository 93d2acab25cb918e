// The one table of error codes, and the two forms of a failure: a refusal that is thrown, a fault that is returned.

/**
 * What each code means to the caller. Status and code follow the specification, section "Errors"; `retry` becomes the
 * header `x-should-retry`, which the official SDKs obey over their own rule.
 */
export const errorTable = {
  invalid_request_error: { status: 400, type: 'invalid_request_error', retry: false },
  invalid_api_key: { status: 401, type: 'invalid_request_error', retry: false },
  invalid_signature: { status: 403, type: 'invalid_request_error', retry: false },
  model_not_found: { status: 404, type: 'invalid_request_error', retry: false },
  unsupported_endpoint: { status: 404, type: 'invalid_request_error', retry: false },
  not_found: { status: 404, type: 'invalid_request_error', retry: false },
  method_not_allowed: { status: 405, type: 'invalid_request_error', retry: false },
  request_timeout: { status: 408, type: 'invalid_request_error', retry: true },
  request_in_progress: { status: 409, type: 'invalid_request_error', retry: true },
  request_stopped: { status: 409, type: 'invalid_request_error', retry: false },
  reply_not_kept: { status: 409, type: 'invalid_request_error', retry: false },
  file_expired: { status: 410, type: 'invalid_request_error', retry: false },
  request_too_large: { status: 413, type: 'invalid_request_error', retry: false },
  unsupported_media_type: { status: 415, type: 'invalid_request_error', retry: false },
  idempotency_key_reused: { status: 422, type: 'invalid_request_error', retry: false },
  upgrade_required: { status: 426, type: 'invalid_request_error', retry: false },
  insufficient_quota: { status: 429, type: 'insufficient_quota', retry: false },
  rate_limit_exceeded: { status: 429, type: 'rate_limit_exceeded', retry: true },
  request_headers_too_large: { status: 431, type: 'invalid_request_error', retry: false },
  server_error: { status: 500, type: 'server_error', retry: true },
  service_unavailable: { status: 503, type: 'service_unavailable', retry: true },
} as const

export type ErrorCode = keyof typeof errorTable

export interface ErrorDetail {
  /** The field at fault, spelled as the caller would find it: `messages[1].role`. */
  readonly param?: string | null
  /** A finer code shown in place of the table's, such as a vendor's `context_length_exceeded`. */
  readonly shownCode?: string
  readonly retryAfterMs?: number
  /** For an unknown key: the prefix that all keys of its kind share, for the log. */
  readonly keyPrefix?: string | null
  /** Overrides the table's advice to the client's SDK. */
  readonly retry?: boolean
}

/** A refusal: thrown anywhere, and turned into bytes in one place, in the client's own format. */
export class GatewayError extends Error {
  readonly code: ErrorCode
  readonly detail: ErrorDetail

  constructor(code: ErrorCode, message: string, detail: ErrorDetail = {}) {
    super(message)
    this.name = 'GatewayError'
    this.code = code
    this.detail = detail
  }
}

/** A 400 that names the field at fault. */
export function invalidRequest(message: string, param: string | null): GatewayError {
  return new GatewayError('invalid_request_error', message, { param })
}

/**
 * How an attempt at a vendor may fail. `failover`: another channel may serve the request. `uncertain`: the vendor may
 * have done (and charged) the work all the same. `health`: the effect on the channel's health. `code`: what the client
 * gets when no other channel served.
 */
export const faultTable = {
  unreachable: { failover: true, uncertain: false, health: 'failure', code: 'service_unavailable' },
  /** The channel's proxy refused or failed. */
  proxy: { failover: true, uncertain: false, health: 'failure', code: 'service_unavailable' },
  timeout: { failover: true, uncertain: true, health: 'failure', code: 'service_unavailable' },
  reset: { failover: true, uncertain: true, health: 'failure', code: 'service_unavailable' },
  cut: { failover: true, uncertain: true, health: 'failure', code: 'service_unavailable' },
  unreadable: { failover: true, uncertain: true, health: 'failure', code: 'service_unavailable' },
  vendor_error: { failover: true, uncertain: false, health: 'failure', code: 'server_error' },
  overloaded: { failover: true, uncertain: false, health: 'failure', code: 'service_unavailable' },
  /**
   * A 4xx that depends on the moment and not on the request (409, 424, 425, 499); callers can cause one deliberately,
   * so it does not count against the channel.
   */
  transient: { failover: true, uncertain: false, health: 'none', code: 'service_unavailable' },
  rate_limited: { failover: true, uncertain: false, health: 'cool', code: 'rate_limit_exceeded' },
  quota: { failover: true, uncertain: false, health: 'cool', code: 'service_unavailable' },
  credentials: { failover: true, uncertain: false, health: 'disable', code: 'service_unavailable' },
  unknown_model: { failover: true, uncertain: false, health: 'alarm', code: 'service_unavailable' },
  rejected: { failover: false, uncertain: false, health: 'none', code: 'invalid_request_error' },
  /** The gateway's own fault: there is no room to keep the vendor's result. */
  no_room: { failover: false, uncertain: true, health: 'none', code: 'service_unavailable' },
  /** The running request was stopped on demand. */
  stopped: { failover: false, uncertain: true, health: 'none', code: 'request_stopped' },
  stopped_by_operator: {
    failover: false,
    uncertain: true,
    health: 'none',
    code: 'request_stopped',
  },
} as const

export type FaultKind = keyof typeof faultTable

/** What went wrong with one attempt, as a value: judged by the relay, kept in the usage record. */
export interface Fault {
  readonly kind: FaultKind
  /** For the log and, for `rejected` only, for the client; secrets are removed before it is shown. */
  readonly message: string
  /** The vendor's HTTP status, where it answered. */
  readonly status?: number
  readonly param?: string | null
  /** The vendor's finer code, such as `context_length_exceeded`. */
  readonly code?: string
  readonly retryAfterMs?: number
  /** The vendor has done a part of the work and may bill it, whatever `kind` says: like `uncertain` in the table. */
  readonly worked?: true
}

const causes: Readonly<Record<FaultKind, string>> = {
  unreachable: 'the vendor could not be reached',
  proxy: "the channel's proxy let nothing through to the vendor",
  timeout: 'the vendor did not answer in time',
  reset: 'the connection to the vendor was lost',
  cut: "the vendor's reply was cut off",
  unreadable: "the vendor's reply could not be read",
  vendor_error: 'the vendor failed',
  overloaded: 'the vendor is overloaded',
  transient: 'the vendor could not take the request at that moment',
  rate_limited: 'the vendor limits its rate',
  quota: 'the vendor refused for want of quota',
  credentials: "the vendor refused the gateway's credentials",
  unknown_model: 'the vendor does not know the model',
  rejected: 'the vendor rejected the request',
  no_room: 'the gateway has no room for its files at present',
  stopped: "stopped by the account's owner",
  stopped_by_operator: 'stopped by an operator of the gateway',
}

/** The cause in words that name no channel and quote no vendor. */
export function causeOf(fault: Fault): string {
  const status = fault.status === undefined ? '' : ` (status ${fault.status})`
  return `${causes[fault.kind]}${status}`
}
