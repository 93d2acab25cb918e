// Why a request failed and what to do next, in the reader's words: by the code of the error and whose fault it was.

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
    what: msg`It is malformed, out of range, or asks what the vendor refuses.`,
    next: msg`Correct the field that the reply names.`,
  },
  invalid_api_key: {
    what: msg`Its key is not valid, or not from where it came.`,
    next: msg`Send a valid key, from an address it is bound to.`,
  },
  invalid_signature: {
    what: msg`The address of the file is not one that was given.`,
    next: msg`Use the address as it was given.`,
  },
  model_not_found: {
    what: msg`There is no such model for its key.`,
    next: msg`Choose one from the page Models.`,
  },
  unsupported_endpoint: {
    what: msg`The gateway has no such interface.`,
    next: msg`Use another one.`,
  },
  not_found: {
    what: msg`What it names is not there.`,
    next: msg`Check the address or the id.`,
  },
  method_not_allowed: {
    what: msg`Its method is not taken there.`,
    next: msg`Use the one that is allowed.`,
  },
  request_timeout: { what: msg`The body did not arrive in time.`, next: again },
  request_in_progress: {
    what: msg`Its Idempotency-Key is of a request that still ran.`,
    next: msg`Send it again once that has ended.`,
  },
  request_stopped: {
    what: msg`It was stopped while it ran.`,
    next: msg`There is nothing to do: it was meant so.`,
  },
  reply_not_kept: {
    what: msg`It was done before, and that reply was not kept.`,
    next: msg`Do not repeat it.`,
  },
  file_expired: { what: msg`The file it names is gone.`, next: msg`Ask for the result anew.` },
  request_too_large: { what: msg`It is too large.`, next: msg`Send less.` },
  unsupported_media_type: {
    what: msg`Its media type is not taken.`,
    next: msg`Send another type.`,
  },
  idempotency_key_reused: {
    what: msg`Its Idempotency-Key was used for another request.`,
    next: msg`Use a new key for each request.`,
  },
  upgrade_required: { what: msg`It is to be asked in another way.`, next: msg`See the reply.` },
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
    what: msg`The client left before the end.`,
    next: msg`Raise the time that the client waits, if it was not meant so.`,
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

const byOperator: Words = {
  what: msg`Its vendors refused the gateway, not this request.`,
  next: msg`Tell the operator of the gateway.`,
}

/** undefined: of a newer gateway, whose own words are all there is. `wasAsked`: a vendor was. */
export function blameWords(code: string, party: string, wasAsked: boolean): Words | undefined {
  if (Object.hasOwn(byVendor, code)) {
    if (party === 'vendor') return byVendor[code]
    if (party === 'gateway' && wasAsked) return byOperator
  }
  return Object.hasOwn(byCode, code) ? byCode[code] : undefined
}
