// Inspects a whole Google reply on the identity path, and reads the end of one too large to hold.

import type { Fault } from '../../errors.ts'
import { unbelieved } from '../hub/counts.ts'
import type { JsonValue } from '../ir.ts'
import { JsonSyntaxError, parseSpan, valueEnd } from '../json/scan.ts'
import { isObject } from '../json/value.ts'
import type { ReplyQuirks, WholeReply } from '../reply.ts'
import { errorIn, faultInside } from './fault.ts'
import { readFinish } from './finish.ts'
import { glanceAt } from './glance.ts'
import { readUsage } from './usage.ts'

const utf8 = new TextDecoder()

function faulty(bytes: Uint8Array, fault: Fault): WholeReply {
  return { fault, bytes, usage: null, outputBytes: 0, finishReason: null, model: null }
}

export function judgeWhole(bytes: Uint8Array, quirks: ReplyQuirks): WholeReply {
  let value: JsonValue
  try {
    value = JSON.parse(utf8.decode(bytes)) as JsonValue
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return faulty(bytes, { kind: 'unreadable', message: 'the reply is not JSON' })
  }
  const failed = errorIn(value)
  if (failed !== null) return faulty(bytes, faultInside(failed))
  if (!isObject(value)) {
    return faulty(bytes, { kind: 'unreadable', message: 'the reply is not a JSON object' })
  }
  const {
    isReply,
    usage,
    unbelieved: doubt,
    outputBytes,
    finishReason,
    model,
  } = glanceAt(value, quirks, false)
  if (!isReply) return faulty(bytes, { kind: 'unreadable', message: 'the reply has no candidates' })
  return {
    fault: null,
    bytes,
    usage,
    ...(doubt && { unbelieved: true }),
    outputBytes: usage === null ? outputBytes : null,
    finishReason,
    model,
  }
}

/** The value of the last member `name` in the text; null where it is missing or unreadable. */
function lastValue(text: string, name: string): JsonValue {
  const key = text.lastIndexOf(`"${name}"`)
  const colon = text.indexOf(':', key)
  if (key < 0 || colon < 0) return null
  const bytes = new TextEncoder().encode(text.slice(colon + 1).trimStart())
  try {
    return parseSpan(bytes, 0, valueEnd(bytes, 0)) as JsonValue
  } catch (error) {
    if (error instanceof JsonSyntaxError) return null
    throw error
  }
}

/** What the end of a reply says; `bytes` may begin anywhere in the reply. */
export function readTail(
  bytes: Uint8Array,
  quirks: ReplyQuirks,
): Omit<WholeReply, 'fault' | 'bytes'> {
  const text = utf8.decode(bytes)
  const raw = lastValue(text, 'usageMetadata')
  const word = lastValue(text, 'finishReason')
  const model = lastValue(text, 'modelVersion')
  const reason = typeof word === 'string' ? readFinish(word, text.includes('"functionCall"')) : null
  const usage = isObject(raw) ? readUsage(quirks.usage?.(raw) ?? raw) : null
  return {
    usage,
    ...unbelieved(usage, raw),
    outputBytes: bytes.length,
    finishReason: reason === 'trouble' ? String(word) : reason,
    model: typeof model === 'string' ? model : null,
  }
}
