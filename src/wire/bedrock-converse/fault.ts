// Classifies Bedrock's errors: by the type in a header, or by the name of an exception inside a stream.

import type { Fault, FaultKind } from '../../errors.ts'
import type { JsonObject, JsonValue } from '../ir.ts'
import { isObject, objectOf } from '../json/value.ts'
import { readFault } from '../openai/fault.ts'

/** Fault kinds by the exception's lower-case name, without suffix; AWS, "Common errors", and errors of Converse. */
const kinds: ReadonlyMap<string, FaultKind> = new Map([
  ['throttling', 'rate_limited'],
  ['toomanyrequests', 'rate_limited'],
  ['modelnotready', 'rate_limited'],
  ['servicequotaexceeded', 'quota'],
  ['validation', 'rejected'],
  ['resourcenotfound', 'unknown_model'],
  ['accessdenied', 'credentials'],
  ['unrecognizedclient', 'credentials'],
  ['invalidsignature', 'credentials'],
  ['incompletesignature', 'credentials'],
  ['invalidclienttokenid', 'credentials'],
  ['missingauthenticationtoken', 'credentials'],
  ['expiredtoken', 'credentials'],
  ['optinrequired', 'credentials'],
  ['modeltimeout', 'timeout'],
  ['modelerror', 'vendor_error'],
  ['modelstreamerror', 'vendor_error'],
  ['internalserver', 'vendor_error'],
  ['internalfailure', 'vendor_error'],
  ['serviceunavailable', 'vendor_error'],
])

/** Errors about the requested model, which say nothing about the key. */
const ofModel =
  /model identifier is invalid|access to the model|model access|on-demand throughput|not authorized to perform: bedrock:InvokeModel|end of its life|marked by provider as Legacy/i
const tooLong = /input is too long|prompt is too long|too many input tokens|maximum context length/i

/** Accepts `ThrottlingException`, `com.amazon.coral#ThrottlingException` and `ThrottlingException:http://...`. */
function plainName(type: string): string {
  const [name = ''] = type.split(':', 1)
  const bare = name.slice(name.lastIndexOf('#') + 1)
  return bare.replace(/(Exception|Error)$/, '').toLowerCase()
}

function judged(fault: Fault, type: string): Fault {
  const { message } = fault
  const kind = kinds.get(plainName(type)) ?? fault.kind
  if ((kind === 'rejected' || kind === 'credentials') && ofModel.test(message)) {
    return { ...fault, kind: 'unknown_model' }
  }
  if (kind !== 'rejected') return { ...fault, kind }
  const finer = tooLong.test(message)
    ? { code: 'context_length_exceeded', param: 'messages' }
    : { param: null }
  return { ...fault, kind, ...finer }
}

function parsed(body: string): JsonObject {
  try {
    const value = JSON.parse(body) as JsonValue
    return isObject(value) ? value : {}
  } catch (error) {
    // A proxy in between may answer in any form: the generic reader then extracts what it can.
    if (error instanceof SyntaxError) return {}
    throw error
  }
}

function textOf(...values: (JsonValue | undefined)[]): string {
  for (const value of values) if (typeof value === 'string' && value !== '') return value
  return ''
}

/** Reads an error reply: `{message}` (or `{Message}`), with its type in `x-amzn-errortype` or in `__type`. */
export function readBedrockFault(
  status: number,
  header: (name: string) => string | null,
  body: string,
): Fault {
  const fields = parsed(body)
  const { code: _, ...plain } = readFault(status, header, body)
  const said = textOf(fields['message'], fields['Message'])
  const message = said === '' ? plain.message : said.slice(0, 500)
  return judged({ ...plain, message }, textOf(header('x-amzn-errortype'), fields['__type']))
}

/** Reads an exception inside a stream by its name and its `payload`. */
export function readException(name: string, payload: JsonValue): Fault {
  const fields = objectOf(payload)
  const said = textOf(fields['message'], fields['Message'], fields['originalMessage'])
  const message = said === '' ? `the vendor stopped with ${name}` : said.slice(0, 500)
  return judged({ kind: 'vendor_error', message }, name)
}
