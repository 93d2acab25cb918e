// What a Responses request's tokens may come to, by counting: text by its bytes, pictures and files by the piece.

import type { JsonObject, JsonValue } from '../ir.ts'
import { isObject, objectsIn } from '../json/value.ts'
import { inputItems } from './kept.ts'

/** OpenAI, "Images and vision": 85 for a picture and 170 for each of the six tiles of a large one. */
const imageTokens = 1_105
/** A page of a PDF is some thousand tokens, and about as many bytes of base64 for each as this. */
const fileBytesPerToken = 40
/** What stands around each item and each tool. */
const frameTokens = 4

interface Estimate {
  /** Bytes of text whose tokens are to be counted. */
  bytes: number
  /** Tokens of everything else. */
  tokens: number
}

const encoder = new TextEncoder()
const texts = ['content', 'text', 'refusal', 'arguments', 'input', 'output', 'name', 'summary']

/** Bytes of text and tokens of the rest, in `instructions`, `input`, `tools` and the schema of the answer. */
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
