// Test helpers for Converse: chat requests and how they are encoded.

import { GatewayError } from '../../errors.ts'
import type { JsonObject } from '../ir.ts'
import { chatHub } from '../openai-chat/hub.ts'
import { encodeRequest } from './request.ts'

export const sonnet = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
export const opus = 'anthropic.claude-opus-4-6-v1'
export const nova = 'amazon.nova-pro-v1:0'
export const llama = 'meta.llama3-3-70b-instruct-v1:0'

export const hello = { role: 'user', content: 'Hello' }

export function encode(
  body: JsonObject,
  model = sonnet,
): { body: JsonObject; dropped: readonly string[] } {
  const asked = chatHub.decodeRequest({ model: 'm', messages: [hello], ...body })
  const { value, dropped } = encodeRequest(asked.value, model)
  return { body: value, dropped: [...asked.dropped, ...dropped] }
}

/** The encoded body. Throws where anything is dropped. */
export function encoded(body: JsonObject, model = sonnet): JsonObject {
  const found = encode(body, model)
  if (found.dropped.length > 0) throw new Error(`left out: ${found.dropped.join(', ')}`)
  return found.body
}

/** The field that the error names. Throws where the request is accepted. */
export function refusal(body: JsonObject, model = sonnet): string | null | undefined {
  try {
    encode(body, model)
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    if (error.code !== 'invalid_request_error') throw error
    return error.detail.param
  }
  throw new Error('it was not refused')
}

export const city = { type: 'object', properties: { city: { type: 'string' } } }
export const weather = {
  type: 'function',
  function: { name: 'weather', description: 'Of a city.', parameters: city },
}
export const spec = {
  toolSpec: { name: 'weather', description: 'Of a city.', inputSchema: { json: city } },
}
