// Classifies errors inside a Responses reply: an event, a failed response, or an error object in place of a response.

import type { Fault } from '../../errors.ts'
import type { JsonObject, JsonValue } from '../ir.ts'
import { isObject } from '../json/value.ts'
import { faultInside } from '../openai/fault.ts'

/** Codes of `response.error` that blame the request itself. Source: OpenAI, "The response object". */
const requestCodes =
  /^(invalid_prompt|invalid_(base64_)?image|image_|unsupported_image|empty_image|failed_to_download_image|bio_policy|data_residency_mismatch)/

function faultOf(error: JsonValue): Fault {
  const fault = faultInside(error)
  const rejected = fault.kind === 'vendor_error' && requestCodes.test(fault.code ?? '')
  return rejected ? { ...fault, kind: 'rejected', param: null } : fault
}

/** The fault of an `error` event: OpenAI nests the members that its specification shows flat. */
export function faultOfEvent(event: JsonObject): Fault {
  const { error, code, message, param } = event
  return faultOf(isObject(error) ? error : { code, message, param })
}

const broken: Fault = { kind: 'vendor_error', message: 'the vendor says that the response failed' }

/** The fault of a response that failed or was cancelled; null for any other. */
export function faultOfResponse(response: JsonObject): Fault | null {
  const { status, error } = response
  if (isObject(error) || typeof error === 'string') return faultOf(error)
  if (status === 'failed') return broken
  return status === 'cancelled' ? { ...broken, message: 'the response was cancelled' } : null
}
