// Estimates a request's tokens where no vendor counts them: text by its bytes, images and documents by flat rates.

import type { JsonObject, JsonValue } from '../ir.ts'
import { isObject } from '../json/value.ts'

/** "Vision": an image costs width times height / 750, and is scaled down to about this many at most. */
const imageTokens = 1_600
/** "PDF support": a page costs 1,500 to 3,000 tokens of text, which is about this many bytes of base64 per token. */
const documentBytesPerToken = 40
/** Overhead in tokens of each message and each tool. */
const frameTokens = 8

interface Estimate {
  /** Bytes of text whose tokens are to be counted. */
  bytes: number
  /** Tokens of everything else. */
  tokens: number
}

const encoder = new TextEncoder()

/** Adds up bytes of text and tokens of the rest, in `system`, `messages` and `tools`. */
export function estimateOf(body: JsonObject): Estimate {
  const sum: Estimate = { bytes: 0, tokens: 0 }
  add(body.system, sum)
  for (const list of [body.messages, body.tools]) {
    if (!Array.isArray(list)) continue
    sum.tokens += list.length * frameTokens
  }
  add(body.messages, sum)
  if (Array.isArray(body.tools)) sum.bytes += encoder.encode(JSON.stringify(body.tools)).length
  return sum
}

function add(value: JsonValue | undefined, sum: Estimate): void {
  if (typeof value === 'string') sum.bytes += encoder.encode(value).length
  else if (Array.isArray(value)) for (const each of value) add(each, sum)
  else if (isObject(value)) addBlock(value, sum)
}

function addBlock(block: JsonObject, sum: Estimate): void {
  const { type, source, input } = block
  if (type === 'image') sum.tokens += imageTokens
  else if (isObject(source)) addSource(source, sum)
  if (isObject(input)) sum.bytes += encoder.encode(JSON.stringify(input)).length
  for (const name of ['text', 'content', 'thinking', 'name', 'title', 'context'] as const) {
    add(block[name], sum)
  }
}

function addSource({ type, data, content }: JsonObject, sum: Estimate): void {
  if (type === 'base64' && typeof data === 'string') {
    sum.tokens += Math.ceil(data.length / documentBytesPerToken)
  } else if (type === 'text') add(data, sum)
  else add(content, sum)
}
