// The sandbox's embedding model: unit vectors that depend only on the text.

import { invalidRequest } from '../../errors.ts'
import type { JsonObject } from '../../wire/ir.ts'
import { wholeNumber } from '../../wire/json/value.ts'
import { hash } from '../hash.ts'
import { promptsOf } from './completion.ts'
import { type Reply, whole } from './reply.ts'
import type { SandboxSettings } from './settings.ts'

const defaultDimensions = 256
const maxDimensions = 4096

/**
 * Components from a xorshift generator seeded by the text, scaled to length 1; a shorter vector uses the first ones.
 */
export function vectorOf(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions)
  let state = hash(text) || 1
  let squares = 0
  for (let index = 0; index < dimensions; index += 1) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    const component = state / 0x80000000
    vector[index] = component
    squares += component * component
  }
  const length = Math.sqrt(squares)
  for (let index = 0; index < dimensions; index += 1) vector[index] = (vector[index] ?? 0) / length
  return vector
}

function dimensionsOf(body: JsonObject): number {
  const { dimensions } = body
  if (dimensions === undefined || dimensions === null) return defaultDimensions
  const value = wholeNumber(dimensions, 1)
  if (value === null || value > maxDimensions) {
    throw invalidRequest(
      `'dimensions' must be a whole number from 1 to ${maxDimensions}`,
      'dimensions',
    )
  }
  return value
}

function keyOf(input: JsonObject['input'], index: number, text: string): string {
  if (!Array.isArray(input)) return text
  const item = typeof input[0] === 'number' ? input : input[index]
  return Array.isArray(item) ? item.join(' ') : text
}

/** Throws `invalid_request_error` where the request is invalid. */
export function embeddingReply(body: JsonObject, model: string, settings: SandboxSettings): Reply {
  const inputs = promptsOf(body.input, 'input')
  const dimensions = dimensionsOf(body)
  const base64 = body.encoding_format === 'base64'
  const data = inputs.map((input, index) => {
    const vector = vectorOf(keyOf(body.input, index, input.text), dimensions)
    const embedding = base64
      ? Buffer.from(vector.buffer).toString('base64')
      : Array.from(vector, (component) => component)
    return { object: 'embedding', index, embedding }
  })
  const tokens = inputs.reduce((sum, input) => sum + input.tokens, 0)
  const reply = { object: 'list', model, data }
  const usage = { prompt_tokens: tokens, total_tokens: tokens }
  return whole(settings.fault === 'no-usage' ? reply : { ...reply, usage })
}
