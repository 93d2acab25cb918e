// Why a request failed and what to do next, in the reader's language: by the code of the error and whose fault it was.

import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'

interface Words {
  readonly what: MessageDescriptor
  readonly next: MessageDescriptor
}

const again = msg`Send it again.`
const later = msg`Send it again after a moment.`

const byCode: Readonly<Record<string, Words>> = {
  invalid_request_error: {
    what: msg`It is malformed, out of range, or refused by the vendor.`,
    next: msg`Correct the field that the reply names.`,
  },
  invalid_api_key: {
    what: msg`Its key is not valid, or may not be used from its address.`,
    next: msg`Send a valid key, from an allowed address.`,
  },
  invalid_signature: {
    what: msg`The address of the file has no valid signature.`,
    next: msg`Use the address exactly as the reply gave it.`,
  },
  model_not_found: {
    what: msg`The model does not exist, or its key may not use it.`,
    next: msg`Choose one from the page Models.`,
  },
  unsupported_endpoint: {
    what: msg`The gateway does not offer this interface.`,
    next: msg`Use another one.`,
  },
  not_found: {
    what: msg`The path or the id does not exist.`,
    next: msg`Check the path and the id.`,
  },
  method_not_allowed: {
    what: msg`The path does not accept its method.`,
    next: msg`Use a method that the reply names.`,
  },
  request_timeout: { what: msg`The body did not arrive in time.`, next: again },
  request_in_progress: {
    what: msg`A request with the same Idempotency-Key was still running.`,
    next: msg`Send it again when that one has ended.`,
  },
  request_stopped: {
    what: msg`It was stopped while it ran.`,
    next: msg`Send it again if it was stopped by mistake.`,
  },
  reply_not_kept: {
    what: msg`It was executed before, but its reply was not kept.`,
    next: msg`Do not repeat it.`,
  },
  file_expired: {
    what: msg`The address of the file has expired.`,
    next: msg`Request the result again.`,
  },
  request_too_large: { what: msg`It is too large.`, next: msg`Send less.` },
  unsupported_media_type: {
    what: msg`The endpoint does not accept its media type.`,
    next: msg`Send a type that the reply names.`,
  },
  idempotency_key_reused: {
    what: msg`Its Idempotency-Key was used for another request.`,
    next: msg`Use a new key for each request.`,
  },
  upgrade_required: {
    what: msg`Its path needs a WebSocket, or accepts none.`,
    next: msg`Do as the reply says.`,
  },
  insufficient_quota: {
    what: msg`The balance or a spend limit does not cover it.`,
    next: msg`Add credit, or raise the limit.`,
  },
  rate_limit_exceeded: {
    what: msg`A limit of the key or group was reached.`,
    next: later,
  },
  request_headers_too_large: {
    what: msg`Its headers are too large.`,
    next: msg`Send fewer headers.`,
  },
  server_error: { what: msg`It failed in the gateway.`, next: again },
  service_unavailable: { what: msg`It could not be served at that moment.`, next: later },
  client_closed_request: {
    what: msg`The client disconnected before the end.`,
    next: msg`If that was not intended, raise the client's timeout.`,
  },
}

const byVendor: Readonly<Record<string, Words>> = {
  rate_limit_exceeded: {
    what: msg`Every vendor of the model was limiting its rate.`,
    next: later,
  },
  server_error: { what: msg`Every vendor that was asked failed.`, next: again },
  service_unavailable: { what: msg`No vendor answered it.`, next: later },
}

/** Of a stream that had begun: the status is 200, and a part of the reply was delivered. */
const broken: Words = {
  what: msg`The vendor’s reply broke off before its end.`,
  next: again,
}

const byOperator: Words = {
  what: msg`Its vendors refused the gateway, not this request.`,
  next: msg`Tell the operator of the gateway.`,
}

const stoppedByOperator: Words = {
  what: msg`An operator of the gateway stopped it.`,
  next: msg`Ask the operator before sending it again.`,
}

interface Failed {
  readonly errorCode: string | null
  readonly status: number
  readonly attemptList: readonly unknown[]
}

/** undefined: a code of a newer gateway, whose own message is shown. */
export function blameWords(request: Failed, party: string): Words | undefined {
  const code = request.errorCode ?? ''
  const wasAsked = request.attemptList.length > 0
  if (party === 'vendor' && request.status === 200) return broken
  if (party === 'gateway' && code === 'request_stopped') return stoppedByOperator
  if (Object.hasOwn(byVendor, code)) {
    if (party === 'vendor') return byVendor[code]
    if (party === 'gateway' && wasAsked) return byOperator
  }
  return Object.hasOwn(byCode, code) ? byCode[code] : undefined
}
