// Reads Google's errors as faults, and writes the gateway's errors in Google's form.

import { errorTable, type Fault, type FaultKind, type GatewayError } from '../../errors.ts'
import type { JsonObject, JsonValue } from '../ir.ts'
import { isObject, objectsIn, stringOf } from '../json/value.ts'
import { retryAfterMs } from '../openai/retry-after.ts'
import { numberOf } from './fields.ts'

const maxMessageLength = 500
/** Longer waits are capped at this. */
const maxWaitMs = 60_000
const leastStatus = 400
const mostStatus = 599

/** HTTP statuses of `google.rpc.Code` (google/rpc/code.proto). */
const statusOfName: ReadonlyMap<string, number> = new Map([
  ['INVALID_ARGUMENT', 400],
  ['FAILED_PRECONDITION', 400],
  ['OUT_OF_RANGE', 400],
  ['UNAUTHENTICATED', 401],
  ['PERMISSION_DENIED', 403],
  ['NOT_FOUND', 404],
  ['ABORTED', 409],
  ['ALREADY_EXISTS', 409],
  ['RESOURCE_EXHAUSTED', 429],
  ['CANCELLED', 499],
  ['UNKNOWN', 500],
  ['INTERNAL', 500],
  ['DATA_LOSS', 500],
  ['UNIMPLEMENTED', 501],
  ['UNAVAILABLE', 503],
  ['DEADLINE_EXCEEDED', 504],
])

interface Said {
  readonly message: string
  /** The name of a `google.rpc.Code`; '' if there is none. */
  readonly name: string
  readonly code: number
  readonly details: readonly JsonObject[]
}

function saidIn(error: JsonValue | undefined): Said {
  if (!isObject(error)) return { message: stringOf(error), name: '', code: 0, details: [] }
  const code = numberOf(error['code']) ?? 0
  return {
    message: stringOf(error['message']).trim(),
    name: stringOf(error['status']),
    code: code >= leastStatus && code <= mostStatus ? code : 0,
    details: objectsIn(error['details']),
  }
}

function detail(said: Said, type: string): JsonObject | undefined {
  return said.details.find((each) => stringOf(each['@type']).endsWith(`google.rpc.${type}`))
}

function reasonOf(said: Said): string {
  return said.details.map((each) => stringOf(each['reason'])).find((reason) => reason !== '') ?? ''
}

/** Parses a `google.protobuf.Duration` in JSON: seconds with up to nine decimals, `34.4s`. */
function durationMs(value: JsonValue | undefined): number | null {
  const found = /^(\d+(?:\.\d+)?)s$/.exec(stringOf(value))
  return found === null ? null : Math.min(maxWaitMs, Math.ceil(Number(found[1]) * 1000))
}

const keyReasons: ReadonlySet<string> = new Set([
  'API_KEY_INVALID',
  'API_KEY_EXPIRED',
  'API_KEY_SERVICE_BLOCKED',
  'API_KEY_HTTP_REFERRER_BLOCKED',
  'API_KEY_IP_ADDRESS_BLOCKED',
  'ACCESS_TOKEN_EXPIRED',
  'ACCESS_TOKEN_SCOPE_INSUFFICIENT',
  'SERVICE_DISABLED',
  'CONSUMER_INVALID',
  'CONSUMER_SUSPENDED',
])
const billingReasons: ReadonlySet<string> = new Set(['BILLING_DISABLED'])

/** At the beginning alone: further back may be what the client wrote. */
const keyText = /^(your )?api[ _-]?key (not valid|not found|expired|was reported)/i
const billingText =
  /billing|not available in your country|user location is not supported|prepayment|credits? (are|is) depleted/i
/** Matches the client's own file or cache, which another key may not read. */
const clientsThing = /\b(file|cached ?content|tuned ?model|corpus)\b/i
const lengthText = /input token count|exceeds the maximum number of tokens|context (length|window)/i
const modelText =
  /\bmodels?\b.{0,200}?(not found|is not supported|does not exist|no longer available|not have access)/is
/** Stricter than `modelText`, for status 400, whose texts usually concern the request. */
const misnamedModel =
  /unexpected model name format|\bmodels\/\S+ (is not found|does not exist|was not found)|publisher model .{0,200}(not found|not supported|not servable)/is

function isDailyQuota(said: Said): boolean {
  const violations = objectsIn(detail(said, 'QuotaFailure')?.['violations'])
  return violations.some((each) => /PerDay/i.test(stringOf(each['quotaId'])))
}

function kindOf(said: Said, status: number): FaultKind {
  const reason = reasonOf(said)
  if (billingReasons.has(reason)) return 'quota'
  if (keyReasons.has(reason)) return 'credentials'
  switch (status) {
    case 400:
      if (keyText.test(said.message)) return 'credentials'
      if (detail(said, 'BadRequest') === undefined && misnamedModel.test(said.message))
        return 'unknown_model'
      return said.name === 'FAILED_PRECONDITION' && billingText.test(said.message)
        ? 'quota'
        : 'rejected'
    case 401:
      return 'credentials'
    case 402:
      return 'quota'
    case 403:
      // Classed as bad credentials it would disable the channel, which no caller must be able to cause.
      if (clientsThing.test(said.message)) return 'rejected'
      if (modelText.test(said.message)) return 'unknown_model'
      return billingText.test(said.message) ? 'quota' : 'credentials'
    case 404:
      return clientsThing.test(said.message) ? 'rejected' : 'unknown_model'
    case 409:
    case 424:
    case 425:
      return 'transient'
    case 408:
    case 504:
      return 'timeout'
    case 429:
      return isDailyQuota(said) ||
        /spending (limit|cap)|credits? (are|is) depleted/i.test(said.message)
        ? 'quota'
        : 'rate_limited'
    default:
      if (status >= 500 || status === 499) return 'vendor_error'
      return status >= 400 ? 'rejected' : 'unreadable'
  }
}

function finerCode(said: Said, status: number, kind: FaultKind): string | undefined {
  if (kind === 'rejected' && lengthText.test(said.message)) return 'context_length_exceeded'
  if (kind === 'rejected' && status === 413) return 'request_too_large'
  if (kind === 'rejected') return undefined
  return reasonOf(said) || said.name || undefined
}

/** The field that a `BadRequest` names, or that a message names in Google's usual phrasing. */
function paramOf(said: Said): string | null {
  const [violation] = objectsIn(detail(said, 'BadRequest')?.['fieldViolations'])
  const field = stringOf(violation?.['field'])
  if (field !== '') return field
  return /\* (?:\w+Request\.)?([\w.[\]]+): /.exec(said.message)?.[1] ?? null
}

function faultFrom(
  said: Said,
  status: number,
  fallback: string,
  headerWaitMs: number | null,
): Fault {
  const kind = kindOf(said, status)
  const code = finerCode(said, status, kind)
  const retryMs = durationMs(detail(said, 'RetryInfo')?.['retryDelay']) ?? headerWaitMs
  const passes = kind === 'timeout' || kind === 'transient'
  const waitMs = status === 429 || status >= 499 || passes ? retryMs : null
  return {
    kind,
    message: said.message === '' ? fallback : said.message.slice(0, maxMessageLength),
    ...(status !== 0 && { status }),
    ...(kind === 'rejected' && { param: paramOf(said) }),
    ...(code !== undefined && { code }),
    ...(waitMs !== null && { retryAfterMs: waitMs }),
  }
}

/** The error in a body or frame; Google wraps it in a list where the reply would have been one. */
export function errorIn(value: JsonValue): JsonValue | null {
  if (Array.isArray(value)) {
    for (const each of value) {
      const found = errorIn(each)
      if (found !== null) return found
    }
    return null
  }
  if (!isObject(value)) return null
  return value['error'] ? value['error'] : null
}

/** Reads Google's error reply: `{error: {code, message, status, details}}` (google.rpc.Status). */
export function readFault(
  status: number,
  header: (name: string) => string | null,
  body: string,
): Fault {
  const waitMs = retryAfterMs(header)
  const fallback = `the vendor answered ${status} without saying why`
  const start = body.trimStart().slice(0, 200).toLowerCase()
  if (start.startsWith('<') || start.includes('<html')) {
    // HTML is never quoted: it is of no use and may disclose too much.
    const page = `the vendor answered ${status} with a page in place of JSON`
    const fault = faultFrom(saidIn(page), status, page, waitMs)
    // Firewalls refuse words of a prompt so; it says nothing of the key.
    return status === 403 ? { ...fault, kind: 'transient' } : fault
  }
  let said = saidIn(body.trim())
  try {
    const value = JSON.parse(eventData(body)) as JsonValue
    said = saidIn(errorIn(value) ?? value)
  } catch (error) {
    // Not JSON: the text itself is the message.
    if (!(error instanceof SyntaxError)) throw error
  }
  return faultFrom(said, status, fallback, waitMs)
}

/** For a request with streaming, the error may be sent as an event. */
function eventData(body: string): string {
  const text = body.trim()
  return text.startsWith('data:') ? text.slice(5) : text
}

/** Reads an error found in a reply with a success status. */
export function faultInside(error: JsonValue): Fault {
  const said = saidIn(error)
  const status = said.code || (statusOfName.get(said.name) ?? 0)
  const fallback = 'the vendor reported an error inside a success'
  if (status !== 0) return faultFrom(said, status, fallback, null)
  return { kind: 'vendor_error', message: said.message.slice(0, maxMessageLength) || fallback }
}

const nameOfStatus: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'UNIMPLEMENTED',
  408: 'DEADLINE_EXCEEDED',
  409: 'ABORTED',
  413: 'INVALID_ARGUMENT',
  415: 'INVALID_ARGUMENT',
  422: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  431: 'INVALID_ARGUMENT',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
}

/** The error as `google.rpc.Status`, with its details: the code, the field at fault, the time to wait. */
export function refuse(error: GatewayError): string {
  const { param, shownCode, retryAfterMs: waitMs } = error.detail
  const { status } = errorTable[error.code]
  const type = 'type.googleapis.com/google.rpc.'
  // The reason by which Google's own clients recognise an invalid key.
  const reason =
    error.code === 'invalid_api_key' ? 'API_KEY_INVALID' : (shownCode ?? error.code).toUpperCase()
  const details: JsonObject[] = [{ '@type': `${type}ErrorInfo`, reason, domain: 'tollgate' }]
  if (param != null) {
    const violation = { field: param, description: error.message }
    details.push({ '@type': `${type}BadRequest`, fieldViolations: [violation] })
  }
  if (waitMs !== undefined) {
    details.push({ '@type': `${type}RetryInfo`, retryDelay: `${Math.ceil(waitMs) / 1000}s` })
  }
  const name = nameOfStatus[status] ?? 'UNKNOWN'
  return JSON.stringify({ error: { code: status, message: error.message, status: name, details } })
}
