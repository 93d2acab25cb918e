// Tells whose fault a failed request was, and what to do: one table by error code, explained in docs/errors.md.

import { causeOf, type ErrorCode } from '../errors.ts'
import type { UsageRow } from '../store/usage-row.ts'

/** `request`: what its author wrote. `account`: its balance, limits or owner. `client`: it left before the end. */
type Party = 'request' | 'account' | 'client' | 'gateway' | 'vendor'

interface Blame {
  readonly party: Party
  /** The whole explanation, for people. */
  readonly message: string
  readonly charged: boolean
  readonly next: string
}

interface Explanation {
  readonly party: Party
  readonly what: string
  readonly next: string
  /** The explanation where a vendor was asked. */
  readonly asked?: { readonly party: Party; readonly what: string; readonly next?: string }
}

const explained = (party: Party, what: string, next: string): Explanation => ({ party, what, next })

const again = 'Send it again.'
const later = 'Send it again after a moment.'

/** Every error code that a usage record may have. */
type Code = ErrorCode | 'client_closed_request'

export const explanations: Readonly<Record<Code, Explanation>> = {
  invalid_request_error: {
    ...explained(
      'request',
      'it is malformed or out of range',
      'Correct the field that the reply names.',
    ),
    asked: { party: 'request', what: 'the vendor refused it' },
  },
  invalid_api_key: explained(
    'request',
    'its key is not valid, or may not be used from its address',
    'Send a valid key, from an allowed address.',
  ),
  invalid_signature: explained(
    'request',
    'the address of the file has no valid signature',
    'Use the address exactly as the reply gave it.',
  ),
  model_not_found: explained(
    'request',
    'the model does not exist, or its key may not use it',
    'Choose one from GET /v1/models.',
  ),
  unsupported_endpoint: explained(
    'request',
    'the gateway does not offer this interface',
    'Use another one.',
  ),
  not_found: explained(
    'request',
    'the path or the id does not exist',
    'Check the path and the id.',
  ),
  method_not_allowed: explained(
    'request',
    'the path does not accept its method',
    'Use a method that the reply names.',
  ),
  request_timeout: explained('client', 'the body did not arrive in time', again),
  request_in_progress: explained(
    'request',
    'a request with the same Idempotency-Key was still running',
    'Send it again when that one has ended.',
  ),
  request_stopped: explained(
    'account',
    'it was stopped while it ran',
    'Send it again if it was stopped by mistake.',
  ),
  reply_not_kept: explained(
    'request',
    'it was executed before, but its reply was not kept',
    'Do not repeat it.',
  ),
  file_expired: explained(
    'request',
    'the address of the file has expired',
    'Request the result again.',
  ),
  request_too_large: explained('request', 'it is too large', 'Send less.'),
  unsupported_media_type: explained(
    'request',
    'the endpoint does not accept its media type',
    'Send a type that the reply names.',
  ),
  idempotency_key_reused: explained(
    'request',
    'its Idempotency-Key was used for another request',
    'Use a new key for each request.',
  ),
  upgrade_required: explained(
    'request',
    'its path needs a WebSocket, or accepts none',
    'Do as the reply says.',
  ),
  insufficient_quota: explained(
    'account',
    'the balance or a spend limit does not cover it',
    'Add credit, or raise the limit.',
  ),
  rate_limit_exceeded: {
    ...explained('account', 'a limit of the key or group was reached', later),
    asked: { party: 'vendor', what: 'every vendor of the model was limiting its rate' },
  },
  request_headers_too_large: explained(
    'request',
    'its headers are too large',
    'Send fewer headers.',
  ),
  server_error: {
    ...explained('gateway', 'it failed in the gateway', again),
    asked: { party: 'vendor', what: 'every vendor that was asked failed' },
  },
  service_unavailable: {
    ...explained('gateway', 'it could not be served at that moment', later),
    asked: { party: 'vendor', what: 'no vendor answered it' },
  },
  client_closed_request: explained(
    'client',
    'the client disconnected before the end',
    "If that was not intended, raise the client's timeout.",
  ),
}

const parties: Readonly<Record<Party, string>> = {
  request: 'The request is at fault',
  account: 'The account is the cause',
  client: 'The client is at fault',
  gateway: 'The gateway is at fault',
  vendor: 'The vendor is at fault',
}

/** The explanation of a code that another version wrote. */
const unknown: Explanation = explained('gateway', 'it failed for an unknown reason', again)

/** Of a stream that had begun: a part of the reply was delivered. */
const brokenOff = { what: "the vendor's reply broke off before its end", next: again } as const

const operatorStopped = causeOf({ kind: 'stopped_by_operator', message: '' })
const byOperator = {
  party: 'gateway',
  what: 'an operator of the gateway stopped it',
  next: 'Ask the operator before sending it again.',
} as const

/** Kinds of faults for which vendors refuse the gateway rather than the request. */
const ofOperator: readonly string[] = ['credentials', 'quota', 'unknown_model', 'no_room']
const operators = {
  party: 'gateway',
  what: 'its vendors refused the gateway, not this request',
  next: 'Tell the operator of the gateway.',
} as const

/** null where the request succeeded. `withCause`: shows operators the cause of a vendor's fault too. */
export function blameOf(row: UsageRow, withCause: boolean): Blame | null {
  const { status, errorCode, errorCause, attempts, failedAttempts, chargeNano } = row
  if (errorCode === null) return null
  const found = Object.hasOwn(explanations, errorCode) ? explanations[errorCode as Code] : unknown
  const isBegun = status === 200 && attempts > 0
  const isOperators =
    !isBegun && attempts > 0 && ofOperator.includes(failedAttempts?.at(-1)?.kind ?? '')
  const { party, what, next } = {
    ...found,
    ...(attempts > 0 && found.asked),
    ...(isOperators && found.asked?.party === 'vendor' && operators),
    ...(isBegun && found.asked?.party === 'vendor' && brokenOff),
    ...(errorCode === 'request_stopped' && errorCause === operatorStopped && byOperator),
  }
  const charged = chargeNano > 0n
  const cause = withCause && errorCause !== null ? ` (${errorCause})` : ''
  const money = charged ? 'what was delivered was charged' : 'nothing was charged'
  return { party, message: `${parties[party]}: ${what}${cause}; ${money}.`, charged, next }
}
