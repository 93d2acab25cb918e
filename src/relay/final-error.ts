// The error for the client when no channel served its request, chosen by the faults of all attempts.

import type { StopReason } from '../billing/authorization.ts'
import { causeOf, errorTable, type Fault, faultTable, GatewayError } from '../errors.ts'
import type { Blocked } from '../router/route.ts'
import { scrub } from '../telemetry/scrub.ts'
import type { ClientDialect } from '../wire/dialect.ts'

/** The fault without a channel's secrets, which a vendor may repeat in any of its words. */
export function withoutSecrets(fault: Fault, secrets: readonly string[]): Fault {
  const { message, param, code } = fault
  return {
    ...fault,
    message: scrub(message, secrets),
    ...(param != null && { param: scrub(param, secrets) }),
    ...(code !== undefined && { code: scrub(code, secrets) }),
  }
}

/** The wait a client is told where no vendor named one. */
const leastWaitMs = 1_000

/** Faults that only the operator can repair: a client's retry would meet the same. */
const operators: ReadonlySet<Fault['kind']> = new Set(['quota', 'credentials', 'unknown_model'])

/** Statuses of a vendor, or a proxy before it, that is unavailable for now: a later try may succeed. */
const unavailableStatuses: ReadonlySet<number> = new Set([502, 503, 504, 529])

function failedOfItself({ kind, status }: Fault): boolean {
  if (faultTable[kind].code !== 'server_error') return false
  // A 4xx that counts as a failure (Bedrock's 424, Google's 499) is not an internal error of the vendor.
  return status === undefined || (status >= 500 && !unavailableStatuses.has(status))
}

/**
 * The final error of a request all of whose attempts failed; `faults` in order of the attempts, without secrets.
 * Specification, section "Errors": 429 when every channel limits its rate, 500 when every vendor failed by an internal
 * error, 503 otherwise; a vendor's 400 is the client's own. `blocked`: why no vendor was asked.
 */
export function finalError(faults: readonly Fault[], blocked: Blocked | null = null): GatewayError {
  const last = faults.at(-1)
  if (last === undefined) return unasked(blocked)
  if (last.kind === 'rejected') return rejection(last)
  const message = `The request could not be served: ${[...new Set(faults.map(causeOf))].join('; ')}.`
  const waits = faults.flatMap((fault) => fault.retryAfterMs ?? [])
  const retryAfterMs = waits.length > 0 ? Math.min(...waits) : leastWaitMs
  if (faults.every((fault) => fault.kind === 'rate_limited')) {
    return new GatewayError('rate_limit_exceeded', message, { retryAfterMs })
  }
  if (faults.every(failedOfItself)) {
    return new GatewayError('server_error', message, waits.length > 0 ? { retryAfterMs } : {})
  }
  return new GatewayError('service_unavailable', message, {
    retryAfterMs,
    retry: !faults.every((fault) => operators.has(fault.kind)),
  })
}

/** The error where every channel is blocked for a while: the same as the request that blocked them got. */
function unasked(blocked: Blocked | null): GatewayError {
  if (blocked?.why === 'rate_limited') {
    const message = 'Every channel for this model is at its rate limit.'
    return new GatewayError('rate_limit_exceeded', message, { retryAfterMs: blocked.retryAfterMs })
  }
  const message = 'No channel can serve this model at the moment.'
  return new GatewayError('service_unavailable', message, {
    retryAfterMs: blocked?.retryAfterMs ?? leastWaitMs,
    retry: blocked?.why !== 'operator',
  })
}

/** Faults whose message from the vendor is shown to the client; those of other kinds only the operator sees. */
const quoted: ReadonlySet<Fault['kind']> = new Set(['vendor_error', 'overloaded', 'rate_limited'])

/**
 * The error that ends a reply that has begun: the vendor's error class, by which clients decide whether to retry, and
 * its message. `fault` has no secrets.
 */
export function interruption(fault: Fault): GatewayError {
  if (fault.kind === 'rejected') return rejection(fault)
  const said = quoted.has(fault.kind) ? fault.message.replace(/\.$/, '') : ''
  const words = said === '' ? '' : `: ${said}`
  const message = `The stream ended early: ${causeOf(fault)}${words}.`
  const { retryAfterMs } = fault
  return new GatewayError(
    fault.kind === 'rate_limited' ? 'rate_limit_exceeded' : 'service_unavailable',
    message,
    retryAfterMs === undefined ? {} : { retryAfterMs },
  )
}

function rejection(fault: Fault): GatewayError {
  return new GatewayError('invalid_request_error', fault.message, {
    param: fault.param ?? null,
    ...(fault.code === undefined ? {} : { shownCode: fault.code }),
  })
}

/** Why a request could not be encoded for a vendor. A bug of the gateway is reported, and becomes a refusal too. */
export function refusalFor(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error
  reportError(error)
  return new GatewayError('server_error', 'The gateway failed to handle this request.')
}

const stopReasons = {
  'over-cap': 'max_cost is reached',
  'spend-limit': "no more of this API key's spend limit can be held for it",
  refused: "no more of this account's balance can be held for it",
} as const

/** The error that ends what runs while its hold cannot be extended. */
export function stoppedFor(why: StopReason, what = 'The reply was stopped'): GatewayError {
  if (why !== 'closed')
    return new GatewayError('insufficient_quota', `${what}: ${stopReasons[why]}.`)
  const message = `${what}: the gateway cannot account for more of it at present; retry shortly.`
  return new GatewayError('service_unavailable', message, { retryAfterMs: 1_000 })
}

/** The error that ends what runs while the process stops. */
export function restarting(): GatewayError {
  return new GatewayError('service_unavailable', 'The gateway is restarting.', {
    retryAfterMs: 1_000,
  })
}

/** The HTTP status of an error in the client's dialect. */
export function refusalStatus(dialect: ClientDialect, error: GatewayError): number {
  return dialect.client.status?.(error) ?? errorTable[error.code].status
}
