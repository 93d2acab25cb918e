// Estimates a Responses request's tokens: text by its bytes, images and files by flat rates.

import type { JsonObject, JsonValue } from '../ir.ts'
import { isObject, objectsIn } from '../json/value.ts'
import { inputItems } from './kept.ts'

/** OpenAI, "Images and vision": an image costs 85, and 170 for each tile; a large one has six. */
const imageTokens = 1_105
/** A PDF page is about a thousand tokens, which is about this many bytes of base64 per token. */
const fileBytesPerToken = 40
/** Overhead in tokens of each item and each tool. */
const frameTokens = 4

interface Estimate {
  /** Bytes of text whose tokens are to be counted. */
  bytes: number
  /** Tokens of everything else. */
  tokens: number
}

const encoder = new TextEncoder()
const texts = ['content', 'text', 'refusal', 'arguments', 'input', 'output', 'name', 'summary']

/** Adds up bytes of text and tokens of the rest, in `instructions`, `input`, `tools` and the response schema. */
export function estimateOf(body: JsonObject): Estimate {
  const sum: Estimate = { bytes: 0, tokens: 0 }
  const items = inputItems(body)
  const tools = objectsIn(body['tools'])
  sum.tokens = (items.length + tools.length) * frameTokens
  add(body['instructions'], sum)
  for (const item of items) addObject(item, sum)
  const { text } = body
  for (const each of [...tools, isObject(text) ? text['format'] : null]) {
    if (isObject(each)) sum.bytes += encoder.encode(JSON.stringify(each)).length
  }
  return sum
}

function add(value: JsonValue | undefined, sum: Estimate): void {
  if (typeof value === 'string') sum.bytes += encoder.encode(value).length
  else if (Array.isArray(value)) for (const each of value) add(each, sum)
  else if (isObject(value)) addObject(value, sum)
}

function addObject(item: JsonObject, sum: Estimate): void {
  const { type, file_data: data } = item
  if (type === 'input_image') sum.tokens += imageTokens
  else if (type === 'input_file') {
    const size = typeof data === 'string' ? data.length : 0
    sum.tokens += Math.ceil(size / fileBytesPerToken)
  } else for (const name of texts) add(item[name], sum)
}
