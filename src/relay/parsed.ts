// Reads a client's JSON whole, where an attempt must change it.

import { Buffer } from 'node:buffer'
import { invalidRequest } from '../errors.ts'
import type { JsonObject } from '../wire/ir.ts'

/**
 * The value of a JSON object's bytes. Throws GatewayError: the scan that admitted them looked at
 * structure only, so a string in them may still be none, such as one with a raw line end.
 */
export function parsedObject(bytes: Uint8Array): JsonObject {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8')) as JsonObject
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw invalidRequest('The request body is not valid JSON.', null)
  }
}
