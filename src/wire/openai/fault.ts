// Reads vendors' error replies, in any of the shapes they use, as faults.

import type { Fault, FaultKind } from '../../errors.ts'
import type { JsonObject, JsonValue } from '../ir.ts'
import { isObject, objectOf } from '../json/value.ts'
import { retryAfterMs } from './retry-after.ts'

const maxMessageLength = 500
/** Of a message no more is searched for words: patterns take longer than in proportion to its length. */
const examinedLength = 2_000
/** HTTP statuses in this range may be in a body in place of an error code. */
const leastStatus = 400
const mostStatus = 599

/** What a vendor states about an error, wherever in the body it does. */
interface Said {
  readonly message: string
  readonly code: string | null
  readonly type: string | null
  readonly param: string | null
}

function text(value: JsonValue | undefined): string | null {
  if (typeof value === 'string') return value.trim() === '' ? null : value.trim()
  return typeof value === 'number' ? String(value) : null
}

/** The first text among `values`; a list gives the message of its first element, else its JSON. */
function firstText(...values: (JsonValue | undefined)[]): string | null {
  for (const value of values) {
    const found = text(value)
    if (found !== null) return found
    if (Array.isArray(value) && value.length > 0) {
      const inner = value[0]
      return (isObject(inner) ? firstText(inner.message, inner.msg) : text(inner)) ?? jsonOf(value)
    }
  }
  return null
}

function jsonOf(value: JsonValue): string {
  return JSON.stringify(value)
}

/** The path of the field at fault; validators give it as a list: `["body", "messages", 0, "role"]`. */
function paramOf(error: JsonObject, detail: JsonValue | undefined): string | null {
  const plain = text(error.param)
  if (plain !== null) return plain
  const first = Array.isArray(detail) ? detail[0] : undefined
  if (!isObject(first) || !Array.isArray(first.loc)) return null
  const names = first.loc.filter((name, at) => !(at === 0 && name === 'body'))
  let path = ''
  for (const name of names) {
    path += typeof name === 'number' ? `[${name}]` : path === '' ? String(name) : `.${String(name)}`
  }
  return path === '' ? null : path
}

/** Reads a parsed error body or the value of its `error`. */
export function saidIn(body: JsonValue): Said {
  const none: Said = { message: '', code: null, type: null, param: null }
  if (typeof body === 'string') return { ...none, message: body }
  if (Array.isArray(body)) return body.length === 0 ? none : saidIn(body[0] ?? null)
  if (!isObject(body)) return none
  const { error } = body
  if (isObject(error)) {
    const inner = saidIn(error)
    return { ...inner, code: inner.code ?? text(body.code), type: inner.type ?? text(body.type) }
  }
  const inner = isObject(body.innererror) ? text(body.innererror.code) : null
  const base = objectOf(body.base_resp)
  const message = firstText(
    error,
    body.message,
    body.msg,
    body.detail,
    body.error_message,
    body.errors,
    base.status_msg,
  )
  const detail = isObject(body.message) ? body.message.detail : body.detail
  return {
    message: message ?? firstText(isObject(body.message) ? detail : undefined) ?? '',
    code: text(body.code) ?? inner ?? text(body.error_type),
    type: text(body.type) ?? text(body.status),
    param: paramOf(body, detail),
  }
}

const quotaCodes =
  /^(insufficient_quota|insufficient[_ ](balance|credits?|funds)|billing.*|.*[_.]billing.*|payment_required|credit.*|exceeded_current_quota_error|.*_balance_.*)$/i
const unknownModelCodes =
  /^(model_not_found|modelnotfound|model_not_exist|model_not_available|model_decommissioned|unknown_model|unavailable_model|invalid_model|no_such_model|deploymentnotfound|model_not_supported|operationnotsupported|model\.accessdenied)$/i
const credentialCodes =
  /^(invalid_api_key|authentication_error|invalid_authentication.*|permission_denied|permission_error|unauthorized|access_denied|account_deactivated)$/i
const rateCodes =
  /^(rate_limit.*|ratelimit.*|too_many_requests|tokens_per_.*|requests_per_.*|resource_exhausted|throttl.*|engine_overloaded_error)$/i
const connectorCodes = /^(external_connector_error|http_error|mcp.*)$/i
/** OpenAI and GitHub, of a model that they serve at another path: neither the channel nor the model is at fault. */
const otherEndpoint =
  /\b(only supported|not supported|not accessible) (in|via) (the )?\/?(v1\/)?(responses|chat\/completions|completions)\b/i
const unknownModelText =
  /\bmodel\b.{0,200}?\b(does not exist|not found|not exist|is not available for your account|has been decommissioned)|\b(no such|unknown|unavailable) model\b|\bnot found the model\b|\binvalid model( id| identifier| name|:| ['"`]|$)|\bnot a valid model id\b|\bunable to access model\b|\bno endpoints found for\b|^model ['"`]?[\w./:@-]*['"`]? is not supported\b/is
const quotaText =
  /insufficient[ _](balance|quota|credit|funds)|exceeded your current quota|credit balance is too low|spending limit|out of credits/i
const filterText = /content[_ ](filter|policy)|moderation|\bflagged\b/i
/** At the beginning alone: further back may be what the client wrote. */
const keyText =
  /^\W*(error\W+)?(the )?(incorrect|invalid|bad|wrong|expired|missing|revoked) api[ -]?key/i
/** What a message quotes, mostly the client's own value. */
const quoted = /(?<!\w)(['"`]).*?\1(?!\w)/gs

/** What validators say of a field, whose name or value the client wrote; some repeat it without quotes. */
const validatorText =
  /extra (inputs?|fields?)|not permitted|additional propert|un(known|recognized|expected|supported) (name|parameter|field|argument|request|value|key|propert)|(should|must) (not )?be|field required/i

/**
 * The message without what it quotes; '' where the vendor names a field of the request as the cause. No caller must be
 * able to put a channel aside by words that its vendor repeats.
 */
function vendorsWords({ message, param }: Said): string {
  const isOfField = (param !== null && param !== 'model') || validatorText.test(message)
  return isOfField ? '' : message.replace(quoted, "''")
}

function codesOf({ code, type }: Said): string[] {
  return [code, type].filter((each) => each !== null)
}

function kindByWords(said: Said, status: number): FaultKind | null {
  const codes = codesOf(said)
  const some = (pattern: RegExp): boolean => codes.some((code) => pattern.test(code))
  if (some(quotaCodes) || (status < 500 && quotaText.test(vendorsWords(said)))) return 'quota'
  if (some(unknownModelCodes)) return 'unknown_model'
  if (status === 429) return null
  if (some(credentialCodes)) return 'credentials'
  if (some(rateCodes)) return 'rate_limited'
  return null
}

function kindByStatus(status: number): FaultKind {
  switch (status) {
    case 401:
    case 403:
      return 'credentials'
    case 402:
      return 'quota'
    case 404:
      return 'unknown_model'
    case 408:
      return 'timeout'
    case 409:
    case 424:
    case 425:
    case 499:
      return 'transient'
    case 429:
      return 'rate_limited'
    default:
      if (status >= 500) return 'vendor_error'
      return status >= 400 ? 'rejected' : 'unreadable'
  }
}

function kindOf(said: Said, status: number): FaultKind {
  // OpenAI: the client's own server of tools, or its authorization there, is at fault.
  if (status === 424 && codesOf(said).some((code) => connectorCodes.test(code))) return 'rejected'
  const plain = kindByStatus(status)
  if (plain === 'unreadable' || plain === 'quota') return plain
  const worded = kindByWords(said, status)
  if (plain === 'credentials') {
    // Classed as bad credentials these would disable the channel, which no caller must be able to cause.
    if (status === 403 && filterText.test(`${said.code} ${said.message}`)) return 'rejected'
    return worded === 'quota' || (status === 403 && worded === 'unknown_model') ? worded : plain
  }
  if (worded !== null) return worded
  if (status === 404 && otherEndpoint.test(vendorsWords(said))) return 'rejected'
  // OpenAI: an item of `input` that is not stored there.
  if (status === 404 && /^input\b/.test(said.param ?? '')) return 'rejected'
  if (plain !== 'rejected') return plain
  const words = vendorsWords(said)
  if (status === 400 && keyText.test(words)) return 'credentials'
  if (unknownModelText.test(words)) return 'unknown_model'
  return plain
}

/** How vendors without OpenAI's code say that a conversation is too long for the model. */
const tooLong = new RegExp(
  [
    // vLLM, DeepSeek, OpenRouter, Mistral; xAI.
    'maximum (context|prompt|model) length',
    // SGLang; OpenAI in Responses; llama.cpp.
    "longer than the model's context length",
    'exceeds the (context window|available context size)',
    // Moonshot; Zhipu; DashScope; MiniMax; Together.
    'exceeded model token limit',
    'prompt exceeds max length',
    'range of input length should be',
    'context window exceeds limit',
    '`inputs` tokens \\+ `max_new_tokens` must be',
  ].join('|'),
  'i',
)

/** The error code to show; codes that only repeat the status are left out. */
function finerCode(said: Said, status: number, kind: FaultKind): string | undefined {
  if (kind === 'rejected' && status === 413) return 'request_too_large'
  if (kind === 'rejected' && tooLong.test(said.message)) return 'context_length_exceeded'
  const { code } = said
  if (code !== null && !/^\d{3}$/.test(code)) return code
  return kind === 'rejected' || said.type === null ? undefined : said.type
}

function bounded(said: Said): Said {
  return { ...said, message: said.message.slice(0, examinedLength) }
}

function faultFrom(said: Said, status: number, fallback: string): Fault {
  const kind = kindOf(said, status)
  const code = finerCode(said, status, kind)
  const message = said.message === '' ? fallback : said.message.slice(0, maxMessageLength)
  return {
    kind,
    message,
    status,
    ...(kind === 'rejected' && { param: said.param }),
    ...(code !== undefined && { code }),
  }
}

/** The message for a reply in HTML, which is never quoted: it is of no use and may disclose too much. */
function describedPage(status: number, body: string): string | null {
  const start = body.trimStart().slice(0, 200).toLowerCase()
  if (!start.startsWith('<') && !start.includes('<html')) return null
  return `the vendor answered ${status} with a page in place of JSON`
}

/** Reads a vendor's error reply; `header` looks a reply header up by lower-case name. */
export function readFault(
  status: number,
  header: (name: string) => string | null,
  body: string,
): Fault {
  const page = describedPage(status, body)
  const fallback = page ?? `the vendor answered ${status} without saying why`
  let said: Said = { message: '', code: null, type: null, param: null }
  if (page === null && body.trim() !== '') {
    try {
      said = saidIn(JSON.parse(body) as JsonValue)
    } catch {
      // Not JSON: the text itself is the message.
      said = { ...said, message: body.trim() }
    }
  }
  const read = faultFrom(bounded(said), status, fallback)
  // Firewalls in front of vendors refuse words of a prompt so; it says nothing of the key.
  const fault = page !== null && status === 403 ? { ...read, kind: 'transient' as const } : read
  const passes = fault.kind === 'timeout' || fault.kind === 'transient'
  const waitMs = status === 429 || status >= 500 || passes ? retryAfterMs(header) : null
  return waitMs === null ? fault : { ...fault, retryAfterMs: waitMs }
}

/**
 * Reads an error found in a frame or a reply with a success status. `error` is its value; a code that is an HTTP
 * status (OpenRouter, Azure) is treated as the reply's status.
 */
export function faultInside(error: JsonValue): Fault {
  const said = bounded(saidIn(error))
  const digits = said.code !== null && /^\d{3}$/.test(said.code) ? Number(said.code) : 0
  const status = digits >= leastStatus && digits <= mostStatus ? digits : 0
  const fallback = 'the vendor reported an error inside a success'
  if (status !== 0) return faultFrom(said, status, fallback)
  const named = kindByWords(said, 0) ?? (isRejection(said) ? 'rejected' : 'vendor_error')
  const code = finerCode(said, 0, named)
  return {
    kind: named,
    message: said.message === '' ? fallback : said.message.slice(0, maxMessageLength),
    ...(named === 'rejected' && { param: said.param }),
    ...(code !== undefined && { code }),
  }
}

/** Codes of errors that are about what the client sent. */
const rejectionCodes: ReadonlySet<string | null> = new Set([
  'content_filter',
  'content_policy_violation',
  'moderation_blocked',
  'context_length_exceeded',
])

function isRejection({ type, code }: Said): boolean {
  return type === 'invalid_request_error' || rejectionCodes.has(code)
}

/** The error of a parsed frame or reply: at the top level, in `x_groq` or in a choice; null if there is none. */
export function errorIn(reply: JsonObject): JsonValue | null {
  if (reply.error) return isObject(reply.error) ? reply.error : reply
  const groq = reply.x_groq
  if (isObject(groq) && groq.error) return groq.error
  if (!Array.isArray(reply.choices)) return null
  for (const choice of reply.choices) {
    if (isObject(choice) && choice.error) return choice.error
  }
  return null
}

/** Finish reasons that report the vendor's own failure (OpenRouter, Mistral; Zhipu; DeepSeek; vLLM). */
const failedFinishes: ReadonlySet<string> = new Set([
  'error',
  'network_error',
  'insufficient_system_resource',
  'abort',
])

export function isFailedFinish(reason: string): boolean {
  return failedFinishes.has(reason.toLowerCase())
}

/** The fault that a finish reason reports; null for a reason that is not a failure. */
export function faultOfFinish(reason: string): Fault | null {
  if (!isFailedFinish(reason)) return null
  return { kind: 'vendor_error', message: `the vendor ended its reply with ${reason}` }
}
