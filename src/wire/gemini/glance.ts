// Extracts what the gateway must know from one Google frame or whole reply on the identity path.

import { unbelieved } from '../hub/counts.ts'
import type { JsonObject, Usage } from '../ir.ts'
import { isObject, objectOf, objectsIn, stringOf } from '../json/value.ts'
import type { ReplyQuirks } from '../reply.ts'
import { readFinish } from './finish.ts'
import { readUsage } from './usage.ts'

export interface Glance {
  /** It has content that a client would miss. */
  readonly semantic: boolean
  /** Bytes of generated text. */
  readonly outputBytes: number
  readonly called: boolean
  /** The hub's finish reason; Google's own word where it is a failure. */
  readonly finishReason: string | null
  readonly usage: Usage | null
  readonly unbelieved?: true
  readonly model: string | null
  /** It has candidates, or reports that the prompt was refused. */
  readonly isReply: boolean
}

const encoder = new TextEncoder()

function bytesIn(text: string): number {
  return text === '' ? 0 : encoder.encode(text).length
}

interface Said {
  bytes: number
  semantic: boolean
  called: boolean
}

function readPart(part: JsonObject, said: Said): void {
  const { text, functionCall: call } = part
  if (typeof text === 'string') said.bytes += bytesIn(text)
  else said.semantic = true
  if (isObject(call)) {
    said.called = true
    const { args, partialArgs } = call
    if (isObject(args)) said.bytes += bytesIn(JSON.stringify(args))
    for (const piece of objectsIn(partialArgs))
      said.bytes += bytesIn(stringOf(piece['stringValue']))
  }
  if (stringOf(text) !== '' || part['thoughtSignature'] !== undefined) said.semantic = true
}

/** `called`: an earlier frame had a call. */
export function glanceAt(value: JsonObject, quirks: ReplyQuirks, called: boolean): Glance {
  const said: Said = { bytes: 0, semantic: false, called }
  let word = ''
  const candidates = objectsIn(value['candidates'])
  for (const candidate of candidates) {
    const content = objectOf(candidate['content'])
    for (const part of objectsIn(content['parts'])) readPart(part, said)
    word = stringOf(candidate['finishReason']) || word
  }
  const { promptFeedback: feedback, usageMetadata: counted } = value
  const blocked =
    candidates.length === 0 && isObject(feedback) && stringOf(feedback['blockReason']) !== ''
  const reason = word === '' ? null : readFinish(word, said.called)
  const finishReason = reason === 'trouble' ? word : blocked ? 'content_filter' : reason
  const raw = isObject(counted) ? (quirks.usage?.(counted) ?? counted) : null
  const usage = raw === null ? null : readUsage(raw)
  return {
    semantic: said.semantic || finishReason !== null,
    outputBytes: said.bytes,
    called: said.called,
    finishReason,
    usage,
    ...unbelieved(usage, raw),
    model: stringOf(value['modelVersion']) || null,
    isReply: candidates.length > 0 || blocked,
  }
}
