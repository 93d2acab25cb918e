// Inspects a whole Anthropic message on the identity path.

import { unbelieved } from '../hub/counts.ts'
import type { JsonObject, JsonValue, Usage } from '../ir.ts'
import { JsonSyntaxError, parseSpan, stringEnd, valueEnd } from '../json/scan.ts'
import { isObject, text } from '../json/value.ts'
import { madeCallId } from '../openai/message-repair.ts'
import { stringOf } from '../openai/rules.ts'
import { faulty, lastMember, readable, withoutList } from '../openai/whole.ts'
import type { ReplyQuirks, WholeReply } from '../reply.ts'
import { faultIn } from './fault.ts'
import { readUsage } from './usage.ts'

const encoder = new TextEncoder()

/** Bytes of generated text, for counting where no usage is reported. */
function saidBytes(content: readonly JsonValue[]): number {
  let count = 0
  for (const block of content) {
    if (!isObject(block)) continue
    const { text, thinking, input } = block
    for (const part of [text, thinking, input]) {
      if (typeof part === 'string') count += encoder.encode(part).length
      else if (isObject(part)) count += encoder.encode(JSON.stringify(part)).length
    }
  }
  return count
}

/** The content with an id of its own for each call, by which clients answer; null where each has one. */
function identified(content: readonly JsonValue[], message: string): JsonValue[] | null {
  const used = new Set<string>()
  const all = content.map((block, at) => {
    if (!isObject(block) || block.type !== 'tool_use') return block
    const id = text(block.id)
    const own = id === null || used.has(id) ? madeCallId(message, '0', at) : id
    used.add(own)
    return own === id ? block : { ...block, id: own }
  })
  return all.every((block, at) => block === content[at]) ? null : all
}

/** Requires the list `content` in the message; its bytes are passed on unchanged if its calls have ids. */
export function readWholeMessage(body: Uint8Array, quirks: ReplyQuirks): WholeReply {
  return readable(body, (at) => {
    const reply = parseSpan(body, at, body.length) as JsonObject
    if (reply.type === 'error' || isObject(reply.error)) {
      return faulty(body, faultIn(reply.error ?? reply))
    }
    const { content, usage: raw, model, stop_reason: reason } = reply
    if (!Array.isArray(content)) return faulty(body, withoutList(body, at, body.length, 'content'))
    const usage = isObject(raw) ? readUsage(quirks.usage?.(raw) ?? raw) : null
    const calls = identified(content, text(reply.id) ?? '')
    return {
      fault: null,
      bytes: calls === null ? body : encoder.encode(JSON.stringify({ ...reply, content: calls })),
      usage,
      ...unbelieved(usage, raw),
      outputBytes: usage === null ? saidBytes(content) : null,
      finishReason: text(reason),
      model: text(model),
    }
  })
}

function tailUsage(bytes: Uint8Array, quirks: ReplyQuirks): Usage | null {
  const { value } = lastMember(bytes, 'usage', bytes.length)
  if (value < 0 || bytes[value] !== 0x7b) return null
  try {
    const raw = parseSpan(bytes, value, valueEnd(bytes, value))
    return isObject(raw) ? readUsage(quirks.usage?.(raw) ?? raw) : null
  } catch (error) {
    if (error instanceof JsonSyntaxError) return null
    throw error
  }
}

/** What the end of a message says; `bytes` may begin anywhere in the message. */
export function readMessageTail(
  bytes: Uint8Array,
  quirks: ReplyQuirks,
): Omit<WholeReply, 'fault' | 'bytes'> {
  const { value } = lastMember(bytes, 'stop_reason', bytes.length)
  const named = value >= 0 && bytes[value] === 0x22
  return {
    usage: tailUsage(bytes, quirks),
    outputBytes: bytes.length,
    finishReason: named ? stringOf(bytes, value, stringEnd(bytes, value)) : null,
    model: null,
  }
}
